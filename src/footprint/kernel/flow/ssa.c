/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/flow/ssa.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/kernel/flow/lift.h"

/* Values of variables that a block changed, restored when its subtree of the dominator tree is done. */
struct change {
	uint32_t var;
	sw_node was;
};
struct sw_renamer {
	struct sw_ssa *ssa;
	struct sw_stack_frames frames;
	struct sw_places places;
	uint8_t *width;	     /* by variable: the widest that is written to it */
	sw_node *now;	     /* by variable; SW_NO_NODE: never written on any way here */
	sw_node *phi;	     /* by place: the PHI of a loop header, whose operands follow */
	sw_node *incoming;   /* operands of all places, in the order of predecessors */
	size_t *incoming_at; /* by place */
	SW_VEC(struct change) log;
	SW_VEC(sw_node) * written; /* flat: by variable, all that it is ever given */
};

/* ---- reading and writing variables ------------------------------------------------------------------------------ */

static sw_node unknown_value(struct sw_ssa *ssa, uint8_t width, uint32_t block)
{
	sw_node node = sw_graph_range(&ssa->graph, width, SW_WHY_COMPUTED);
	sw_ssa_set_block(ssa, node, block);
	return node;
}

sw_node sw_renamer_read(struct sw_renamer *r, uint32_t var, uint8_t width, uint32_t block)
{
	if (r->now[var] == SW_NO_NODE) {
		*sw_vec_push(&r->log) = (struct change){var, SW_NO_NODE};
		r->now[var] = unknown_value(r->ssa, width, block);
	}
	return r->now[var];
}

void sw_renamer_write(struct sw_renamer *r, uint32_t var, sw_node value, sw_node guard)
{
	if (r->written) {
		*sw_vec_push(&r->written[var]) = value;
		return;
	}
	sw_node old = r->now[var];
	if (guard != SW_NO_NODE && old != SW_NO_NODE)
		value = sw_graph_select(&r->ssa->graph, sw_graph_at(&r->ssa->graph, value)->width, guard, value, old);
	*sw_vec_push(&r->log) = (struct change){var, old};
	r->now[var] = value;
}

uint32_t sw_renamer_var(const struct sw_renamer *r, uint32_t insn, uint32_t k)
{
	return sw_frames_var(&r->frames, &r->ssa->body, insn, k);
}

struct sw_ssa *sw_renamer_ssa(const struct sw_renamer *r)
{
	return r->ssa;
}

/* ---- joins ------------------------------------------------------------------------------------------------------ */

/* The edge of block `at` (the immediate dominator of a join of two ways) by which predecessor i is reached; -1: both.
 */
static int side_of(const struct sw_flow *flow, uint32_t at, uint32_t join, uint32_t pred)
{
	const struct sw_basic_block *d = &flow->block.at[at];
	for (int s = 0; s < 2; s++) {
		uint32_t to = flow->edge.at[d->succ + (uint32_t)s];
		if (pred == at ? to == join
			       : to != join && flow->block.at[to].preds == 1 && sw_flow_dominates(flow, to, pred))
			return s;
	}
	return -1;
}

/* if (c) x = a; else x = b; is c ? a : b. */
static sw_node select_of(struct sw_ssa *ssa, uint32_t join, const sw_node *in)
{
	const struct sw_flow *flow = &ssa->flow;
	const struct sw_basic_block *b = &flow->block.at[join];
	if (b->preds != 2 || ssa->condition[b->idom] == SW_NO_NODE || flow->block.at[b->idom].succs != 2)
		return SW_NO_NODE;
	int first = side_of(flow, b->idom, join, flow->edge.at[b->pred]);
	int second = side_of(flow, b->idom, join, flow->edge.at[b->pred + 1]);
	if (first < 0 || second < 0 || first == second)
		return SW_NO_NODE;
	uint8_t width = sw_graph_at(&ssa->graph, in[0])->width;
	return sw_graph_select(&ssa->graph, width, ssa->condition[b->idom], in[first], in[second]);
}

static uint8_t widest_of(const struct sw_ssa *ssa, const sw_node *in, uint32_t n)
{
	uint8_t width = 1;
	for (uint32_t i = 0; i < n; i++)
		if (in[i] != SW_NO_NODE && sw_graph_at(&ssa->graph, in[i])->width > width)
			width = sw_graph_at(&ssa->graph, in[i])->width;
	return width;
}

