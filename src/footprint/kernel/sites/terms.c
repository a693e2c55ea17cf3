/* SPDX-License-Identifier: Apache-2.0 */
/* From nodes to terms (terms.h): a node is planned (struct recipe), then made when the terms that it needs are. */
#include "footprint/kernel/sites/terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprint/kernel/flow/induction.h"
#include "footprint/kernel/values/simplify.h"
#include "footprint/rules.h"

/* ---- conditions of a way: which path was taken, where numbers of threads, blocks and launch values alone decide */

/* Libraries unroll loops over the dimensions of tensors, of which there are up to 25 (PyTorch, OffsetCalculator.cuh).
 */
#define MAX_SAID 40

/* Is the node made of constants, parameters and geometry only?  Remembered. */
static bool is_fixed(struct sw_terms *t, sw_node node)
{
	uint64_t *known = sw_map_put(&t->fixed, node);
	if (!*known)
		*known = sw_step_is_fixed(t->ssa, node) ? 1 : 2;
	return *known == 1;
}

/* Computes path_condition(), which remembers the result. */
static sw_node condition_of(struct sw_terms *t, uint32_t from, uint32_t to)
{
	struct sw_ssa *ssa = t->ssa;
	uint32_t end = t->guards->of[ssa->flow.block.at[to].idom];
	uint32_t list = sw_path_conditions_on_edge(ssa, t->guards, from, to), n = 0;
	sw_node all = sw_graph_const(&ssa->graph, 1, 1);
	for (; list != end && list != SW_NO_CONDITION && n < MAX_SAID; list = t->guards->guard.at[list].next, n++) {
		sw_node said = t->guards->guard.at[list].node;
		if (is_fixed(t, said))
			all = sw_graph_binary(&ssa->graph, SW_OP_AND, 1, 0, said, all);
	}
	return all;
}

/* The condition on launch values where control comes from one block to another, as far as the block
   that dominates the latter does not say so already; constant 1: nothing is known. */
static sw_node path_condition(struct sw_terms *t, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;
	const uint64_t *known = sw_map_find(&t->ways, key);
	if (SW_RULE_IS_OFF(path_conditions))
		return sw_graph_const(&t->graph, 1, 1);
	if (known)
		return (sw_node)*known;
	sw_node all = condition_of(t, from, to);
	*sw_map_put(&t->ways, key) = all;
	return all;
}

/* ---- from nodes to terms */

/* A hash of a PHI's block and operands. */
static uint64_t hash_of_phi(const struct sw_graph *g, sw_node phi)
{
	const struct sw_value *v = sw_graph_at(g, phi);
	uint64_t hash = sw_hash_u64((uint64_t)v->imm << 8 | v->width);
	return v->n ? sw_hash_bytes(hash, sw_graph_operands(g, phi), v->n * sizeof(sw_node)) : hash;
}

/* The first PHI of the block with the same operands: registers that are kept in step hold the same number. */
static sw_node first_phi(const struct sw_terms *t, sw_node phi)
{
	const struct sw_graph *g = &t->ssa->graph;
	const uint64_t *found = sw_map_find(&t->phis, hash_of_phi(g, phi));
	if (!found)
		return phi;
	const struct sw_value *v = sw_graph_at(g, phi), *other = sw_graph_at(g, (sw_node)*found);
	bool equal = v->imm == other->imm && v->width == other->width && v->n == other->n &&
		     !memcmp(sw_graph_operands(g, phi), sw_graph_operands(g, (sw_node)*found), v->n * sizeof(sw_node));
	return equal ? (sw_node)*found : phi;
}

/* The first block in which something is loaded.  Control comes to blocks with smaller numbers first, but for loops,
   so data are not known before. */
static uint32_t first_load(const struct sw_ssa *ssa)
{
	uint32_t first = ssa->flat ? 0 : SW_NO_BLOCK;
	for (size_t u = 0; u < ssa->use.n; u++) {
		const struct sw_insn *x = &ssa->body.insn.at[ssa->use.at[u].insn];
		if (x->op != SW_OP_STORE && ssa->use.at[u].block < first)
			first = ssa->use.at[u].block;
	}
	return first;
}

