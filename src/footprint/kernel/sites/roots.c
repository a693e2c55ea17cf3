/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/sites/roots.h"

#include <stdlib.h>
#include <string.h>

/* Sweeps over all nodes; code seen in the wild settles within ten. */
#define MAX_SWEEPS 100

static sw_origin_set one_origin(struct sw_roots *r, enum sw_origin_kind kind, uint32_t a, uint32_t b, uint32_t flags)
{
	return sw_origins_one(&r->origins, kind, a, b, flags);
}

static sw_origin_set join_sets(struct sw_roots *r, sw_origin_set a, sw_origin_set b)
{
	return sw_origins_union(&r->origins, a, b);
}

static sw_origin_set half_of(struct sw_roots *r, sw_origin_set set)
{
	return sw_origins_flag(&r->origins, set, SW_ELEMENT_HALF);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* An address for certain, whatever is added to it. */
static bool is_base(const struct sw_origin *o)
{
	switch (o->kind) {
	case SW_ORIGIN_SYMBOL:
	case SW_ORIGIN_LOCAL:
	case SW_ORIGIN_SHARED:
	case SW_ORIGIN_BLOCK:
	case SW_ORIGIN_ENVIRONMENT:
	case SW_ORIGIN_FUNCTION:
		return true;
	default:
		return false;
	}
}

struct side {
	uint32_t e[SW_ORIGINS_MAX], n;
	bool base, word; /* nothing but bases; a whole word of the parameter block is among them */
};

static void look_at_side(const struct sw_roots *r, sw_origin_set set, struct side *s)
{
	s->n = sw_origins_copy(&r->origins, set, s->e);
	s->base = s->n;
	s->word = false;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct sw_origin *o = sw_origin_at(&r->origins, s->e[i]);
		s->base &= is_base(o);
		s->word |= o->kind == SW_ORIGIN_PARAM && !(s->e[i] & SW_ELEMENT_HALF);
	}
}

/* What of one summand may still be the address, given the other. */
static uint32_t keep_bases(const struct sw_roots *r, const struct side *s, const struct side *other, uint32_t *out)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct sw_origin *o = sw_origin_at(&r->origins, s->e[i]);
		bool loaded = o->kind == SW_ORIGIN_INDIRECT || o->kind == SW_ORIGIN_INDIRECT_SYMBOL;
		if (!is_base(o) && (other->base || s->e[i] & SW_ELEMENT_HALF))
			continue; /* the other is the address; or a 32-bit index */
		out[n++] = s->e[i] | (loaded && other->word ? SW_ELEMENT_WEAK : 0);
	}
	return n;
}

static sw_origin_set origins_of_sum(struct sw_roots *r, sw_origin_set a, sw_origin_set b)
{
	struct side x, y;
	uint32_t kept[2 * SW_ORIGINS_MAX];
	if (!a || !b)
		return a ? a : b;
	look_at_side(r, a, &x);
	look_at_side(r, b, &y);
	uint32_t n = keep_bases(r, &x, &y, kept);
	n += keep_bases(r, &y, &x, kept + n);
	return n ? sw_origins_of(&r->origins, kept, n) : join_sets(r, a, b);
}

/* a - b: an index if both are pointers for certain, else whatever a is. */
static sw_origin_set origins_of_difference(struct sw_roots *r, sw_origin_set a, sw_origin_set b)
{
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&r->origins, b, e);
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_origin *o = sw_origin_at(&r->origins, e[i]);
		bool pointer = is_base(o) || (o->kind == SW_ORIGIN_PARAM && sw_map_find(&r->pointers, o->a));
		if (e[i] & SW_ELEMENT_HALF || !pointer)
			return a;
	}
	return n ? 0 : a;
}

/* ---- values without operands ------------------------------------------------------------------------------------- */

/* The parameter that holds byte `at` of the block, as origin of addresses in the block. */
static sw_origin_set origin_of_block(struct sw_roots *r, int64_t at)
{
	const struct sw_program *p = r->program;
	for (uint32_t i = 0; i < p->params; i++)
		if (at >= p->param[i].offset && at < p->param[i].offset + p->param[i].bytes)
			return one_origin(r, SW_ORIGIN_BLOCK, p->param[i].offset, p->param[i].bytes, 0);
	return one_origin(r, SW_ORIGIN_BLOCK, 0, p->param_bytes, 0);
}

static sw_origin_set origin_of_parameter(struct sw_roots *r, const struct sw_value *v)
{
	if (v->width == 64)
		return one_origin(r, SW_ORIGIN_PARAM, (uint32_t)v->imm, 8, 0);
	return one_origin(r, SW_ORIGIN_PARAM, (uint32_t)v->imm & ~7u, 8, SW_ELEMENT_HALF);
}

