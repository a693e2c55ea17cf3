/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* The program that tools/demo shows. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write and SW301 sync-copy",
	       "frames are uploaded on one stream and filtered on another, and nothing makes the filter wait for its "
	       "frame; "
	       "every result is fetched by a synchronous copy, so upload and filter never overlap",
	       "the filter's stream waits for an event recorded after the upload; results are fetched asynchronously "
	       "and waited "
	       "for once");
	constexpr int FRAMES = 8;
	float *frames = pinned_buffer(FRAMES * BYTES), *results = pinned_buffer(FRAMES * BYTES);
	float *frame = device_buffer(FRAMES * BYTES), *filtered = device_buffer();
	cudaStream_t upload = new_stream(), filter = new_stream(cudaStreamDefault);
	cudaEvent_t uploaded = new_event();

	for (int i = 0; i < FRAMES; i++) {
		float *mine = frame + i * N;

		CHECK(cudaMemcpyAsync(mine, frames + i * N, BYTES, cudaMemcpyHostToDevice, upload));
		if (c.fixed) {
			CHECK(cudaEventRecord(uploaded, upload));
			CHECK(cudaStreamWaitEvent(filter, uploaded, 0));
		}
		spin_copy<<<GRID, BLOCK, 0, filter>>>(filtered, mine, N, SPIN_NS);
		CHECK_LAUNCH();
		if (c.fixed)
			CHECK(cudaMemcpyAsync(results + i * N, filtered, BYTES, cudaMemcpyDeviceToHost, filter));
		else
			CHECK(cudaMemcpy(results + i * N, filtered, BYTES, cudaMemcpyDeviceToHost));
	}
	finish({upload, filter}, {uploaded}, {frame, filtered}, {frames, results});
}
