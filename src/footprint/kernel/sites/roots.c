/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the origins of each value, by sweeps over all of them until no set grows any more (roots.h). */
#include "footprint/kernel/sites/roots.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprint/kernel/flow/extern_functions.h"

/* ---- sets of origins */

/* qsort() by number. */
static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Keeps one element of each origin: whole beats half and sure beats weak.  Sorted, that is the first one. */
static uint32_t tidy_elements(uint32_t *e, uint32_t n)
{
	uint32_t kept = 0;
	if (n == 1)
		return 1;
	qsort(e, n, sizeof *e, by_number);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || e[kept - 1] >> SW_ELEMENT_SHIFT != e[i] >> SW_ELEMENT_SHIFT)
			e[kept++] = e[i];
		else if (!(e[i] & SW_ELEMENT_HALF) && e[kept - 1] & SW_ELEMENT_HALF)
			e[kept - 1] = e[i];
	return kept;
}

/* The number of the set with these elements, which are sorted: equal sets have one number. */
static sw_origin_set intern_set(struct sw_origins *o, const uint32_t *e, uint32_t n)
{
	uint64_t key = sw_hash_words(e, n * sizeof *e), *found;
	for (; (found = sw_map_find(&o->sets, key)); key++) {
		sw_origin_set set = (sw_origin_set)*found;
		if (o->set.at[set].n == n && !memcmp(o->element.at + o->set.at[set].first, e, n * sizeof *e))
			return set;
	}
	sw_origin_set set = (sw_origin_set)o->set.n;
	*sw_map_put(&o->sets, key) = set;
	uint32_t first = (uint32_t)o->element.n;
	sw_vec_reserve(&o->element, o->element.n + n);
	memcpy(o->element.at + first, e, n * sizeof *e);
	o->element.n += n;
	*sw_vec_push(&o->set) = (struct sw_origin_span){first, n};
	return set;
}

/* The set of these elements, which come in any order; too many make it `unknown`. */
static sw_origin_set origins_of(struct sw_origins *o, uint32_t *elements, uint32_t n)
{
	n = n ? tidy_elements(elements, n) : 0;
	if (!n)
		return 0;
	return n > SW_ORIGINS_MAX ? o->unknown : intern_set(o, elements, n);
}

/* The set of this origin alone.  flags: SW_ELEMENT_*. */
static sw_origin_set one_origin_set(struct sw_origins *o, enum sw_origin_kind kind, uint32_t a, uint32_t b,
				    uint32_t flags)
{
	struct sw_origin wanted = {kind, a, b};
	uint64_t key = (uint64_t)a << 32 ^ (uint64_t)b << 4 ^ kind, *found;
	uint32_t at;
	for (; (found = sw_map_find(&o->origins, key)); key++)
		if (!memcmp(&o->origin.at[*found], &wanted, sizeof wanted))
			break;
	if (found) {
		at = (uint32_t)*found;
	} else {
		at = (uint32_t)o->origin.n;
		*sw_map_put(&o->origins, key) = at;
		*sw_vec_push(&o->origin) = wanted;
		*sw_vec_push(&o->alone) = (struct sw_origin_alone){0};
	}
	uint32_t element = at << SW_ELEMENT_SHIFT | flags;
	if (!o->alone.at[at].of[flags])
		o->alone.at[at].of[flags] = origins_of(o, &element, 1);
	return o->alone.at[at].of[flags];
}

uint32_t sw_origins_copy(const struct sw_origins *o, sw_origin_set set, uint32_t out[SW_ORIGINS_MAX])
{
	uint32_t n = o->set.at[set].n;
	if (n)
		memcpy(out, o->element.at + o->set.at[set].first, n * sizeof *out);
	return n;
}

sw_origin_set sw_origins_union(struct sw_origins *o, sw_origin_set a, sw_origin_set b)
{
	uint32_t both[2 * SW_ORIGINS_MAX];
	if (a == b || !b)
		return a;
	if (!a)
		return b;
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a, *known = sw_map_find(&o->unions, key);
	if (known)
		return (sw_origin_set)*known;
	uint32_t n = sw_origins_copy(o, a, both);
	n += sw_origins_copy(o, b, both + n);
	sw_origin_set set = origins_of(o, both, n);
	*sw_map_put(&o->unions, key) = set;
	return set;
}

