/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, a kernel that writes pinned memory directly",
	       "a kernel writes its result straight into pinned host memory; the host reads it while the kernel runs",
	       "the host synchronises the stream first");
	float *landing = pinned_buffer(), *result = pageable_buffer();
	cudaStream_t compute = new_stream();

	spin_write<<<GRID, BLOCK, 0, compute>>>(landing, N, 1, SPIN_NS);
	CHECK_LAUNCH();
	if (c.fixed)
		CHECK(cudaStreamSynchronize(compute));
	CHECK(cudaMemcpy(result, landing, BYTES, cudaMemcpyHostToHost));
	finish({compute}, {}, {}, {landing});
	free(result);
}
