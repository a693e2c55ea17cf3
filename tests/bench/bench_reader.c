/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records a second and peak resident memory of the reader over a synthetic trace:
 *
 *     bench_reader [RECORDS [WRITERS]]     default 10000000 in 8 writers
 *
 * A third are launches with parameters that are all different, as a training loop with a step counter makes them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reader/reader.h"
#include "reader/trace_builder.h"

static void write_trace(const char *path, uint64_t records, uint32_t writers)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = 262144});
	uint32_t function = tb_function(tb, "_Z4stepPfPKfi", 3, 8, 8, 4);
	for (uint64_t i = 0; i < records; i++) {
		if (i % 64 == 0) {
			tb_thread(tb, 1 + (uint32_t)(i / 64 % writers));
			tb_stack(tb, 4, 0x401000 + i / 64 % 1000 * 16, 0x402000ull, 0x403000ull, 0x404000ull);
		}
		if (i % 3 == 0)
			tb_launch(tb, function, i % 4, 3, 0x7f0000000000ull, 0x7f0000100000ull, i);
		else if (i % 3 == 1)
			tb_event_record(tb, i % 16, i % 4);
		else
			tb_stream_wait(tb, (i + 1) % 4, i % 16);
	}
	tb_close(tb, true);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_trace(const char *path)
{
	struct sw_reader *r;
	struct sw_record rec;
	struct sw_error error;
	struct rusage usage;
	double start = seconds();
	int rc = sw_reader_open(path, &r, &error);
	while (!rc && (rc = sw_reader_next(r, &rec, &error)) == 1)
		rc = 0;
	double took = seconds() - start;
	if (rc) {
		fprintf(stderr, "bench_reader: %s\n", error.text);
		return 1;
	}
	struct sw_trace_totals t = sw_reader_totals(r);
	getrusage(RUSAGE_SELF, &usage);
	printf("records\t%" PRIu64 "\noperations\t%" PRIu64 "\nbytes_per_operation\t%.1f\nseconds\t%.3f\n"
	       "records_per_second\t%.0f\nMiB_per_second\t%.0f\npeak_resident_MiB\t%.1f\n",
	       t.records, t.operations, (double)t.bytes / (double)t.operations, took, (double)t.records / took,
	       (double)t.bytes / took / 1048576, (double)usage.ru_maxrss / 1024);
	sw_reader_close(r);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	uint32_t writers = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 8;
	const char *dir = getenv("TMPDIR");
	char path[4096];
	snprintf(path, sizeof path, "%s/bench_reader.%ld.swt", dir ? dir : "/tmp", (long)getpid());
	/* Written by another process, so that its memory is not counted. */
	pid_t child = fork();
	if (!child) {
		write_trace(path, records, writers ? writers : 1);
		_exit(0);
	}
	int status = 1;
	if (child > 0 && waitpid(child, &status, 0) == child && !status)
		status = read_trace(path);
	unlink(path);
	return status != 0;
}
