/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read, a staging buffer refilled too early by the host",
	       "the host refills a pinned staging buffer while the copy from it is still in flight",
	       "the host waits for an event recorded after the copy");
	float *input = pageable_buffer(), *staging = pinned_buffer(), *data = device_buffer();
	cudaStream_t upload = new_stream();
	cudaEvent_t uploaded = new_event();

	for (int chunk = 0; chunk < 3; chunk++) {
		if (c.fixed && chunk)
			CHECK(cudaEventSynchronize(uploaded));
		CHECK(cudaMemcpy(staging, input, BYTES, cudaMemcpyHostToHost));
		spin<<<1, 1, 0, upload>>>(SPIN_NS);
		CHECK(cudaMemcpyAsync(data, staging, BYTES, cudaMemcpyHostToDevice, upload));
		CHECK(cudaEventRecord(uploaded, upload));
	}
	finish({upload}, {uploaded}, {data}, {staging});
	free(input);
}
