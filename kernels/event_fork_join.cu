/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* One stream forks work to several and joins it again, with one event a branch, many times over. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 where one join is left out",
	       "the main stream waits for all branches but the last before it collects their results",
	       "the main stream waits for every branch");
	constexpr int BRANCHES = 4, ROUNDS = 5;
	float *input = device_buffer(), *result = device_buffer(), *part[BRANCHES];
	cudaStream_t main_stream = new_stream(), branch[BRANCHES];
	cudaEvent_t forked = new_event(), joined[BRANCHES];

	for (int i = 0; i < BRANCHES; i++) {
		part[i] = device_buffer();
		branch[i] = new_stream();
		joined[i] = new_event();
	}
	for (int round = 0; round < ROUNDS; round++) {
		CHECK(cudaMemsetAsync(input, round, BYTES, main_stream));
		CHECK(cudaEventRecord(forked, main_stream));
		for (int i = 0; i < BRANCHES; i++) {
			CHECK(cudaStreamWaitEvent(branch[i], forked, 0));
			CHECK(cudaMemcpyAsync(part[i], input, BYTES, cudaMemcpyDeviceToDevice, branch[i]));
			CHECK(cudaEventRecord(joined[i], branch[i]));
		}
		for (int i = 0; i < (c.fixed ? BRANCHES : BRANCHES - 1); i++)
			CHECK(cudaStreamWaitEvent(main_stream, joined[i], 0));
		for (int i = 0; i < BRANCHES; i++)
			CHECK(cudaMemcpyAsync(result, part[i], BYTES, cudaMemcpyDeviceToDevice, main_stream));
	}
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < BRANCHES; i++) {
		CHECK(cudaEventDestroy(joined[i]));
		CHECK(cudaStreamDestroy(branch[i]));
		CHECK(cudaFree(part[i]));
	}
	finish({main_stream}, {forked}, {input, result});
}