static sw_origin_set origins_of_leaf(struct sw_roots *r, const struct sw_value *v)
{
	switch (v->op) {
	case SW_OP_PARAM:
		return origin_of_parameter(r, v);
	case SW_OP_PARAM_ADDRESS:
		return origin_of_block(r, v->imm);
	case SW_OP_LOCAL_ADDRESS:
		return one_origin(r, SW_ORIGIN_LOCAL, (uint32_t)v->imm, 0, 0);
	case SW_OP_SHARED_ADDRESS:
		return one_origin(r, SW_ORIGIN_SHARED, 0, 0, 0);
	case SW_OP_SYMBOL_ADDRESS:
		return one_origin(r, SW_ORIGIN_SYMBOL, (uint32_t)v->imm, 0, 0);
	case SW_OP_FUNCTION_ADDRESS:
		return one_origin(r, SW_ORIGIN_FUNCTION, (uint32_t)v->imm, 0, 0);
	case SW_OP_ENVIRONMENT:
		return one_origin(r, SW_ORIGIN_ENVIRONMENT, 0, 0, 0);
	default:
		return 0;
	}
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* A shift by whole bytes moves a piece of an address; by anything else it makes an index. */
static sw_origin_set origins_of_shift(struct sw_roots *r, const struct sw_value *v)
{
	int64_t by;
	if (!sw_graph_is_const(&r->ssa->graph, v->operand[1], &by))
		return 0;
	if (v->op == SW_OP_MUL) {
		if (by <= 1 || by & (by - 1))
			return 0;
		by = __builtin_ctzll((uint64_t)by);
	}
	return by % 8 ? 0 : half_of(r, r->of[v->operand[0]]);
}

/* Both halves of one word: the word. */
static sw_origin_set origins_of_pair(struct sw_roots *r, sw_origin_set low, sw_origin_set high)
{
	struct side x, y;
	look_at_side(r, low, &x);
	look_at_side(r, high, &y);
	for (uint32_t i = 0, k = 0; i < x.n && k < y.n;) {
		uint32_t a = x.e[i] >> SW_ELEMENT_SHIFT, b = y.e[k] >> SW_ELEMENT_SHIFT;
		if (a == b) {
			sw_roots_loader_lost(r, sw_origins_of(&r->origins, (uint32_t[]){x.e[i]}, 1));
			x.e[i] &= ~(uint32_t)SW_ELEMENT_HALF;
		}
		i += a <= b;
		k += b <= a;
	}
	return join_sets(r, sw_origins_of(&r->origins, x.e, x.n), high);
}

static sw_origin_set origins_of_all(struct sw_roots *r, const struct sw_value *v, const sw_node *o, uint32_t from)
{
	sw_origin_set set = 0;
	for (uint32_t i = from; i < v->n; i++)
		set = join_sets(r, set, r->of[o[i]]);
	return set;
}

static sw_origin_set combine_operands(struct sw_roots *r, sw_node node)
{
	struct sw_value v = *sw_graph_at(&r->ssa->graph, node);
	const sw_node *o = sw_graph_operands(&r->ssa->graph, node);
	switch (v.op) {
	case SW_OP_MOV:
	case SW_OP_MIN:
	case SW_OP_MAX:
	case SW_VALUE_PHI:
		return origins_of_all(r, &v, o, 0);
	case SW_OP_SELECT:
		return origins_of_all(r, &v, o, 1);
	case SW_OP_ADD:
		return origins_of_sum(r, r->of[o[0]], r->of[o[1]]);
	case SW_OP_SUB:
		return origins_of_difference(r, r->of[o[0]], r->of[o[1]]);
	case SW_OP_AND:
		if (sw_graph_at(&r->ssa->graph, o[1])->op == SW_OP_CONST)
			return r->of[o[0]];
		return sw_origins_flag(&r->origins, origins_of_all(r, &v, o, 0), SW_ELEMENT_WEAK);
	case SW_OP_OR:
	case SW_OP_XOR:
	case SW_OP_MIX:
		return sw_origins_flag(&r->origins, origins_of_all(r, &v, o, 0), SW_ELEMENT_WEAK);
	case SW_OP_MUL:
	case SW_OP_SHL:
	case SW_OP_SHR:
		return origins_of_shift(r, &v);
	case SW_OP_EXTEND:
		return v.imm <= 32 ? half_of(r, r->of[o[0]]) : r->of[o[0]]; /* an address fits into 62 bits */
	case SW_OP_LOW:
	case SW_OP_HIGH:
		return half_of(r, r->of[o[0]]);
	case SW_OP_ADDX:
		return half_of(r, origins_of_all(r, &v, o, 0));
	case SW_OP_PAIR:
		return origins_of_pair(r, r->of[o[0]], r->of[o[1]]);
	case SW_VALUE_LOADED:
		return sw_roots_loaded(r, node);
	default:
		return origins_of_leaf(r, &v);
	}
}

/* ---- to the fixpoint --------------------------------------------------------------------------------------------- */

/* Would it be combined of other sets than the last time?  Operands come before it, but for those of PHIs, which may
   have changed after it in the last sweep.  Loads depend on what is stored, too. */
static bool is_stale(const struct sw_roots *r, sw_node node, uint32_t sweep)
{
	const struct sw_value *v = sw_graph_at(&r->ssa->graph, node);
	const sw_node *o = sw_graph_operands(&r->ssa->graph, node);
	if (v->op == SW_VALUE_LOADED)
		return true;
	for (uint32_t i = 0; i < v->n; i++)
		if (r->sweep_of[o[i]] == sweep || (o[i] >= node && r->sweep_of[o[i]] + 1u == sweep))
			return true;
	return false;
}

/* Those whose set may change although no operand before them did. */
static void find_first_stale(struct sw_roots *r)
{
	for (sw_node n = 0; n < r->ssa->graph.value.n; n++) {
		uint8_t op = sw_graph_at(&r->ssa->graph, n)->op;
		if (op == SW_VALUE_LOADED || op == SW_VALUE_PHI)
			*sw_vec_push(&r->first_stale) = n;
	}
}

/* Sets only grow: a rule that drops candidates once a sure base is known may have kept them before. */
static void sweep_values(struct sw_roots *r, uint32_t number)
{
	bool any = false;
	for (sw_node n = 0, k = 0; n < r->ssa->graph.value.n; n++) {
		if (number > 1 && !any) {
			if (k == r->first_stale.n)
				break;
			n = r->first_stale.at[k++];
		}
		if (number > 1 && !is_stale(r, n, number))
			continue;
		sw_origin_set set = join_sets(r, r->of[n], combine_operands(r, n));
		if (set == r->of[n])
			continue;
		any = r->changed = true;
		r->sweep_of[n] = (uint8_t)number;
		r->of[n] = set;
	}
	for (size_t u = 0; u < r->ssa->use.n; u++)
		sw_roots_stored(r, &r->ssa->use.at[u]);
}

static void settle_roots(struct sw_roots *r)
{
	memset(r->of, 0, r->ssa->graph.value.n * sizeof *r->of);
	memset(r->sweep_of, 0, r->ssa->graph.value.n * sizeof *r->sweep_of);
	sw_map_free(&r->contents);
	sw_map_free(&r->loaders);
	r->shared = 0;
	r->changed = true;
	for (uint32_t i = 1; r->changed && i <= MAX_SWEEPS; i++) {
		r->changed = false;
		sweep_values(r, i);
	}
	r->unsettled = r->changed;
}

/* A word of the parameter block that an access uses, with no other candidate for the address: a pointer. */
static bool find_pointers(struct sw_roots *r)
{
	size_t before = r->pointers.n;
	for (size_t u = 0; u < r->ssa->use.n; u++) {
		const struct sw_memory_op *use = &r->ssa->use.at[u];
		uint32_t e[SW_ORIGINS_MAX];
		uint32_t n = use->address == SW_NO_NODE ? 0 : sw_origins_copy(&r->origins, r->of[use->address], e);
		if (n != 1 || e[0] & (SW_ELEMENT_HALF | SW_ELEMENT_WEAK))
			continue;
		const struct sw_origin *o = sw_origin_at(&r->origins, e[0]);
		if (o->kind == SW_ORIGIN_PARAM && o->b == 8)
			*sw_map_put(&r->pointers, o->a) = 1;
	}
	return r->pointers.n > before;
}

static bool any_subtraction(const struct sw_ssa *ssa)
{
	for (sw_node n = 0; n < ssa->graph.value.n; n++)
		if (sw_graph_at(&ssa->graph, n)->op == SW_OP_SUB && sw_graph_at(&ssa->graph, n)->width == 64)
			return true;
	return false;
}

void sw_roots_find(const struct sw_program *program, bool machine, const struct sw_ssa *ssa, struct sw_roots *roots)
{
	*roots = (struct sw_roots){.program = program, .ssa = ssa, .machine = machine};
	sw_origins_init(&roots->origins);
	roots->of = sw_calloc(ssa->graph.value.n + 1, sizeof *roots->of);
	roots->sweep_of = sw_calloc(ssa->graph.value.n + 1, sizeof *roots->sweep_of);
	find_first_stale(roots);
	settle_roots(roots);
	if (find_pointers(roots) && any_subtraction(ssa))
		settle_roots(roots);
	free(roots->sweep_of);
	free(roots->first_stale.at);
	roots->sweep_of = NULL;
	roots->first_stale.at = NULL;
}

void sw_roots_free(struct sw_roots *roots)
{
	sw_origins_free(&roots->origins);
	sw_map_free(&roots->contents);
	sw_map_free(&roots->loaders);
	sw_map_free(&roots->pointers);
	free(roots->of);
	*roots = (struct sw_roots){0};
}
