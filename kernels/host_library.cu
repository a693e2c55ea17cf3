/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

#include <cub/device/device_select.cuh>

/* Only seen with --guard-host.  The kernel's blocks wait for each other by flags in the device's memory, which tell the
   host nothing. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW104 host-access-in-flight: a result of a library in pinned memory",
	       "host code reads how many items were selected while the kernel that writes it may run",
	       "the stream is synchronised first");
	cudaStream_t stream = new_stream();
	float *in = device_buffer(), *out = device_buffer();
	char *flags;
	int *selected;
	size_t bytes = 0;
	void *scratch = nullptr;

	CHECK(cudaMalloc(reinterpret_cast<void **>(&flags), N));
	CHECK(cudaHostAlloc(reinterpret_cast<void **>(&selected), sizeof *selected, cudaHostAllocMapped));
	*selected = 0;
	CHECK(cub::DeviceSelect::Flagged(scratch, bytes, in, flags, out, selected, N, stream));
	CHECK(cudaMalloc(&scratch, bytes));
	CHECK(cudaDeviceSynchronize());
	CHECK(cub::DeviceSelect::Flagged(scratch, bytes, in, flags, out, selected, N, stream));
	if (c.fixed)
		CHECK(cudaStreamSynchronize(stream));
	fprintf(stderr, "%s", *selected < 0 ? "?" : "");
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFreeHost(selected));
	CHECK(cudaFree(scratch));
	CHECK(cudaFree(flags));
	finish({stream}, {}, {in, out});
}
