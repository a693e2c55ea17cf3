/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record costs: p50 and p99 per call in nanoseconds, against a wrapper that records nothing.
 *
 *     bench_recorder [CALLS]     prints one table on stdout
 *
 * Each row runs in a process of its own, with a trace in a temporary directory ($TMPDIR or /tmp).  Reading the clock
 * around each call costs as much as the call: the same two readings around nothing are subtracted.  "late" counts the
 * chunks that a writer had to prepare itself, with system calls, because the helper thread was after.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/platform/clock.h"
#include "preload/calls/launch_tail.h"
#include "preload/recorder/options.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/trace.h"

#define PER_ROUND 512u

static unsigned calls = 1u << 20;
static char directory[256];
static volatile int sink;

enum shape { SAME, LAUNCHES, PATHS };

struct row {
	const char *what, *options;
	unsigned depth;
	enum shape shape;
	unsigned threads;
	unsigned budget_p50, budget_p99; /* 0: none stated */
};
static const struct row rows[] = {
	{"record, no stack", "stacks=0", 0, SAME, 1, 60, 250},
	{"launch with 64 bytes of parameters, no stack", "stacks=0", 0, LAUNCHES, 1, 0, 0},
	{"record, no stack, 2 threads", "stacks=0", 0, SAME, 2, 0, 0},
	{"record, stack of 10 frames", "stacks=1", 10, SAME, 1, 200, 0},
	{"record, stack of 40 frames", "stacks=1", 40, SAME, 1, 400, 0},
	{"record, 40 frames, 256 call paths in turn", "stacks=1", 40, PATHS, 1, 400, 0},
};

static __attribute__((noinline)) void record(uint64_t value)
{
	struct sw_call call;
	struct sw_rec_stream_wait *r;
	if (!sw_call_enter(&call, 1, 0, __builtin_frame_address(0)))
		return;
	r = sw_call_record(&call, SW_REC_STREAM_WAIT, sizeof *r);
	if (r)
		r->stream = value;
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
}

static __attribute__((noinline)) void launch(uint64_t value)
{
	struct sw_call call;
	struct sw_launch_tail tail = {.launch = {.stream = 2, .function = 1, .grid = {1, 1, 1}, .block = {256, 1, 1}}};
	uint64_t block[8] = {0x7f0000000000, 0x7f0000100000, value % 32};
	if (!sw_call_enter(&call, 2, 0, __builtin_frame_address(0)))
		return;
	sw_launch_tail(&tail, block, sizeof block, false);
	sw_launch_tail_write(sw_call_record(&call, SW_REC_LAUNCH, sizeof(struct sw_rec) + tail.bytes + tail.block),
			     &tail, block, sizeof block);
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

struct samples {
	uint32_t *at;
	size_t n, room;
	enum shape shape;
	unsigned depth;
};

static __attribute__((noinline)) void timed_calls(struct samples *s, unsigned n)
{
	for (unsigned i = 0; i < n && s->n < s->room; i++) {
		uint64_t from = sw_clock_ticks();
		if (s->shape == LAUNCHES)
			launch(i);
		else
			record(i);
		s->at[s->n++] = (uint32_t)(sw_clock_ticks() - from);
	}
}

/* Frames below the calls; `path` chooses one of two call sites at each of the eight innermost levels. */
static __attribute__((noinline)) void descend(struct samples *s, unsigned depth, unsigned path, unsigned n)
{
	if (!depth)
		timed_calls(s, n);
	else if (path & 1)
		descend(s, depth - 1, depth <= 8 ? path >> 1 : path, n);
	else
		descend(s, depth - 1, depth <= 8 ? path >> 1 : path, n);
	sink++; /* no tail call */
}

static void *thread(void *argument)
{
	struct samples *s = argument;
	while (s->n < s->room) {
		if (s->shape == PATHS)
			for (unsigned path = 0; path < 256; path++)
				descend(s, s->depth, path, 1);
		else
			descend(s, s->depth, 0, PER_ROUND);
	}
	return NULL;
}

static uint32_t empty_cost(void)
{
	uint32_t *at = calloc(4096, sizeof *at);
	for (unsigned i = 0; i < 4096; i++) {
		uint64_t from = sw_clock_ticks();
		at[i] = (uint32_t)(sw_clock_ticks() - from);
	}
	qsort(at, 4096, sizeof *at, by_value);
	uint32_t median = at[2048];
	free(at);
	return median;
}

/* Nanoseconds, of sorted samples. */
static double quantile(const struct samples *s, double q, uint32_t empty, uint64_t rate)
{
	uint32_t ticks = s->at[(size_t)((double)(s->n - 1) * q)];
	return ticks > empty ? (ticks - empty) * 1e9 / (double)rate : 0.0;
}

static void run_row(const struct row *row)
{
	char options[512];
	struct samples s[8] = {0};
	pthread_t threads[8];
	snprintf(options, sizeof options, "trace=%s/bench.swt:quiet:report=0:%s", directory, row->options);
	setenv("SYNCWATCH_OPTIONS", options, 1);
	sw_options_start();
	record(0);
	struct sw_clock_pair first = sw_clock_read();
	for (unsigned i = 0; i < row->threads; i++) {
		s[i] = (struct samples){calloc(calls, sizeof(uint32_t)), 0, calls, row->shape, row->depth};
		memset(s[i].at, 1, calls * sizeof(uint32_t));
		pthread_create(&threads[i], NULL, thread, &s[i]);
	}
	for (unsigned i = 0; i < row->threads; i++)
		pthread_join(threads[i], NULL);
	uint64_t rate = sw_clock_is_tsc ? sw_clock_rate(first, sw_clock_read()) : 1000000000u;
	uint32_t empty = empty_cost();
	qsort(s[0].at, s[0].n, sizeof(uint32_t), by_value);
	printf("%-46s %7.0f %7.0f %8.0f %6lu", row->what, quantile(&s[0], 0.5, empty, rate),
	       quantile(&s[0], 0.99, empty, rate), quantile(&s[0], 0.9999, empty, rate),
	       (unsigned long)atomic_load(&sw_trace.late));
	if (row->budget_p50)
		printf("   %u", row->budget_p50);
	if (row->budget_p99)
		printf(" / %u", row->budget_p99);
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *where = getenv("TMPDIR");
	char path[300];
	if (argc > 1)
		calls = (unsigned)strtoul(argv[1], NULL, 10);
	if (calls < PER_ROUND)
		calls = PER_ROUND;
	snprintf(directory, sizeof directory, "%s/syncwatch-bench-XXXXXX", where ? where : "/tmp");
	if (!mkdtemp(directory)) {
		perror(directory);
		return EXIT_FAILURE;
	}
	printf("%-46s %7s %7s %8s %6s   %s\n", "nanoseconds a call", "p50", "p99", "p99.99", "late",
	       "budget p50 / p99");
	fflush(stdout);
	int status = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++) {
		pid_t pid = fork();
		if (!pid) {
			run_row(&rows[i]);
			exit(0);
		}
		waitpid(pid, &status, 0);
		snprintf(path, sizeof path, "%s/bench.swt", directory);
		unlink(path);
	}
	rmdir(directory);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
