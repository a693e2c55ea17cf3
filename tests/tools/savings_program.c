/* SPDX-License-Identifier: Apache-2.0 */
/*
 * savings_program MODE: a program that `confirm --waits` is tested with: some rounds with one needless wait, or with
 * one that is needed.
 *
 *   wide     the host waits for the device where one stream's copy is all that it needs
 *   events   the host waits where a stream waits for an event anyway, through a third stream; direct: without one;
 *   direct   edge: where it does not
 *   edge
 *   again    the host waits twice
 *   free     memory is allocated and freed in each round
 *   sizes    the same, of two sizes, and some is freed at another place
 *   cache    memory is allocated while work is pending, and freed elsewhere when none is
 *   kept     the same, and it is never freed
 *   pageable asynchronous copies from and to pageable memory
 *   steady   asynchronous copies of the same pageable memory to the device; refilled: which other bytes are written to
 *   refilled for each; touched: of which the host writes some as soon as the call has returned
 *   touched  captured: steady, and then a graph with such a copy, captured and launched
 *   captured
 *   value    the host copies four bytes and waits for them
 *   late     synchronous copies to pinned memory that the host reads at the end
 *   early    the same, and the host reads at once; written: hands it to write(2)
 *   written
 *   upload   synchronous copies from pinned memory, which is refilled at once
 *   legacy   sets on the legacy stream between work of two streams
 *   needed   the same, and the second stream's work needs the set
 *   pin      memory is registered for each round
 *   limit    a larger stack for each round
 *   both     wide, then pageable
 *   mixed    wide, then upload
 *   differs  wide, and it prints another line when a plan changes something
 *   status   wide, and it exits with another status then
 *   stuck    wide, and it never ends then
 *   once     wide, but another way when a plan changes something
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_calls.h"

#define LARGE  (8u << 20)
#define BYTES  (1u << 16)
#define ROUNDS 6

static CUstream a, b, c;
static CUdeviceptr large, small, other;
static uint8_t *pinned, *pageable;

static void begin(void)
{
	begin_cuda();
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &large, LARGE);
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &small, BYTES);
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &other, LARGE);
	CALL(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&pinned, ROUNDS * BYTES, 0);
	pageable = calloc(ROUNDS, BYTES);
}

/* A plan that changes calls is in force. */
static int is_changed(void)
{
	const char *path = getenv("SYNCWATCH_CONFIRM");
	char text[4096] = {0};
	const int fd = path ? open(path, O_RDONLY) : -1;
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof text - 1) < 0)
		exit(73);
	close(fd);
	return strstr(text, "\nsite ") != NULL;
}

static void make_streams(unsigned flags)
{
	CALL(cuStreamCreate, (CUstream *, unsigned), &a, flags);
	CALL(cuStreamCreate, (CUstream *, unsigned), &b, flags);
	CALL(cuStreamCreate, (CUstream *, unsigned), &c, flags);
}

static void set(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream)
{
	CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), at, value, bytes, stream);
}

static void work(void)
{
	set(large, 1, LARGE, a);
}

static void wait_for_all(void)
{
	CALL(cuCtxSynchronize, (void), );
}

/* Checks the bytes that a round left. */
static void expect(const uint8_t *at, uint8_t value)
{
	if (at[0] != value || at[BYTES - 1] != value)
		exit(74);
}

static void wide(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		work();
		set(small, (unsigned char)i, BYTES, b);
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned, small, BYTES, b);
		CALL(cuCtxSynchronize, (void), );
		expect(pinned, (uint8_t)i);
	}
	wait_for_all();
}

static void wait_for(CUstream stream, CUevent event)
{
	CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), stream, event, 0);
}

static void events(const char *mode)
{
	CUevent event, passed;
	CALL(cuEventCreate, (CUevent *, unsigned), &event, CU_EVENT_DISABLE_TIMING);
	CALL(cuEventCreate, (CUevent *, unsigned), &passed, CU_EVENT_DISABLE_TIMING);
	for (int i = 0; i < ROUNDS; i++) {
		work();
		CALL(cuEventRecord, (CUevent, CUstream), event, a);
		CALL(cuCtxSynchronize, (void), );
		if (mode[1] == 'v') {
			wait_for(c, event);
			CALL(cuEventRecord, (CUevent, CUstream), passed, c);
			wait_for(b, passed);
		} else if (mode[0] == 'd') {
			wait_for(b, event);
		}
		set(large, 2, LARGE, b);
		CALL(cuEventRecord, (CUevent, CUstream), event, b);
		wait_for(a, event);
	}
	wait_for_all();
}

