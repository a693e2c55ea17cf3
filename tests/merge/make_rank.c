/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_rank FILE NAME=VALUE...: writes the trace of one rank of a job.
 *
 *     rank=0 size=1 host=node0 boot=HOST job=job pid=1000+rank ppid=1 start_ms=0 version=0.1.0
 *     race=1     the two streams of the program race (0: an event orders them)
 *     lines=0    so many other pairs of call sites that race
 *     closed=1   the program ended in order
 *     calls=ar1024@10,bc16r0@20,sync@30   collectives, in ms of the trace's time: ar all-reduce, ag all-gather, rs
 *                reduce-scatter, bc broadcast, of so many floats, r the root; sync: the host waits for the device until
 *                then, 5 ms; copy: it copies, 5 ms
 *     final=1    it waits for the device before it ends
 *     ipc=export@10,free@30,open@10,close@30,use@40   memory shared with other processes, and a later call of CUDA
 *     clock_ms=0 what its CLOCK_MONOTONIC is ahead of others
 *     end_ms=0   when the trace's last time stamp was taken
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

static const struct {
	const char *name;
	enum sw_collective_op op;
} ops[] = {{"ar", SW_COLLECTIVE_ALL_REDUCE},
	   {"ag", SW_COLLECTIVE_ALL_GATHER},
	   {"rs", SW_COLLECTIVE_REDUCE_SCATTER},
	   {"bc", SW_COLLECTIVE_BROADCAST}};

static void collective(struct tb *tb, const char *at, uint64_t *n)
{
	char *end;
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		if (strncmp(at, ops[i].name, 2) != 0)
			continue;
		const uint64_t count = strtoull(at + 2, &end, 10);
		struct sw_rec_collective *c = tb_collective(tb, ops[i].op, ++*n, count, STREAM_A);
		c->communicator = 0xfeed;
		c->rank = (uint32_t)number("rank", 0);
		c->size = (uint32_t)number("size", 1);
		if (*end == 'r')
			c->root = (int32_t)strtol(end + 1, NULL, 10);
		const uint64_t begin = sw_rec_seq(&c->h);
		tb_end(tb, SW_REC_COLLECTIVE, begin);
	}
}

/* One allocation, by one handle. */
static void share(struct tb *tb)
{
	enum { HANDLE = 0xabcdef };
	const uint64_t start = tb->header.start_ticks, at_own = BUFFER + 0x10000000, at_other = BUFFER + 0x20000000;
	if (*text("ipc", ""))
		tb_alloc(tb, SW_MEM_DEVICE, at_own, 1 << 20);
	for (const char *at = text("ipc", ""); *at; at += strcspn(at, ","), at += *at == ',') {
		const char *when = strchr(at, '@');
		tb->now = start + (when ? (uint64_t)(strtod(when + 1, NULL) * 1e6) : 0);
		if (*at == 'e') {
			struct sw_rec_other *other = tb_other(tb, SW_REC_OTHER, "cuIpcGetMemHandle");
			other->args[0] = at_own + 512; /* into it */
			other->args[1] = HANDLE;
		} else if (*at == 'f') {
			tb_free_sync(tb, SW_MEM_DEVICE, at_own);
		} else if (*at == 'o') {
			tb_alloc(tb, SW_MEM_IPC, at_other, 1 << 20)->extra = HANDLE;
		} else if (*at == 'c') {
			tb_free(tb, SW_MEM_IPC, at_other);
		} else {
			tb_event_record(tb, EVENT, STREAM_A);
		}
	}
}

static void calls(struct tb *tb)
{
	const uint64_t start = tb->header.start_ticks;
	uint64_t n = 0;
	for (const char *at = text("calls", ""); *at; at += strcspn(at, ","), at += *at == ',') {
		const char *when = strchr(at, '@');
		const uint64_t ns = when ? (uint64_t)(strtod(when + 1, NULL) * 1e6) : 0;
		tb->now = start + ns;
		if (strncmp(at, "sync", 4) == 0 || strncmp(at, "copy", 4) == 0) {
			tb->now -= 5000000;
			tb->dur = 5000000;
			if (*at == 's')
				tb_sync(tb, SW_SYNC_CONTEXT, 0);
			else
				tb_copy_sync(tb, BUFFER, SW_SIDE_DEVICE, 0x1000, SW_SIDE_HOST, 64);
			tb->dur = 100;
		} else {
			collective(tb, at, &n);
		}
	}
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
	calls(tb);
	share(tb);
	if (number("final", 1))
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb->header.start_monotonic_ns += number("clock_ms", 0) * 1000000;
	if (number("end_ms", 0))
		tb->header.last_monotonic_ns = tb->header.start_monotonic_ns + number("end_ms", 0) * 1000000;
	tb_close(tb, number("closed", 1));
	return 0;
}
