/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of judging: operations per second and resident memory on synthetic traces of several shapes.
 *
 *     tests/bench/bench_detect [OPERATIONS [SHAPE]]        default 1000000, all shapes
 *
 * One operation is one call of the program; a wait counts once though it has two records.  The trace is read from the
 * page cache, judging includes reading it.  Time is processor time of this process: other load does not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench/loads.h"
#include "detect/detect.h"
#include "detect/kernels.h"
#include "reader/trace_builder.h"

#define DEV 0x7f0000000000ull
#define PIN 0x7e0000000000ull

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void streams(struct tb *tb, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		tb_stream_create(tb, 0x1000 + i * 16, 1);
		tb_event_create(tb, 0x100000 + i * 16);
	}
}

static void buffers(struct tb *tb, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		tb_alloc(tb, SW_MEM_DEVICE, DEV + ((uint64_t)i << 21), 1 << 20);
	tb_alloc(tb, SW_MEM_PINNED, PIN, 64 << 20);
}

/* Kernels of three pointers on one stream, a wait now and then: a training step without communication. */
static void launches(struct tb *tb, uint64_t operations)
{
	streams(tb, 1);
	buffers(tb, 64);
	uint32_t f = tb_function(tb, "_Z3addPfPKfS1_", 3, 8, 8, 8);
	for (uint64_t i = 0; i < operations; i++)
		if (i % 200 == 199)
			tb_sync(tb, SW_SYNC_STREAM, 0x1000);
		else
			tb_launch(tb, f, 0x1000, 3, DEV + (i % 64 << 21), DEV + ((i + 7) % 64 << 21),
				  DEV + ((i + 13) % 64 << 21));
}

/* Launches of kernels whose code is known. */
static void coded(struct tb *tb, uint64_t operations)
{
	streams(tb, 1);
	buffers(tb, 64);
	with_code(tb);
	uint32_t f = test_function(tb, "copy");
	for (uint64_t i = 0; i < operations; i++)
		if (i % 200 == 199)
			tb_sync(tb, SW_SYNC_STREAM, 0x1000);
		else
			tb_launch(tb, f, 0x1000, 3, DEV + (i % 64 << 21), DEV + ((i + 7) % 64 << 21), 256ull);
}

/* No two launches alike: each is evaluated. */
static void offsets(struct tb *tb, uint64_t operations)
{
	streams(tb, 1);
	buffers(tb, 64);
	with_code(tb);
	uint32_t f = test_function(tb, "fill");
	for (uint64_t i = 0; i < operations; i++)
		if (i % 200 == 199)
			tb_sync(tb, SW_SYNC_STREAM, 0x1000);
		else
			tb_launch(tb, f, 0x1000, 2, DEV + (i % 64 << 21) + i / 64 % 1000 * 4,
				  (i / 64000 & 0xffff) | 256ull << 32);
}

/* Copy in, kernel, copy out on three streams with events: a pipeline that never waits for the host for long. */
static void pipeline(struct tb *tb, uint64_t operations)
{
	streams(tb, 3);
	buffers(tb, 8);
	uint32_t f = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	for (uint64_t i = 0; i < operations; i++) {
		uint64_t round = i / 10, in = DEV + (round % 4 << 21), out = DEV + ((4 + round % 4) << 21);
		switch (i % 10) {
		case 0:
			tb_stream_wait(tb, 0x1000, 0x100020);
			break;
		case 1:
			tb_copy(tb, in, SW_SIDE_DEVICE, PIN, SW_SIDE_HOST, 65536, 0x1000);
			break;
		case 2:
			tb_event_record(tb, 0x100000, 0x1000);
			break;
		case 3:
			tb_stream_wait(tb, 0x1010, 0x100000);
			break;
		case 4:
			tb_launch(tb, f, 0x1010, 2, out, in);
			break;
		case 5:
			tb_event_record(tb, 0x100010, 0x1010);
			break;
		case 6:
			tb_stream_wait(tb, 0x1020, 0x100010);
			break;
		case 7:
			tb_copy(tb, PIN + (1 << 20), SW_SIDE_HOST, out, SW_SIDE_DEVICE, 65536, 0x1020);
			break;
		case 8:
			tb_event_record(tb, 0x100020, 0x1020);
			break;
		default:
			if (round % 16 == 15)
				tb_sync(tb, SW_SYNC_EVENT, 0x100020);
			else
				tb_query(tb, SW_SYNC_EVENT, 0x100020, 600);
		}
	}
}

