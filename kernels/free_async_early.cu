/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW105 use-after-free, stream-ordered",
	       "cudaFreeAsync on one stream while another stream still uses the memory: nothing orders the two",
	       "the freeing stream waits for an event recorded after the last use");
	float *host = pinned_buffer();
	void *data;
	cudaStream_t owner = new_stream(), user = new_stream();
	cudaEvent_t allocated = new_event(), used = new_event();

	CHECK(cudaMallocAsync(&data, BYTES, owner));
	CHECK(cudaEventRecord(allocated, owner));
	CHECK(cudaStreamWaitEvent(user, allocated, 0));
	spin<<<1, 1, 0, user>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, user));
	CHECK(cudaEventRecord(used, user));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(owner, used, 0));
	CHECK(cudaFreeAsync(data, owner));
	finish({owner, user}, {allocated, used}, {}, {host});
}
