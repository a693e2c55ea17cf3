/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a synchronous copy or set with managed memory make the host wait?  No document says it of copies.
 *
 * Memory is of cudaMallocManaged or of a managed pool, and its pages are nowhere yet (fresh), at the device
 * (prefetched) or at the host (touched).  A kernel of 20 ms runs on a blocking stream when the call is made.
 *
 * Output, a line a call: destination, source ("-": a set), bytes; of three rounds, in how many the call returned only
 * after the kernel, and in how many of three rounds on an idle device the copy was still in flight when it returned.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>

#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t e_ = (call);                                                                               \
		if (e_ != cudaSuccess) {                                                                               \
			printf("%s: %s\n", #call, cudaGetErrorString(e_));                                             \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

enum { ROUNDS = 3, SPIN_MS = 20 };

enum kind { DEVICE, PINNED, PAGEABLE, MANAGED, POOL, KINDS };
enum state { FRESH, AT_DEVICE, AT_HOST, STATES };
static const char *const kind_names[] = {"device", "pinned", "pageable", "managed", "managed pool"};
static const char *const state_names[] = {"fresh", "at the device", "at the host"};

struct memory {
	kind is;
	state where;
};

static cudaMemPool_t pool;
static cudaStream_t blocking;

__global__ void spin(unsigned long long ns)
{
	unsigned long long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < ns);
}

static double now_ms()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void *make(memory m, size_t bytes)
{
	void *p = NULL;
	cudaMemLocation here = {cudaMemLocationTypeDevice, 0};

	if (m.is == DEVICE)
		CHECK(cudaMalloc(&p, bytes));
	else if (m.is == PINNED)
		CHECK(cudaMallocHost(&p, bytes));
	else if (m.is == MANAGED)
		CHECK(cudaMallocManaged(&p, bytes));
	else if (m.is == POOL)
		CHECK(cudaMallocFromPoolAsync(&p, bytes, pool, blocking));
	else
		p = malloc(bytes);
	CHECK(cudaDeviceSynchronize());
	if (m.is == PAGEABLE || (m.is > PAGEABLE && m.where == AT_HOST))
		memset(p, 1, bytes);
	if (m.is > PAGEABLE && m.where == AT_DEVICE)
		CHECK(cudaMemPrefetchAsync(p, bytes, here, 0, blocking));
	CHECK(cudaDeviceSynchronize());
	return p;
}

static void drop(memory m, void *p)
{
	CHECK(cudaDeviceSynchronize());
	if (m.is == PINNED)
		CHECK(cudaFreeHost(p));
	else if (m.is == POOL)
		CHECK(cudaFreeAsync(p, blocking));
	else if (m.is == PAGEABLE)
		free(p);
	else
		CHECK(cudaFree(p));
	CHECK(cudaDeviceSynchronize());
}

/* A copy from `from`, or a set if that is NULL. */
static void call(void *to, void *from, size_t bytes)
{
	if (from)
		CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
	else
		CHECK(cudaMemset(to, 1, bytes));
}

static void row(memory to, const memory *from, size_t bytes)
{
	unsigned waited = 0, flying = 0;

	for (int round = -1; round < 2 * ROUNDS; round++) {
		void *d = make(to, bytes), *s = from ? make(*from, bytes) : NULL;
		bool busy = round >= 0 && round < ROUNDS;
		if (busy)
			spin<<<1, 1, 0, blocking>>>(SPIN_MS * 1000000ull);
		double before = now_ms();
		call(d, s, bytes);
		double took = now_ms() - before;
		bool done = cudaStreamQuery(cudaStreamLegacy) == cudaSuccess;
		(void)cudaGetLastError();
		waited += busy && took > 0.8 * SPIN_MS;
		flying += round >= ROUNDS && !done;
		drop(to, d);
		if (from)
			drop(*from, s);
	}
	printf("%s%s%s\t%s%s%s\t%zu\t%u/%d\t%u/%d\n", kind_names[to.is], to.is > PAGEABLE ? ", " : "",
	       to.is > PAGEABLE ? state_names[to.where] : "", from ? kind_names[from->is] : "-",
	       from && from->is > PAGEABLE ? ", " : "", from && from->is > PAGEABLE ? state_names[from->where] : "",
	       bytes, waited, (int)ROUNDS, flying, (int)ROUNDS);
	fflush(stdout);
}

int main()
{
	cudaMemPoolProps p;

	memset(&p, 0, sizeof p);
	p.allocType = (cudaMemAllocationType)2; /* managed, CUDA 13.0 */
	p.location.type = (cudaMemLocationType)0;
	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreate(&blocking));
	bool pools = cudaMemPoolCreate(&pool, &p) == cudaSuccess;
	(void)cudaGetLastError();
	spin<<<1, 1, 0, blocking>>>(1000);
	CHECK(cudaDeviceSynchronize());

	memory all[KINDS * STATES];
	int n = 0;
	for (int k = 0; k < KINDS; k++)
		for (int s = 0; s < STATES; s++)
			if ((k > PAGEABLE || !s) && (k != POOL || pools))
				all[n++] = {(kind)k, (state)s};
	for (size_t bytes : {(size_t)4096, (size_t)32 << 20}) {
		for (int to = 0; to < n; to++)
			for (int from = 0; from < n; from++)
				row(all[to], &all[from], bytes);
		for (int to = 0; to < n; to++)
			if (all[to].is != PAGEABLE)
				row(all[to], NULL, bytes);
	}
	return 0;
}
