/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Two slots of staging buffer, device buffer, stream and event; the host fills one while the other is on its way. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read in a double-buffered upload",
	       "before it refills a slot the host waits for the event of the other slot",
	       "before it refills a slot the host waits for that slot's event");
	constexpr int ROUNDS = 6;
	float *input = pageable_buffer(), *result = device_buffer();
	float *staging[2] = {pinned_buffer(), pinned_buffer()}, *data[2] = {device_buffer(), device_buffer()};
	cudaStream_t stream[2] = {new_stream(), new_stream()};
	cudaEvent_t uploaded[2] = {new_event(), new_event()};

	for (int round = 0; round < ROUNDS; round++) {
		int i = round % 2;

		if (round >= 2)
			CHECK(cudaEventSynchronize(uploaded[c.fixed ? i : 1 - i]));
		CHECK(cudaMemcpy(staging[i], input, BYTES, cudaMemcpyHostToHost));
		spin<<<1, 1, 0, stream[i]>>>(SPIN_NS);
		CHECK(cudaMemcpyAsync(data[i], staging[i], BYTES, cudaMemcpyHostToDevice, stream[i]));
		CHECK(cudaEventRecord(uploaded[i], stream[i]));
	}
	finish({stream[0], stream[1]}, {uploaded[0], uploaded[1]}, {data[0], data[1], result},
	       {staging[0], staging[1]});
	free(input);
}