void sw_terms_init(struct sw_terms *t, struct sw_ssa *ssa, const struct sw_roots *roots,
		   struct sw_path_conditions *guards)
{
	*t = (struct sw_terms){.ssa = ssa, .roots = roots, .guards = guards, .graph.whole = true};
	for (sw_node n = 0; n < ssa->graph.value.n; n++) {
		const struct sw_value *v = sw_graph_at(&ssa->graph, n);
		if (v->op != SW_VALUE_PHI || !v->n)
			continue;
		uint64_t hash = hash_of_phi(&ssa->graph, n);
		if (!sw_map_find(&t->phis, hash))
			*sw_map_put(&t->phis, hash) = n;
	}
	sw_graph_expect(&t->graph, ssa->graph.value.n / 3);
	t->first_load = first_load(ssa);
	for (uint32_t u = 0; u < ssa->use.n; u++) {
		const struct sw_memory_op *use = &ssa->use.at[u];
		const struct sw_insn *x = &ssa->body.insn.at[use->insn];
		bool writes =
			x->op == SW_OP_STORE || x->op == SW_OP_ATOMIC || (x->op == SW_OP_BULK && x->flags & SW_WRITES);
		if (!writes || use->address == SW_NO_NODE || (x->space != SW_LOCAL && x->space != SW_GENERIC))
			continue;
		uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&roots->origins, roots->of[use->address], e), i = 0;
		while (i < n && sw_origin_at(&roots->origins, e[i])->kind != SW_ORIGIN_LOCAL &&
		       sw_origin_at(&roots->origins, e[i])->kind != SW_ORIGIN_UNKNOWN)
			i++;
		if (i < n)
			*sw_vec_push(&t->stores) = u;
	}
}

void sw_terms_free(struct sw_terms *t)
{
	sw_graph_free(&t->graph);
	sw_map_free(&t->phis);
	sw_map_free(&t->ways);
	sw_map_free(&t->fixed);
	free(t->of.at);
	free(t->stack.at);
	free(t->stores.at);
	*t = (struct sw_terms){0};
}

/* ---- what a term needs ------------------------------------------------------------------------------------------- */

/* How a node becomes a term. */
enum form { PLAIN, STEP, LOW_STEP, ANY, EITHER, ELEMENT, LOADED, CUT };
struct recipe {
	enum form form;
	uint32_t n;
	enum sw_why why;			 /* CUT: an unknown number, because */
	uint32_t from, to;			 /* ELEMENT: bytes of the block */
	sw_node need[2 * SW_TERMS_ALTERNATIVES]; /* EITHER: conditions after the alternatives */
};

/* Begins a recipe.  Its list of needs is large, and only the first n count, so it is not cleared. */
static void start_recipe(struct recipe *r)
{
	r->form = PLAIN;
	r->why = SW_WHY_NONE;
	r->n = r->from = r->to = 0;
}

/* Adds a node whose term must be made first, unless it is there; with too many the recipe becomes CUT. */
static void add_need(struct recipe *r, sw_node node)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->need[i] == node)
			return;
	if (r->n == SW_TERMS_ALTERNATIVES)
		r->form = CUT;
	else
		r->need[r->n++] = node;
}

/* Why a PHI of a loop is not followed: because of what is loaded there, if it is just that. */
static enum sw_why why_of(const struct sw_ssa *ssa, sw_node phi)
{
	for (uint32_t i = 0; i < sw_graph_at(&ssa->graph, phi)->n; i++) {
		const struct sw_value *v = sw_graph_at(&ssa->graph, sw_graph_operand(&ssa->graph, phi, i));
		while (v->op == SW_OP_EXTEND)
			v = sw_graph_at(&ssa->graph, v->operand[0]);
		if (v->op == SW_VALUE_LOADED)
			return v->why;
	}
	return SW_WHY_LOOP;
}

