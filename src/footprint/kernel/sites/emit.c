/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/sites/emit.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Of one list, the innermost. */
#define MAX_FACTS_OF_SITE 64
/* Of a footprint. */
#define MAX_FACTS (1u << 18)

/* ---- terms ------------------------------------------------------------------------------------------------------- */

uint32_t sw_emit_loop(struct sw_emit *e, uint32_t natural)
{
	uint64_t *found = sw_map_find(&e->loop_of, natural);
	if (found)
		return (uint32_t)*found - 1;
	uint32_t around = e->ssa->flow.loop.at[natural].parent, parent = UINT32_MAX;
	/* A term rarely names more than a few loops; those around are few as well (natural_loops.c caps their depth).
	 */
	if (around != SW_NO_LOOP)
		parent = sw_emit_loop(e, around);
	*sw_vec_push(&e->loop) = (struct sw_loop){.parent = parent};
	*sw_vec_push(&e->natural) = natural;
	*sw_map_put(&e->loop_of, natural) = e->loop.n;
	return (uint32_t)e->loop.n - 1;
}

static uint32_t number_of(const struct sw_emit *e, sw_node node)
{
	return e->term_of[node] - 1;
}

/* All operands have their numbers. */
static void put_term(struct sw_emit *e, sw_node node)
{
	const struct sw_value *v = sw_graph_at(&e->terms.graph, node);
	const sw_node *o = sw_graph_operands(&e->terms.graph, node);
	struct sw_term t = {.op = v->op, .width = v->width, .flags = v->flags, .imm = v->imm, .imm2 = v->imm2};
	if (v->op == SW_TERM_ANY) {
		t.a = (uint32_t)e->alternative.n;
		t.b = v->imm2 ? v->n / 2 : v->n;
		for (uint32_t i = 0; i < v->n; i++)
			*sw_vec_push(&e->alternative) = number_of(e, o[i]);
	} else {
		uint32_t *to[3] = {&t.a, &t.b, &t.c};
		for (uint32_t i = 0; i < v->n && i < 3; i++)
			*to[i] = number_of(e, o[i]);
	}
	if (v->op == SW_TERM_STEP) {
		t.c = sw_emit_loop(e, (uint32_t)v->imm);
		t.imm = 0;
	} else if (v->op == SW_TERM_ELEMENT) {
		t.b = (uint32_t)v->imm2;
		t.c = (uint32_t)((uint64_t)v->imm2 >> 32);
		t.imm2 = 0;
	} else if (v->op == SW_OP_RANGE) {
		t.a = v->why;
		t.b = v->space;
	} else if (v->op == SW_TERM_LOADED) {
		t.b = v->space;
		t.c = v->why;
		t.bytes = v->bytes;
	} else if (v->op == SW_OP_SYMBOL_ADDRESS) {
		t.imm = sw_emit_symbol(e, (uint32_t)v->imm);
	}
	*sw_vec_push(&e->term) = t;
	e->term_of[node] = (uint32_t)e->term.n;
}

/* For all nodes that there are: emitting makes none. */
static void make_room(struct sw_emit *e)
{
	size_t room = e->terms.graph.value.room;
	if (e->term_of_room >= e->terms.graph.value.n)
		return;
	e->term_of = sw_realloc(e->term_of, room, sizeof *e->term_of);
	memset(e->term_of + e->term_of_room, 0, (room - e->term_of_room) * sizeof *e->term_of);
	e->term_of_room = room;
}

uint32_t sw_emit_term(struct sw_emit *e, sw_node node)
{
	SW_VEC(sw_node) stack = {0};
	make_room(e);
	if (e->term_of[node] && e->term.n < SW_FOOTPRINT_MAX_TERMS)
		return number_of(e, node);
	*sw_vec_push(&stack) = node;
	while (stack.n) {
		sw_node at = stack.at[stack.n - 1];
		const struct sw_value *v = sw_graph_at(&e->terms.graph, at);
		size_t before = stack.n;
		if (e->term.n >= SW_FOOTPRINT_MAX_TERMS)
			break;
		if (e->term_of[at]) {
			stack.n--;
			continue;
		}
		for (uint32_t i = 0; i < v->n; i++) {
			sw_node o = sw_graph_operand(&e->terms.graph, at, i);
			if (!e->term_of[o])
				*sw_vec_push(&stack) = o;
		}
		if (stack.n > before)
			continue;
		put_term(e, at);
		stack.n--;
	}
	bool all = !stack.n;
	free(stack.at);
	return all ? number_of(e, node) : SW_NO_TERM;
}

/* ---- facts and loops --------------------------------------------------------------------------------------------- */

/* Stands for the facts that are not kept.  Not counted against the most terms: it is needed when there are too many. */
static struct sw_fact unknown_fact(struct sw_emit *e)
{
	if (!e->unknown) {
		*sw_vec_push(&e->term) = (struct sw_term){
			.op = SW_OP_RANGE, .width = 1, .a = SW_WHY_COMPLEX, .b = SW_FROM_ANYTHING, .imm2 = 1};
		e->unknown = (uint32_t)e->term.n;
	}
	return (struct sw_fact){e->unknown - 1, true};
}

