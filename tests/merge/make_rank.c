/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_rank FILE NAME=VALUE...: writes the trace of one rank of a job.
 *
 *     rank=0 size=1 host=node0 boot=HOST job=job pid=1000+rank ppid=1 start_ms=0 version=0.1.0
 *     race=1     the two streams of the program race (0: an event orders them)
 *     lines=0    so many other pairs of call sites that race
 *     closed=1   the program ended in order
 *     variable=RANK, none: no variable says the rank
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/trace_builder.h"

#define BUFFER	0x7f0000000000u
#define EVENT	0xe0u
#define REAL_NS 1700000000000000000u
enum { STREAM_A = 0xa0, STREAM_B = 0xb0, NON_BLOCKING = 1 };

static int words;
static char **word;

static const char *text(const char *name, const char *otherwise)
{
	const size_t n = strlen(name);
	for (int i = 0; i < words; i++)
		if (strncmp(word[i], name, n) == 0 && word[i][n] == '=')
			return word[i] + n + 1;
	return otherwise;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *value = text(name, NULL);
	return value ? strtoull(value, NULL, 10) : otherwise;
}

static void describe(struct tb *tb)
{
	char rank[64], size[64], job[128];
	const char *variable = text("variable", "RANK"), *host = text("host", "node0");
	snprintf(rank, sizeof rank, "%s=%s", variable, text("rank", "0"));
	snprintf(size, sizeof size, "%s=%s", strcmp(variable, "RANK") ? "OMPI_COMM_WORLD_SIZE" : "WORLD_SIZE",
		 text("size", "1"));
	snprintf(job, sizeof job, "%s=%s", strcmp(variable, "RANK") ? "PMIX_NAMESPACE" : "TORCHELASTIC_RUN_ID",
		 text("job", "job"));
	if (strcmp(variable, "none") == 0)
		tb_environment(tb, text("boot", host), host, 0);
	else
		tb_environment(tb, text("boot", host), host, 3, rank, size, job);
	tb->header.pid = (uint32_t)number("pid", 1000 + number("rank", 0));
	tb->header.ppid = (uint32_t)number("ppid", 1);
	tb->header.start_realtime_ns = REAL_NS + number("start_ms", 0) * 1000000;
	snprintf(tb->header.recorder_version, sizeof tb->header.recorder_version, "%s", text("version", "0.1.0"));
}

/* Two sets of the same bytes on two streams, from call sites of their own. */
static void race(struct tb *tb, uint64_t line, bool ordered)
{
	tb_stack(tb, 1, 0x401000ull + line * 64);
	tb_call(tb, "cuMemsetD8Async", "cudaMemsetAsync");
	tb_set(tb, BUFFER + line * 4096, 2048, STREAM_A);
	if (ordered) {
		tb_event_record(tb, EVENT, STREAM_A);
		tb_stream_wait(tb, STREAM_B, EVENT);
	}
	tb_stack(tb, 1, 0x401020ull + line * 64);
	tb_call(tb, "cuMemsetD8Async", "cudaMemsetAsync");
	tb_set(tb, BUFFER + line * 4096, 2048, STREAM_B);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	words = argc - 2;
	word = argv + 2;
	struct tb *tb = tb_new(argv[1], NULL);
	const uint64_t lines = number("lines", 0);
	describe(tb);
	tb_module(tb, 0x400000, 0x500000, "/usr/bin/app");
	tb_alloc(tb, SW_MEM_DEVICE, BUFFER, (lines + 1) * 4096);
	tb_stream_create(tb, STREAM_A, NON_BLOCKING);
	tb_stream_create(tb, STREAM_B, NON_BLOCKING);
	tb_event_create(tb, EVENT);
	race(tb, 0, !number("race", 1));
	for (uint64_t line = 1; line <= lines; line++)
		race(tb, line, false);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_close(tb, number("closed", 1));
	return 0;
}
