/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write on a part of an allocation",
	       "two streams fill two halves of one buffer; the first fills one float more than its half",
	       "each stream fills exactly its half");
	float *host = pinned_buffer(), *data = device_buffer();
	cudaStream_t a = new_stream(), b = new_stream();

	spin<<<1, 1, 0, a>>>(SPIN_NS);
	if (c.fixed) {
		CHECK(cudaMemcpyAsync(data, host, BYTES / 2, cudaMemcpyHostToDevice, a));
		CHECK(cudaMemcpyAsync(data + N / 2, host + N / 2, BYTES / 2, cudaMemcpyHostToDevice, b));
	} else {
		CHECK(cudaMemcpyAsync(data, host, BYTES / 2 + sizeof(float), cudaMemcpyHostToDevice, a));
		CHECK(cudaMemcpyAsync(data + N / 2, host + N / 2, BYTES / 2, cudaMemcpyHostToDevice, b));
	}
	finish({a, b}, {}, {data}, {host});
}
