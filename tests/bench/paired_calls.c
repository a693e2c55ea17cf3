/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording adds to a call, by pairs in one process: blocks of calls through the recorder's wrappers alternate
 * with blocks of calls of the driver's own functions, so that the speed of the machine cancels out.  Run it with the
 * recorder preloaded; without it both sides are the same, which shows the noise of the method.
 *
 * Programs do other work between two calls.  In the rows "after other work" as much code runs and as much memory is
 * read before each call, on both sides, as a core's first caches hold.
 *
 * usage: paired_calls [ROUNDS [CALLS_A_BLOCK [ROW [THREADS]]]]     ROW: only that one of the rows, from 0
 * THREADS: so many make the calls at the same time, each on a stream and an event of its own; ns are means over them.
 * Output: call, frames above main, bare ns (median over rounds of the mean of a block), recorded minus bare: median and
 * 25 % and 75 % quantile of the rounds' differences, ratio of the medians.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda.h>

struct driver {
	CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
			   void **, void **);
	CUresult (*record)(CUevent, CUstream);
	CUresult (*set)(CUdeviceptr, unsigned char, size_t, CUstream);
};

static struct {
	CUcontext context;
	CUfunction function;
	CUdeviceptr memory;
	CUresult (*synchronize)(CUstream);
	CUresult (*use)(CUcontext);
	CUresult (*make_stream)(CUstream *, unsigned);
	CUresult (*make_event)(CUevent *, unsigned);
} cuda;
static __thread CUstream stream;
static __thread CUevent event;

static const char kernel[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
			     ".visible .entry tiny(.param .u64 out, .param .u32 n)\n{\n"
			     ".reg .pred %p;\n.reg .u32 %r<2>;\n.reg .u64 %rd<2>;\n"
			     "ld.param.u64 %rd0, [out];\nld.param.u32 %r0, [n];\n"
			     "setp.ne.u32 %p, %r0, 4294967295;\n@%p ret;\nst.global.u32 [%rd0], %r0;\nret;\n}\n";

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- the driver's own functions, which no lookup through a preloaded dlsym() gives ---- */

static uint32_t symbols_of(const uint32_t *hash)
{
	uint32_t buckets = hash[0], first = hash[1], last = 0;
	const uint32_t *bucket = hash + 4 + hash[2] * 2, *chain = bucket + buckets;
	for (uint32_t i = 0; i < buckets; i++)
		last = bucket[i] > last ? bucket[i] : last;
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

static void *own_function(void *library, const char *name)
{
	struct link_map *map;
	const ElfW(Sym) *symbol = NULL;
	const char *strings = NULL;
	const uint32_t *hash = NULL;
	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		return NULL;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbol = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			strings = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_GNU_HASH)
			hash = (const void *)d->d_un.d_ptr;
	}
	for (uint32_t i = 0, n = symbol && strings && hash ? symbols_of(hash) : 0; i < n; i++)
		if (symbol[i].st_value && !strcmp(strings + symbol[i].st_name, name))
			return (void *)(map->l_addr + symbol[i].st_value);
	return NULL;
}

static void *need(void *function, const char *name)
{
	if (function)
		return function;
	fprintf(stderr, "no %s\n", name);
	exit(1);
}