/* Small copies into one large buffer from sixteen streams, chunk by chunk: many segments. */
static void chunks(struct tb *tb, uint64_t operations)
{
	streams(tb, 16);
	tb_alloc(tb, SW_MEM_DEVICE, DEV, 1 << 30);
	tb_alloc(tb, SW_MEM_PINNED, PIN, 64 << 20);
	for (uint64_t i = 0; i < operations; i++)
		if (i % 1000 == 999)
			tb_sync(tb, SW_SYNC_CONTEXT, 0);
		else
			tb_copy(tb, DEV + i % 4096 * 4096, SW_SIDE_DEVICE, PIN + i % 4096 * 4096, SW_SIDE_HOST, 4096,
				0x1000 + i % 16 * 16);
}

/* Allocation and release in the loop. */
static void churn(struct tb *tb, uint64_t operations)
{
	streams(tb, 2);
	buffers(tb, 1000);
	for (uint64_t i = 0; i < operations; i++) {
		uint64_t at = DEV + ((uint64_t)(1 << 20) << 12) + (i / 3 % 5000 << 12);
		switch (i % 3) {
		case 0:
			tb_alloc(tb, SW_MEM_DEVICE, at, 4096);
			break;
		case 1:
			tb_set(tb, at, 4096, 0x1000);
			break;
		default:
			tb_free_sync(tb, SW_MEM_UNKNOWN, at);
			break;
		}
	}
}

/* Everything at once on sixteen streams with nothing ordered: as many hazards as there are pairs of places. */
static void hazards(struct tb *tb, uint64_t operations)
{
	streams(tb, 16);
	buffers(tb, 16);
	for (uint64_t i = 0; i < operations; i++)
		tb_set(tb, DEV + ((i * 7 + i / 16) % 16 << 21), 4096, 0x1000 + i % 16 * 16);
}

static const struct {
	const char *name;
	void (*build)(struct tb *tb, uint64_t operations);
} shapes[] = {
	{"launches", launches},
	{"pipeline", pipeline},
	{"chunks", chunks},
	{"churn", churn},
	{"hazards", hazards},
	{"coded", coded},
	{"offsets", offsets},
	{"generation", load_generation},
	{"slices", load_slices},
	{"rivals", load_rivals},
	{"moved-rivals", load_moved_rivals},
};

static void measure(size_t i, uint64_t operations)
{
	char path[64];
	struct sw_reader *reader;
	struct sw_judgement *j;
	struct sw_error error = {0};
	struct rusage usage;
	snprintf(path, sizeof path, "bench-detect-%d.swt", (int)getpid());
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = 1 << 20});
	shapes[i].build(tb, operations);
	tb_close(tb, true);
	double start = seconds();
	if (sw_reader_open(path, &reader, &error) || sw_judge(reader, NULL, &j, &error)) {
		fprintf(stderr, "bench_detect: %s\n", error.text);
		exit(1);
	}
	double took = seconds() - start;
	getrusage(RUSAGE_SELF, &usage);
	printf("%-12s %8.2f Mop/s %6.0f ns/op  findings %3zu  errors %u  streams %zu  max RSS %ld MiB\n",
	       shapes[i].name, (double)operations / took * 1e-6, took / (double)operations * 1e9, j->findings.n,
	       j->errors, j->streams.n, usage.ru_maxrss >> 10);
	sw_judgement_free(j);
	sw_reader_close(reader);
	unlink(path);
}

int main(int argc, char **argv)
{
	uint64_t operations = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (argc < 3 || !strcmp(argv[2], shapes[i].name))
			measure(i, operations ? operations : 1);
	return 0;
}
