/* SPDX-License-Identifier: Apache-2.0 */
/* From a kernel in SSA form to its footprint: the sites, the terms of their addresses, and where those addresses come
 * from. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprint/kernel/flow/extern_functions.h"
#include "footprint/kernel/flow/induction.h"
#include "footprint/kernel/sites/emit.h"
#include "footprint/rules.h"

/*
 * Atomic operations that wait: the same operation on the same word, again and again until its result is another one.
 *
 * That is how a lock is taken (compare and swap, exchange) or a barrier between blocks is waited for.  A loop that
 * computes its operands anew (an atomic maximum of floats by compare and swap), or goes from word to word (a hash
 * table), waits for nobody.
 */

/* Nodes that are looked through for each question. */
#define MOST_NODES 64u

/* A search through the nodes that a value is made of. */
struct search {
	const struct sw_ssa *ssa;
	uint32_t loop, use;
	sw_node todo[MOST_NODES];
	uint32_t n, seen;
};

/* Adds a node to those that are looked at, unless it is there.  s->n becomes MOST_NODES when there is no more room. */
static void push_node(struct search *s, sw_node node)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->todo[i] == node)
			return;
	if (s->n < MOST_NODES)
		s->todo[s->n] = node;
	s->n += s->n < MOST_NODES;
}

/* Adds the operands of a node. */
static void push_operands(struct search *s, sw_node node)
{
	const struct sw_value *v = sw_graph_at(&s->ssa->graph, node);
	for (uint32_t i = 0; i < v->n; i++)
		push_node(s, sw_graph_operand(&s->ssa->graph, node, i));
}

/* Has the node one value in all iterations of the loop? */
static bool is_fixed(const struct sw_ssa *ssa, sw_node node, uint32_t loop)
{
	struct search s = {.ssa = ssa};
	push_node(&s, node);
	while (s.seen < s.n) {
		node = s.todo[s.seen++];
		const struct sw_value *v = sw_graph_at(&ssa->graph, node);
		if (v->op == SW_VALUE_PHI && sw_flow_in_loop(&ssa->flow, (uint32_t)v->imm, loop))
			return false;
		if (v->op == SW_VALUE_LOADED && sw_flow_in_loop(&ssa->flow, ssa->use.at[v->imm].block, loop))
			return false;
		if (v->op != SW_VALUE_PHI && v->op != SW_VALUE_LOADED)
			push_operands(&s, node);
	}
	return s.n < MOST_NODES;
}

/* Does the condition depend on what the use gave? */
static bool depends_on(const struct sw_ssa *ssa, sw_node condition, uint32_t use)
{
	struct search s = {.ssa = ssa};
	push_node(&s, condition);
	while (s.seen < s.n) {
		sw_node node = s.todo[s.seen++];
		const struct sw_value *v = sw_graph_at(&ssa->graph, node);
		if (v->op == SW_VALUE_LOADED && (uint32_t)v->imm == use)
			return true;
		if (v->op != SW_VALUE_LOADED)
			push_operands(&s, node);
	}
	return false;
}

/* Does an edge lead from the block out of the loop? */
static bool leaves_loop(const struct sw_ssa *ssa, uint32_t block, uint32_t loop)
{
	const struct sw_basic_block *b = &ssa->flow.block.at[block];
	for (uint32_t i = 0; i < b->succs; i++)
		if (!sw_flow_in_loop(&ssa->flow, ssa->flow.edge.at[b->succ + i], loop))
			return true;
	return false;
}

