/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of the calls that programs make most: p50 and p99 of single calls, and the mean of a launch-bound loop.
 * Run it bare and recorded in turn on one machine and compare the rows as ratios (tests/gpu/run does); absolute
 * numbers mean little on a shared machine.  Output: call, p50 ns, p99 ns, mean ns of the whole loop.
 *
 * usage: bench_calls [CALLS]
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <time.h>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t e_ = (call);                                                                               \
		if (e_ != cudaSuccess) {                                                                               \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                                    \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

__global__ void tiny(float *out, const float *in, int n)
{
	if (n < 0)
		out[0] = in[0];
}

static double now_ns()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* A deeper stack for rows that say so: the recorder's cost depends on it. */
template <int depth, typename F> __attribute__((noinline)) static void under(F f)
{
	if constexpr (depth == 0)
		f();
	else
		under<depth - 1>(f);
	asm volatile("");
}

template <typename F> static void row(const char *name, int calls, F f)
{
	std::vector<double> single(calls);
	for (int i = 0; i < 200; i++)
		f();
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < calls; i++) {
		double t = now_ns();
		f();
		single[i] = now_ns() - t;
		if (i % 500 == 499)
			CHECK(cudaDeviceSynchronize());
	}
	CHECK(cudaDeviceSynchronize());
	double start = now_ns();
	for (int i = 0; i < calls; i++)
		f();
	double mean = (now_ns() - start) / calls;
	CHECK(cudaDeviceSynchronize());
	std::sort(single.begin(), single.end());
	printf("%s\t%.0f\t%.0f\t%.0f\n", name, single[calls / 2], single[calls - calls / 100], mean);
}

int main(int argc, char **argv)
{
	const int calls = argc > 1 ? atoi(argv[1]) : 20000;
	cudaStream_t s, t;
	cudaEvent_t e;
	float *d, *h;
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	CHECK(cudaMalloc(&d, 1 << 20));
	CHECK(cudaMallocHost(&h, 1 << 20));
	auto launch = [&] { tiny<<<1, 32, 0, s>>>(d, d + 1024, 1); };
	row("launch", calls, launch);
	row("launch, 10 frames deeper", calls, [&] { under<10>(launch); });
	row("launch, 30 frames deeper", calls, [&] { under<30>(launch); });
	row("eventRecord", calls, [&] { cudaEventRecord(e, s); });
	row("streamWaitEvent", calls, [&] { cudaStreamWaitEvent(t, e, 0); });
	row("memcpyAsync 256B pinned", calls, [&] { cudaMemcpyAsync(d, h, 256, cudaMemcpyHostToDevice, s); });
	row("memsetAsync 256B", calls, [&] { cudaMemsetAsync(d, 0, 256, s); });
	row("streamQuery", calls, [&] { cudaStreamQuery(s); });
	row("streamSynchronize idle", calls, [&] { cudaStreamSynchronize(s); });
	CHECK(cudaDeviceSynchronize());
	return 0;
}