/* The set with these flags (SW_ELEMENT_*) added to each element. */
static sw_origin_set origins_flag(struct sw_origins *o, sw_origin_set set, uint32_t flags)
{
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(o, set, e);
	bool all = true;
	for (uint32_t i = 0; i < n; i++) {
		all &= (e[i] & flags) == flags;
		e[i] |= flags;
	}
	return all ? set : origins_of(o, e, n);
}

/* Empty sets of origins: number 0 is the empty one, and there is the one of the unknown origin. */
static void origins_init(struct sw_origins *o)
{
	*o = (struct sw_origins){0};
	*sw_vec_push(&o->set) = (struct sw_origin_span){0, 0};
	o->unknown = one_origin_set(o, SW_ORIGIN_UNKNOWN, 0, 0, 0);
}

static void origins_free(struct sw_origins *o)
{
	free(o->origin.at);
	free(o->alone.at);
	free(o->element.at);
	free(o->set.at);
	sw_map_free(&o->sets);
	sw_map_free(&o->origins);
	sw_map_free(&o->unions);
	*o = (struct sw_origins){0};
}

/* ---- through memory */

/*
 * Origins in memory. Local memory is divided by slot and offset, where addresses give them; shared memory is one
 * object; module variables hold what their initialisers and the kernel itself store there.
 */

/* Keys of `contents`: slot << 32 | offset, and keys for unknown offsets and for a whole slot: */
#define ANYWHERE   0xfffffffeu
#define ALL	   0xffffffffu
#define SYMBOLS	   0xffffffffull /* as slot: what was stored into module variable `offset` */
#define EVERY_SLOT ((0xfffffffeull << 32))

/* The origins of what is stored at an offset of a local slot (or, SYMBOLS, in a module variable). */
static sw_origin_set get_contents(const struct sw_roots *r, uint64_t slot, uint32_t offset)
{
	return (sw_origin_set)sw_map_get(&r->contents, slot << 32 | offset);
}

/* Adds origins to what the memory with this key may hold. */
static void put_at(struct sw_roots *r, uint64_t key, sw_origin_set set)
{
	if (!set)
		return;
	uint64_t *has = sw_map_put(&r->contents, key);
	sw_origin_set both = sw_origins_union(&r->origins, (sw_origin_set)*has, set);
	r->changed |= both != *has;
	*has = both;
}

/* Adds origins to what local memory may hold at an offset, in the slot, and anywhere. */
static void put_contents(struct sw_roots *r, uint64_t slot, uint32_t offset, sw_origin_set set)
{
	put_at(r, slot << 32 | offset, set);
	put_at(r, slot << 32 | ALL, set);
	put_at(r, EVERY_SLOT, set);
}

sw_origin_set sw_roots_slot(const struct sw_roots *r, uint32_t slot)
{
	return get_contents(r, slot, ALL);
}

/* The offset in local variable `slot` that the address plus `more` has; ANYWHERE: not known. */
static uint32_t offset_of(const struct sw_roots *r, sw_node address, int64_t more)
{
	const struct sw_value *v = sw_graph_at(&r->ssa->graph, address);
	if (v->op != SW_OP_LOCAL_ADDRESS)
		return ANYWHERE;
	int64_t at = (int64_t)((uint64_t)v->imm2 + (uint64_t)more);
	return at >= 0 && at < INT32_MAX ? (uint32_t)at : ANYWHERE;
}

/* The origins of `bytes` bytes that are loaded from a local slot at this offset. */
static sw_origin_set from_slot(struct sw_roots *r, uint32_t slot, uint32_t offset, uint32_t bytes)
{
	if (offset == ANYWHERE)
		return get_contents(r, slot, ALL);
	sw_origin_set set = get_contents(r, slot, ANYWHERE);
	/* An element of up to 8 bytes that starts before may reach in. */
	for (uint32_t at = offset < 7 ? 0 : offset - 7; at < offset + bytes; at++)
		set = sw_origins_union(&r->origins, set, get_contents(r, slot, at));
	return set;
}