/* Does the atomic operation wait for another thread, in a loop that ends with its result? */
static bool is_spin_loop(const struct sw_ssa *ssa, uint32_t use)
{
	const struct sw_memory_op *op = &ssa->use.at[use];
	const struct sw_insn *x = &ssa->body.insn.at[op->insn];
	uint32_t loop = ssa->flat || x->op != SW_OP_ATOMIC ? SW_NO_LOOP : ssa->flow.block.at[op->block].loop;
	if (SW_RULE_IS_OFF(spin_loops))
		return false;
	if (loop == SW_NO_LOOP || !op->values || op->address == SW_NO_NODE || !is_fixed(ssa, op->address, loop))
		return false;
	for (uint32_t i = 0; i < op->values; i++)
		if (!is_fixed(ssa, ssa->operand.at[op->value + i], loop))
			return false;
	for (uint32_t b = 0; b < ssa->flow.block.n; b++)
		if (sw_flow_in_loop(&ssa->flow, b, loop) && leaves_loop(ssa, b, loop) &&
		    ssa->condition[b] != SW_NO_NODE && depends_on(ssa, ssa->condition[b], use))
			return true;
	return false;
}

/* Most facts of one list: the innermost. */
#define MAX_FACTS_OF_SITE 64
/* Most facts of a footprint. */
#define MAX_FACTS (1u << 18)

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

/* The footprint's number of a module variable. */
static uint32_t emit_symbol(struct sw_emit *e, uint32_t symbol)
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

/* ---- terms ------------------------------------------------------------------------------------------------------- */

/* The number of a loop of the flow graph, and of those around it. */
static uint32_t emit_loop(struct sw_emit *e, uint32_t natural)
{
	uint64_t *found = sw_map_find(&e->loop_of, natural);
	if (found)
		return (uint32_t)*found - 1;
	uint32_t around = e->ssa->flow.loop.at[natural].parent, parent = UINT32_MAX;
	/* A term rarely names more than a few loops; those around are few as well (control_flow.c caps their depth).
	 */
	if (around != SW_NO_LOOP)
		parent = emit_loop(e, around);
	*sw_vec_push(&e->loop) = (struct sw_loop){.parent = parent};
	*sw_vec_push(&e->natural) = natural;
	*sw_map_put(&e->loop_of, natural) = e->loop.n;
	return (uint32_t)e->loop.n - 1;
}

/* The number of a node's term, which was emitted. */
static uint32_t number_of(const struct sw_emit *e, sw_node node)
{
	return e->term_of[node] - 1;
}

/* Appends a term, all operands of which have their numbers. */
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
		t.c = emit_loop(e, (uint32_t)v->imm);
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
		t.imm = emit_symbol(e, (uint32_t)v->imm);
	}
	*sw_vec_push(&e->term) = t;
	e->term_of[node] = (uint32_t)e->term.n;
}

/* Makes room for the term numbers of all nodes that there are; emitting terms makes no new nodes. */
static void make_room(struct sw_emit *e)
{
	size_t room = e->terms.graph.value.room;
	if (e->term_of_room >= e->terms.graph.value.n)
		return;
	e->term_of = sw_realloc(e->term_of, room, sizeof *e->term_of);
	memset(e->term_of + e->term_of_room, 0, (room - e->term_of_room) * sizeof *e->term_of);
	e->term_of_room = room;
}

/* The term of a node of the terms' graph, with all it needs; SW_NO_TERM: too many terms. */
static uint32_t emit_term(struct sw_emit *e, sw_node node)
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
		uint32_t number = emit_term(e, truth ? term : v->operand[0]);
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

/* The list of conditions that hold on all edges into a loop's header: on those that close the loop (back), or on
   those from outside. */
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

/* Emits the facts of the loops that terms mention, and of loops that those mention. */
static void emit_loops(struct sw_emit *e)
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

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Copies an array into the arena. */
static void *take_array(struct sw_arena *arena, const void *from, size_t n, size_t bytes)
{
	void *to = sw_arena_alloc(arena, n * bytes + 1);
	if (n)
		memcpy(to, from, n * bytes);
	return to;
}

/* Moves everything into a footprint. */
static struct sw_footprint *emit_finish(struct sw_emit *e, enum sw_code_source source, uint32_t arch, const char *wild)
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

/* ---- roots of a site --------------------------------------------------------------------------------------------- */

/* Writes an origin of an address as a root; false: it is no global memory (local or shared memory, a parameter).
   object: the address is a handle or a tensor map. */
