/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__device__ float table[1024];

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write on a __device__ variable",
	       "a variable is set by cudaMemcpyToSymbolAsync on one stream and read by another",
	       "the reading stream waits for an event recorded after the copy to the variable");
	float *in = pinned_buffer(sizeof(table)), *out = pinned_buffer(sizeof(table));
	cudaStream_t set = new_stream(), get = new_stream();
	cudaEvent_t done = new_event();

	spin<<<1, 1, 0, set>>>(SPIN_NS);
	if (c.fixed) {
		CHECK(cudaMemcpyToSymbolAsync(table, in, sizeof(table), 0, cudaMemcpyHostToDevice, set));
		CHECK(cudaEventRecord(done, set));
		CHECK(cudaStreamWaitEvent(get, done, 0));
		CHECK(cudaMemcpyFromSymbolAsync(out, table, sizeof(table), 0, cudaMemcpyDeviceToHost, get));
	} else {
		CHECK(cudaMemcpyToSymbolAsync(table, in, sizeof(table), 0, cudaMemcpyHostToDevice, set));
		CHECK(cudaMemcpyFromSymbolAsync(out, table, sizeof(table), 0, cudaMemcpyDeviceToHost, get));
	}
	finish({set, get}, {done}, {}, {in, out});
}
