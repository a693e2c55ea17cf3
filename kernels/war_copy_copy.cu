/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read, copy against copy",
	       "a buffer is overwritten by a copy on one stream while another stream still copies it to the host",
	       "the overwriting stream waits for an event recorded after the copy to the host");
	float *next = pinned_buffer(), *last = pinned_buffer(), *data = device_buffer();
	cudaStream_t out = new_stream(), in = new_stream();
	cudaEvent_t saved = new_event();

	spin<<<1, 1, 0, out>>>(SPIN_NS);
	if (c.fixed) {
		CHECK(cudaMemcpyAsync(last, data, BYTES, cudaMemcpyDeviceToHost, out));
		CHECK(cudaEventRecord(saved, out));
		CHECK(cudaStreamWaitEvent(in, saved, 0));
		CHECK(cudaMemcpyAsync(data, next, BYTES, cudaMemcpyHostToDevice, in));
	} else {
		CHECK(cudaMemcpyAsync(last, data, BYTES, cudaMemcpyDeviceToHost, out));
		CHECK(cudaMemcpyAsync(data, next, BYTES, cudaMemcpyHostToDevice, in));
	}
	finish({out, in}, {saved}, {data}, {next, last});
}