/* The contents of a module variable: its initialiser's pointers, the kernel's stores, and whatever a host put there. */
static sw_origin_set from_symbol(struct sw_roots *r, uint32_t symbol)
{
	sw_origin_set set = one_origin_set(&r->origins, SW_ORIGIN_INDIRECT_SYMBOL, symbol, 0, 0);
	if (symbol >= r->program->symbols)
		return set;
	const struct sw_symbol *s = &r->program->symbol[symbol];
	for (uint32_t i = 0; i < s->n_functions; i++)
		set = sw_origins_union(&r->origins, set,
				       one_origin_set(&r->origins, SW_ORIGIN_FUNCTION, s->functions[i], 0, 0));
	for (uint32_t i = 0; i < s->n_symbols; i++)
		set = sw_origins_union(&r->origins, set,
				       one_origin_set(&r->origins, SW_ORIGIN_SYMBOL, s->symbols[i], 0, 0));
	return sw_origins_union(&r->origins, set, get_contents(r, SYMBOLS, symbol));
}

#define LOADER_UNKNOWN 1u
#define LOADER_FIRST   2u

/* Notes that a load (its use, + LOADER_FIRST) gives pointers of this origin; a second load makes it LOADER_UNKNOWN. */
static void loaded_by(struct sw_roots *r, const struct sw_origin *o, uint64_t loader)
{
	uint64_t *known = sw_map_put(&r->loaders, (uint64_t)o->a << 32 | o->b);
	*known = !*known || *known == loader ? loader : LOADER_UNKNOWN;
}

uint32_t sw_roots_loader(const struct sw_roots *r, uint32_t param, uint32_t span)
{
	uint64_t known = sw_map_get(&r->loaders, (uint64_t)param << 32 | span);
	return known >= LOADER_FIRST ? (uint32_t)(known - LOADER_FIRST) : UINT32_MAX;
}

/* Notes that pointers of these origins may be given by loads that are not known. */
static void lose_loader(struct sw_roots *r, sw_origin_set set)
{
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&r->origins, set, e);
	for (uint32_t i = 0; i < n; i++) {
		struct sw_origin o = *sw_origin_at(&r->origins, e[i]);
		if (o.kind == SW_ORIGIN_INDIRECT)
			loaded_by(r, &o, LOADER_UNKNOWN);
	}
}

/* The origins of a load at a computed place of the parameter block.  PTX keeps an index within the parameter that
   the address is of; in machine code the displacement is what the compiler made it, and another parameter may be
   where it points: c[0x0][R + 0x380] with 0 or 8 in R chooses between the first two. */
static sw_origin_set from_block(struct sw_roots *r, const struct sw_origin *o)
{
	if (r->machine)
		return one_origin_set(&r->origins, SW_ORIGIN_PARAM, 0, r->program->param_bytes, 0);
	return one_origin_set(&r->origins, SW_ORIGIN_PARAM, o->a, o->b, 0);
}

/* Origins of a pointer that is loaded through an address with this origin. */
static sw_origin_set through_origin(struct sw_roots *r, const struct sw_origin *o, sw_node address, int64_t more,
				    uint32_t bytes)
{
	switch (o->kind) {
	case SW_ORIGIN_PARAM:
		return one_origin_set(&r->origins, SW_ORIGIN_INDIRECT, o->a, o->b, 0);
	case SW_ORIGIN_INDIRECT:
		return one_origin_set(&r->origins, SW_ORIGIN_INDIRECT, o->a, o->b, 0);
	case SW_ORIGIN_SYMBOL:
		return from_symbol(r, o->a);
	case SW_ORIGIN_INDIRECT_SYMBOL:
		return one_origin_set(&r->origins, SW_ORIGIN_INDIRECT_SYMBOL, o->a, 0, 0);
	case SW_ORIGIN_ENVIRONMENT:
		return one_origin_set(&r->origins, SW_ORIGIN_ENVIRONMENT, 0, 0, 0);
	case SW_ORIGIN_LOCAL:
		return from_slot(r, o->a, offset_of(r, address, more), bytes);
	case SW_ORIGIN_SHARED:
		return r->shared;
	case SW_ORIGIN_BLOCK:
		return from_block(r, o);
	case SW_ORIGIN_FUNCTION:
		return 0;
	default:
		return r->origins.unknown;
	}
}