/* Paths on which the variable was never written do not count: no reader is reached by them. */
static sw_node join_of(struct sw_ssa *ssa, uint32_t block, sw_node *in, uint32_t n)
{
	sw_node one = SW_NO_NODE;
	uint8_t width = widest_of(ssa, in, n);
	bool differ = false, missing = false;
	for (uint32_t i = 0; i < n; i++) {
		if (in[i] == SW_NO_NODE) {
			missing = true;
			continue;
		}
		in[i] = sw_graph_fit(&ssa->graph, in[i], width);
		differ |= one != SW_NO_NODE && in[i] != one;
		one = in[i];
	}
	if (!differ)
		return one;
	sw_node node = missing ? SW_NO_NODE : select_of(ssa, block, in);
	if (node != SW_NO_NODE)
		return node;
	for (uint32_t i = 0; i < n; i++)
		if (in[i] == SW_NO_NODE)
			in[i] = one;
	node = sw_graph_phi(&ssa->graph, width, block);
	sw_graph_phi_set(&ssa->graph, node, in, n);
	return node;
}

static bool closes_loop(const struct sw_flow *flow, uint32_t block)
{
	return flow->block.at[block].header || flow->block.at[block].irregular;
}

static void open_block(struct sw_renamer *r, uint32_t block)
{
	const struct sw_flow *flow = &r->ssa->flow;
	for (size_t p = r->places.first[block]; p < r->places.first[block + 1]; p++) {
		uint32_t var = r->places.phi.at[p].var;
		sw_node *in = r->incoming + r->incoming_at[p], node;
		if (closes_loop(flow, block)) /* only the ways from outside are known yet */
			node = r->phi[p] = sw_graph_phi(&r->ssa->graph, r->width[var], block);
		else
			node = join_of(r->ssa, block, in, flow->block.at[block].preds);
		*sw_vec_push(&r->log) = (struct change){var, r->now[var]};
		r->now[var] = node;
	}
}

/* The values of the variables at the end of a block go to the PHIs of its successors. */
static void close_block(struct sw_renamer *r, uint32_t block)
{
	const struct sw_flow *flow = &r->ssa->flow;
	const struct sw_basic_block *b = &flow->block.at[block];
	for (uint32_t s = 0; s < b->succs; s++) {
		uint32_t to = flow->edge.at[b->succ + s];
		const struct sw_basic_block *t = &flow->block.at[to];
		uint32_t i = 0;
		if (r->places.first[to] == r->places.first[to + 1])
			continue;
		while (flow->edge.at[t->pred + i] != block)
			i++;
		for (size_t p = r->places.first[to]; p < r->places.first[to + 1]; p++)
			r->incoming[r->incoming_at[p] + i] = r->now[r->places.phi.at[p].var];
	}
}

/* Operands of the PHIs of loop headers, now that the ends of the loops are known. */
static void finish_headers(struct sw_renamer *r)
{
	struct sw_ssa *ssa = r->ssa;
	for (size_t p = 0; p < r->places.phi.n; p++) {
		if (r->phi[p] == SW_NO_NODE)
			continue;
		uint32_t block = r->places.phi.at[p].block, n = ssa->flow.block.at[block].preds;
		sw_node *in = r->incoming + r->incoming_at[p];
		uint8_t width = sw_graph_at(&ssa->graph, r->phi[p])->width;
		for (uint32_t i = 0; i < n; i++)
			in[i] = in[i] == SW_NO_NODE
					? unknown_value(ssa, width,
							ssa->flow.edge.at[ssa->flow.block.at[block].pred + i])
					: sw_graph_fit(&ssa->graph, in[i], width);
		sw_graph_phi_set(&ssa->graph, r->phi[p], in, n);
	}
}

