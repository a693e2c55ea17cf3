/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read, a set against a copy that reads",
	       "memory is cleared for the next round while another stream still copies it away",
	       "the host waits for that stream first", {"sync", "async", "2d"});
	float *data = device_buffer(), *saved = device_buffer();
	cudaStream_t work = new_stream(), clears = new_stream();

	spin<<<1, 1, 0, work>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(saved, data, BYTES, cudaMemcpyDeviceToDevice, work));
	if (c.fixed)
		CHECK(cudaStreamSynchronize(work));
	if (c.is("sync"))
		CHECK(cudaMemset(data, 0, BYTES));
	else if (c.is("async"))
		CHECK(cudaMemsetAsync(data, 0, BYTES, clears));
	else
		CHECK(cudaMemset2DAsync(data, 1024, 0, 512, BYTES / 1024, clears));
	finish({work, clears}, {}, {data, saved});
}