/* The origins of a loaded value. */
static sw_origin_set loaded_origins(struct sw_roots *r, sw_node node)
{
	struct sw_value v = *sw_graph_at(&r->ssa->graph, node);
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&r->origins, r->of[v.operand[0]], e);
	bool whole = false;
	sw_origin_set set = 0;
	if (v.space == SW_SHARED)
		set = r->shared;
	else if (v.space == SW_LOCAL && !n)
		set = (sw_origin_set)sw_map_get(&r->contents, EVERY_SLOT);
	else if (v.space == SW_PARAM_SPACE && !n)
		set = one_origin_set(&r->origins, SW_ORIGIN_PARAM, 0, r->program->param_bytes, 0);
	else if (!n)
		set = r->origins.unknown;
	for (uint32_t i = 0; i < n; i++)
		whole |= !(e[i] & SW_ELEMENT_HALF);
	for (uint32_t i = 0; i < n && v.space != SW_SHARED; i++) {
		if (whole && e[i] & SW_ELEMENT_HALF)
			continue;
		struct sw_origin o = *sw_origin_at(&r->origins, e[i]);
		sw_origin_set got = through_origin(r, &o, v.operand[0], v.imm2, v.bytes);
		if (o.kind == SW_ORIGIN_PARAM && v.bytes >= 8)
			loaded_by(r, &o, e[i] & SW_ELEMENT_HALF ? LOADER_UNKNOWN : LOADER_FIRST + (uint64_t)v.imm);
		else if (o.kind == SW_ORIGIN_SHARED && v.bytes >= 8)
			lose_loader(r, got);
		if (e[i] & SW_ELEMENT_WEAK)
			got = origins_flag(&r->origins, got, SW_ELEMENT_WEAK);
		set = sw_origins_union(&r->origins, set, got);
	}
	/* No instruction is known to load the data that bulk copies bring into shared memory. */
	if (v.space == SW_SHARED && v.bytes >= 8)
		lose_loader(r, set);
	return v.bytes < 8 ? origins_flag(&r->origins, set, SW_ELEMENT_HALF) : set;
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

/* Adds the origins of a value to the memory that an address of this origin stands for, if that is followed. */
static void store_to(struct sw_roots *r, uint32_t element, const struct sw_memory_op *use, int64_t more,
		     sw_origin_set value)
{
	struct sw_origin o = *sw_origin_at(&r->origins, element);
	if (o.kind == SW_ORIGIN_LOCAL) {
		put_contents(r, o.a, offset_of(r, use->address, more), value);
	} else if (o.kind == SW_ORIGIN_SYMBOL) {
		put_at(r, SYMBOLS << 32 | o.a, value);
	} else if (o.kind == SW_ORIGIN_SHARED) {
		sw_origin_set both = sw_origins_union(&r->origins, r->shared, value);
		r->changed |= both != r->shared;
		r->shared = both;
	}
}

/* Adds the origins of stored values to the memory that the address may lie in. */
static void store_value(struct sw_roots *r, const struct sw_memory_op *use, const struct sw_insn *x)
{
	sw_origin_set to = r->of[use->address];
	if (x->space == SW_SHARED)
		to = sw_origins_union(&r->origins, to, one_origin_set(&r->origins, SW_ORIGIN_SHARED, 0, 0, 0));
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&r->origins, to, e);
	for (uint32_t k = 0; k < use->values; k++)
		for (uint32_t i = 0; i < n; i++)
			store_to(r, e[i], use, x->op == SW_OP_STORE ? (int64_t)k * x->bytes : 0,
				 r->of[r->ssa->operand.at[use->value + k]]);
}

/* Stores, in the contents of shared memory, what a bulk copy reads from global memory. */
static void bring_value(struct sw_roots *r, sw_node from)
{
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&r->origins, r->of[from], e);
	for (uint32_t i = 0; i < n; i++) {
		struct sw_origin o = *sw_origin_at(&r->origins, e[i]);
		sw_origin_set both = sw_origins_union(&r->origins, r->shared, through_origin(r, &o, from, 0, 8));
		r->changed |= both != r->shared;
		r->shared = both;
	}
}

