/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Only seen with --guard-host: no CUDA call shows it. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW104 host-access-in-flight, the program's own code",
	       "host code fills or reads a buffer while a copy, or a kernel, in flight uses it",
	       "the stream is synchronised first", {"write", "read", "registered", "kernel", "managed"});
	float *data = device_buffer(), *host;
	cudaStream_t stream = new_stream();

	if (c.is("managed"))
		CHECK(cudaMallocManaged(reinterpret_cast<void **>(&host), BYTES));
	else
		host = c.is("registered") ? pageable_buffer() : pinned_buffer();
	if (c.is("registered"))
		CHECK(cudaHostRegister(host, BYTES, cudaHostRegisterDefault));
	CHECK(cudaDeviceSynchronize());
	if (c.is("kernel")) {
		spin_write<<<GRID, BLOCK, 0, stream>>>(host, N, 1, SPIN_NS);
		CHECK_LAUNCH();
	} else if (c.is("read")) {
		/* The simulated CUDA copies with the processor, whose own access releases the pages: the host must come first. */
		spin<<<1, 1, 0, stream>>>(10 * SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyAsync(host, data, BYTES, cudaMemcpyDeviceToHost, stream));
	} else {
		CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyDefault, stream));
	}
	if (c.fixed)
		CHECK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i += 64) {
		if (c.is("read") || c.is("kernel"))
			fprintf(stderr, "%s", host[i] < 0 ? "?" : "");
		else
			host[i] = 1;
	}
	CHECK(cudaDeviceSynchronize());
	if (c.is("managed"))
		CHECK(cudaFree(host));
	if (c.is("registered")) {
		CHECK(cudaHostUnregister(host));
		free(host);
	}
	finish({stream}, {}, {data});
}