/* Plans a join as one of several by conditions, where numbers of threads and launch values decide which path was
   taken: a rank of tensors, a flag, how many turns of an unrolled loop are left.  False: they do not decide. */
static bool plan_either(struct sw_terms *t, sw_node node, uint32_t block, struct recipe *r)
{
	struct sw_ssa *ssa = t->ssa;
	const struct sw_basic_block *b = &ssa->flow.block.at[block];
	bool decided = false;
	int64_t one;
	if (b->preds > SW_TERMS_ALTERNATIVES || ssa->flat)
		return false;
	for (uint32_t i = 0; i < b->preds; i++) {
		sw_node way = path_condition(t, ssa->flow.edge.at[b->pred + i], block);
		r->need[i] = sw_graph_operand(&ssa->graph, node, i);
		r->need[b->preds + i] = way;
		decided |= !sw_graph_is_const(&ssa->graph, way, &one);
	}
	r->n = decided ? 2 * b->preds : 0;
	r->form = EITHER;
	return decided;
}

/* Plans the term of a loop's variable: the values that come into the loop are needed, and then the one that is
   added, also when that is one of the starts. */
static void plan_step(struct sw_terms *t, sw_node phi, sw_node step, struct recipe *r)
{
	const struct sw_ssa *ssa = t->ssa;
	uint32_t block = (uint32_t)sw_graph_at(&ssa->graph, phi)->imm;
	const struct sw_basic_block *b = &ssa->flow.block.at[block];
	for (uint32_t i = 0; i < b->preds && r->form != CUT; i++)
		if (!sw_flow_retreats(ssa->flow.edge.at[b->pred + i], block))
			add_need(r, sw_graph_operand(&ssa->graph, phi, i));
	if (r->form == CUT || r->n == SW_TERMS_ALTERNATIVES)
		r->form = CUT;
	else
		r->need[r->n++] = step;
}

/* Plans the term of an int that is counted in 64 bits, with anything in the upper half: i += grid.size() of a
   size_t. */
static bool plan_low_step(struct sw_terms *t, sw_node node, struct recipe *r)
{
	struct sw_ssa *ssa = t->ssa;
	const struct sw_value *v = sw_graph_at(&ssa->graph, node);
	if (v->op != SW_OP_EXTEND || v->imm > 32)
		return false;
	sw_node phi = sw_step_forward(ssa, v->operand[0]), step;
	const struct sw_value *of = sw_graph_at(&ssa->graph, phi);
	if (of->op != SW_VALUE_PHI || of->width != 64 || sw_step_find(ssa, phi, &step) ||
	    !sw_step_find_low(ssa, phi, 32, &step))
		return false;
	r->form = LOW_STEP;
	plan_step(t, phi, step, r);
	return r->form == LOW_STEP;
}

/* Plans the term of a phi: the step of a loop, one of two by a condition, one of several, or an unknown number (CUT).
 */
static void plan_phi(struct sw_terms *t, sw_node node, struct recipe *r)
{
	struct sw_ssa *ssa = t->ssa;
	const struct sw_basic_block *b = &ssa->flow.block.at[sw_graph_at(&ssa->graph, node)->imm];
	uint32_t n = sw_graph_at(&ssa->graph, node)->n;
	sw_node step = SW_NO_NODE;
	r->why = b->header || b->irregular ? why_of(ssa, node) : SW_WHY_COMPLEX;
	r->form = ANY;
	if (b->irregular || n != b->preds) {
		r->form = CUT;
		return;
	}
	if (b->header && !sw_step_find(ssa, node, &step)) {
		r->form = CUT;
		return;
	}
	uint32_t block = (uint32_t)(b - ssa->flow.block.at);
	if (!b->header && plan_either(t, node, block, r))
		return;
	r->form = b->header ? STEP : ANY;
	if (b->header)
		plan_step(t, node, step, r);
	for (uint32_t i = 0; i < n && r->form == ANY; i++)
		add_need(r, sw_graph_operand(&ssa->graph, node, i));
}

