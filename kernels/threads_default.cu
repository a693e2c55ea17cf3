/* SPDX-License-Identifier: Apache-2.0 */
#include <thread>
#include <vector>

#include <pthread.h>

#include "case.h"

/* Built twice.  With -default-stream per-thread "the default stream" is another one in each thread. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write, with -default-stream per-thread only",
	       "every host thread fills the same buffer on its default stream: one stream as nvcc builds by default, "
	       "one a thread with -default-stream per-thread",
	       "every thread has a buffer of its own");
	constexpr int THREADS = 3;
	float *host = pinned_buffer(), *shared = device_buffer(), *own[THREADS];
	std::vector<std::thread> threads;
	pthread_barrier_t all_issued; /* a thread that waits for its stream would order the next one after it */

	pthread_barrier_init(&all_issued, nullptr, THREADS);
	for (int i = 0; i < THREADS; i++)
		own[i] = device_buffer();
	for (int i = 0; i < THREADS; i++)
		threads.emplace_back([&, i] {
			spin<<<1, 1>>>(SPIN_NS);
			CHECK(cudaMemcpyAsync(c.fixed ? own[i] : shared, host, BYTES, cudaMemcpyHostToDevice, 0));
			pthread_barrier_wait(&all_issued);
			CHECK(cudaStreamSynchronize(0));
		});
	for (std::thread &t : threads)
		t.join();
	for (int i = 0; i < THREADS; i++)
		CHECK(cudaFree(own[i]));
	finish({}, {}, {shared}, {host});
}
