/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that forbid calls, one kind after the other: a line for each with what was found. */
#include <cuda.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syncwatch/syncwatch.h"

#define BYTES (1u << 20)

static CUstream stream;
static CUdeviceptr data, other;
static char *pinned, *pageable;
static CUevent event;
static CUmodule module;

static void must(CUresult status, const char *what)
{
	if (status == CUDA_SUCCESS)
		return;
	printf("%s: %d\n", what, status);
	exit(1);
}
#define MUST(call) must(call, #call)

static void sync_stream(void)
{
	MUST(cuStreamSynchronize(stream));
}
static void query(void)
{
	MUST(cuStreamQuery(stream));
}
static void elapsed(void)
{
	float ms;
	MUST(cuEventElapsedTime(&ms, event, event));
}
static void copy_value(void)
{
	MUST(cuMemcpyDtoH(pinned, data, 4));
}
static void copy_pinned(void)
{
	MUST(cuMemcpyHtoDAsync(data, pinned, BYTES, stream));
}
static void copy_pageable_up(void)
{
	MUST(cuMemcpyHtoDAsync(data, pageable, BYTES, stream));
}
static void copy_pageable_down(void)
{
	MUST(cuMemcpyDtoHAsync(pageable, data, BYTES, stream));
}
static void copy_unified(void)
{
	MUST(cuMemcpyAsync(data, (CUdeviceptr)(uintptr_t)pageable, BYTES, stream));
}
static void copy_within(void)
{
	MUST(cuMemcpyDtoD(other, data, BYTES));
}
static void set(void)
{
	MUST(cuMemsetD8Async(data, 0, BYTES, stream));
}
static void alloc(void)
{
	CUdeviceptr p;
	MUST(cuMemAlloc(&p, BYTES));
}
static void alloc_async(void)
{
	CUdeviceptr p;
	MUST(cuMemAllocAsync(&p, BYTES, stream));
	MUST(cuMemFreeAsync(p, stream));
}
static void release(void)
{
	CUdeviceptr p;
	MUST(cuMemAlloc(&p, BYTES));
	MUST(cuMemFree(p));
}
static void pin(void)
{
	void *p;
	MUST(cuMemAllocHost(&p, BYTES));
}
static void enroll(void)
{
	MUST(cuMemHostRegister(pageable, BYTES, 0));
	MUST(cuMemHostUnregister(pageable));
}
static void refused(void)
{
	CUdeviceptr p;
	(void)cuMemAlloc(&p, 0);
}

/* Another thread is in no block. */
static void *on_its_own(void *function)
{
	void (*call)(void) = (void (*)(void))(uintptr_t)function;
	MUST(cuCtxSetCurrent(NULL) == CUDA_SUCCESS ? CUDA_SUCCESS : CUDA_SUCCESS);
	CUcontext context;
	MUST(cuDevicePrimaryCtxRetain(&context, 0));
	MUST(cuCtxSetCurrent(context));
	call();
	return NULL;
}
static void sync_elsewhere(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, on_its_own, (void *)(uintptr_t)sync_stream);
	pthread_join(thread, NULL);
}

static void try(const char *what, const char *kinds, void (*call)(void))
{
	struct syncwatch_forbidden first = {"-", "-", 0};
	int token = syncwatch_forbid_begin(kinds);
	errno = 77;
	call();
	if (errno != 77)
		printf("errno is %d\n", errno);
	long n = syncwatch_forbid_end(token, &first);
	printf("%-18s %-8s %ld %s %s\n", what, kinds, n, n > 0 ? first.kind : "-", n > 0 ? first.api : "-");
}

#define TRY(kinds, call) try(#call, kinds, call)

static void tell(void *arg, const struct syncwatch_forbidden *call)
{
	CUdeviceptr p;
	++*(int *)arg;
	MUST(cuMemAlloc(&p, 64)); /* neither recorded nor found */
	printf("told: %s %s\n", call->kind, call->api);
}

static void told(void)
{
	const struct syncwatch_gate *gate = syncwatch_find_gate();
	int n = 0, token = gate ? gate->begin("any", tell, &n) : -1;
	unsigned long long calls = 0;
	sync_stream();
	set();
	alloc();
	long found = gate ? gate->end(token, NULL, &calls) : -1;
	printf("told %d, found %ld of %llu\n", n, found, calls);
}

/* A block in a block; ends in the wrong order, twice, and of nothing. */
static void unbalanced(void)
{
	int outer = syncwatch_forbid_begin("wait"), inner = syncwatch_forbid_begin("alloc");
	sync_stream();
	alloc();
	long a = syncwatch_forbid_end(outer, NULL), b = syncwatch_forbid_end(inner, NULL),
	     c = syncwatch_forbid_end(outer, NULL);
	printf("unbalanced %d %d: %ld %ld %ld, %ld %ld\n", outer, inner, a, b, c, syncwatch_forbid_end(0, NULL),
	       syncwatch_forbid_end(99, NULL));
	for (int i = 0; i < 20; i++)
		c = syncwatch_forbid_begin("wait");
	printf("deep %ld, then %ld\n", c, syncwatch_forbid_end(1, NULL));
	printf("unknown %d %d %d\n", syncwatch_forbid_begin("waits"), syncwatch_forbid_begin(""),
	       syncwatch_forbid_begin("wait,,pin"));
}

/* A child has the blocks of its parent, and no CUDA. */
static void forked(void)
{
	int token = syncwatch_forbid_begin("wait");
	pid_t child = fork();
	if (!child)
		_exit(syncwatch_forbid_end(token, NULL) > 0);
	int status;
	waitpid(child, &status, 0);
	printf("forked %d, %ld\n", status, syncwatch_forbid_end(token, NULL));
}

int main(void)
{
	CUdevice device;
	CUcontext context;
	int before = syncwatch_forbid_begin("alloc"); /* before the first call of CUDA */
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&event, 0));
	MUST(cuEventRecord(event, stream));
	MUST(cuMemAlloc(&data, BYTES));
	MUST(cuMemAlloc(&other, BYTES));
	MUST(cuMemAllocHost((void **)&pinned, BYTES));
	pageable = calloc(1, BYTES);
	sync_stream();
	printf("before %ld\n", syncwatch_forbid_end(before, NULL));
	TRY("wait", sync_stream);
	TRY("alloc", sync_stream);
	TRY("any", query);
	TRY("any", elapsed);
	TRY("wait", copy_value);
	TRY("any", copy_pinned);
	TRY("any", copy_pageable_up);
	TRY("wait", copy_pageable_up);
	TRY("wait", copy_pageable_down);
	TRY("any", copy_pageable_down);
	TRY("pageable", copy_unified);
	TRY("any", copy_within);
	TRY("any", set);
	TRY("alloc", alloc);
	TRY("any", alloc_async);
	TRY("free", release);
	TRY("wait", release);
	TRY("any", release);
	TRY("pin", pin);
	TRY("any", enroll);
	TRY("any", refused);
	TRY("any", sync_elsewhere);
	told();
	unbalanced();
	forked();
	(void)module;
	return 0;
}