/* A number of 32 bits widened the same way on every way into a block ("i += blockDim.x * 4" where i was an int and is
   kept in 64 bits): the PHI of its low half, widened.  SW_NO_NODE: it is no such PHI. */
static sw_node widened_phi(struct sw_graph *g, sw_node phi)
{
	sw_node low, high;
	bool with_sign = true, with_zeros = true;
	if (!sw_graph_phi_halves(g, phi, &low, &high))
		return SW_NO_NODE;
	for (uint32_t i = 0; i < sw_graph_at(g, phi)->n; i++) {
		const struct sw_value *v = sw_graph_at(g, sw_graph_operand(g, phi, i));
		bool extend = v->op == SW_OP_EXTEND && v->imm <= 32, is_const = v->op == SW_OP_CONST;
		with_sign &=
			(extend && (v->flags & SW_SIGNED || v->imm < 32)) || (is_const && v->imm == (int32_t)v->imm);
		with_zeros &= (extend && !(v->flags & SW_SIGNED)) || (is_const && v->imm == (int64_t)(uint32_t)v->imm);
	}
	if (!with_sign && !with_zeros)
		return SW_NO_NODE;
	return sw_graph_extend(g, 64, 32, with_zeros ? 0 : SW_SIGNED, low);
}

/* Is it a plain load of memory that others fill?  What is polled changes under way. */
static bool is_plain_load(const struct sw_terms *t, const struct sw_value *v)
{
	const struct sw_insn *x = &t->ssa->body.insn.at[t->ssa->use.at[v->imm].insn];
	bool sized = v->bytes == 1 || v->bytes == 2 || v->bytes == 4 || v->bytes == 8;
	return x->op == SW_OP_LOAD && !(x->flags & SW_VOLATILE) && sized && v->bytes * 8u <= v->width &&
	       (v->space == SW_GLOBAL || v->space == SW_GENERIC || v->space == SW_CONSTANT);
}

/* Plans the term of a loaded value: an element of the parameter block, what is stored in local memory, or memory's
   content. */
static void plan_loaded(struct sw_terms *t, sw_node node, struct recipe *r)
{
	struct sw_graph *g = &t->ssa->graph;
	struct sw_value v = *sw_graph_at(g, node);
	r->form = ELEMENT;
	r->why = v.why;
	r->n = 1;
	if (sw_terms_table_load(t, node, r->need, &r->from, &r->to))
		return;
	r->form = ANY;
	if (sw_terms_local(t, node, r->need, &r->n))
		return;
	r->form = CUT;
	if (!is_plain_load(t, &v))
		return;
	r->form = LOADED;
	r->n = 1;
	r->need[0] = sw_graph_binary(g, SW_OP_ADD, 64, 0, v.operand[0], sw_graph_const(g, 64, v.imm2));
}

/* Plans an operation of which the operands are needed. */
static void plan_plain(const struct sw_graph *g, sw_node node, struct recipe *r)
{
	const struct sw_value *v = sw_graph_at(g, node);
	start_recipe(r);
	for (; r->n < v->n; r->n++)
		r->need[r->n] = sw_graph_operand(g, node, r->n);
}

