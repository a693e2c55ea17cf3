/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW106 use-before-alloc",
	       "memory from cudaMallocAsync is used on a stream that is not ordered after the allocation",
	       "the using stream waits for an event recorded after the allocation");
	void *data;
	cudaStream_t owner = new_stream(), user = new_stream();
	cudaEvent_t allocated = new_event(), used = new_event();

	spin<<<1, 1, 0, owner>>>(SPIN_NS);
	CHECK(cudaMallocAsync(&data, BYTES, owner));
	CHECK(cudaEventRecord(allocated, owner));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(user, allocated, 0));
	CHECK(cudaMemsetAsync(data, 0, BYTES, user));
	CHECK(cudaEventRecord(used, user));
	CHECK(cudaStreamWaitEvent(owner, used, 0));
	CHECK(cudaFreeAsync(data, owner));
	finish({owner, user}, {allocated, used}, {});
}
