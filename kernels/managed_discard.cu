/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Managed memory whose bytes are of no use any more.  Before CUDA 13 a set, which leaves other bytes as well. */
static void discard(bool prefetch, float *data, cudaStream_t stream)
{
#if CUDART_VERSION < 13000
	(void)prefetch;
	CHECK(cudaMemsetAsync(data, 0xff, BYTES, stream));
#else
	void *at[] = {data, data + N / 2};
	size_t bytes[] = {BYTES / 2, BYTES / 2}, first = 0;
	cudaMemLocation here = {};

	here.type = cudaMemLocationTypeDevice;
	if (prefetch)
		CHECK(cudaMemDiscardAndPrefetchBatchAsync(at, bytes, 2, &here, &first, 1, 0, stream));
	else
		CHECK(cudaMemDiscardBatchAsync(at, bytes, 2, 0, stream));
#endif
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read, SW103 race-write-after-write in managed memory",
	       "the reader's buffer is discarded (discard), or discarded and prefetched (prefetch), on another stream "
	       "while the kernel may still read it; or a kernel writes what is discarded on another stream (written)",
	       "the stream that discards waits for an event recorded after the kernel",
	       {"discard", "prefetch", "written"});
	float *data, *result;
	cudaStream_t worker = new_stream(), cleaner = new_stream();
	cudaEvent_t used = new_event();

	CHECK(cudaMallocManaged(&data, BYTES));
	CHECK(cudaMallocManaged(&result, BYTES));
	if (c.is("written"))
		spin_write<<<GRID, BLOCK, 0, worker>>>(data, N, 1, SPIN_NS);
	else
		quick_copy<<<GRID, BLOCK, 0, worker>>>(result, data, N);
	CHECK_LAUNCH();
	if (c.fixed) {
		CHECK(cudaEventRecord(used, worker));
		CHECK(cudaStreamWaitEvent(cleaner, used, 0));
	}
	discard(c.is("prefetch"), data, cleaner);
	finish({worker, cleaner}, {used}, {data, result});
}