/* Plans the term of a node: which form it takes and which other nodes it needs first. rebuild_node() makes it. */
static void plan_node(struct sw_terms *t, sw_node node, struct recipe *r)
{
	struct sw_graph *g = &t->ssa->graph;
	const struct sw_value *v = sw_graph_at(g, node);
	start_recipe(r);
	sw_node same = sw_step_forward(t->ssa, node);
	if (same == node && v->op == SW_VALUE_PHI && v->n) {
		sw_node narrow = widened_phi(g, node);
		same = narrow != SW_NO_NODE ? narrow : first_phi(t, node);
	} else if (same == node) {
		sw_node whole = sw_register_pairs_is_zero(g, node);
		same = whole != SW_NO_NODE ? whole : node;
	}
	v = sw_graph_at(g, node);
	if (same != node) {
		r->form = ANY;
		add_need(r, same);
	} else if (v->op == SW_VALUE_PHI) {
		plan_phi(t, node, r);
	} else if (v->op == SW_OP_MIX) {
		r->form = CUT;
		r->why = SW_WHY_COMPUTED;
	} else if (v->op == SW_VALUE_LOADED) {
		plan_loaded(t, node, r);
	} else if (!plan_low_step(t, node, r)) {
		plan_plain(g, node, r);
	}
}

/* ---- making terms ------------------------------------------------------------------------------------------------ */

/* Is the value a variable in constant memory, not an element of a table there; or a pointer spilled to local memory? */
static bool is_setting(const struct sw_terms *t, const struct sw_value *v)
{
	if (v->op != SW_VALUE_LOADED || v->space != SW_CONSTANT)
		return v->op == SW_VALUE_LOADED && v->space == SW_LOCAL && v->bytes == 8; /* a pointer, no mask */
	const struct sw_value *at = sw_graph_at(&t->ssa->graph, t->ssa->use.at[v->imm].address);
	return at->op == SW_OP_CONST || at->op == SW_OP_SYMBOL_ADDRESS;
}

/* Does a condition on this unknown value count as one on data, so that what it guards may well be touched?  Tables in
   constant memory and values spilled to local memory do not: they may be masks that no thread matches. */
static uint8_t range_from(const struct sw_terms *t, sw_node node, const struct sw_value *v)
{
	bool data = is_setting(t, v) || sw_path_conditions_are_data(t->ssa, node);
	return data ? SW_FROM_DATA : SW_FROM_ANYTHING;
}

/* The term of a number that is not known, within the bounds of its type.  address: where it is loaded from,
   SW_NO_NODE: that does not matter. */
static sw_node unknown_node(struct sw_terms *t, sw_node node, const struct sw_value *v, enum sw_why why,
			    sw_node address)
{
	struct sw_making m = {.op = SW_OP_RANGE, .width = v->width, .why = (uint8_t)why};
	bool loaded = address != SW_NO_NODE;
	if (loaded) {
		m.op = SW_TERM_LOADED;
		m.bytes = v->bytes;
		m.n = 1;
	}
	uint32_t bits = v->bytes * 8u, known = v->op == SW_OP_MIX ? sw_known_bits(&t->ssa->graph, node, 4) : v->width;
	m.space = range_from(t, node, v);
	m.imm2 = known >= 64 ? -1 : (int64_t)((1ull << known) - 1);
	if (v->op != SW_VALUE_LOADED || !bits || bits >= v->width)
		return sw_graph_make(&t->graph, m, loaded ? &address : NULL);
	m.flags = v->flags & SW_SIGNED;
	m.imm = m.flags ? -(1ll << (bits - 1)) : 0;
	m.imm2 = m.flags ? (1ll << (bits - 1)) - 1 : (int64_t)((1ull << bits) - 1);
	return sw_graph_make(&t->graph, m, loaded ? &address : NULL);
}

/* qsort() by number. */
static int by_number(const void *a, const void *b)
{
	sw_node x = *(const sw_node *)a, y = *(const sw_node *)b;
	return x < y ? -1 : x > y;
}

/* The term of one of n alternatives.  why: which of them it is depends on more than the path that was taken, for
   example on a table of pointers. */
static sw_node one_of_several(struct sw_terms *t, uint8_t width, sw_node *o, uint32_t n, enum sw_why why)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n; i++)
		o[i] = sw_graph_fit(&t->graph, o[i], width);
	qsort(o, n, sizeof *o, by_number);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || o[kept - 1] != o[i])
			o[kept++] = o[i];
	if (kept == 1)
		return o[0];
	struct sw_making m = {.op = SW_TERM_ANY, .width = width, .n = (uint16_t)kept, .imm = why};
	return sw_graph_make(&t->graph, m, o);
}