void sw_ssa_finish_pairs(struct sw_ssa *ssa)
{
	struct sw_graph *graph = &ssa->graph;
	SW_VEC(sw_node) in = {0};
	for (; ssa->finished < graph->paired.n; ssa->finished++) {
		sw_node low, high, phi = graph->paired.at[ssa->finished];
		if (!sw_graph_phi_halves(graph, phi, &low, &high))
			continue;
		uint32_t n = sw_graph_at(graph, low)->n;
		in.n = 0;
		for (uint32_t i = 0; i < n && i < sw_graph_at(graph, high)->n; i++)
			*sw_vec_push(&in) = sw_graph_binary(graph, SW_OP_PAIR, 64, 0, sw_graph_operand(graph, low, i),
							    sw_graph_operand(graph, high, i));
		sw_graph_phi_set(graph, phi, in.at, (uint32_t)in.n);
	}
	free(in.at);
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

static void prepare_places(struct sw_renamer *r)
{
	struct sw_ssa *ssa = r->ssa;
	size_t places = r->places.phi.n, total = 0;
	r->phi = sw_alloc(places * sizeof *r->phi + 1);
	memset(r->phi, 0xff, places * sizeof *r->phi);
	r->incoming_at = sw_alloc(places * sizeof *r->incoming_at + 1);
	for (size_t p = 0; p < places; p++) {
		r->incoming_at[p] = total;
		total += ssa->flow.block.at[r->places.phi.at[p].block].preds;
	}
	r->incoming = sw_alloc(total * sizeof *r->incoming + 1);
	memset(r->incoming, 0xff, total * sizeof *r->incoming);
}

static void walk_block(struct sw_renamer *r, uint32_t block)
{
	const struct sw_basic_block *b = &r->ssa->flow.block.at[block];
	open_block(r, block);
	for (uint32_t i = b->first; i < b->end; i++)
		sw_lift_insn(r, i, block);
	close_block(r, block);
}

static void undo_block(struct sw_renamer *r, size_t to)
{
	while (r->log.n > to) {
		struct change *c = &r->log.at[--r->log.n];
		r->now[c->var] = c->was;
	}
}

/* Walks the dominator tree; children in reverse postorder, so all edges into a join except back edges were walked
   before it. */
static void walk_all(struct sw_renamer *r)
{
	const struct sw_flow *flow = &r->ssa->flow;
	size_t n = flow->block.n, depth = 0;
	struct {
		uint32_t block, next;
		size_t log;
	} *stack = sw_alloc(n * sizeof *stack);
	stack[depth].block = 0;
	stack[depth].next = flow->child_first[0];
	stack[depth++].log = 0;
	walk_block(r, 0);
	while (depth) {
		uint32_t b = stack[depth - 1].block;
		if (stack[depth - 1].next == flow->child_first[b + 1]) {
			undo_block(r, stack[--depth].log);
			continue;
		}
		uint32_t child = flow->child[stack[depth - 1].next++];
		stack[depth].block = child;
		stack[depth].next = flow->child_first[child];
		stack[depth++].log = r->log.n;
		walk_block(r, child);
	}
	free(stack);
}

static void find_widths(struct sw_renamer *r)
{
	struct sw_effects *e = sw_alloc(sizeof *e);
	r->width = sw_alloc((size_t)r->frames.vars + 1);
	memset(r->width, 1, (size_t)r->frames.vars + 1);
	for (uint32_t i = 0; i < r->ssa->body.insn.n; i++) {
		const struct sw_insn *x = &r->ssa->body.insn.at[i];
		if (!(sw_need_of(r->ssa, i) & SW_NEED_RESULT))
			continue;
		if (x->op < SW_OP_LOAD) {
			if (x->dst != SW_NO_REG && x->width > r->width[x->dst])
				r->width[x->dst] = x->width;
			continue;
		}
		sw_effects_of(r->ssa, &r->frames, i, e);
		for (uint32_t k = 0; k < e->defs; k++) {
			uint8_t width = e->def[k] < r->frames.regs ? x->width : (uint8_t)(x->bytes * 8);
			if (width > r->width[e->def[k]])
				r->width[e->def[k]] = width;
		}
	}
	free(e);
}

/* Every variable is one PHI of all values that are written to it anywhere. */
static void walk_flat(struct sw_renamer *r)
{
	struct sw_ssa *ssa = r->ssa;
	uint32_t n = r->frames.vars;
	r->written = sw_calloc((size_t)n + 1, sizeof *r->written);
	for (uint32_t v = 0; v < n; v++)
		r->now[v] = sw_graph_phi(&ssa->graph, r->width[v], 1);
	for (uint32_t i = 0; i < ssa->body.insn.n; i++)
		sw_lift_insn(r, i, 1);
	for (uint32_t v = 0; v < n; v++) {
		for (size_t k = 0; k < r->written[v].n; k++)
			r->written[v].at[k] = sw_graph_fit(&ssa->graph, r->written[v].at[k],
							   sw_graph_at(&ssa->graph, r->now[v])->width);
		sw_graph_phi_set(&ssa->graph, r->now[v], r->written[v].at, (uint32_t)r->written[v].n);
		free(r->written[v].at);
	}
	free(r->written);
}

static void go_flat(struct sw_ssa *ssa)
{
	sw_flow_free(&ssa->flow);
	sw_flow_build_flat(&ssa->body, &ssa->flow);
	ssa->flat = true;
	free(ssa->need);
	ssa->need = NULL;
}

/* About as many nodes are made as instructions are needed. */
static size_t needed_nodes(const struct sw_ssa *ssa)
{
	size_t n = 0;
	for (size_t i = 0; ssa->need && i < ssa->body.insn.n; i++)
		n += ssa->need[i] != 0;
	return ssa->need ? n : ssa->body.insn.n;
}

void sw_ssa_build(const struct sw_program *program, struct sw_ssa *ssa)
{
	*ssa = (struct sw_ssa){0};
	struct sw_renamer r = {.ssa = ssa};
	sw_body_make(program, &ssa->body);
	ssa->damaged = ssa->body.damaged;
	if (ssa->body.anywhere)
		go_flat(ssa);
	else
		sw_flow_build(&ssa->body, &ssa->flow);
	sw_frames_find(ssa, &r.frames);
	if (!ssa->flat)
		sw_needed_find(program, ssa, &r.frames);
	if (!ssa->flat && !sw_places_find(ssa, &r.frames, &r.places))
		go_flat(ssa);
	free(ssa->live);
	ssa->live = NULL;
	ssa->condition = sw_alloc(ssa->flow.block.n * sizeof *ssa->condition);
	memset(ssa->condition, 0xff, ssa->flow.block.n * sizeof *ssa->condition);
	ssa->choice = sw_alloc(ssa->flow.block.n * sizeof *ssa->choice);
	memset(ssa->choice, 0xff, ssa->flow.block.n * sizeof *ssa->choice);
	r.now = sw_alloc(((size_t)r.frames.vars + 1) * sizeof *r.now);
	memset(r.now, 0xff, ((size_t)r.frames.vars + 1) * sizeof *r.now);
	find_widths(&r);
	sw_graph_expect(&ssa->graph, needed_nodes(ssa));
	if (ssa->flat) {
		walk_flat(&r);
	} else {
		prepare_places(&r);
		walk_all(&r);
		finish_headers(&r);
	}
	sw_ssa_finish_pairs(ssa);
	free(ssa->need);
	ssa->need = NULL;
	free(r.width);
	free(r.now);
	free(r.phi);
	free(r.incoming);
	free(r.incoming_at);
	free(r.log.at);
	sw_places_free(&r.places);
	sw_frames_free(&r.frames);
}

void sw_ssa_free(struct sw_ssa *ssa)
{
	sw_graph_free(&ssa->graph);
	sw_body_free(&ssa->body);
	sw_flow_free(&ssa->flow);
	free(ssa->use.at);
	free(ssa->grid.at);
	free(ssa->operand.at);
	free(ssa->condition);
	free(ssa->choice);
	free(ssa->born.at);
	*ssa = (struct sw_ssa){0};
}

void sw_ssa_set_block(struct sw_ssa *ssa, sw_node node, uint32_t block)
{
	size_t known = ssa->born.n;
	if (known <= node) {
		sw_vec_reserve(&ssa->born, ssa->graph.value.room);
		memset(ssa->born.at + known, 0, (ssa->born.room - known) * sizeof *ssa->born.at);
		ssa->born.n = ssa->born.room;
	}
	ssa->born.at[node] = block + 1;
}

uint32_t sw_ssa_block_of(const struct sw_ssa *ssa, sw_node node)
{
	const struct sw_value *v = sw_graph_at(&ssa->graph, node);
	if (v->op == SW_VALUE_PHI)
		return (uint32_t)v->imm;
	if (v->op == SW_VALUE_LOADED)
		return ssa->use.at[v->imm].block;
	if (v->op != SW_OP_RANGE && v->op != SW_OP_MIX)
		return SW_NO_BLOCK;
	return node < ssa->born.n ? ssa->born.at[node] - 1 : SW_NO_BLOCK;
}
