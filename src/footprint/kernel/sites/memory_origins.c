/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Origins in memory. Local memory is divided by slot and offset, where addresses give them; shared memory is one
 * object; module variables hold what their initialisers and the kernel itself store there.
 */
#include "footprint/kernel/sites/roots.h"

#include "footprint/kernel/flow/extern_functions.h"

/* Keys of `contents`: slot << 32 | offset, and keys for unknown offsets and for a whole slot: */
#define ANYWHERE   0xfffffffeu
#define ALL	   0xffffffffu
#define SYMBOLS	   0xffffffffull /* as slot: what was stored into module variable `offset` */
#define EVERY_SLOT ((0xfffffffeull << 32))

static sw_origin_set get_contents(const struct sw_roots *r, uint64_t slot, uint32_t offset)
{
	return (sw_origin_set)sw_map_get(&r->contents, slot << 32 | offset);
}

static void put_at(struct sw_roots *r, uint64_t key, sw_origin_set set)
{
	if (!set)
		return;
	uint64_t *has = sw_map_put(&r->contents, key);
	sw_origin_set both = sw_origins_union(&r->origins, (sw_origin_set)*has, set);
	r->changed |= both != *has;
	*has = both;
}

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

/* The plain offset of an address of local variable `slot`, plus `more`. */
static uint32_t offset_of(const struct sw_roots *r, sw_node address, int64_t more)
{
	const struct sw_value *v = sw_graph_at(&r->ssa->graph, address);
	if (v->op != SW_OP_LOCAL_ADDRESS)
		return ANYWHERE;
	int64_t at = (int64_t)((uint64_t)v->imm2 + (uint64_t)more);
	return at >= 0 && at < INT32_MAX ? (uint32_t)at : ANYWHERE;
}

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

/* What is in a module variable: what its initialiser points to, what the kernel stored, and what a host put there. */
static sw_origin_set from_symbol(struct sw_roots *r, uint32_t symbol)
{
	sw_origin_set set = sw_origins_one(&r->origins, SW_ORIGIN_INDIRECT_SYMBOL, symbol, 0, 0);
	if (symbol >= r->program->symbols)
		return set;
	const struct sw_symbol *s = &r->program->symbol[symbol];
	for (uint32_t i = 0; i < s->n_functions; i++)
		set = sw_origins_union(&r->origins, set,
				       sw_origins_one(&r->origins, SW_ORIGIN_FUNCTION, s->functions[i], 0, 0));
	for (uint32_t i = 0; i < s->n_symbols; i++)
		set = sw_origins_union(&r->origins, set,
				       sw_origins_one(&r->origins, SW_ORIGIN_SYMBOL, s->symbols[i], 0, 0));
	return sw_origins_union(&r->origins, set, get_contents(r, SYMBOLS, symbol));
}

#define LOADER_UNKNOWN 1u
#define LOADER_FIRST   2u

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

void sw_roots_loader_lost(struct sw_roots *r, sw_origin_set set)
{
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&r->origins, set, e);
	for (uint32_t i = 0; i < n; i++) {
		struct sw_origin o = *sw_origin_at(&r->origins, e[i]);
		if (o.kind == SW_ORIGIN_INDIRECT)
			loaded_by(r, &o, LOADER_UNKNOWN);
	}
}

/* A load at a computed place.  PTX keeps an index within the parameter that the address is of; in machine code the
   displacement is what the compiler made it, and another parameter may be where it points: c[0x0][R + 0x380] with 0 or
   8 in R chooses between the first two. */
static sw_origin_set from_block(struct sw_roots *r, const struct sw_origin *o)
{
	if (r->machine)
		return sw_origins_one(&r->origins, SW_ORIGIN_PARAM, 0, r->program->param_bytes, 0);
	return sw_origins_one(&r->origins, SW_ORIGIN_PARAM, o->a, o->b, 0);
}

static sw_origin_set through_origin(struct sw_roots *r, const struct sw_origin *o, sw_node address, int64_t more,
				    uint32_t bytes)
{
	switch (o->kind) {
	case SW_ORIGIN_PARAM:
		return sw_origins_one(&r->origins, SW_ORIGIN_INDIRECT, o->a, o->b, 0);
	case SW_ORIGIN_INDIRECT:
		return sw_origins_one(&r->origins, SW_ORIGIN_INDIRECT, o->a, o->b, 0);
	case SW_ORIGIN_SYMBOL:
		return from_symbol(r, o->a);
	case SW_ORIGIN_INDIRECT_SYMBOL:
		return sw_origins_one(&r->origins, SW_ORIGIN_INDIRECT_SYMBOL, o->a, 0, 0);
	case SW_ORIGIN_ENVIRONMENT:
		return sw_origins_one(&r->origins, SW_ORIGIN_ENVIRONMENT, 0, 0, 0);
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

sw_origin_set sw_roots_loaded(struct sw_roots *r, sw_node node)
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
		set = sw_origins_one(&r->origins, SW_ORIGIN_PARAM, 0, r->program->param_bytes, 0);
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
			sw_roots_loader_lost(r, got);
		if (e[i] & SW_ELEMENT_WEAK)
			got = sw_origins_flag(&r->origins, got, SW_ELEMENT_WEAK);
		set = sw_origins_union(&r->origins, set, got);
	}
	/* What came into shared memory by bulk copies is not known to be loaded by any instruction. */
	if (v.space == SW_SHARED && v.bytes >= 8)
		sw_roots_loader_lost(r, set);
	return v.bytes < 8 ? sw_origins_flag(&r->origins, set, SW_ELEMENT_HALF) : set;
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

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

static void store_value(struct sw_roots *r, const struct sw_memory_op *use, const struct sw_insn *x)
{
	sw_origin_set to = r->of[use->address];
	if (x->space == SW_SHARED)
		to = sw_origins_union(&r->origins, to, sw_origins_one(&r->origins, SW_ORIGIN_SHARED, 0, 0, 0));
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(&r->origins, to, e);
	for (uint32_t k = 0; k < use->values; k++)
		for (uint32_t i = 0; i < n; i++)
			store_to(r, e[i], use, x->op == SW_OP_STORE ? (int64_t)k * x->bytes : 0,
				 r->of[r->ssa->operand.at[use->value + k]]);
}

/* A bulk copy that reads global memory stores the data in shared memory. */
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

static void call_effects(struct sw_roots *r, const struct sw_memory_op *use)
{
	const struct sw_program_call *call = &r->ssa->body.call.at[r->ssa->body.insn.at[use->insn].target];
	enum sw_extern gives = sw_extern_of(call);
	sw_origin_set result =
		gives == SW_EXTERN_MEMORY ? sw_origins_one(&r->origins, SW_ORIGIN_ENVIRONMENT, 0, 0, 0) : 0;
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

void sw_roots_stored(struct sw_roots *r, const struct sw_memory_op *use)
{
	const struct sw_insn *x = &r->ssa->body.insn.at[use->insn];
	if (x->op == SW_OP_STORE || x->op == SW_OP_ATOMIC)
		store_value(r, use, x);
	else if (x->op == SW_OP_CALL)
		call_effects(r, use);
	else if ((x->op == SW_OP_BULK || x->op == SW_OP_TENSOR) && x->flags & SW_READS && use->address != SW_NO_NODE)
		bring_value(r, use->address);
}
