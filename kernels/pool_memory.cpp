/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_driver.h"

/* Of CUDA 13.0, as their values: older headers have no names for them. */
constexpr int MANAGED = 2, NOWHERE = 0;

int main(int argc, char **argv)
{
	Options c(
		argc, argv, "SW102 for what a copy reads that did not make the host wait",
		"a synchronous copy between buffers of the device, which does not wait; then another stream overwrites "
		"what it reads",
		"the copy goes to memory of a managed pool (managed) or of a pool of the host (host): it waits",
		{"managed", "host"});
	Device d;
	CUmemPoolProps p = {};
	CUmemoryPool pool;
	CUdeviceptr to;

	p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.location.id = d.device;
	if (c.fixed && c.is("host")) {
		p.location.type = CU_MEM_LOCATION_TYPE_HOST;
		p.location.id = 0;
	} else if (c.fixed) {
		p.allocType = static_cast<CUmemAllocationType>(MANAGED);
		p.location.type = static_cast<CUmemLocationType>(NOWHERE);
		p.location.id = 0;
	}
	CHECK(cuMemPoolCreate(&pool, &p));
	CHECK(cuMemAllocFromPoolAsync(&to, BYTES, pool, d.stream[0]));
	CHECK(cuStreamSynchronize(d.stream[0]));
	CHECK(cuMemcpy(to, d.buffer[0], BYTES));
	CHECK(cuMemsetD8Async(d.buffer[0], 1, BYTES, d.stream[1]));
	CHECK(cuCtxSynchronize());
	CHECK(cuMemFreeAsync(to, d.stream[0]));
	CHECK(cuStreamSynchronize(d.stream[0]));
	CHECK(cuMemPoolDestroy(pool));
}
