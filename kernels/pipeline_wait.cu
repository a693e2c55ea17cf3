/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Upload, compute, download on a stream each, two buffers for input and for output. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW401 over-wide-sync in a pipeline of three streams",
	       "before each download the host waits for the whole device, though only the download has to wait, and "
	       "only "
	       "for the kernel; so nothing is uploaded meanwhile",
	       "the download's stream waits for an event after the kernel");
	constexpr size_t MUCH = 32u << 20;
	constexpr int BUFFERS = 2;
	float *from = pinned_buffer(MUCH), *to = pinned_buffer(BUFFERS * MUCH);
	float *in[BUFFERS], *out[BUFFERS];
	cudaStream_t upload = new_stream(), compute = new_stream(), download = new_stream();
	cudaEvent_t uploaded[BUFFERS], computed[BUFFERS], downloaded[BUFFERS];

	for (int i = 0; i < BUFFERS; i++) {
		in[i] = device_buffer(MUCH);
		out[i] = device_buffer(MUCH);
		uploaded[i] = new_event();
		computed[i] = new_event();
		downloaded[i] = new_event();
	}
	hot_begin();
	for (int round = 0; round < c.rounds(8); round++) {
		int i = round % BUFFERS;

		if (round >= BUFFERS)
			CHECK(cudaStreamWaitEvent(upload, computed[i], 0));
		CHECK(cudaMemcpyAsync(in[i], from, MUCH, cudaMemcpyHostToDevice, upload));
		CHECK(cudaEventRecord(uploaded[i], upload));

		CHECK(cudaStreamWaitEvent(compute, uploaded[i], 0));
		if (round >= BUFFERS)
			CHECK(cudaStreamWaitEvent(compute, downloaded[i], 0));
		spin_copy<<<GRID, BLOCK, 0, compute>>>(out[i], in[i], N, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaEventRecord(computed[i], compute));

		if (c.fixed)
			CHECK(cudaStreamWaitEvent(download, computed[i], 0));
		else
			CHECK(cudaDeviceSynchronize());
		CHECK(cudaMemcpyAsync(to + i * (MUCH / sizeof *to), out[i], MUCH, cudaMemcpyDeviceToHost, download));
		CHECK(cudaEventRecord(downloaded[i], download));
	}
	CHECK(cudaDeviceSynchronize());
	hot_end();
	for (int i = 0; i < BUFFERS; i++) {
		CHECK(cudaEventDestroy(uploaded[i]));
		CHECK(cudaEventDestroy(computed[i]));
		CHECK(cudaEventDestroy(downloaded[i]));
	}
	finish({upload, compute, download}, {}, {in[0], in[1], out[0], out[1]}, {from, to});
}
