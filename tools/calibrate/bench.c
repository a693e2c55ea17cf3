/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/*
 * The kernels, as PTX for every device since sm_50; volatile loads read host memory each time.  %globaltimer ticks in
 * microseconds or finer on all of them (PTX ISA, "Special Registers: %globaltimer").
 */
static const char head[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			   ".visible .global .align 4 .b8 sw_symbol[1024];\n";
#define SPIN(name)                                                                                                     \
	".visible .entry " name "(.param .u64 stop, .param .u64 ns)\n{\n"                                              \
	"\t.reg .pred %p<3>;\n\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<6>;\n"                                               \
	"\tld.param.u64 %rd1, [stop];\n\tld.param.u64 %rd2, [ns];\n"                                                   \
	"\tcvta.to.global.u64 %rd1, %rd1;\n"                                                                           \
	"\tmov.u64 %rd3, %globaltimer;\n"                                                                              \
	"again:\n"                                                                                                     \
	"\tld.volatile.global.u32 %r1, [%rd1];\n"                                                                      \
	"\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra done;\n"                                                               \
	"\tmov.u64 %rd4, %globaltimer;\n\tsub.u64 %rd5, %rd4, %rd3;\n"                                                 \
	"\tsetp.lt.u64 %p2, %rd5, %rd2;\n\t@%p2 bra again;\n"                                                          \
	"done:\n\tret;\n}\n"
/* The simulated CUDA knows kernels by their names: one for each time. */
static const char spinning[] = SPIN("sw_spin") SPIN("sw_patient");

/* The PTX of all kernels, malloc'ed. */
static char *kernels_text(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	fprintf(out, "%s%s.visible .entry sw_quick()\n{\n\tret;\n}\n", head, spinning);
	for (int i = 0; i < SW_BENCH_FRESH; i++)
		fprintf(out, ".visible .entry sw_fresh%d()\n{\n\tret;\n}\n", i);
	fclose(out);
	return text;
}

/* Fills in the error of a driver call. */
static int fail_call(struct sw_error *error, const char *call, CUresult result)
{
	return sw_fail(error, -EIO, "%s failed with CUDA error %d", call, (int)result);
}

#define TRY(call, ...)                                                                                                 \
	do {                                                                                                           \
		CUresult try_result = bench->d.call(__VA_ARGS__);                                                      \
		if (try_result)                                                                                        \
			return fail_call(error, #call, try_result);                                                    \
	} while (0)

/* Opens the first device and its primary context. */
static int open_device(struct sw_bench *bench, struct sw_error *error)
{
	TRY(cuInit, 0);
	TRY(cuDeviceGet, &bench->device, 0);
	TRY(cuDevicePrimaryCtxRetain, &bench->context, bench->device);
	TRY(cuCtxSetCurrent, bench->context);
	return 0;
}

/* Allocates the memory that the rows use. */
static int make_memory(struct sw_bench *bench, struct sw_error *error)
{
	TRY(cuMemAlloc_v2, &bench->dev, SW_BENCH_LARGE);
	TRY(cuMemAlloc_v2, &bench->dev2, SW_BENCH_LARGE);
	TRY(cuMemHostAlloc, (void **)&bench->pinned, SW_BENCH_LARGE, 0);
	TRY(cuMemHostAlloc, (void **)&bench->stop, 4096, CU_MEMHOSTALLOC_DEVICEMAP);
	bench->pageable = sw_calloc(1, SW_BENCH_LARGE);
	bench->pageable2 = sw_calloc(1, SW_BENCH_LARGE);
	bench->pages = aligned_alloc(4096, 1 << 20);
	/* Untouched pages have no memory yet: their first faults would count as the call's own work. */
	memset(bench->pageable, 1, SW_BENCH_LARGE);
	memset(bench->pageable2, 1, SW_BENCH_LARGE);
	if (bench->pages)
		memset(bench->pages, 1, 1 << 20);
	return bench->pages ? 0 : sw_fail(error, -ENOMEM, "out of memory");
}

/* Makes the streams that the rows use: two without other work, one for a kernel that spins, a blocking one. */
static int make_streams(struct sw_bench *bench, struct sw_error *error)
{
	TRY(cuStreamCreate, &bench->nb1, CU_STREAM_NON_BLOCKING);
	TRY(cuStreamCreate, &bench->nb2, CU_STREAM_NON_BLOCKING);
	TRY(cuStreamCreate, &bench->nb3, CU_STREAM_NON_BLOCKING);
	TRY(cuStreamCreate, &bench->blk, CU_STREAM_DEFAULT);
	TRY(cuEventCreate, &bench->event, CU_EVENT_DISABLE_TIMING);
	TRY(cuEventCreate, &bench->spin_end, CU_EVENT_DISABLE_TIMING);
	return 0;
}

/* Loads the kernels: one that spins until it is told to stop, one that does nothing. */
static int load_kernels(struct sw_bench *bench, struct sw_error *error)
{
	CUkernel spin, patient, quick;
	size_t bytes;
	char *text = kernels_text();
	CUresult rc = bench->d.cuLibraryLoadData(&bench->library, text, NULL, NULL, 0, NULL, NULL, 0);
	free(text);
	if (rc)
		return fail_call(error, "cuLibraryLoadData", rc);
	TRY(cuLibraryGetKernel, &spin, bench->library, "sw_spin");
	TRY(cuLibraryGetKernel, &patient, bench->library, "sw_patient");
	TRY(cuLibraryGetKernel, &quick, bench->library, "sw_quick");
	TRY(cuLibraryGetGlobal, &bench->symbol, &bytes, bench->library, "sw_symbol");
	/* As the runtime does: a kernel's handle stands for its function. */
	bench->spin = (CUfunction)spin;
	bench->spin_long = (CUfunction)patient;
	bench->quick = (CUfunction)quick;
	return 0;
}

/* How long a spinning kernel runs if it is not stopped. */
uint64_t sw_bench_spin_ns(const struct sw_bench *bench)
{
	return bench->patient ? SW_BENCH_PATIENT_NS : SW_BENCH_SPIN_NS;
}

/* Launches a kernel that spins on this stream. */
CUresult sw_bench_spin(struct sw_bench *bench, CUstream stream)
{
	uint64_t stop = (uint64_t)(uintptr_t)bench->stop, ns = sw_bench_spin_ns(bench);
	void *params[] = {&stop, &ns};
	*bench->stop = 0;
	return bench->d.cuLaunchKernel(bench->patient ? bench->spin_long : bench->spin, 1, 1, 1, 1, 1, 1, 0, stream,
				       params, NULL);
}

/* Stops the spinning kernel. */
void sw_bench_stop(struct sw_bench *bench)
{
	*bench->stop = 1;
	if (bench->d.simulated_finish)
		bench->d.simulated_finish();
}

/* Launches a kernel that does nothing. */
CUresult sw_bench_quick(struct sw_bench *bench, CUstream stream)
{
	return bench->d.cuLaunchKernel(bench->quick, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

/* Runs all that a row uses once, so that nothing is loaded for the first time while it is measured. */
static int warm_up(struct sw_bench *bench, struct sw_error *error)
{
	const CUstream streams[] = {bench->nb1, bench->nb2,	  bench->nb3,
				    bench->blk, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
	for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
		bench->patient = i == 0;
		CUresult rc = sw_bench_spin(bench, streams[i]);
		sw_bench_stop(bench);
		if (!rc)
			rc = sw_bench_quick(bench, streams[i]);
		if (rc)
			return fail_call(error, "cuLaunchKernel", rc);
		TRY(cuStreamSynchronize, streams[i]);
	}
	TRY(cuEventRecord, bench->event, bench->nb2);
	TRY(cuCtxSynchronize, );
	return 0;
}

/* Prepares everything that rows need; path: of the driver, NULL the system's. */
int sw_bench_open(struct sw_bench *bench, const char *path, struct sw_error *error)
{
	*bench = (struct sw_bench){0};
	int rc = sw_driver_load(&bench->d, path, error);
	if (!rc)
		rc = open_device(bench, error);
	if (!rc)
		rc = make_memory(bench, error);
	if (!rc)
		rc = make_streams(bench, error);
	if (!rc)
		rc = load_kernels(bench, error);
	return rc ? rc : warm_up(bench, error);
}