static void must(CUresult status, const char *what)
{
	if (status == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: error %d\n", what, (int)status);
	exit(1);
}

/* ---- one block of calls, from a given depth ---- */

enum call { LAUNCH_SAME, LAUNCH_NEW, LAUNCH_TURN, RECORD, SET };

#define LINES 1024
#ifdef __x86_64__
#define JUMP "jmp"
#else
#define JUMP "b"
#endif

/* A jump in each line of 64 KiB of code, a load from each line of as much memory. */
__attribute__((noinline)) static void other_work(void)
{
	static const volatile char memory[LINES * 64] = {1};
	for (unsigned i = 0; i < LINES; i++)
		(void)memory[i * 64];
	__asm__ volatile(".rept 1024\n\t" JUMP " 1f\n\t.balign 64\n1:\n\t.endr");
}

static void calls(const struct driver *d, enum call call, bool between, unsigned n)
{
	static __thread unsigned fresh;
	unsigned argument = 0;
	void *arguments[] = {&cuda.memory, &argument};
	for (unsigned i = 0; i < n; i++) {
		if (between)
			other_work();
		if (call == LAUNCH_NEW)
			argument = fresh++ & 0xffffff;
		if (call == LAUNCH_TURN)
			argument = 0x1000000 + (i & 63);
		if (call == RECORD)
			d->record(event, stream);
		else if (call == SET)
			d->set(cuda.memory, 0, 256, stream);
		else
			d->launch(cuda.function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL);
	}
}

__attribute__((noinline)) static double below(unsigned depth, const struct driver *d, enum call call, bool between,
					      unsigned n)
{
	double result;
	if (depth) {
		result = below(depth - 1, d, call, between, n);
	} else {
		double start = now_ns();
		calls(d, call, between, n);
		result = (now_ns() - start) / n;
	}
	__asm__ volatile("" : "+m"(result)); /* no tail call */
	return result;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

struct row {
	const char *name;
	enum call call;
	unsigned depth;
	bool between; /* other work */
};

/* ---- the threads ---- */

#define MOST_THREADS 256u

static struct {
	pthread_barrier_t begin, end;
	unsigned n, calls;
	const struct row *row;	     /* NULL: no more */
	const struct driver *driver; /* of this block */
	double ns[MOST_THREADS];     /* a call, by thread */
} block;

static void use_device(void)
{
	must(cuda.use(cuda.context), "cuCtxSetCurrent");
	must(cuda.make_stream(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	must(cuda.make_event(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
}

static void do_block(unsigned thread)
{
	const struct row *row = block.row;
	block.ns[thread] = below(row->depth, block.driver, row->call, row->between, block.calls);
	must(cuda.synchronize(stream), "cuStreamSynchronize");
}

static void *work(void *number)
{
	use_device();
	for (;;) {
		pthread_barrier_wait(&block.begin);
		if (!block.row)
			return NULL;
		do_block((unsigned)(uintptr_t)number);
		pthread_barrier_wait(&block.end);
	}
}

/* Nanoseconds a call, the mean of all threads. */
static double all_threads(const struct row *row, const struct driver *driver)
{
	double sum = 0;
	block.row = row;
	block.driver = driver;
	pthread_barrier_wait(&block.begin);
	do_block(0);
	pthread_barrier_wait(&block.end);
	for (unsigned i = 0; i < block.n; i++)
		sum += block.ns[i];
	return sum / block.n;
}

static void run(const struct row *row, const struct driver driver[2], unsigned rounds)
{
	double *bare = calloc(rounds, sizeof *bare), *more = calloc(rounds, sizeof *more);
	if (!bare || !more)
		exit(1);
	for (unsigned i = 0; i < rounds + 4; i++) {
		double ns[2];
		for (unsigned k = 0; k < 2; k++) {
			unsigned side = (i + k) & 1; /* neither is always the first */
			ns[side] = all_threads(row, &driver[side]);
		}
		if (i >= 4) {
			bare[i - 4] = ns[0];
			more[i - 4] = ns[1] - ns[0];
		}
	}
	qsort(bare, rounds, sizeof *bare, by_value);
	qsort(more, rounds, sizeof *more, by_value);
	double base = bare[rounds / 2], added = more[rounds / 2];
	printf("%-30s\t%u\t%.0f\t%+.0f\t%+.0f\t%+.0f\t%.3f\n", row->name, row->depth, base, added, more[rounds / 4],
	       more[rounds * 3 / 4], (base + added) / base);
	free(bare);
	free(more);
}

#define LIBRARY_FUNCTION(variable, name) *(void **)&(variable) = need(dlsym(library, name), name)

static void set_up(void *library)
{
	CUresult (*init)(unsigned), (*retain)(CUcontext *, CUdevice), (*load)(CUmodule *, const void *);
	CUresult (*find)(CUfunction *, CUmodule, const char *), (*alloc)(CUdeviceptr *, size_t);
	CUmodule module;
	LIBRARY_FUNCTION(init, "cuInit");
	LIBRARY_FUNCTION(retain, "cuDevicePrimaryCtxRetain");
	LIBRARY_FUNCTION(cuda.use, "cuCtxSetCurrent");
	LIBRARY_FUNCTION(load, "cuModuleLoadData");
	LIBRARY_FUNCTION(find, "cuModuleGetFunction");
	LIBRARY_FUNCTION(alloc, "cuMemAlloc_v2");
	LIBRARY_FUNCTION(cuda.make_stream, "cuStreamCreate");
	LIBRARY_FUNCTION(cuda.make_event, "cuEventCreate");
	LIBRARY_FUNCTION(cuda.synchronize, "cuStreamSynchronize");
	must(init(0), "cuInit");
	must(retain(&cuda.context, 0), "cuDevicePrimaryCtxRetain");
	use_device();
	must(load(&module, kernel), "cuModuleLoadData");
	must(find(&cuda.function, module, "tiny"), "cuModuleGetFunction");
	must(alloc(&cuda.memory, 1 << 20), "cuMemAlloc");
}

int main(int argc, char **argv)
{
	static const struct row rows[] = {
		{"launch, same arguments", LAUNCH_SAME, 0, false},
		{"launch, new arguments", LAUNCH_NEW, 0, false},
		{"launch, same arguments", LAUNCH_SAME, 36, false},
		{"launch, new arguments", LAUNCH_NEW, 36, false},
		{"eventRecord", RECORD, 0, false},
		{"eventRecord", RECORD, 36, false},
		{"memsetAsync, 256 bytes", SET, 0, false},
		{"memsetAsync, 256 bytes", SET, 36, false},
		{"launch, arguments in turn", LAUNCH_TURN, 36, false},
		{"launch, after other work", LAUNCH_SAME, 36, true},
		{"eventRecord, after other work", RECORD, 36, true},
	};
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 400;
	struct driver driver[2];
	pthread_t threads[MOST_THREADS];
	void *library = need(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), "libcuda.so.1");
	block.calls = argc > 2 ? (unsigned)atoi(argv[2]) : 200;
	block.n = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
	if (rounds < 4 || !block.calls || !block.n || block.n > MOST_THREADS)
		return 2;
	*(void **)&driver[0].launch = need(own_function(library, "cuLaunchKernel"), "cuLaunchKernel");
	*(void **)&driver[0].record = need(own_function(library, "cuEventRecord"), "cuEventRecord");
	*(void **)&driver[0].set = need(own_function(library, "cuMemsetD8Async"), "cuMemsetD8Async");
	LIBRARY_FUNCTION(driver[1].launch, "cuLaunchKernel");
	LIBRARY_FUNCTION(driver[1].record, "cuEventRecord");
	LIBRARY_FUNCTION(driver[1].set, "cuMemsetD8Async");
	set_up(library);
	pthread_barrier_init(&block.begin, NULL, block.n);
	pthread_barrier_init(&block.end, NULL, block.n);
	for (uintptr_t i = 1; i < block.n; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	if (driver[0].launch == driver[1].launch)
		printf("# nothing is recorded: both sides are the driver's own functions\n");
	printf("# call\tframes\tbare ns\trecorded adds ns: median\t25 %%\t75 %%\tratio\n");
	const size_t only = argc > 3 ? (size_t)atoi(argv[3]) : SIZE_MAX;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (only == SIZE_MAX || only == i)
			run(&rows[i], driver, rounds);
	block.row = NULL;
	pthread_barrier_wait(&block.begin);
	for (unsigned i = 1; i < block.n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