/* The term of one of n alternatives, each with a condition of launch values: o has n alternatives and n conditions. */
static sw_node one_by_condition(struct sw_terms *t, uint8_t width, sw_node *o, uint32_t n)
{
	bool same = true;
	for (uint32_t i = 0; i < n; i++) {
		o[i] = sw_graph_fit(&t->graph, o[i], width);
		same &= o[i] == o[0];
	}
	struct sw_making m = {.op = SW_TERM_ANY, .width = width, .n = (uint16_t)(2 * n), .imm2 = 1};
	return same ? o[0] : sw_graph_make(&t->graph, m, o);
}

/* The term of a loop's variable: o has its starts, and last what is added in each iteration. */
static sw_node step_of_loop(struct sw_terms *t, uint8_t width, uint32_t header, sw_node *o, uint32_t n)
{
	int64_t by;
	sw_node start_and_step[2] = {one_of_several(t, width, o, n - 1, SW_WHY_NONE),
				     sw_graph_fit(&t->graph, o[n - 1], width)};
	if (sw_graph_is_const(&t->graph, start_and_step[1], &by) && !by)
		return start_and_step[0];
	struct sw_making m = {.op = SW_TERM_STEP, .width = width, .n = 2, .imm = t->ssa->flow.block.at[header].loop};
	return sw_graph_make(&t->graph, m, start_and_step);
}

/* The term of an element of the parameter block, bytes from .. to of it; a parameter where the offset is fixed. */
static sw_node table_element(struct sw_terms *t, const struct sw_value *v, sw_node offset, uint32_t from, uint32_t to)
{
	struct sw_graph *g = &t->graph;
	struct sw_making m = {.op = SW_TERM_ELEMENT,
			      .width = v->width,
			      .flags = v->flags & SW_SIGNED,
			      .n = 1,
			      .imm = v->bytes,
			      .imm2 = (int64_t)((uint64_t)to << 32 | from)};
	int64_t at;
	if (!sw_graph_is_const(g, offset, &at) || at < from || at + v->bytes > to)
		return sw_graph_make(g, m, &offset);
	m = (struct sw_making){.op = SW_OP_PARAM, .width = (uint8_t)(8 * v->bytes), .imm = at};
	return sw_graph_extend(g, v->width, m.width, v->flags & SW_SIGNED, sw_graph_make(g, m, NULL));
}

/* The term of an operation over its operands' terms. */
static sw_node plain_node(struct sw_terms *t, sw_node node, const struct sw_value *v, const sw_node *o)
{
	if (v->op == SW_OP_NOT && v->width > 1) /* a number that can be added up */
		return sw_graph_binary(&t->graph, SW_OP_SUB, v->width, 0, sw_graph_const(&t->graph, v->width, -1),
				       o[0]);
	struct sw_making m = {.op = v->op,
			      .width = v->width,
			      .flags = v->flags,
			      .why = v->why,
			      .n = (uint16_t)v->n,
			      .imm = v->imm,
			      .imm2 = v->imm2};
	if (v->op == SW_OP_RANGE) {
		/* Computed before any load, and in no loop: it cannot depend on data. */
		uint32_t block = sw_ssa_block_of(t->ssa, node);
		bool data = v->why == SW_WHY_FLOAT || v->why == SW_WHY_LOADED || v->why == SW_WHY_SHARED ||
			    v->why == SW_WHY_CALL;
		m.space = data ? SW_FROM_DATA : SW_FROM_ANYTHING;
		if (block < t->first_load && t->ssa->flow.block.at[block].loop == SW_NO_LOOP)
			m.space = SW_NO_DATA;
	}
	sw_node whole = v->op == SW_OP_PAIR ? sw_terms_whole_load(&t->graph, o) : SW_NO_NODE;
	if (whole == SW_NO_NODE)
		whole = sw_register_pairs_whole(&t->graph, &m, o);
	return whole == SW_NO_NODE ? sw_graph_make(&t->graph, m, o) : whole;
}

