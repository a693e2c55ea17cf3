/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW104 host-access-in-flight, pinned memory given back too early",
	       "a pinned buffer is released while a copy still uses it; the driver was seen to wait, no document "
	       "promises it",
	       "the stream is synchronised before the buffer is released", {"free", "unregister"});
	float *data = device_buffer(), *host = c.is("free") ? pinned_buffer() : pageable_buffer();
	cudaStream_t upload = new_stream();

	if (c.is("unregister"))
		CHECK(cudaHostRegister(host, BYTES, cudaHostRegisterDefault));
	spin<<<1, 1, 0, upload>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, upload));
	if (c.fixed)
		CHECK(cudaStreamSynchronize(upload));
	if (c.is("free")) {
		CHECK(cudaFreeHost(host));
	} else {
		CHECK(cudaHostUnregister(host));
		free(host);
	}
	finish({upload}, {}, {data});
}
