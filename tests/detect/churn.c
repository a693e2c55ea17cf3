/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/churn.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "reader/trace_builder.h"

#define KEPT_STREAMS   4u /* that live as long as the program */
#define KEPT_STREAM(i) (0xa000u + 16 * (uint64_t)(i))
#define KEPT(i)	       (0x7d0000000000ull + ((uint64_t)(i) << 21))
#define HOST	       0x600000ull

/* Objects that a round makes and ends: every other one at new addresses and handles, the rest at a few old ones. */
struct things {
	uint64_t n, device, pinned, pooled, nodes_memory;
	uint64_t stream[2], event[2], graph, exec, node;
};

static struct things things_of(uint64_t n)
{
	uint64_t place = n % 2 ? 64 + n : n % 64;
	return (struct things){
		.n = n,
		.device = 0x7f0000000000 + (place << 16),
		.pinned = 0x7e0000000000 + (place << 12),
		.pooled = 0x710000000000 + (place << 14),
		.nodes_memory = 0x720000000000 + (place << 12),
		.stream = {0x100000000 + (place << 6), 0x100000020 + (place << 6)},
		.event = {0x9100000000 + (place << 6), 0x9100000020 + (place << 6)},
		.graph = 0xa100000000 + (place << 6),
		.exec = 0xb100000000 + (place << 6),
		.node = 0xc100000000 + (place << 8),
	};
}

static void make(struct tb *tb, const struct things *t)
{
	tb_stream_create(tb, t->stream[0], 1);
	tb_stream_create(tb, t->stream[1], 0);
	tb_event_create(tb, t->event[0]);
	tb_event_create(tb, t->event[1]);
	tb_alloc(tb, SW_MEM_DEVICE, t->device, 1 << 16);
	tb_alloc(tb, SW_MEM_PINNED, t->pinned, 1 << 12);
	tb_alloc(tb, SW_MEM_ASYNC, t->pooled, 1 << 14)->stream = t->stream[0];
}

static void then(struct tb *tb, const struct things *t, unsigned from, unsigned to)
{
	tb_event_record(tb, t->event[from], t->stream[from]);
	tb_stream_wait(tb, t->stream[to], t->event[from]);
}

static void work(struct tb *tb, const struct things *t, uint32_t kernel)
{
	uint64_t kept = KEPT(t->n % 64), lasting = KEPT_STREAM(t->n % KEPT_STREAMS);
	tb_copy(tb, t->device, SW_SIDE_DEVICE, t->pinned, SW_SIDE_HOST, 4096, t->stream[0]);
	tb_set(tb, t->pooled, 1 << 14, t->stream[0]);
	then(tb, t, 0, 1);
	tb_launch(tb, kernel, t->stream[1], 2, t->pooled, t->device);
	tb_copy(tb, HOST + (t->n % 16 << 12), SW_SIDE_HOST, t->device, SW_SIDE_DEVICE, 4096, t->stream[1]);
	tb_host_func(tb, t->stream[1], 0x1234);
	uint64_t enqueued = tb->seq;
	tb_thread(tb, 2);
	tb_host_func_run(tb, t->stream[1], 0x1234, enqueued);
	tb_thread(tb, 1);
	/* A stream that the host never waits for by itself. */
	tb_set(tb, kept + 4096 * (t->n % KEPT_STREAMS), 4096, lasting);
	then(tb, t, 1, 0);
	tb_free(tb, SW_MEM_ASYNC, t->pooled)->stream = t->stream[0];
}

static void describe(struct tb *tb, const struct things *t, uint64_t set_seq, uint64_t width)
{
	struct sw_rec_set set = {.dst = t->device, .width = width, .height = 1};
	struct sw_rec_alloc alloc = {.memory = SW_MEM_ASYNC, .address = t->nodes_memory, .bytes = 4096};
	struct sw_rec_set fill = {.dst = t->nodes_memory, .width = 4096, .height = 1};
	struct sw_rec_free gone = {.memory = SW_MEM_ASYNC, .address = t->nodes_memory};
	uint64_t before = t->node;
	tb_node_head(tb, t->exec, 4);
	tb_node(tb, t->exec, t->node, NULL, 0, SW_REC_SET, &set, sizeof set)->origin = set_seq;
	tb_node(tb, t->exec, t->node + 16, &before, 1, SW_REC_ALLOC, &alloc, sizeof alloc);
	before += 16;
	tb_node(tb, t->exec, t->node + 32, &before, 1, SW_REC_SET, &fill, sizeof fill);
	before += 16;
	tb_node(tb, t->exec, t->node + 48, &before, 1, SW_REC_FREE, &gone, sizeof gone);
}

