/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs in this folder share: their options and description, checked calls, buffers, kernels that last.
 *
 * Each program shows one mistake and, with --fixed, the same work done right.  A mistake is there in every run by
 * construction: an edge of the order is missing or a call waits.  That the race is lost or won is of no interest, so
 * no result is checked.  Kernels whose names begin with "spin" take some milliseconds, so that a needless wait costs
 * something that can be measured.
 */
#ifndef KERNELS_CASE_H
#define KERNELS_CASE_H

#include <cuda_runtime.h>

#include "options.h"

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t check_status = (call);                                                                     \
		if (check_status != cudaSuccess) {                                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                                  \
				cudaGetErrorString(check_status));                                                     \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

/* Launch errors are not returned by <<<>>>. */
#define CHECK_LAUNCH() CHECK(cudaPeekAtLastError())

constexpr int N = 1 << 16; /* floats in each buffer */
constexpr size_t BYTES = N * sizeof(float);
constexpr int BLOCK = 256;
constexpr int GRID = N / BLOCK;
constexpr unsigned SPIN_NS = 3000000;
constexpr unsigned HOST_NS = 2000000; /* host_work() during a kernel */

/* ---- kernels: const pointers are read, the others written ---------------------------------------------------- */

__device__ inline unsigned long long now_ns()
{
	unsigned long long t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

__device__ inline void spin_for(unsigned ns)
{
	unsigned long long start = now_ns();

	while (now_ns() - start < ns)
		;
}

/* Touches nothing. */
__global__ void spin(unsigned ns)
{
	spin_for(ns);
}

__global__ void spin_write(float *out, int n, float value, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[i] = value;
}

__global__ void spin_copy(float *out, const float *in, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[i] = in[i];
}

__global__ void quick_write(float *out, int n, float value)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = value;
}

__global__ void quick_copy(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i];
}

/* ---- options -------------------------------------------------------------------------------------------------- */

class Case : public Options
{
      public:
	Case(int argc, char **argv, const char *shows, const char *wrong, const char *corrected,
	     std::initializer_list<const char *> variants = {})
	    : Options(argc, argv, shows, wrong, corrected, variants)
	{
		load(spin, spin_write, spin_copy, quick_write, quick_copy);
	}

	/* Code is loaded lazily, and loading holds other streams back: only the program lazy_load is about that. */
	template <typename... Kernels> static void load(Kernels... kernels)
	{
		cudaFuncAttributes attributes;

		for (const void *kernel : {reinterpret_cast<const void *>(kernels)...})
			CHECK(cudaFuncGetAttributes(&attributes, kernel));
	}
};

/* ---- things that every program makes -------------------------------------------------------------------------- */

inline float *device_buffer(size_t bytes = BYTES)
{
	void *p;

	CHECK(cudaMalloc(&p, bytes));
	return static_cast<float *>(p);
}

inline float *pinned_buffer(size_t bytes = BYTES)
{
	void *p;

	CHECK(cudaMallocHost(&p, bytes));
	memset(p, 0, bytes);
	return static_cast<float *>(p);
}

inline float *pageable_buffer(size_t bytes = BYTES)
{
	void *p = calloc(1, bytes);

	if (!p) {
		perror("calloc");
		exit(1);
	}
	return static_cast<float *>(p);
}

/* Non-blocking: nothing but the edges that the program makes orders it with other streams. */
inline cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking)
{
	cudaStream_t s;

	CHECK(cudaStreamCreateWithFlags(&s, flags));
	return s;
}

inline cudaEvent_t new_event(unsigned flags = cudaEventDisableTiming)
{
	cudaEvent_t e;

	CHECK(cudaEventCreateWithFlags(&e, flags));
	return e;
}

/* The usual end of a program: everything is done before anything is returned. */
inline void finish(std::initializer_list<cudaStream_t> streams, std::initializer_list<cudaEvent_t> events,
		   std::initializer_list<float *> device, std::initializer_list<float *> pinned = {})
{
	CHECK(cudaDeviceSynchronize());
	hot_end();
	for (cudaEvent_t e : events)
		CHECK(cudaEventDestroy(e));
	for (cudaStream_t s : streams)
		CHECK(cudaStreamDestroy(s));
	for (float *p : device)
		CHECK(cudaFree(p));
	for (float *p : pinned)
		CHECK(cudaFreeHost(p));
}

#endif
