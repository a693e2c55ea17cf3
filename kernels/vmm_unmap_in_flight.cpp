/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

/* A segment that grows by mapping piece next to piece, as PyTorch's expandable segments do. */
int main(int argc, char **argv)
{
	Options c(argc, argv, "SW105 use-after-free: memory is unmapped that unfinished work uses",
		  "the last piece of a segment is unmapped while a copy still writes it", "the stream is synchronized before");
	constexpr int PIECES = 4;
	CUdevice device;
	CUcontext context;
	CUstream stream;
	CUdeviceptr segment;
	CUmemGenericAllocationHandle piece[PIECES];
	CUmemAllocationProp prop = {};
	CUmemAccessDesc access = {};
	size_t each;
	void *host;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = device;
	access.location = prop.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CHECK(cuMemGetAllocationGranularity(&each, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CHECK(cuMemAddressReserve(&segment, 2 * PIECES * each, 0, 0, 0));
	for (int i = 0; i < PIECES; i++) {
		CHECK(cuMemCreate(&piece[i], each, &prop, 0));
		CHECK(cuMemMap(segment + i * each, each, 0, piece[i], 0));
		CHECK(cuMemSetAccess(segment + i * each, each, &access, 1));
	}
	CHECK(cuMemHostAlloc(&host, PIECES * each, 0));

	/* One copy over all pieces: they are one block. */
	CHECK(cuMemcpyHtoDAsync(segment, host, PIECES * each, stream));
	if (c.fixed)
		CHECK(cuStreamSynchronize(stream));
	CHECK(cuMemUnmap(segment + (PIECES - 1) * each, each));

	CHECK(cuCtxSynchronize());
	CHECK(cuMemcpyHtoDAsync(segment, host, each, stream)); /* the rest lives on */
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuMemUnmap(segment, (PIECES - 1) * each));
	for (int i = 0; i < PIECES; i++)
		CHECK(cuMemRelease(piece[i]));
	CHECK(cuMemAddressFree(segment, 2 * PIECES * each));
	CHECK(cuMemFreeHost(host));
	CHECK(cuStreamDestroy(stream));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