static void again(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		work();
		CALL(cuStreamSynchronize, (CUstream), a);
		CALL(cuCtxSynchronize, (void), );
	}
}

static void free_each(void)
{
	CUdeviceptr mine;
	for (int i = 0; i < ROUNDS; i++) {
		CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &mine, LARGE);
		set(mine, (unsigned char)i, LARGE, i % 2 ? a : b);
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned + i * BYTES, mine, BYTES,
		     i % 2 ? a : b);
		CALL(cuMemFree_v2, (CUdeviceptr), mine);
	}
	wait_for_all();
	for (int i = 0; i < ROUNDS; i++)
		expect(pinned + i * BYTES, (uint8_t)i);
}

static CUdeviceptr allocate(size_t bytes)
{
	CUdeviceptr at;
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &at, bytes);
	return at;
}

static __attribute__((noinline)) void release(CUdeviceptr at)
{
	work();
	CALL(cuMemFree_v2, (CUdeviceptr), at);
}

/* An address that was that of a large block is that of a small one later: it must not be given out as large again. */
static void free_sizes(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		CUdeviceptr first = allocate(LARGE), second;
		set(first, 1, LARGE, a);
		if (i % 2) {
			CALL(cuMemFree_v2, (CUdeviceptr), first);
			CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &second, BYTES);
			release(second);
		} else {
			release(first);
		}
	}
	wait_for_all();
}

static void copy_pageable(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t *mine = pageable + i * BYTES;
		work();
		memset(mine, i, BYTES);
		CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), small, mine, BYTES, a);
		memset(mine, 0, BYTES);
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), mine, small, BYTES, a);
	}
	wait_for_all();
	for (int i = 0; i < ROUNDS; i++)
		expect(pageable + i * BYTES, (uint8_t)i);
}

/* As a caching allocator does that is emptied: what frees is not what allocates. */
static void cache(int frees)
{
	CUdeviceptr mine[2];
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 2; k++) {
			work();
			mine[k] = allocate(LARGE);
			set(mine[k], (unsigned char)i, LARGE, a);
		}
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned + i * BYTES, mine[1], BYTES,
		     a);
		CALL(cuStreamSynchronize, (CUstream), a);
		for (int k = 0; k < 2 && frees; k++)
			CALL(cuMemFree_v2, (CUdeviceptr), mine[k]);
	}
	wait_for_all();
	for (int i = 0; i < ROUNDS; i++)
		expect(pinned + i * BYTES, (uint8_t)i);
}

static void upload_again(const char *mode)
{
	enum { TOUCHED = 24 }; /* between the words that the change compares */
	for (int i = 0; i < ROUNDS; i++) {
		work();
		if (strcmp(mode, "refilled") == 0)
			memset(pageable, i, BYTES);
		CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), small, pageable, BYTES, a);
		if (strcmp(mode, "touched") == 0)
			pageable[TOUCHED] = (uint8_t)(i + 1);
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned + i * BYTES, small, BYTES,
		     a);
	}
	wait_for_all();
	for (int i = 0; i < ROUNDS; i++) {
		expect(pinned + i * BYTES, strcmp(mode, "refilled") == 0 ? (uint8_t)i : 0);
		if (pinned[i * BYTES + TOUCHED] != (strcmp(mode, "steady") == 0 ? 0 : i))
			exit(76);
	}
}

static void copy_captured(void)
{
	CUgraph graph;
	CUgraphExec ready;
	upload_again("steady");
	CALL(cuStreamBeginCapture_v2, (CUstream, CUstreamCaptureMode), a, CU_STREAM_CAPTURE_MODE_GLOBAL);
	CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), small, pageable, BYTES, a);
	CALL(cuStreamEndCapture, (CUstream, CUgraph *), a, &graph);
	CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &ready, graph, 0);
	memset(pageable, 7, BYTES);
	CALL(cuGraphLaunch, (CUgraphExec, CUstream), ready, a);
	wait_for_all();
	CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), pinned, small, BYTES);
	expect(pinned, 7);
}

static void value(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		work();
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pageable, large, 4, a);
		CALL(cuStreamSynchronize, (CUstream), a);
	}
}

