/* SPDX-License-Identifier: Apache-2.0 */
/* A program linked with the driver: every form of record once, through the exported names. */
#include "preload/intercept/cuda_types.h"

int main(void)
{
	CUcontext first, second;
	CUstream stream;
	CUevent event;
	CUdeviceptr at;
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			      .srcHost = (void *)0x100000,
			      .srcPitch = 256,
			      .srcXInBytes = 16,
			      .srcY = 2,
			      .dstMemoryType = CU_MEMORYTYPE_ARRAY,
			      .dstArray = (CUarray)0x200000,
			      .dstXInBytes = 8,
			      .dstY = 1,
			      .WidthInBytes = 64,
			      .Height = 4};
	CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			     .srcDevice = 0x300000,
			     .srcPitch = 128,
			     .srcHeight = 10,
			     .srcZ = 2,
			     .srcY = 1,
			     .srcXInBytes = 4,
			     .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
			     .dstDevice = 0x400000,
			     .WidthInBytes = 32,
			     .Height = 5,
			     .Depth = 6};
	CUdeviceptr dsts[] = {0x1000, 0x2000}, srcs[] = {0x3000, 0x4000};
	size_t sizes[] = {10, 20};
	CUstreamBatchMemOpParams ops[2] = {{.waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, 0x5000, {7}, 0, 0}},
					   {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, 0x6000, {0}, 0, 0}}};
	CUlaunchAttribute attributes[2] = {
		{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
		{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT},
	};
	CUlaunchConfig config = {.gridDimX = 2,
				 .gridDimY = 1,
				 .gridDimZ = 1,
				 .blockDimX = 32,
				 .blockDimY = 1,
				 .blockDimZ = 1,
				 .attrs = attributes,
				 .numAttrs = 2};

	ops[1].writeValue.value64 = 9;
	cuInit(0);
	cuCtxCreate_v2(&first, 0, 0);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuEventCreate(&event, 0);
	cuMemAlloc_v2(&at, 1 << 20);
	cuMemsetD32Async(at, 3, 100, stream);
	cuMemsetD2D8_v2(at, 512, 1, 100, 4);
	cuEventRecord(event, stream);
	cuStreamWaitEvent(0, event, 0);
	cuEventQuery(event);
	cuEventQuery(NULL);
	cuMemcpy2DAsync_v2(&copy, stream);
	cuMemcpy2DAsync_v2(NULL, stream);
	cuMemcpy3DPeer(NULL);
	cuLaunchKernelEx(NULL, (CUfunction)0x7000, NULL, NULL);
	cuMemcpy3D_v2(&box);
	cuMemcpyBatchAsync_v2(dsts, srcs, sizes, 2, NULL, NULL, 0, stream);
	cuStreamBatchMemOp_v2(stream, 2, ops, 0);
	attributes[1].value.programmaticEvent.event = event;
	config.hStream = stream;
	cuLaunchKernelEx(&config, (CUfunction)0x7000, NULL, NULL);
	cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096);
	cuEventSynchronize(event);
	cuCtxSynchronize();
	cuStreamDestroy_v2(stream);
	cuMemFree_v2(at);
	cuCtxDestroy_v2(first);
	/* The driver gives the same handle again: another generation. */
	cuCtxCreate_v2(&second, 0, 0);
	cuCtxSynchronize();
	return first != second;
}
