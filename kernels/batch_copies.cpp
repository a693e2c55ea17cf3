/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

constexpr size_t BYTES = 1 << 20, COPIES = 8;

struct Batch {
	CUdeviceptr dst[COPIES], src[COPIES];
	size_t bytes[COPIES];

	void run(size_t from, size_t count, CUmemcpySrcAccessOrder order, CUstream stream)
	{
		CUmemcpyAttributes attributes = {};
		size_t first = 0;

		attributes.srcAccessOrder = order;
#if CUDA_VERSION >= 13000
		CHECK(cuMemcpyBatchAsync(dst + from, src + from, bytes + from, count, &attributes, &first, 1, stream));
#else
		size_t failed;
		CHECK(cuMemcpyBatchAsync(dst + from, src + from, bytes + from, count, &attributes, &first, 1, &failed,
					 stream));
#endif
	}
};

int main(int argc, char **argv)
{
	Options c(
		argc, argv, "SW108 batch-copy-race, and SW104 for a source that is read out of stream order",
		"the last copy of a batch reads (chain) or writes (target) what the first one writes; or the source of "
		"a batch is read during the call (during) or at any time (any) while earlier work of its stream still "
		"fills it; or the host refills a source that may be read after the call (refill)",
		"the dependent copy is a batch of its own; the source is read in stream order; it is read during the "
		"call",
		{"chain", "target", "during", "any", "refill"});
	CUdevice device;
	CUcontext context;
	CUstream stream;
	CUdeviceptr to, from;
	CUdeviceptr host;
	void *pinned;
	Batch batch;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&to, COPIES * BYTES));
	CHECK(cuMemAlloc(&from, COPIES * BYTES));
	CHECK(cuMemHostAlloc(&pinned, COPIES * BYTES, 0));
	host = reinterpret_cast<CUdeviceptr>(pinned);
	for (size_t i = 0; i < COPIES; i++) {
		batch.dst[i] = to + i * BYTES;
		batch.src[i] = (c.is("chain") || c.is("target") ? from : host) + i * BYTES;
		batch.bytes[i] = BYTES;
	}

	if (c.is("during") || c.is("any")) {
		CHECK(cuMemcpyDtoHAsync(pinned, from, COPIES * BYTES, stream));
		batch.run(0, COPIES,
			  c.fixed	   ? CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
			  : c.is("during") ? CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL
					   : CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
			  stream);
	} else if (c.is("refill")) {
		/* Only seen with --guard-host. */
		batch.run(0, COPIES,
			  c.fixed ? CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL : CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
			  stream);
		memset(pinned, 1, COPIES * BYTES);
	} else {
		if (c.is("chain"))
			batch.src[COPIES - 1] = to + BYTES / 2;
		else
			batch.dst[COPIES - 1] = to + BYTES / 2;
		batch.run(0, c.fixed ? COPIES - 1 : COPIES, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, stream);
		if (c.fixed)
			batch.run(COPIES - 1, 1, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, stream);
	}

	CHECK(cuCtxSynchronize());
	CHECK(cuMemFreeHost(pinned));
	CHECK(cuMemFree(from));
	CHECK(cuMemFree(to));
	CHECK(cuStreamDestroy(stream));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
