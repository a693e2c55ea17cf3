/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 and its like on host memory: a pinned buffer handed to a second copy",
	       "two copies on two streams share a host buffer that one of them writes, and nothing orders them",
	       "the second stream waits for an event after the first copy", {"written-twice", "written-then-read", "read-then-written"});
	float *first = device_buffer(), *second = device_buffer(), *host = pinned_buffer();
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t copied = new_event();
	bool reads_first = c.is("read-then-written"), reads_second = c.is("written-then-read");

	spin<<<1, 1, 0, a>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(reads_first ? first : host, reads_first ? host : first, BYTES, cudaMemcpyDefault, a));
	CHECK(cudaEventRecord(copied, a));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(b, copied, 0));
	CHECK(cudaMemcpyAsync(reads_second ? second : host, reads_second ? host : second, BYTES, cudaMemcpyDefault, b));
	finish({a, b}, {copied}, {first, second}, {host});
}
