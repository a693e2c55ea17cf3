/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: what was captured or made node by node, what launches of it do (doc/order.md). */
#include "chain_call.h"

#define EXEC(slot)    (0x5e00ull + 0x100 * (uint64_t)(slot))
#define NODE(slot, i) (EXEC(slot) + 0x10000 + 0x10 * (uint64_t)(i))

void graph_node(struct run *run, struct graph *graph, uint64_t before)
{
	unsigned i = graph->n++;
	graph->node[i].op = *run->op;
	graph->node[i].index = run->index;
	graph->node[i].seq = run->tb->seq;
	graph->node[i].before = before & ((1ull << i) - 1);
	/* A node that is made by itself copies rows or sets them, or is one of an event. */
	if (run->op->kind == CHAIN_NODE && run->op->rows == 1 && run->op->bytes % 3 == 0 && !graph->marks++)
		graph->node[i].op.kind = run->op->flag ? CHAIN_RECORD : CHAIN_STREAM_WAIT;
	else if (run->op->kind == CHAIN_NODE)
		graph->node[i].op.kind = run->op->flag ? CHAIN_SET : CHAIN_COPY_2D;
	if (run->op->kind == CHAIN_COPY)
		graph->node[i].op.rows = 1;
}

static struct sw_box box_of(const struct chain_range *range, unsigned bytes)
{
	return (struct sw_box){.base = slot_address(range),
			       .pitch = range->pitch > bytes ? range->pitch : bytes,
			       .slice_rows = 1,
			       .side = slot_is_device(range->slot) ? SW_SIDE_DEVICE : SW_SIDE_HOST};
}

union work {
	struct sw_rec_set set;
	struct sw_rec_copy_nd copy;
	struct sw_rec_event_record record;
	struct sw_rec_stream_wait wait;
};

static size_t work_of(const struct chain_op *op, union work *work, enum sw_rec_kind *kind)
{
	switch ((enum chain_kind)op->kind) {
	case CHAIN_SET:
		*kind = SW_REC_SET;
		work->set = (struct sw_rec_set){
			.dst = slot_address(&op->dst), .width = op->bytes, .height = op->rows, .pitch = op->dst.pitch};
		return sizeof work->set;
	case CHAIN_RECORD:
		*kind = SW_REC_EVENT_RECORD;
		work->record =
			(struct sw_rec_event_record){.event = 0x77000u + op->event, .flags = SW_EVENT_RECORD_EXTERNAL};
		return sizeof work->record;
	case CHAIN_STREAM_WAIT:
		*kind = SW_REC_STREAM_WAIT;
		work->wait = (struct sw_rec_stream_wait){.event = 0x77000u + op->event, .flags = 1};
		return sizeof work->wait;
	default:
		*kind = SW_REC_COPY_ND;
		work->copy = (struct sw_rec_copy_nd){.width = op->bytes,
						     .height = op->rows,
						     .depth = 1,
						     .dst = box_of(&op->dst, op->bytes),
						     .src = box_of(&op->src, op->bytes)};
		return sizeof work->copy;
	}
}

static void describe_node(struct run *run, unsigned slot, const struct graph *graph, unsigned i)
{
	uint64_t before[CHAIN_OPS];
	uint32_t n = 0;
	union work work;
	enum sw_rec_kind kind;
	size_t bytes = work_of(&graph->node[i].op, &work, &kind);
	for (unsigned k = 0; k < i; k++)
		if (graph->node[i].before >> k & 1)
			before[n++] = NODE(slot, k);
	tb_node(run->tb, EXEC(slot), NODE(slot, i), before, n, kind, &work, bytes)->origin = graph->node[i].seq;
}

/* The event of the order that stands for the last launch. */
static int turn(struct run *run, unsigned slot, enum op_kind kind)
{
	struct op op = call(run, kind);
	op.event = (uint8_t)(CHAIN_EVENTS + slot);
	return place(run, &op);
}