bool sw_roots_call_is_open(const struct sw_roots *r, const struct sw_memory_op *use)
{
	const struct sw_program_call *call = &r->ssa->body.call.at[r->ssa->body.insn.at[use->insn].target];
	if (call->function != UINT32_MAX)
		return false;
	if (call->name)
		return sw_extern_of(call) == SW_EXTERN_UNKNOWN;
	uint32_t e[SW_ORIGINS_MAX];
	uint32_t n = use->values ? sw_origins_copy(&r->origins, r->of[r->ssa->operand.at[use->value]], e) : 0;
	for (uint32_t i = 0; i < n; i++) {
		struct sw_origin o = *sw_origin_at(&r->origins, e[i]);
		/* A table of functions in a constant variable holds what its initialiser says. */
		bool table = o.kind == SW_ORIGIN_INDIRECT_SYMBOL && o.a < r->program->symbols &&
			     r->program->symbol[o.a].n_functions;
		if (!table && (o.kind != SW_ORIGIN_FUNCTION || o.a >= r->program->functions))
			return true;
	}
	return !n;
}

/* Effects of a call that remains, on origins: its results, and local memory that it was given pointers to, hold what it
   may store there. */
static void call_effects(struct sw_roots *r, const struct sw_memory_op *use)
{
	const struct sw_program_call *call = &r->ssa->body.call.at[r->ssa->body.insn.at[use->insn].target];
	enum sw_extern gives = sw_extern_of(call);
	sw_origin_set result =
		gives == SW_EXTERN_MEMORY ? one_origin_set(&r->origins, SW_ORIGIN_ENVIRONMENT, 0, 0, 0) : 0;
	bool open = sw_roots_call_is_open(r, use);
	if (open)
		result = r->origins.unknown;
	for (uint32_t i = 0; i < call->rets; i++)
		put_contents(r, sw_body_slot(&r->ssa->body, call->ret[i]), ANYWHERE, result);
	for (uint32_t i = 0; open && i < call->args; i++) {
		uint32_t e[SW_ORIGINS_MAX];
		uint32_t n =
			sw_origins_copy(&r->origins, sw_roots_slot(r, sw_body_slot(&r->ssa->body, call->arg[i])), e);
		for (uint32_t k = 0; k < n; k++)
			if (sw_origin_at(&r->origins, e[k])->kind == SW_ORIGIN_LOCAL)
				put_contents(r, sw_origin_at(&r->origins, e[k])->a, ANYWHERE, r->origins.unknown);
	}
}

/* Adds what a store leaves in memory. */
static void take_store(struct sw_roots *r, const struct sw_memory_op *use)
{
	const struct sw_insn *x = &r->ssa->body.insn.at[use->insn];
	if (x->op == SW_OP_STORE || x->op == SW_OP_ATOMIC)
		store_value(r, use, x);
	else if (x->op == SW_OP_CALL)
		call_effects(r, use);
	else if ((x->op == SW_OP_BULK || x->op == SW_OP_TENSOR) && x->flags & SW_READS && use->address != SW_NO_NODE)
		bring_value(r, use->address);
}

/* ---- a set for every node */

/* Sweeps over all nodes; code seen in the wild settles within ten. */
#define MAX_SWEEPS 100

static sw_origin_set one_origin(struct sw_roots *r, enum sw_origin_kind kind, uint32_t a, uint32_t b, uint32_t flags)
{
	return one_origin_set(&r->origins, kind, a, b, flags);
}

static sw_origin_set join_sets(struct sw_roots *r, sw_origin_set a, sw_origin_set b)
{
	return sw_origins_union(&r->origins, a, b);
}

