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
 *     ipc=export@10,free@30,open@10,close@30,use@40   memory shared with other processes, and a later call of CUDA;
 * more words in the table `shared` handle=11259375   of that memory tsc=0      ticks are those of the time stamp
 * counter, so many in a millisecond of CLOCK_MONOTONIC clock_ms=0 what its CLOCK_MONOTONIC is ahead of others end_ms=0
 * when the trace's last time stamp was taken variable=RANK, none: no variable says the rank
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

/* ---- memory of two processes: one allocation, one event, by one handle each -------------------------------------- */

#define OWN	     (BUFFER + 0x10000000)
#define OTHERS	     (BUFFER + 0x20000000)
#define PINNED	     (BUFFER + 0x30000000)
#define MAPPED	     (BUFFER + 0x40000000)
#define SHARED_EVENT 0xe1u
enum { SHARED_BYTES = 1 << 20, INTERPROCESS = 4, EVENT_HANDLE = 0xbeef };

static void share_export(struct tb *tb)
{
	struct sw_rec_other *other = tb_other(tb, SW_REC_OTHER, "cuIpcGetMemHandle");
	other->args[0] = OWN + 512; /* into it */
	other->args[1] = number("handle", 0xabcdef);
}

static void share_free(struct tb *tb)
{
	tb_free_sync(tb, SW_MEM_DEVICE, OWN);
}

static void share_allocate(struct tb *tb)
{
	tb_alloc(tb, SW_MEM_DEVICE, OWN, SHARED_BYTES);
}

static void share_open(struct tb *tb)
{
	tb_alloc(tb, SW_MEM_IPC, OTHERS, SHARED_BYTES)->extra = number("handle", 0xabcdef);
}

static void share_close(struct tb *tb)
{
	tb_free(tb, SW_MEM_IPC, OTHERS);
}

static void share_use(struct tb *tb)
{
	tb_event_record(tb, EVENT, STREAM_A);
}

static void share_set(struct tb *tb)
{
	tb_call(tb, "cuMemsetD8Async", "cudaMemsetAsync");
	tb_set(tb, OWN, 4096, STREAM_A);
}

static void share_write(struct tb *tb)
{
	tb_call(tb, "cuMemsetD8Async", "cudaMemsetAsync");
	tb_set(tb, OTHERS + 4000, 4096, STREAM_A);
}

static void share_read(struct tb *tb)
{
	tb_copy(tb, BUFFER + 3072, SW_SIDE_DEVICE, OTHERS + 4000, SW_SIDE_DEVICE, 90, STREAM_A);
}

/* Memory that the exporter does not touch. */
static void share_look(struct tb *tb)
{
	tb_copy(tb, BUFFER + 3072, SW_SIDE_DEVICE, OTHERS + 8192, SW_SIDE_DEVICE, 90, STREAM_A);
}

static void share_flag(struct tb *tb)
{
	tb_set(tb, OWN + 65536, 4, STREAM_A);
}

static void share_event(struct tb *tb)
{
	tb_event_create(tb, SHARED_EVENT)->flags = INTERPROCESS;
}

static void share_event_handle(struct tb *tb)
{
	struct sw_rec_other *other = tb_other(tb, SW_REC_OTHER, "cuIpcGetEventHandle");
	other->args[0] = SHARED_EVENT;
	other->args[1] = EVENT_HANDLE;
}

static void share_open_event(struct tb *tb)
{
	tb_event_create(tb, SHARED_EVENT)->shared = EVENT_HANDLE;
}

static void share_record(struct tb *tb)
{
	tb_event_record(tb, SHARED_EVENT, STREAM_A);
}

static void share_wait(struct tb *tb)
{
	tb_stream_wait(tb, STREAM_A, SHARED_EVENT);
}

static void share_sync(struct tb *tb)
{
	tb_sync(tb, SW_SYNC_STREAM, STREAM_A);
}

static void share_other_sync(struct tb *tb)
{
	tb_sync(tb, SW_SYNC_STREAM, STREAM_B);
}

static void share_host_func(struct tb *tb)
{
	tb_host_func(tb, STREAM_A, 0x401000);
}

/* Kernels whose code is not known. */
static void share_kernel(struct tb *tb)
{
	static uint32_t function;
	function = function ? function : tb_function(tb, "unknown", 0);
	tb_launch(tb, function, STREAM_A, 0);
}

static void share_pin(struct tb *tb)
{
	tb_alloc(tb, SW_MEM_PINNED, PINNED, 4096);
}

static void share_to_host(struct tb *tb)
{
	tb_copy(tb, PINNED, SW_SIDE_HOST, BUFFER + 3072, SW_SIDE_DEVICE, 8, STREAM_A);
}

/* Memory of the virtual memory API, of which others may have a descriptor. */
static void share_map(struct tb *tb)
{
	tb_alloc(tb, SW_MEM_MAPPED, MAPPED, 1 << 21);
}

static void share_set_mapped(struct tb *tb)
{
	tb_set(tb, MAPPED, 64, STREAM_A);
}

static void share_unclassified(struct tb *tb)
{
	tb_other(tb, SW_REC_UNCLASSIFIED, "cuNobodyKnows");
}

static void share_loss(struct tb *tb)
{
	tb_loss(tb, tb->seq + 1, tb->seq + 3, 3);
	tb->seq += 3;
}

static const struct {
	const char *name;
	void (*act)(struct tb *tb);
} shared[] = {
	{"export", share_export},
	{"free", share_free},
	{"allocate", share_allocate},
	{"open", share_open},
	{"close", share_close},
	{"use", share_use},
	{"set", share_set},	/* the exporter writes bytes 0 to 4095 */
	{"write", share_write}, /* the other writes bytes 4000 to 8095 ... */
	{"read", share_read},	/* ... or reads bytes 4000 to 4089 ... */
	{"look", share_look},	/* ... or others */
	{"flag", share_flag},	/* the exporter writes what no process reads */
	{"event", share_event}, /* an event of both ... */
	{"handle", share_event_handle},
	{"openevent", share_open_event},
	{"record", share_record},
	{"wait", share_wait},
	{"sync", share_sync},
	{"othersync", share_other_sync}, /* of a stream without work */
	{"hostfunc", share_host_func},
	{"kernel", share_kernel},
	{"pin", share_pin},
	{"tohost", share_to_host},
	{"map", share_map},
	{"setmapped", share_set_mapped},
	{"unclassified", share_unclassified},
	{"loss", share_loss},
};

static void share(struct tb *tb)
{
	const uint64_t start = tb->header.start_ticks;
	if (*text("ipc", ""))
		share_allocate(tb);
	for (const char *at = text("ipc", ""); *at; at += strcspn(at, ","), at += *at == ',') {
		const size_t n = strcspn(at, "@,");
		const char *when = strchr(at, '@');
		tb->now = start + (when ? (uint64_t)(strtod(when + 1, NULL) * 1e6) : 0);
		for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
			if (strlen(shared[i].name) == n && strncmp(shared[i].name, at, n) == 0)
				shared[i].act(tb);
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
	tb->header.flags |= number("tsc", 0) ? SW_FILE_TSC : 0;
	tb->header.start_monotonic_ns += number("clock_ms", 0) * 1000000;
	if (number("end_ms", 0)) {
		tb->header.last_monotonic_ns = tb->header.start_monotonic_ns + number("end_ms", 0) * 1000000;
		if (number("tsc", 0))
			tb->header.last_ticks = tb->header.start_ticks + number("end_ms", 0) * number("tsc", 0);
	}
	tb_close(tb, number("closed", 1));
	return 0;
}