static bool root_of(struct sw_emit *e, const struct sw_origin *o, bool object, struct sw_root *out)
{
	*out = (struct sw_root){0};
	switch (o->kind) {
	case SW_ORIGIN_PARAM:
		*out = (struct sw_root){.kind = object ? SW_ROOT_OBJECT : SW_ROOT_PARAM, .param = o->a, .span = o->b};
		return true;
	case SW_ORIGIN_INDIRECT:
		*out = (struct sw_root){.kind = SW_ROOT_INDIRECT, .param = o->a, .span = o->b};
		return true;
	case SW_ORIGIN_SYMBOL:
		*out = (struct sw_root){.kind = object ? SW_ROOT_INDIRECT : SW_ROOT_SYMBOL,
					.symbol = emit_symbol(e, o->a)};
		return true;
	case SW_ORIGIN_INDIRECT_SYMBOL:
		*out = (struct sw_root){.kind = SW_ROOT_INDIRECT, .symbol = emit_symbol(e, o->a)};
		return true;
	case SW_ORIGIN_ENVIRONMENT:
		out->kind = SW_ROOT_ENVIRONMENT;
		return true;
	case SW_ORIGIN_UNKNOWN:
		out->kind = SW_ROOT_UNKNOWN;
		return true;
	case SW_ORIGIN_BLOCK:
		*out = (struct sw_root){.kind = SW_ROOT_MAP, .param = o->a, .span = o->b};
		return object;
	default:
		return object; /* a tensor map somewhere in local or shared memory: of anything */
	}
}

/* Adds a root to the span at the end of the array, unless it is there. */
static void add_root(struct sw_emit *e, struct sw_array_span *span, const struct sw_root *root)
{
	for (uint32_t i = 0; i < span->n; i++) {
		struct sw_root *r = &e->root.at[span->first + i];
		if (r->kind == root->kind && r->param == root->param && r->span == root->span &&
		    r->symbol == root->symbol) {
			r->weak &= root->weak;
			return;
		}
	}
	*sw_vec_push(&e->root) = *root;
	span->n++;
}

/* Marks parameters as weak that are mere indices: if one word of the sum is a pointer elsewhere in the kernel, it is
   so here. */
static void weaken_roots(struct sw_emit *e, const struct sw_roots *roots, const struct sw_array_span *span)
{
	bool known = false;
	for (uint32_t i = 0; i < span->n; i++) {
		const struct sw_root *r = &e->root.at[span->first + i];
		known |= r->kind == SW_ROOT_PARAM && sw_map_find(&roots->pointers, r->param);
	}
	for (uint32_t i = 0; i < span->n; i++) {
		struct sw_root *r = &e->root.at[span->first + i];
		if (known && r->kind == SW_ROOT_PARAM && r->span == 8 && !sw_map_find(&roots->pointers, r->param))
			r->weak = 1;
	}
	if (span->n == 1)
		e->root.at[span->first].weak = 0;
}

/* The address without a constant that is added to it, which goes into *sum; SW_NO_NODE: none is added.  A sum of low
   halves may be taken so, as it does not carry: the parameter block is not left. */
static sw_node less_constant(const struct sw_ssa *ssa, sw_node node, int64_t *sum)
{
	const struct sw_graph *g = &ssa->graph;
	const struct sw_value *v = sw_graph_at(g, node);
	bool pair = v->op == SW_OP_PAIR;
	sw_node added = pair ? sw_graph_operand(g, node, 0) : node, base;
	if (sw_graph_at(g, added)->op != SW_OP_ADD || sw_graph_at(g, sw_graph_operand(g, added, 1))->op != SW_OP_CONST)
		return SW_NO_NODE;
	base = sw_graph_operand(g, added, 0);
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)sw_graph_at(g, sw_graph_operand(g, added, 1))->imm);
	if (!pair)
		return base;
	sw_node high = sw_graph_operand(g, node, 1);
	if (sw_graph_at(g, base)->op != SW_OP_LOW || sw_graph_at(g, high)->op != SW_OP_HIGH ||
	    sw_graph_operand(g, base, 0) != sw_graph_operand(g, high, 0))
		return SW_NO_NODE;
	return sw_graph_operand(g, high, 0);
}