struct sw_array_span sw_emit_facts(struct sw_emit *e, uint32_t list, uint32_t end)
{
	struct sw_array_span span = {(uint32_t)e->fact.n, 0};
	uint64_t key = (uint64_t)list << 32 | end;
	const uint64_t *found = sw_map_find(&e->list_of, key);
	if (list == end || list == SW_NO_CONDITION)
		return (struct sw_array_span){0};
	if (found)
		return (struct sw_array_span){(uint32_t)*found, (uint32_t)(*found >> 32)};
	uint32_t g = list;
	for (; g != end && g != SW_NO_CONDITION && span.n < MAX_FACTS_OF_SITE && e->fact.n < MAX_FACTS;
	     g = e->guards.guard.at[g].next) {
		sw_node term = sw_terms_of(&e->terms, e->guards.guard.at[g].node);
		const struct sw_value *v = sw_graph_at(&e->terms.graph, term);
		bool truth = v->op != SW_OP_NOT;
		if (v->op == SW_OP_CONST)
			continue;
		uint32_t number = sw_emit_term(e, truth ? term : v->operand[0]);
		if (number == SW_NO_TERM)
			break;
		*sw_vec_push(&e->fact) = (struct sw_fact){number, truth};
		span.n++;
	}
	if (g != end && g != SW_NO_CONDITION) {
		*sw_vec_push(&e->fact) = unknown_fact(e);
		span.n++;
	}
	*sw_map_put(&e->list_of, key) = (uint64_t)span.n << 32 | span.first;
	return span;
}

/* What holds on all edges into a header, those that close the loop or the others. */
static uint32_t on_edges(struct sw_emit *e, uint32_t header, bool back)
{
	const struct sw_flow *flow = &e->ssa->flow;
	const struct sw_basic_block *b = &flow->block.at[header];
	uint32_t list = SW_NO_CONDITION;
	bool first = true;
	for (uint32_t i = 0; i < b->preds; i++) {
		uint32_t from = flow->edge.at[b->pred + i];
		if (sw_flow_retreats(from, header) != back)
			continue;
		uint32_t edge = sw_path_conditions_on_edge(e->ssa, &e->guards, from, header);
		list = first ? edge
			     : sw_path_conditions_common(e->ssa, &e->guards, list, edge,
							 e->guards.of[back ? header : b->idom]);
		first = false;
	}
	return list;
}

void sw_emit_loops(struct sw_emit *e)
{
	for (size_t l = 0; l < e->loop.n; l++) {
		uint32_t header = e->ssa->flow.loop.at[e->natural.at[l]].header;
		struct sw_array_span entry = sw_emit_facts(e, on_edges(e, header, false), SW_NO_CONDITION);
		struct sw_array_span back = sw_emit_facts(e, on_edges(e, header, true), e->guards.of[header]);
		struct sw_loop *loop = &e->loop.at[l];
		loop->entry = entry.first;
		loop->entries = entry.n;
		loop->back = back.first;
		loop->backs = back.n;
	}
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

uint32_t sw_emit_string(struct sw_emit *e, const char *text)
{
	size_t bytes = strlen(text) + 1;
	uint64_t key = sw_hash_bytes(SW_FNV_START, text, bytes), *found;
	for (; (found = sw_map_find(&e->string_of, key)); key++)
		if (!strcmp(e->string.at + *found, text))
			return (uint32_t)*found;
	uint32_t at = (uint32_t)e->string.n;
	sw_vec_reserve(&e->string, e->string.n + bytes);
	memcpy(e->string.at + at, text, bytes);
	e->string.n += bytes;
	*sw_map_put(&e->string_of, key) = at;
	return at;
}

uint32_t sw_emit_symbol(struct sw_emit *e, uint32_t symbol)
{
	static const struct sw_symbol none = {.name = ""};
	const struct sw_symbol *s = symbol < e->program->symbols ? &e->program->symbol[symbol] : &none;
	uint64_t *found = sw_map_find(&e->symbol_of, symbol);
	if (found)
		return (uint32_t)*found;
	struct sw_footprint_symbol out = {sw_emit_string(e, s->name ? s->name : ""), s->constant, s->bytes};
	*sw_vec_push(&e->symbol) = out;
	*sw_map_put(&e->symbol_of, symbol) = e->symbol.n - 1;
	return (uint32_t)e->symbol.n - 1;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void *take_array(struct sw_arena *arena, const void *from, size_t n, size_t bytes)
{
	void *to = sw_arena_alloc(arena, n * bytes + 1);
	if (n)
		memcpy(to, from, n * bytes);
	return to;
}

struct sw_footprint *sw_emit_finish(struct sw_emit *e, enum sw_code_source source, uint32_t arch, const char *wild)
{
	struct sw_footprint *f = sw_calloc(1, sizeof *f);
	f->source = source;
	f->arch = arch;
	f->wild = wild && *wild ? sw_emit_string(e, wild) : 0;
	f->params = e->program->params;
	f->param_bytes = e->program->param_bytes;
	f->param = take_array(&f->arena, e->program->param, e->program->params, sizeof *f->param);
#define TAKE(array, count, vector)                                                                                     \
	f->array = take_array(&f->arena, e->vector.at, e->vector.n, sizeof *f->array);                                 \
	f->count = (uint32_t)e->vector.n
	TAKE(term, terms, term);
	TAKE(alternative, alternatives, alternative);
	TAKE(fact, facts, fact);
	TAKE(loop, loops, loop);
	TAKE(root, roots, root);
	TAKE(site, sites, site);
	TAKE(grid, grids, grid);
	TAKE(symbol, symbols, symbol);
	TAKE(string, strings, string);
#undef TAKE
	free(e->term.at);
	free(e->alternative.at);
	free(e->fact.at);
	free(e->loop.at);
	free(e->natural.at);
	free(e->root.at);
	free(e->site.at);
	free(e->grid.at);
	free(e->symbol.at);
	free(e->string.at);
	free(e->term_of);
	sw_map_free(&e->loop_of);
	sw_map_free(&e->list_of);
	sw_map_free(&e->symbol_of);
	sw_map_free(&e->string_of);
	sw_map_free(&e->same);
	return f;
}
