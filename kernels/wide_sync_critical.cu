/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* One small result is needed in each frame, while another stream always has work. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW401 over-wide-sync as a note: the stream that nobody needs is the critical path",
	       "each frame waits for the whole device, and then for the stream that it needs, to read one small result",
	       "the frame waits for the stream of the result only");
	constexpr int FRAMES = 20;
	float *work = device_buffer(), *result = device_buffer(), *host = pinned_buffer();
	cudaStream_t background = new_stream(), frame = new_stream();

	for (int i = 0; i < FRAMES; i++) {
		spin_write<<<GRID, BLOCK, 0, background>>>(work, N, 1, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemsetAsync(result, i, 64, frame));
		CHECK(cudaMemcpyAsync(host, result, 64, cudaMemcpyDeviceToHost, frame));
		if (!c.fixed)
			CHECK(cudaDeviceSynchronize());
		CHECK(cudaStreamSynchronize(frame));
	}
	CHECK(cudaDeviceSynchronize());
	finish({background, frame}, {}, {work, result});
}
