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

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include <cuda_runtime.h>

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

class Case {
public:
	bool fixed = false;

	/*
	 * Reads the command line: [--fixed] [VARIANT], or --help, or --list (the variants, one a line, "-" where there
	 * is only one way to run the program).  A variant is one or more words.  `shows` names the findings.
	 */
	Case(int argc, char **argv, const char *shows, const char *wrong, const char *mended,
	     std::initializer_list<const char *> variants = {})
	{
		std::string given;

		for (int i = 1; i < argc; i++) {
			if (!strcmp(argv[i], "--help"))
				help(argv[0], shows, wrong, mended, variants);
			else if (!strcmp(argv[i], "--list"))
				list(variants);
			else if (!strcmp(argv[i], "--fixed"))
				fixed = true;
			else
				given += (given.empty() ? "" : " ") + std::string(argv[i]);
		}
		if (!known(given, variants)) {
			fprintf(stderr, "%s: unknown or missing variant '%s'; see --help\n", argv[0], given.c_str());
			exit(2);
		}
		variant = given;
		/* The simulated CUDA does not execute kernels: it is told how long they take. */
		setenv("SYNCWATCH_SIM_KERNEL_TIME", "spin*=3ms", 0);
		load_kernels();
	}

	/* Word `at` of the variant, from 0. */
	std::string word(int at) const
	{
		size_t from = 0;

		while (at-- > 0)
			from = variant.find(' ', from) + 1;
		return variant.substr(from, variant.find(' ', from) - from);
	}

	bool is(const char *name) const
	{
		return variant == name;
	}

private:
	std::string variant;

	static bool known(const std::string &given, std::initializer_list<const char *> variants)
	{
		for (const char *v : variants)
			if (given == v)
				return true;
		return variants.size() == 0 && given.empty();
	}

	[[noreturn]] static void help(const char *name, const char *shows, const char *wrong, const char *mended,
				      std::initializer_list<const char *> variants)
	{
		printf("usage: %s [--fixed]%s | --help | --list\n\nShows: %s\nWrong: %s\nFixed: %s\n", name,
		       variants.size() ? " VARIANT" : "", shows, wrong, mended);
		for (const char *v : variants)
			printf("variant: %s\n", v);
		exit(0);
	}

	[[noreturn]] static void list(std::initializer_list<const char *> variants)
	{
		if (!variants.size())
			puts("-");
		for (const char *v : variants)
			puts(v);
		exit(0);
	}

	/* Code is loaded lazily, and loading holds other streams back: only the program lazy_load wants to see that. */
	static void load_kernels()
	{
		cudaFuncAttributes attributes;

		CHECK(cudaFuncGetAttributes(&attributes, spin));
		CHECK(cudaFuncGetAttributes(&attributes, spin_write));
		CHECK(cudaFuncGetAttributes(&attributes, spin_copy));
		CHECK(cudaFuncGetAttributes(&attributes, quick_write));
		CHECK(cudaFuncGetAttributes(&attributes, quick_copy));
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

/* The usual end of a program: everything is done before anything is given back. */
inline void finish(std::initializer_list<cudaStream_t> streams, std::initializer_list<cudaEvent_t> events,
		   std::initializer_list<float *> device, std::initializer_list<float *> pinned = {})
{
	CHECK(cudaDeviceSynchronize());
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
