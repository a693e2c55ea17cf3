/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

constexpr int CONTEXTS = 300; /* more than a trace can distinguish at once */
constexpr size_t BYTES = 1 << 16;

/* A context with work of its own, destroyed with all of it pending. */
static void one_context(CUdevice device, void *host, bool ordered)
{
	CUcontext context;
	CUstream fill, move;
	CUevent filled;
	CUdeviceptr first, second;

#if CUDA_VERSION >= 13000
	CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
	CHECK(cuCtxCreate(&context, 0, device));
#endif
	CHECK(cuStreamCreate(&fill, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&move, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemAlloc(&first, BYTES));
	CHECK(cuMemAlloc(&second, BYTES));
	CHECK(cuMemcpyHtoDAsync(first, host, BYTES, fill));
	if (ordered) {
		CHECK(cuEventRecord(filled, fill));
		CHECK(cuStreamWaitEvent(move, filled, 0));
	}
	CHECK(cuMemcpyDtoDAsync(second, first, BYTES, move));
	CHECK(cuCtxDestroy(context));
}

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 in the last of many contexts",
		  "contexts are made and destroyed with all that they own; in the last one a wait is missing",
		  "the wait is there in all of them");
	CUdevice device;
	CUcontext outer;
	void *host;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&outer, device));
	CHECK(cuCtxSetCurrent(outer));
	CHECK(cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_PORTABLE));
	for (int i = 0; i < CONTEXTS; i++)
		one_context(device, host, c.fixed || i + 1 < CONTEXTS);
	CHECK(cuMemFreeHost(host));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
