/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

/* A ring buffer whose memory is mapped twice, so that no transfer has to be cut at its end. */
int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 race-read-after-write on memory that has two addresses",
		  "a copy writes memory by one address, another stream reads it by the other",
		  "the reading stream waits for an event recorded after the first copy", {"mapped", "mapped-later"});
	CUdevice device;
	CUcontext context;
	CUstream fill, drain;
	CUevent filled;
	CUdeviceptr ring;
	CUmemGenericAllocationHandle memory;
	CUmemAllocationProp prop = {};
	CUmemAccessDesc access = {};
	size_t bytes;
	void *host;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&fill, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&drain, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = device;
	access.location = prop.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CHECK(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CHECK(cuMemHostAlloc(&host, 2 * bytes, 0));
	CHECK(cuMemCreate(&memory, bytes, &prop, 0));
	CHECK(cuMemAddressReserve(&ring, 2 * bytes, 0, 0, 0));
	CHECK(cuMemMap(ring, bytes, 0, memory, 0));
	CHECK(cuMemSetAccess(ring, bytes, &access, 1));
	if (c.is("mapped")) {
		CHECK(cuMemMap(ring + bytes, bytes, 0, memory, 0));
		CHECK(cuMemSetAccess(ring + bytes, bytes, &access, 1));
	}

	CHECK(cuMemcpyHtoDAsync(ring, host, bytes / 2, fill));
	if (c.is("mapped-later")) {
		CHECK(cuMemMap(ring + bytes, bytes, 0, memory, 0));
		CHECK(cuMemSetAccess(ring + bytes, bytes, &access, 1));
	}
	if (c.fixed) {
		CHECK(cuEventRecord(filled, fill));
		CHECK(cuStreamWaitEvent(drain, filled, 0));
	}
	CHECK(cuMemcpyDtoHAsync(static_cast<char *>(host) + bytes, ring + bytes, bytes / 4, drain));

	CHECK(cuCtxSynchronize());
	CHECK(cuMemUnmap(ring, 2 * bytes));
	CHECK(cuMemRelease(memory));
	CHECK(cuMemAddressFree(ring, 2 * bytes));
	CHECK(cuMemFreeHost(host));
	CHECK(cuEventDestroy(filled));
	CHECK(cuStreamDestroy(drain));
	CHECK(cuStreamDestroy(fill));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