/* Is the address always the same byte of the parameter block?  Finds it. */
static bool block_byte(const struct sw_ssa *ssa, sw_node address, int64_t *byte)
{
	*byte = 0;
	for (int depth = 0; address != SW_NO_NODE && depth < 8; depth++) {
		address = sw_step_forward(ssa, address);
		const struct sw_value *v = sw_graph_at(&ssa->graph, address);
		if (v->op == SW_OP_PARAM_ADDRESS) {
			*byte = (int64_t)((uint64_t)*byte + (uint64_t)v->imm);
			return true;
		}
		address = less_constant(ssa, address, byte);
	}
	return false;
}

/* Appends the roots of a set of origins, as they count for an instruction; n 0: it touches no global memory. */
static struct sw_array_span emit_roots(struct sw_emit *e, const struct sw_roots *roots, sw_origin_set set,
				       enum sw_op op, sw_node address)
{
	uint32_t element[SW_ORIGINS_MAX], n = sw_origins_copy(&roots->origins, set, element);
	bool object = op == SW_OP_TENSOR || op == SW_OP_TEXTURE || op == SW_OP_SURFACE, whole = false;
	struct sw_array_span span = {(uint32_t)e->root.n, 0};
	struct sw_root root;
	for (uint32_t i = 0; i < n; i++)
		whole |= !(element[i] & SW_ELEMENT_HALF);
	for (uint32_t i = 0; i < n; i++) {
		struct sw_origin o = *sw_origin_at(&roots->origins, element[i]);
		int64_t byte;
		if ((whole && element[i] & SW_ELEMENT_HALF) || !root_of(e, &o, object, &root))
			continue;
		if (root.kind == SW_ROOT_MAP && block_byte(e->ssa, address, &byte) && byte >= o.a && byte < o.a + o.b) {
			uint32_t rest = o.a + o.b - (uint32_t)byte;
			root.span = rest < SW_TENSOR_MAP_BYTES ? rest : SW_TENSOR_MAP_BYTES;
			root.param = (uint32_t)byte;
		}
		root.weak = element[i] & SW_ELEMENT_WEAK ? 1 : 0;
		/* The use for now, + 1, where an INDIRECT root with a span has no symbol; see name_loaders(). */
		if (root.kind == SW_ROOT_INDIRECT && root.span && !(element[i] & SW_ELEMENT_HALF))
			root.symbol = sw_roots_loader(roots, root.param, root.span) + 1;
		add_root(e, &span, &root);
	}
	if (!n) {
		root = (struct sw_root){.kind = SW_ROOT_UNKNOWN};
		add_root(e, &span, &root);
	}
	weaken_roots(e, roots, &span);
	return span;
}

/* ---- sites ------------------------------------------------------------------------------------------------------- */

struct maker {
	struct sw_emit emit;
	struct sw_roots roots;
	struct sw_grid_order *grid;
	uint32_t *site_of; /* by use: its site, + 1 */
};

/* The kind of access that an instruction makes, as enum sw_touch_role. */
static uint8_t role_of(const struct sw_insn *x)
{
	uint8_t flags =
		(uint8_t)((x->flags & SW_READS ? SW_TOUCH_READ : 0) | (x->flags & SW_WRITES ? SW_TOUCH_WRITE : 0));
	switch (x->op) {
	case SW_OP_LOAD:
		return SW_TOUCH_READ;
	case SW_OP_STORE:
		return SW_TOUCH_WRITE;
	case SW_OP_ATOMIC: /* of block scope: for other kernels it is a load and a store (PTX ISA, 8.7, scope) */
		return flags ? flags : SW_TOUCH_ATOMIC;
	case SW_OP_BULK:
	case SW_OP_TENSOR:
	case SW_OP_TEXTURE:
	case SW_OP_SURFACE:
		if (x->flags & SW_ATOMICS)
			return SW_TOUCH_ATOMIC;
		return flags ? flags : SW_TOUCH_READ | SW_TOUCH_WRITE;
	default:
		return SW_TOUCH_READ | SW_TOUCH_WRITE;
	}
}