/* Makes the term of a node as plan_node() planned it; the terms that it needs are made. */
static sw_node rebuild_node(struct sw_terms *t, sw_node node, const struct recipe *r)
{
	struct sw_value v = *sw_graph_at(&t->ssa->graph, node);
	sw_node o[2 * SW_TERMS_ALTERNATIVES];
	if (r->form == CUT)
		return unknown_node(t, node, &v, r->why, SW_NO_NODE);
	for (uint32_t i = 0; i < r->n; i++)
		o[i] = t->of.at[r->need[i]];
	if (r->form == LOADED)
		return unknown_node(t, node, &v, r->why, sw_graph_fit(&t->graph, o[0], 64));
	if (r->form == EITHER)
		return one_by_condition(t, v.width, o, r->n / 2);
	if (r->form == STEP)
		return step_of_loop(t, v.width, (uint32_t)v.imm, o, r->n);
	if (r->form == LOW_STEP) {
		sw_node phi = sw_step_forward(t->ssa, v.operand[0]);
		sw_node low = step_of_loop(t, 32, (uint32_t)sw_graph_at(&t->ssa->graph, phi)->imm, o, r->n);
		return sw_graph_extend(&t->graph, v.width, (uint8_t)v.imm, v.flags, low);
	}
	if (r->form == ELEMENT)
		return table_element(t, &v, sw_graph_fit(&t->graph, o[0], 64), r->from, r->to);
	if (r->form == ANY)
		return one_of_several(t, v.width, o, r->n, v.op == SW_VALUE_LOADED ? SW_WHY_TABLE : SW_WHY_NONE);
	return plain_node(t, node, &v, o);
}

/* ---- all that a node needs, first -------------------------------------------------------------------------------- */

#define UNDER_WAY (SW_NO_NODE - 1)
#define PLAIN_WAY (SW_NO_NODE - 2) /* the same, of a node whose recipe was PLAIN */

/* Where the term of a node is kept; before it is made, SW_NO_NODE, UNDER_WAY or PLAIN_WAY. */
static sw_node *slot_of(struct sw_terms *t, sw_node node)
{
	size_t known = t->of.n;
	if (known <= node) {
		sw_vec_reserve(&t->of, node + 1);
		memset(t->of.at + known, 0xff, (t->of.room - known) * sizeof *t->of.at);
		t->of.n = t->of.room;
	}
	return &t->of.at[node];
}

sw_node sw_terms_of(struct sw_terms *t, sw_node node)
{
	size_t bottom = t->stack.n;
	if (*slot_of(t, node) < PLAIN_WAY)
		return t->of.at[node];
	*sw_vec_push(&t->stack) = node;
	while (t->stack.n > bottom) {
		sw_node at = t->stack.at[t->stack.n - 1];
		sw_node is = *slot_of(t, at);
		if (is < PLAIN_WAY) {
			t->stack.n--;
			continue;
		}
		struct recipe r;
		if (is == PLAIN_WAY)
			plan_plain(&t->ssa->graph, at, &r);
		else
			plan_node(t, at, &r);
		bool ready = true;
		for (uint32_t i = 0; r.form != CUT && i < r.n; i++) {
			sw_node of = *slot_of(t, r.need[i]);
			if (of == UNDER_WAY || of == PLAIN_WAY) { /* only what was not meant to happen needs itself */
				r.form = CUT;
				ready = true;
				break;
			}
			if (of == SW_NO_NODE) {
				*sw_vec_push(&t->stack) = r.need[i];
				ready = false;
			}
		}
		sw_node made = ready ? rebuild_node(t, at, &r) : r.form == PLAIN ? PLAIN_WAY : UNDER_WAY;
		*slot_of(t, at) = made;
		t->stack.n -= ready;
	}
	return t->of.at[node];
}
