/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW105 use-after-free, or SW106 where nothing uses the memory: freed on another stream",
	       "memory of an explicit pool is freed on a stream that knows nothing of the one that made and uses it",
	       "the freeing stream waits for an event recorded after the last use", {"used", "unused"});
	cudaMemPoolProps props = {};
	cudaMemPool_t pool;
	void *data;
	cudaStream_t owner = new_stream(), freer = new_stream();
	cudaEvent_t used = new_event();

	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	CHECK(cudaMemPoolCreate(&pool, &props));
	spin<<<1, 1, 0, owner>>>(SPIN_NS);
	CHECK(cudaMallocFromPoolAsync(&data, BYTES, pool, owner));
	if (c.is("used"))
		CHECK(cudaMemsetAsync(data, 0, BYTES, owner));
	CHECK(cudaEventRecord(used, owner));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(freer, used, 0));
	CHECK(cudaFreeAsync(data, freer));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemPoolDestroy(pool));
	finish({owner, freer}, {used}, {});
}