/* The place of the number, + 1, of a site that is equal to this one but for its place in the code; 0: there is none
   yet. */
static uint64_t *equal_site(struct sw_emit *e, const struct sw_access_site *site)
{
	struct sw_access_site key = *site;
	key.place = key.root = 0;
	uint64_t hash = sw_hash_bytes(SW_FNV_START, &key, sizeof key);
	for (uint32_t i = 0; i < site->roots; i++) {
		const struct sw_root *r = &e->root.at[site->root + i];
		hash = sw_hash_bytes(hash, r, sizeof *r);
	}
	return sw_map_put(&e->same, hash);
}

/* Adds a site, unless there is an equal one; returns its number, + 1.  Beyond the most sites only directions are
   kept. */
static uint32_t add_site(struct sw_emit *e, struct sw_access_site *site, const struct sw_insn *x,
			 struct sw_array_span roots)
{
	site->op = x->op;
	site->polls |= x->flags & SW_VOLATILE ? 1 : 0;
	site->place = x->place;
	site->text = sw_emit_string(e, x->text ? x->text : sw_op_text(x->op));
	site->root = roots.first;
	site->roots = roots.n;
	if (e->site.n >= SW_FOOTPRINT_MAX_SITES) { /* directions only; equal ones fall together */
		site->address = site->size = SW_NO_TERM;
		site->why = SW_WHY_COMPLEX;
		site->fact = site->facts = site->bytes = site->text = site->loop = 0;
	}
	uint64_t *known = equal_site(e, site);
	if (*known) {
		e->root.n = roots.first;
		return (uint32_t)*known;
	}
	*sw_vec_push(&e->site) = *site;
	*known = e->site.n;
	return (uint32_t)*known;
}

/* Is the address for certain one of shared, local or parameter memory? */
static bool is_elsewhere(const struct sw_roots *roots, sw_node node)
{
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&roots->origins, roots->of[node], e);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t kind = sw_origin_at(&roots->origins, e[i])->kind;
		if (kind != SW_ORIGIN_LOCAL && kind != SW_ORIGIN_SHARED && kind != SW_ORIGIN_BLOCK)
			return false;
	}
	return n;
}

/* An address that is global only under a condition ("n > 64 ? out : buffer in shared memory"): its global value.
   Searches a few sums deep; *condition is unchanged if there is none. */
static sw_node global_part(struct maker *m, sw_node node, uint32_t depth, sw_node *condition)
{
	struct sw_graph *g = &m->emit.ssa->graph;
	struct sw_value v = *sw_graph_at(g, node);
	if (v.op == SW_OP_SELECT && is_elsewhere(&m->roots, v.operand[2])) {
		*condition = v.operand[0];
		return v.operand[1];
	}
	if (v.op == SW_OP_SELECT && is_elsewhere(&m->roots, v.operand[1])) {
		*condition = sw_graph_unary(g, SW_OP_NOT, 1, v.operand[0]);
		return v.operand[2];
	}
	for (uint32_t i = 0; i < 2 && v.op == SW_OP_ADD && depth; i++) {
		sw_node part = global_part(m, v.operand[i], depth - 1, condition);
		if (part != v.operand[i])
			return sw_graph_binary(g, SW_OP_ADD, v.width, 0, part, v.operand[!i]);
	}
	return node;
}

