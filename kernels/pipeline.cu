/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Upload, compute, download on a stream each, two buffers for input and for output: four edges make it right. */
int main(int argc, char **argv)
{
	Case c(argc, argv,
	       "SW101 (upload, compute) or SW102 (reuse-input, reuse-output) where the named edge is left out",
	       "one edge is missing: compute after upload, download after compute, the next upload into a buffer after "
	       "the "
	       "kernel that read it, the next kernel that writes a buffer after its download",
	       "all four edges are there", {"upload", "compute", "reuse-input", "reuse-output"});
	constexpr int ROUNDS = 6;
	float *from = pinned_buffer(), *to[2] = {pinned_buffer(), pinned_buffer()};
	float *in[2] = {device_buffer(), device_buffer()}, *out[2] = {device_buffer(), device_buffer()};
	cudaStream_t upload = new_stream(), compute = new_stream(), download = new_stream();
	cudaEvent_t uploaded[2], computed[2], downloaded[2];
	bool left_out = !c.fixed;

	for (int i = 0; i < 2; i++) {
		uploaded[i] = new_event();
		computed[i] = new_event();
		downloaded[i] = new_event();
	}
	for (int round = 0; round < ROUNDS; round++) {
		int i = round % 2;
		bool reused = round >= 2;

		if (reused && !(left_out && c.is("reuse-input")))
			CHECK(cudaStreamWaitEvent(upload, computed[i], 0));
		CHECK(cudaMemcpyAsync(in[i], from, BYTES, cudaMemcpyHostToDevice, upload));
		CHECK(cudaEventRecord(uploaded[i], upload));

		if (!(left_out && c.is("upload")))
			CHECK(cudaStreamWaitEvent(compute, uploaded[i], 0));
		if (reused && !(left_out && c.is("reuse-output")))
			CHECK(cudaStreamWaitEvent(compute, downloaded[i], 0));
		spin_copy<<<GRID, BLOCK, 0, compute>>>(out[i], in[i], N, SPIN_NS / 3);
		CHECK_LAUNCH();
		CHECK(cudaEventRecord(computed[i], compute));

		if (!(left_out && c.is("compute")))
			CHECK(cudaStreamWaitEvent(download, computed[i], 0));
		CHECK(cudaMemcpyAsync(to[i], out[i], BYTES, cudaMemcpyDeviceToHost, download));
		CHECK(cudaEventRecord(downloaded[i], download));
	}
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++) {
		CHECK(cudaEventDestroy(uploaded[i]));
		CHECK(cudaEventDestroy(computed[i]));
		CHECK(cudaEventDestroy(downloaded[i]));
	}
	finish({upload, compute, download}, {}, {in[0], in[1], out[0], out[1]}, {from, to[0], to[1]});
}