/* The set whose elements are those of this one, but each only a piece (half) of the address. */
static sw_origin_set half_of(struct sw_roots *r, sw_origin_set set)
{
	return origins_flag(&r->origins, set, SW_ELEMENT_HALF);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Is this origin an address for certain, whatever is added to it? */
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

/* One summand: its origins. */
struct side {
	uint32_t e[SW_ORIGINS_MAX], n;
	bool base, word; /* nothing but bases; a whole word of the parameter block is among them */
};

/* Reads the origins of a summand. */
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

/* The origins of one summand that may still be the address, given the other summand. */
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

/* The origins of a + b: where one of both is an address for certain, the other is an index, which has none. */
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
	return n ? origins_of(&r->origins, kept, n) : join_sets(r, a, b);
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

/* The origin of a parameter's value: the word itself, or a half of it. */
static sw_origin_set origin_of_parameter(struct sw_roots *r, const struct sw_value *v)
{
	if (v->width == 64)
		return one_origin(r, SW_ORIGIN_PARAM, (uint32_t)v->imm, 8, 0);
	return one_origin(r, SW_ORIGIN_PARAM, (uint32_t)v->imm & ~7u, 8, SW_ELEMENT_HALF);
}

/* Origins of a value without operands: an address is its own origin, numbers have none. */
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

/* The origins after a shift: by whole bytes it moves a piece of an address, by anything else it makes an index. */
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

/* The origins of a 64-bit value made of two halves: of both halves of one word, the word. */
static sw_origin_set origins_of_pair(struct sw_roots *r, sw_origin_set low, sw_origin_set high)
{
	struct side x, y;
	look_at_side(r, low, &x);
	look_at_side(r, high, &y);
	for (uint32_t i = 0, k = 0; i < x.n && k < y.n;) {
		uint32_t a = x.e[i] >> SW_ELEMENT_SHIFT, b = y.e[k] >> SW_ELEMENT_SHIFT;
		if (a == b) {
			lose_loader(r, origins_of(&r->origins, (uint32_t[]){x.e[i]}, 1));
			x.e[i] &= ~(uint32_t)SW_ELEMENT_HALF;
		}
		i += a <= b;
		k += b <= a;
	}
	return join_sets(r, origins_of(&r->origins, x.e, x.n), high);
}

/* The origins of all operands from number `from` on. */
static sw_origin_set origins_of_all(struct sw_roots *r, const struct sw_value *v, const sw_node *o, uint32_t from)
{
	sw_origin_set set = 0;
	for (uint32_t i = from; i < v->n; i++)
		set = join_sets(r, set, r->of[o[i]]);
	return set;
}

/* The origins of a value from those of its operands. */
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
		return origins_flag(&r->origins, origins_of_all(r, &v, o, 0), SW_ELEMENT_WEAK);
	case SW_OP_OR:
	case SW_OP_XOR:
	case SW_OP_MIX:
		return origins_flag(&r->origins, origins_of_all(r, &v, o, 0), SW_ELEMENT_WEAK);
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
		return loaded_origins(r, node);
	default:
		return origins_of_leaf(r, &v);
	}
}

/* ---- to the fixpoint --------------------------------------------------------------------------------------------- */

/* Would the node's set be combined of other sets than the last time?  Operands come before it, but for those of
   PHIs, which may have changed after it in the last sweep.  Loads depend on what is stored, too. */
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

/* Lists the values whose set may change although no operand before them did. */
static void find_first_stale(struct sw_roots *r)
{
	for (sw_node n = 0; n < r->ssa->graph.value.n; n++) {
		uint8_t op = sw_graph_at(&r->ssa->graph, n)->op;
		if (op == SW_VALUE_LOADED || op == SW_VALUE_PHI)
			*sw_vec_push(&r->first_stale) = n;
	}
}

/* Combines the sets of all values anew that may change.  Sets only grow: a rule that drops candidates once a sure
   base is known may have kept them before. */
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
		take_store(r, &r->ssa->use.at[u]);
}

/* Sweeps over all values until no set changes any more. */
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

/* Marks words of the parameter block that an access uses with no other candidate for its address: they are pointers.
   True: there are new ones. */
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

/* Is there a difference of 64 bits, which origins_of_difference() takes otherwise once pointers are known? */
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
	origins_init(&roots->origins);
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
	origins_free(&roots->origins);
	sw_map_free(&roots->contents);
	sw_map_free(&roots->loaders);
	sw_map_free(&roots->pointers);
	free(roots->of);
	*roots = (struct sw_roots){0};
}