/* Fills in a site's address, its size and the facts that hold there, from path conditions and guard. */
static void describe_site(struct maker *m, struct sw_access_site *site, const struct sw_memory_op *use, sw_node size)
{
	struct sw_emit *e = &m->emit;
	uint32_t list = e->guards.of[use->block];
	sw_node condition = SW_NO_NODE, address = global_part(m, use->address, 4, &condition);
	if (e->ssa->flat) /* conditions are not looked at: there may be some */
		list = sw_path_conditions_unknown(e->ssa, &e->guards, list);
	if (use->guard != SW_NO_NODE && !e->ssa->flat)
		list = sw_path_conditions_add(e->ssa, &e->guards, list, use->guard);
	if (condition != SW_NO_NODE && !e->ssa->flat)
		list = sw_path_conditions_add(e->ssa, &e->guards, list, condition);
	site->address = emit_term(e, sw_terms_of(&e->terms, address));
	if (size != SW_NO_NODE) {
		sw_node term = sw_graph_fit(&e->terms.graph, sw_terms_of(&e->terms, size), 64);
		int64_t known;
		if (sw_graph_is_const(&e->terms.graph, term, &known) && known > 0 && known <= UINT32_MAX)
			site->bytes = (uint32_t)known;
		else
			site->size = emit_term(e, term);
	}
	if (site->address == SW_NO_TERM) {
		site->why = SW_WHY_COMPLEX;
		return;
	}
	uint32_t natural = e->ssa->flow.block.at[use->block].loop;
	site->loop = natural == SW_NO_LOOP ? 0 : emit_loop(e, natural) + 1;
	struct sw_array_span facts = sw_emit_facts(e, list, SW_NO_CONDITION);
	site->fact = facts.first;
	site->facts = facts.n;
}

/* Adds the site of one instruction that touches global memory, or an object; shared and local memory and parameters
   have none.  The size is that of a bulk copy in bytes, of an object its layer. */
static void add_access(struct maker *m, const struct sw_memory_op *use, const struct sw_insn *x)
{
	bool bulk = x->op == SW_OP_BULK,
	     object = x->op == SW_OP_TENSOR || x->op == SW_OP_TEXTURE || x->op == SW_OP_SURFACE;
	struct sw_access_site site = {.role = role_of(x), .address = SW_NO_TERM, .size = SW_NO_TERM};
	if (!object && (x->space == SW_SHARED || x->space == SW_LOCAL || x->space == SW_PARAM_SPACE))
		return;
	struct sw_array_span roots = emit_roots(&m->emit, &m->roots, m->roots.of[use->address], x->op, use->address);
	if (!roots.n)
		return;
	if (object) {
		site.why = SW_WHY_OBJECT;
		if (use->values) /* the layer */
			site.size =
				emit_term(&m->emit, sw_terms_of(&m->emit.terms, m->emit.ssa->operand.at[use->value]));
	} else {
		site.bytes = bulk ? 0 : (uint32_t)x->bytes * (x->count ? x->count : 1);
		sw_node size = bulk && use->values ? m->emit.ssa->operand.at[use->value] : SW_NO_NODE;
		describe_site(m, &site, use, size);
	}
	site.polls = is_spin_loop(m->emit.ssa, (uint32_t)(use - m->emit.ssa->use.at));
	site.order = sw_grid_order_of(m->grid, use);
	m->site_of[use - m->emit.ssa->use.at] = add_site(&m->emit, &site, x, roots);
}

/* An access through an address with a set of origins; for local memory, the contents are followed. */
static void add_sites_of_set(struct maker *m, const struct sw_memory_op *use, const struct sw_insn *x,
			     sw_origin_set set, enum sw_why why)
{
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&m->roots.origins, set, e);
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_origin *o = sw_origin_at(&m->roots.origins, e[i]);
		if (o->kind == SW_ORIGIN_LOCAL)
			set = sw_origins_union(&m->roots.origins, set, sw_roots_slot(&m->roots, o->a));
	}
	struct sw_access_site site = {
		.role = role_of(x), .address = SW_NO_TERM, .size = SW_NO_TERM, .why = (uint8_t)why};
	struct sw_array_span roots = {0};
	if (set)
		roots = emit_roots(&m->emit, &m->roots, set, SW_OP_OPAQUE, SW_NO_NODE);
	site.order = roots.n ? sw_grid_order_of(m->grid, use) : 0;
	if (roots.n)
		add_site(&m->emit, &site, x, roots);
}

