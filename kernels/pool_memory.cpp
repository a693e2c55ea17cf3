/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_driver.h"

/* Of CUDA 13.0, as their values: older headers have no names for them. */
constexpr int MANAGED = 2, NOWHERE = 0;

/* A synchronous copy, after which the source is overwritten on a stream that does not wait for it. */
static void copy(const Device &d, CUdeviceptr to)
{
	CHECK(cuMemcpy(to, d.buffer[0], BYTES));
	CHECK(cuMemsetD8Async(d.buffer[0], 1, BYTES, d.stream[1]));
	CHECK(cuCtxSynchronize());
}

static void mapped(const Device &d, bool host)
{
	CUmemAllocationProp p = {};
	CUmemAccessDesc access = {};
	CUmemGenericAllocationHandle memory;
	CUdeviceptr at;
	size_t granule, bytes;

	p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = host ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE;
	p.location.id = host ? 0 : d.device;
	CHECK(cuMemGetAllocationGranularity(&granule, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	bytes = (BYTES + granule - 1) / granule * granule;
	CHECK(cuMemCreate(&memory, bytes, &p, 0));
	CHECK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	CHECK(cuMemMap(at, bytes, 0, memory, 0));
	access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location.id = d.device;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CHECK(cuMemSetAccess(at, bytes, &access, 1));
	copy(d, at);
	CHECK(cuMemUnmap(at, bytes));
	CHECK(cuMemRelease(memory));
	CHECK(cuMemAddressFree(at, bytes));
}

int main(int argc, char **argv)
{
	Options c(
		argc, argv, "SW102 for what a copy reads that did not make the host wait",
		"a synchronous copy between buffers of the device, which does not wait; then another stream overwrites "
		"what it reads",
		"the copy goes to memory of cuMemAllocManaged (managed; broken: of a managed pool, which is as the "
		"device's to a copy), of a pool of the host (host), or to mapped memory of the host (mapped): it waits",
		{"managed", "host", "mapped"});
	Device d;
	CUmemPoolProps p = {};
	CUmemoryPool pool;
	CUdeviceptr to;

	if (c.is("mapped")) {
		mapped(d, c.fixed);
		return 0;
	}
	if (c.fixed && c.is("managed")) {
		CHECK(cuMemAllocManaged(&to, BYTES, CU_MEM_ATTACH_GLOBAL));
		copy(d, to);
		CHECK(cuMemFree(to));
		return 0;
	}
	p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.location.id = d.device;
	if (c.fixed) {
		p.location.type = CU_MEM_LOCATION_TYPE_HOST;
		p.location.id = 0;
	} else if (c.is("managed")) {
		p.allocType = static_cast<CUmemAllocationType>(MANAGED);
		p.location.type = static_cast<CUmemLocationType>(NOWHERE);
		p.location.id = 0;
	}
	CHECK(cuMemPoolCreate(&pool, &p));
	CHECK(cuMemAllocFromPoolAsync(&to, BYTES, pool, d.stream[0]));
	CHECK(cuStreamSynchronize(d.stream[0]));
	copy(d, to);
	CHECK(cuMemFreeAsync(to, d.stream[0]));
	CHECK(cuStreamSynchronize(d.stream[0]));
	CHECK(cuMemPoolDestroy(pool));
}