static void graphs(struct tb *tb, const struct things *t)
{
	tb_capture(tb, SW_CAPTURE_BEGIN, t->stream[0], 0);
	uint64_t captured = 0;
	for (unsigned i = 0; i < 4; i++)
		captured = sw_rec_seq(&tb_set(tb, t->device, 4096, t->stream[0])->h);
	then(tb, t, 0, 1);
	then(tb, t, 1, 0);
	tb_capture(tb, SW_CAPTURE_END, t->stream[0], t->graph);
	tb_graph(tb, SW_GRAPH_INSTANTIATE, t->graph, t->exec);
	describe(tb, t, captured, 4096);
	for (unsigned i = 0; i < 4; i++)
		tb_graph_launch(tb, t->exec, t->stream[0]);
	tb_graph(tb, SW_GRAPH_EXEC_UPDATE, t->graph, t->exec);
	describe(tb, t, captured, 8192);
	tb_graph_launch(tb, t->exec, t->stream[0]);
	tb_graph(tb, SW_GRAPH_EXEC_DESTROY, 0, t->exec);
	tb_graph(tb, SW_GRAPH_DESTROY, t->graph, 0);
}

static void end(struct tb *tb, const struct things *t)
{
	if (t->n % 32 == 31)
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	else if (t->n % 4 == 3)
		tb_sync(tb, SW_SYNC_STREAM, t->stream[0]);
	else
		tb_query(tb, SW_SYNC_EVENT, t->event[1], t->n % 4 ? 0 : 600);
	tb_event_destroy(tb, t->event[0]);
	tb_event_destroy(tb, t->event[1]);
	tb_stream_destroy(tb, t->stream[0]);
	tb_stream_destroy(tb, t->stream[1]);
	tb_free_sync(tb, SW_MEM_PINNED, t->pinned);
	tb_free_sync(tb, SW_MEM_UNKNOWN, t->device);
	for (uint64_t i = 0; i < 4; i++)
		tb_object(tb, SW_OBJECT_TENSOR_MAP, (t->n % 2 ? t->n << 20 : t->n % 64) + i, t->device, 4096);
}

static void write_piece(struct churn *churn, const char *path, uint64_t rounds)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = 1 << 16, .bare = churn->rounds});
	tb->ctx = 1;
	if (churn->rounds) {
		tb->seq = churn->seq;
		tb->now = churn->now;
		tb_thread(tb, 1);
	}
	uint32_t kernel = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	if (!churn->rounds) {
		for (unsigned i = 0; i < KEPT_STREAMS; i++)
			tb_stream_create(tb, KEPT_STREAM(i), 1);
		for (unsigned i = 0; i < 64; i++)
			tb_alloc(tb, SW_MEM_DEVICE, KEPT(i), 1 << 20);
	}
	tb_stack(tb, 1, 0x1000ull);
	for (uint64_t i = 0; i < rounds; i++) {
		const struct things t = things_of(churn->rounds++);
		make(tb, &t);
		work(tb, &t, kernel);
		graphs(tb, &t);
		end(tb, &t);
	}
	churn->seq = tb->seq;
	churn->now = tb->now;
	tb_close(tb, false);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void judge_piece(struct churn *churn, struct sw_reader *reader, struct sw_error *error)
{
	struct sw_record record;
	int got;
	bool first = reader == churn->first;
	while ((got = sw_reader_next(reader, &record, error)) > 0) {
		/* Only that a piece starts where the one before it ended. */
		if (first || record.rec->kind != SW_REC_LOSS)
			sw_model_step(churn->model, &record);
	}
	if (got < 0) {
		fprintf(stderr, "churn: %s\n", error->text);
		exit(1);
	}
	churn->operations += sw_reader_totals(reader).operations;
}

void churn_go_on(struct churn *churn, uint64_t rounds)
{
	static const struct sw_judge_options options = {.fold_below_ns = 100000, .no_footprints = true};
	char path[64];
	struct sw_reader *reader;
	struct sw_error error = {0};
	snprintf(path, sizeof path, "churn-%d.swt", (int)getpid());
	write_piece(churn, path, rounds);
	if (sw_reader_open(path, &reader, &error)) {
		fprintf(stderr, "churn: %s\n", error.text);
		exit(1);
	}
	unlink(path);
	double start = seconds();
	if (!churn->first) {
		churn->first = reader;
		churn->model = sw_alloc(sizeof *churn->model);
		sw_model_init(churn->model, reader, &options, &churn->judgement, &churn->arena);
		churn->model->times = &churn->times;
	}
	judge_piece(churn, reader, &error);
	churn->seconds += seconds() - start;
	if (reader != churn->first)
		sw_reader_close(reader);
}

void churn_start(struct churn *churn)
{
	*churn = (struct churn){0};
}

void churn_end(struct churn *churn)
{
	sw_model_finish(churn->model);
	sw_model_free(churn->model);
	free(churn->model);
	sw_reader_close(churn->first);
	free(churn->judgement.streams.at);
	free(churn->judgement.allocations.at);
	free(churn->judgement.findings.at);
	sw_arena_free(&churn->arena);
}

uint64_t churn_heap(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}
