/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "driver.h"

/* Maps the memory at an address of its own. */
static CUdeviceptr mapped(CUmemGenericAllocationHandle memory, size_t bytes, const CUmemAccessDesc &access)
{
	CUdeviceptr at;

	CHECK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	CHECK(cuMemMap(at, bytes, 0, memory, 0));
	CHECK(cuMemSetAccess(at, bytes, &access, 1));
	return at;
}

int main(int argc, char **argv)
{
	Options c(argc, argv,
		  "the limit imported_memory: memory that is exported as a descriptor and imported by the same process",
		  "a copy writes memory by one address, another stream reads what was imported, which is the same "
		  "memory: "
		  "nothing in the calls says so, and the race is not found",
		  "the reading stream waits for an event recorded after the first copy");
	CUdevice device;
	CUcontext context;
	CUstream fill, drain;
	CUevent filled;
	CUmemGenericAllocationHandle memory, imported;
	CUmemAllocationProp prop = {};
	CUmemAccessDesc access = {};
	CUdeviceptr here, there;
	size_t bytes;
	void *host;
	int fd;

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
	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	access.location = prop.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CHECK(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CHECK(cuMemHostAlloc(&host, 2 * bytes, 0));
	CHECK(cuMemCreate(&memory, bytes, &prop, 0));
	CHECK(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	CHECK(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<intptr_t>(fd)),
					     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	close(fd);
	here = mapped(memory, bytes, access);
	there = mapped(imported, bytes, access);

	CHECK(cuMemcpyHtoDAsync(here, host, bytes / 2, fill));
	if (c.fixed) {
		CHECK(cuEventRecord(filled, fill));
		CHECK(cuStreamWaitEvent(drain, filled, 0));
	}
	CHECK(cuMemcpyDtoHAsync(static_cast<char *>(host) + bytes, there, bytes / 4, drain));

	CHECK(cuCtxSynchronize());
	for (CUdeviceptr at : {here, there}) {
		CHECK(cuMemUnmap(at, bytes));
		CHECK(cuMemAddressFree(at, bytes));
	}
	CHECK(cuMemRelease(imported));
	CHECK(cuMemRelease(memory));
	CHECK(cuMemFreeHost(host));
	CHECK(cuEventDestroy(filled));
	CHECK(cuStreamDestroy(drain));
	CHECK(cuStreamDestroy(fill));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
