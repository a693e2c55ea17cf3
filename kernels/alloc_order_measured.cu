/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW106 use-before-alloc as a note: only an undocumented wait of cudaFree orders it; SW306",
	       "memory from cudaMallocAsync is used on another stream after a cudaFree of other memory, which waits "
	       "for the device",
	       "the using stream waits for an event recorded after the allocation");
	void *data;
	float *old = device_buffer();
	cudaStream_t owner = new_stream(), user = new_stream();
	cudaEvent_t allocated = new_event(), used = new_event();

	spin<<<1, 1, 0, owner>>>(SPIN_NS);
	CHECK(cudaMallocAsync(&data, BYTES, owner));
	CHECK(cudaEventRecord(allocated, owner));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(user, allocated, 0));
	CHECK(cudaFree(old));
	CHECK(cudaMemsetAsync(data, 0, BYTES, user));
	CHECK(cudaEventRecord(used, user));
	CHECK(cudaStreamWaitEvent(owner, used, 0));
	CHECK(cudaFreeAsync(data, owner));
	finish({owner, user}, {allocated, used}, {});
}
