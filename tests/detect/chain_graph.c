/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: what was captured or made node by node, what launches of it do (doc/order.md). */
#include "chain_call.h"

#define EXEC(slot) (0x5e00ull + 0x100 * (uint64_t)(slot))
#define NODE(slot, i) (EXEC(slot) + 0x10000 + 0x10 * (uint64_t)(i))

void graph_node(struct run *run, struct graph *graph, uint64_t before)
{
	unsigned i = graph->n++;
	graph->node[i].op = *run->op;
	graph->node[i].index = run->index;
	graph->node[i].seq = run->tb->seq;
	graph->node[i].before = before & ((1ull << i) - 1);
	/* A node that is made by itself copies rows or sets them. */
	if (run->op->kind == CHAIN_NODE)
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

static void describe_node(struct run *run, unsigned slot, const struct graph *graph, unsigned i)
{
	const struct chain_op *op = &graph->node[i].op;
	uint64_t before[CHAIN_OPS];
	uint32_t n = 0;
	for (unsigned k = 0; k < i; k++)
		if (graph->node[i].before >> k & 1)
			before[n++] = NODE(slot, k);
	struct sw_rec_set set = {.dst = slot_address(&op->dst), .width = op->bytes, .height = op->rows, .pitch = op->dst.pitch};
	struct sw_rec_copy_nd copy = {.width = op->bytes,
				      .height = op->rows,
				      .depth = 1,
				      .dst = box_of(&op->dst, op->bytes),
				      .src = box_of(&op->src, op->bytes)};
	bool sets = op->kind == CHAIN_SET;
	tb_node(run->tb, EXEC(slot), NODE(slot, i), before, n, sets ? SW_REC_SET : SW_REC_COPY_ND,
		sets ? (void *)&set : (void *)&copy, sets ? sizeof set : sizeof copy)
		->origin = graph->node[i].seq;
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

/* All pairs, by all paths: a set of nodes for each, grown until nothing comes to it. */
static void branches(struct run *run, const struct graph *graph)
{
	uint64_t before[CHAIN_OPS];
	for (unsigned i = 0; i < graph->n; i++) {
		before[i] = graph->node[i].before;
		for (unsigned k = 0; k < i; k++)
			if (before[i] >> k & 1)
				before[i] |= before[k];
		for (unsigned k = 0; k < i; k++)
			if (!(before[i] >> k & 1))
				memory_beside(run->truth, &graph->node[k].op, graph->node[k].index, &graph->node[i].op,
					      graph->node[i].index);
	}
}

void graph_launch(struct run *run, bool captured)
{
	unsigned slot = run->op->event % CHAIN_EXECS;
	struct graph *graph = &run->exec[slot];
	tb_graph_launch(run->tb, EXEC(slot), stream_handle(run));
	if (captured)
		return;
	if (run->truth->order.event[CHAIN_EVENTS + slot].recorded)
		turn(run, slot, OP_STREAM_WAIT);
	int node = happens(run, OP_ENQUEUE);
	if (!graph->judged)
		branches(run, graph);
	graph->judged = true;
	for (unsigned i = 0; i < graph->n; i++) {
		const struct chain_op *op = &graph->node[i].op;
		struct touch like = {.op = graph->node[i].index, .node = node, .role = SW_READ};
		if (op->kind != CHAIN_SET)
			memory_box(run->truth, &like, &op->src, op->bytes, op->rows);
		like.role = SW_WRITE;
		memory_box(run->truth, &like, &op->dst, op->bytes, op->rows);
	}
	turn(run, slot, OP_RECORD);
}
