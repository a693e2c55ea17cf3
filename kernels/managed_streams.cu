/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* cudaMemPrefetchAsync moves pages and orders its own stream alone; it changes no byte, so it races with nothing. */
static void prefetch(float *data, cudaStream_t stream)
{
#if CUDART_VERSION < 13000
	CHECK(cudaMemPrefetchAsync(data, BYTES, 0, stream));
#else
	cudaMemLocation here = {};

	here.type = cudaMemLocationTypeDevice;
	CHECK(cudaMemPrefetchAsync(data, BYTES, here, 0, stream));
#endif
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write in managed memory",
	       "two kernels share managed memory; the reader's stream prefetches it, which does not wait for the writer",
	       "the reader's stream waits for an event that the writer's recorded");
	float *data, *result;
	cudaStream_t writer = new_stream(), reader = new_stream();
	cudaEvent_t written = new_event();

	CHECK(cudaMallocManaged(&data, BYTES));
	CHECK(cudaMallocManaged(&result, BYTES));
	prefetch(data, writer);
	spin_write<<<GRID, BLOCK, 0, writer>>>(data, N, 1, SPIN_NS);
	if (c.fixed) {
		CHECK(cudaEventRecord(written, writer));
		CHECK(cudaStreamWaitEvent(reader, written, 0));
	}
	prefetch(data, reader);
	quick_copy<<<GRID, BLOCK, 0, reader>>>(result, data, N);
	CHECK_LAUNCH();
	finish({writer, reader}, {written}, {data, result});
}