static void download(const char *mode)
{
	const int null = open("/dev/null", O_WRONLY);
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t *mine = pinned + i * BYTES;
		work();
		set(small, (unsigned char)i, BYTES, NULL);
		CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), mine, small, BYTES);
		if (strcmp(mode, "early") == 0)
			expect(mine, (uint8_t)i);
		if (strcmp(mode, "written") == 0 && write(null, mine, BYTES) != BYTES)
			exit(75);
	}
	wait_for_all();
	for (int i = 0; i < ROUNDS; i++)
		expect(pinned + i * BYTES, (uint8_t)i);
}

static void upload(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		work();
		memset(pinned, i, BYTES);
		CALL(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), other + i * BYTES, pinned, BYTES);
	}
	wait_for_all();
	for (int i = 0; i < ROUNDS; i++) {
		CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), pinned, other + i * BYTES, BYTES);
		expect(pinned, (uint8_t)i);
	}
}

static void legacy(int needed)
{
	for (int i = 0; i < ROUNDS; i++) {
		work();
		set(small, (unsigned char)i, BYTES, NULL);
		set(needed ? small : other, 2, BYTES, b);
		work();
	}
	wait_for_all();
}

static void pin(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		work();
		memset(pageable, i, BYTES);
		CALL(cuMemHostRegister_v2, (void *, size_t, unsigned), pageable, BYTES, 0);
		CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), small, pageable, BYTES, b);
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned + i * BYTES, small, BYTES,
		     b);
		CALL(cuStreamSynchronize, (CUstream), b);
		CALL(cuMemHostUnregister, (void *), pageable);
	}
	wait_for_all();
	for (int i = 0; i < ROUNDS; i++)
		expect(pinned + i * BYTES, (uint8_t)i);
}

static void limit(void)
{
	size_t stack;
	CALL(cuCtxGetLimit, (size_t *, CUlimit), &stack, CU_LIMIT_STACK_SIZE);
	for (int i = 1; i <= ROUNDS; i++) {
		work();
		CALL(cuCtxSetLimit, (CUlimit, size_t), CU_LIMIT_STACK_SIZE, stack + (size_t)i * 1024);
	}
	wait_for_all();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const int blocking = strcmp(mode, "legacy") == 0 || strcmp(mode, "needed") == 0 || strcmp(mode, "late") == 0 ||
			     strcmp(mode, "early") == 0 || strcmp(mode, "written") == 0 || strcmp(mode, "upload") == 0;
	begin();
	make_streams(blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
	if (strcmp(mode, "again") == 0)
		again();
	else if (strcmp(mode, "events") == 0 || strcmp(mode, "edge") == 0 || strcmp(mode, "direct") == 0)
		events(mode);
	else if (strcmp(mode, "free") == 0)
		free_each();
	else if (strcmp(mode, "sizes") == 0)
		free_sizes();
	else if (strcmp(mode, "pageable") == 0)
		copy_pageable();
	else if (strcmp(mode, "cache") == 0 || strcmp(mode, "kept") == 0)
		cache(mode[0] == 'c');
	else if (strcmp(mode, "steady") == 0 || strcmp(mode, "refilled") == 0 || strcmp(mode, "touched") == 0)
		upload_again(mode);
	else if (strcmp(mode, "captured") == 0)
		copy_captured();
	else if (strcmp(mode, "value") == 0)
		value();
	else if (strcmp(mode, "late") == 0 || strcmp(mode, "early") == 0 || strcmp(mode, "written") == 0)
		download(mode);
	else if (strcmp(mode, "upload") == 0)
		upload();
	else if (strcmp(mode, "legacy") == 0 || strcmp(mode, "needed") == 0)
		legacy(mode[0] == 'n');
	else if (strcmp(mode, "pin") == 0)
		pin();
	else if (strcmp(mode, "limit") == 0)
		limit();
	else if (strcmp(mode, "both") == 0 || strcmp(mode, "mixed") == 0) {
		wide(ROUNDS);
		if (mode[0] == 'b')
			copy_pageable();
		else
			upload();
	} else if (strcmp(mode, "once") != 0 || !is_changed())
		wide(ROUNDS);
	puts("done");
	if (strcmp(mode, "differs") == 0)
		puts(is_changed() ? "so" : "or so");
	while (strcmp(mode, "stuck") == 0 && is_changed())
		pause();
	return strcmp(mode, "status") == 0 && is_changed() ? 3 : 0;
}
