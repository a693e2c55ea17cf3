/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW105 use-after-free, stream-ordered",
	       "work is given to the stream after the memory that it uses was freed there",
	       "the memory is freed after its last use");
	void *data;
	cudaStream_t stream = new_stream();
	float *host = pinned_buffer();

	CHECK(cudaMallocAsync(&data, BYTES, stream));
	CHECK(cudaMemsetAsync(data, 0, BYTES, stream));
	spin<<<1, 1, 0, stream>>>(SPIN_NS); /* the free is still to come when the copy is asked for */
	if (!c.fixed)
		CHECK(cudaFreeAsync(data, stream));
	CHECK(cudaMemcpyAsync(host, data, BYTES, cudaMemcpyDeviceToHost, stream));
	if (c.fixed)
		CHECK(cudaFreeAsync(data, stream));
	finish({stream}, {}, {}, {host});
}
