/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, a result read too early by the host",
	       "the host copies a result out of a pinned buffer before the asynchronous copy into it is done",
	       "the host synchronises the stream first");
	float *data = device_buffer(), *landing = pinned_buffer(), *result = pageable_buffer();
	cudaStream_t download = new_stream();

	spin<<<1, 1, 0, download>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(landing, data, BYTES, cudaMemcpyDeviceToHost, download));
	if (c.fixed)
		CHECK(cudaStreamSynchronize(download));
	CHECK(cudaMemcpy(result, landing, BYTES, cudaMemcpyHostToHost));
	finish({download}, {}, {data}, {landing});
	free(result);
}