/* Becomes another executable graph, or an update of one. */
void graph_done(struct run *run, struct graph *graph)
{
	unsigned slot = run->op->event % CHAIN_EXECS;
	bool update = run->exec[slot].there && run->op->flag;
	if (run->exec[slot].there && !update)
		graph_ends(run);
	tb_graph(run->tb, update ? SW_GRAPH_EXEC_UPDATE : SW_GRAPH_INSTANTIATE, 0x99, EXEC(slot));
	tb_node_head(run->tb, EXEC(slot), graph->n);
	for (unsigned i = 0; i < graph->n; i++)
		describe_node(run, slot, graph, i);
	run->exec[slot] = *graph;
	run->exec[slot].there = true;
	run->exec[slot].judged = false;
	*graph = (struct graph){0};
}

void graph_ends(struct run *run)
{
	unsigned slot = run->op->event % CHAIN_EXECS;
	tb_graph(run->tb, SW_GRAPH_EXEC_DESTROY, 0, EXEC(slot));
	turn(run, slot, OP_EVENT_DESTROY);
	run->exec[slot].there = false;
}

static bool is_mark(const struct graph *graph, unsigned i)
{
	return graph->node[i].op.kind == CHAIN_RECORD || graph->node[i].op.kind == CHAIN_STREAM_WAIT;
}

/* Finds the nodes before each node, by all paths. */
static void close_paths(const struct graph *graph, uint64_t *before)
{
	for (unsigned i = 0; i < graph->n; i++) {
		before[i] = graph->node[i].before;
		for (unsigned k = 0; k < i; k++)
			if (before[i] >> k & 1)
				before[i] |= before[k];
	}
}

static void branches(struct run *run, const struct graph *graph, const uint64_t *before)
{
	for (unsigned i = 0; i < graph->n; i++)
		for (unsigned k = 0; k < i; k++)
			if (!(before[i] >> k & 1) && !is_mark(graph, i) && !is_mark(graph, k))
				memory_beside(run->truth, &graph->node[k].op, graph->node[k].index, &graph->node[i].op,
					      graph->node[i].index);
}

/* Nodes that are in the set, as one step. */
static void run_nodes(struct run *run, const struct graph *graph, uint64_t set)
{
	int node = happens(run, OP_ENQUEUE);
	for (unsigned i = 0; i < graph->n; i++) {
		const struct chain_op *op = &graph->node[i].op;
		struct touch like = {.op = graph->node[i].index, .node = node, .role = SW_READ};
		if (!(set >> i & 1) || is_mark(graph, i))
			continue;
		if (op->kind != CHAIN_SET)
			memory_box(run->truth, &like, &op->src, op->bytes, op->rows);
		like.role = SW_WRITE;
		memory_box(run->truth, &like, &op->dst, op->bytes, op->rows);
	}
}

/* A record stands for what comes before it; what comes after a wait, and nothing else, is held back by it. */
static void run_around(struct run *run, const struct graph *graph, unsigned mark, const uint64_t *before)
{
	struct op op = call(run, graph->node[mark].op.kind == CHAIN_RECORD ? OP_RECORD : OP_STREAM_WAIT);
	bool records = op.kind == OP_RECORD;
	uint64_t second = 0;
	for (unsigned i = 0; i < graph->n; i++)
		if (records ? !(before[mark] >> i & 1) : before[i] >> mark & 1)
			second |= 1ull << i;
	run_nodes(run, graph, ~second);
	op.event = graph->node[mark].op.event;
	place(run, &op);
	if (records)
		run->event_capture[op.event] = 0;
	run_nodes(run, graph, second);
}

void graph_launch(struct run *run, bool captured)
{
	unsigned slot = run->op->event % CHAIN_EXECS, mark = 0;
	struct graph *graph = &run->exec[slot];
	uint64_t before[CHAIN_OPS];
	tb_graph_launch(run->tb, EXEC(slot), stream_handle(run));
	if (captured)
		return;
	if (run->truth->order.event[CHAIN_EVENTS + slot].recorded)
		turn(run, slot, OP_STREAM_WAIT);
	close_paths(graph, before);
	while (mark < graph->n && !is_mark(graph, mark))
		mark++;
	if (!graph->judged)
		branches(run, graph, before);
	graph->judged = true;
	if (mark < graph->n)
		run_around(run, graph, mark, before);
	else
		run_nodes(run, graph, ~0ull);
	turn(run, slot, OP_RECORD);
}