/* Adds the sites of one use of memory: an access, an unknown instruction or a call that is not followed. */
static void use_site(struct maker *m, const struct sw_memory_op *use)
{
	const struct sw_insn *x = &m->emit.ssa->body.insn.at[use->insn];
	if (use->address != SW_NO_NODE) {
		add_access(m, use, x);
	} else if (x->op == SW_OP_OPAQUE) {
		for (uint32_t i = 0; i < use->values; i++)
			add_sites_of_set(m, use, x, m->roots.of[m->emit.ssa->operand.at[use->value + i]],
					 SW_WHY_INSTRUCTION);
	} else if (x->op == SW_OP_CALL && sw_roots_call_is_open(&m->roots, use)) {
		const struct sw_program_call *call = &m->emit.ssa->body.call.at[x->target];
		for (uint32_t i = 0; i < call->args; i++) {
			uint32_t slot = sw_body_slot(&m->emit.ssa->body, call->arg[i]);
			add_sites_of_set(m, use, x, sw_roots_slot(&m->roots, slot), SW_WHY_CALL);
		}
	}
}

/* ---- what spoils the whole --------------------------------------------------------------------------------------- */

/* Why nothing may be concluded from accesses that are missing in this footprint; malloc'ed, NULL: one may conclude. */
static char *why_wild(const struct maker *m, const struct sw_program *program)
{
	const struct sw_ssa *ssa = m->emit.ssa;
	if (program->wild)
		return sw_strdup(program->wild);
	if (!program->functions)
		return sw_strdup("no code");
	if (ssa->damaged)
		return sw_strdup("the code is damaged");
	if (m->roots.unsettled)
		return sw_strdup("too complex to follow its pointers");
	for (size_t u = 0; u < ssa->use.n; u++) {
		const struct sw_insn *x = &ssa->body.insn.at[ssa->use.at[u].insn];
		if (x->op != SW_OP_CALL || !sw_roots_call_is_open(&m->roots, &ssa->use.at[u]))
			continue;
		const char *name = ssa->body.call.at[x->target].name;
		return name ? sw_format("calls %s, of which there is no code", name)
			    : sw_strdup("calls a function that is not known");
	}
	return NULL;
}

/* Names for each pointer in memory the site that loads it, now that all sites have their numbers. */
static void name_loaders(struct maker *m)
{
	for (size_t i = 0; i < m->emit.root.n; i++) {
		struct sw_root *r = &m->emit.root.at[i];
		if (r->kind != SW_ROOT_INDIRECT || !r->span || !r->symbol)
			continue;
		uint32_t site = m->site_of[r->symbol - 1];
		r->symbol = 0;
		r->loader = site <= UINT16_MAX ? (uint16_t)site : 0;
	}
}

struct sw_footprint *sw_footprint_build(const struct sw_program *program, enum sw_code_source source, uint32_t arch)
{
	struct sw_ssa ssa = {0};
	struct maker m = {.emit = {.ssa = &ssa, .program = program}};
	struct sw_emit *e = &m.emit;
	sw_emit_string(e, "");
	sw_ssa_build(program, &ssa);
	sw_path_conditions_find(&ssa, &e->guards);
	sw_assume_facts(&ssa, &e->guards);
	sw_roots_find(program, source == SW_SOURCE_SASS, &ssa, &m.roots);
	sw_terms_init(&e->terms, &ssa, &m.roots, &e->guards);
	m.grid = sw_grid_order_find(&ssa, &e->guards);
	m.site_of = sw_calloc(ssa.use.n + 1, sizeof *m.site_of);
	for (size_t u = 0; u < ssa.use.n; u++)
		use_site(&m, &ssa.use.at[u]);
	name_loaders(&m);
	free(m.site_of);
	sw_grid_order_emit(m.grid, e);
	sw_grid_order_free(m.grid);
	emit_loops(e);
	char *wild = why_wild(&m, program);
	struct sw_footprint *footprint = emit_finish(e, source, arch, wild);
	free(wild);
	sw_terms_free(&e->terms);
	sw_path_conditions_free(&e->guards);
	sw_roots_free(&m.roots);
	sw_ssa_free(&ssa);
	return footprint;
}
