/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions matter: those that make addresses in global or local memory, conditions, and what is kept where
 * an address or a condition may be loaded from.  All others (the sums of a matrix product, the places of its summands
 * in shared memory) need no nodes: most of the code of the kernels that take longest.
 *
 * A backward analysis of live variables, in which an instruction reads its operands only if its result is live.
 */
#include "footprint/kernel/flow/ssa.h"

#include <stdlib.h>
#include <string.h>

/* Most bytes of the sets of variables, and most looks at all blocks: beyond these everything counts as needed. */
#define MAX_BYTES  ((size_t)64 << 20)
#define MAX_ROUNDS 64

struct finder {
	const struct sw_ssa *ssa;
	const struct sw_stack_frames *frames;
	struct sw_effects effects;
	uint8_t *need;
	size_t words;	   /* of a set */
	uint64_t *in;	   /* by block: variables that are live at its start */
	uint64_t *live;	   /* at the instruction looked at */
	bool *again;	   /* by block: to be looked at */
	bool in_variables; /* there are module variables that may hold what is stored in global memory */
	bool in_shared;	   /* some value that matters is loaded from shared memory */
};

/* Does some instruction below need this variable as it is here? */
static bool is_live(const struct finder *f, uint32_t var)
{
	return f->live[var / 64] >> var % 64 & 1;
}

/* Is the instruction a load or store of local variables that are followed like registers? */
static bool is_register(const struct finder *f, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	if (f->frames->at[insn] == SW_NO_PLACE)
		return false;
	for (uint32_t k = 0; k < x->count; k++)
		if (sw_frames_var(f->frames, &f->ssa->body, insn, k) == SW_NO_REG)
			return false;
	return true;
}

/* May what is stored in this space be loaded again and go into an address or a condition?  For local memory always:
   it holds pointers, and is not much. */
static bool is_loaded_again(const struct finder *f, uint8_t space)
{
	return space == SW_GLOBAL ? f->in_variables : space == SW_SHARED ? f->in_shared : true;
}

/* Does something below need what the instruction writes? */
static bool result_is_live(const struct finder *f, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	uint32_t count = x->op == SW_OP_LOAD && x->count ? x->count : 1;
	for (uint32_t k = 0; x->dst != SW_NO_REG && k < count; k++)
		if (is_live(f, x->dst + k))
			return true;
	if (x->op == SW_OP_STORE && is_register(f, insn))
		for (uint32_t k = 0; k < x->count; k++)
			if (is_live(f, sw_frames_var(f->frames, &f->ssa->body, insn, k)))
				return true;
	return false;
}

/* The parts of an instruction that are needed (SW_NEED_*), given what is live below it. */
static uint8_t need_of(struct finder *f, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	uint8_t result = result_is_live(f, insn) ? SW_NEED_RESULT : 0;
	uint8_t address = x->space == SW_SHARED ? 0 : SW_NEED_FIRST;
	switch (x->op) {
	case SW_OP_LOAD:
	case SW_OP_STORE:
	case SW_OP_ATOMIC:
		if (is_register(f, insn))
			return result ? SW_NEED_RESULT | SW_NEED_REST | SW_NEED_GUARD : 0;
		f->in_shared |= result && (x->space == SW_SHARED || x->space == SW_GENERIC);
		/* The operands of an atomic operation say whether a loop around it waits (sites/build.c). */
		return result | address | SW_NEED_GUARD |
		       (is_loaded_again(f, x->space) || (x->op == SW_OP_ATOMIC && result) ? SW_NEED_REST : 0);
	case SW_OP_BULK:
	case SW_OP_TENSOR:
	case SW_OP_TEXTURE:
	case SW_OP_SURFACE:
	case SW_OP_OPAQUE:
	case SW_OP_JUMP:
	case SW_OP_SWITCH:
	case SW_OP_CALL:
	case SW_OP_RETURN:
	case SW_OP_EXIT:
		return result | SW_NEED_FIRST | SW_NEED_REST | SW_NEED_GUARD;
	case SW_OP_GRID_WAIT:
	case SW_OP_GRID_TRIGGER:
		return SW_NEED_GUARD;
	default:
		return result ? SW_NEED_ALL : 0;
	}
}

/* Adds a variable to the set of those that are live here. */
static void set_live(struct finder *f, uint32_t var)
{
	f->live[var / 64] |= UINT64_C(1) << var % 64;
}

/* Steps back over an instruction that only computes, as most do: if its one result is needed, its operands are. */
static void step_back_plain(struct finder *f, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	bool live = x->dst != SW_NO_REG && is_live(f, x->dst);
	f->need[insn] = live ? SW_NEED_ALL : 0;
	if (!live)
		return;
	if (x->guard == SW_NO_REG)
		f->live[x->dst / 64] &= ~(UINT64_C(1) << x->dst % 64);
	else
		set_live(f, x->guard);
	for (uint32_t i = 0; i < x->n; i++)
		if (x->src[i].reg != SW_NO_REG)
			set_live(f, x->src[i].reg);
}

/* Goes back over an instruction: its results are no longer live, its needed operands are. */
static void step_back(struct finder *f, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	struct sw_effects *e = &f->effects;
	if (x->op < SW_OP_LOAD) {
		step_back_plain(f, insn);
		return;
	}
	f->need[insn] = need_of(f, insn);
	if (!f->need[insn])
		return;
	sw_effects_of(f->ssa, f->frames, insn, e);
	for (uint32_t k = 0; x->guard == SW_NO_REG && k < e->defs; k++)
		f->live[e->def[k] / 64] &= ~(UINT64_C(1) << e->def[k] % 64);
	for (uint32_t k = 0; k < e->uses; k++)
		set_live(f, e->use[k]);
}

/* Finds which variables are live at the start of a block, from those at the starts of its successors; its
   predecessors are looked at again if that changed. */
static void look_at(struct finder *f, uint32_t block)
{
	const struct sw_flow *flow = &f->ssa->flow;
	const struct sw_basic_block *b = &flow->block.at[block];
	uint64_t *in = f->in + block * f->words;
	memset(f->live, 0, f->words * sizeof *f->live);
	for (uint32_t s = 0; s < b->succs; s++) {
		const uint64_t *next = f->in + flow->edge.at[b->succ + s] * f->words;
		for (size_t w = 0; w < f->words; w++)
			f->live[w] |= next[w];
	}
	for (uint32_t i = b->end; i > b->first; i--)
		step_back(f, i - 1);
	f->again[block] = false;
	if (!memcmp(in, f->live, f->words * sizeof *in))
		return;
	memcpy(in, f->live, f->words * sizeof *in);
	for (uint32_t p = 0; p < b->preds; p++)
		f->again[flow->edge.at[b->pred + p]] = true;
}

/* Looks at blocks until nothing changes; false: that takes too long. */
static bool settle_needed(struct finder *f)
{
	uint32_t n = (uint32_t)f->ssa->flow.block.n;
	bool changed = true;
	memset(f->again, true, n);
	for (int round = 0; changed && round < MAX_ROUNDS; round++) {
		bool shared = f->in_shared;
		changed = false;
		for (uint32_t b = n; b; b--)
			if (f->again[b - 1])
				look_at(f, b - 1);
		if (f->in_shared != shared)
			memset(f->again, true, n);
		for (uint32_t b = 0; b < n && !changed; b++)
			changed = f->again[b];
	}
	return !changed;
}

/* Does the code name module variables that can be written? */
static bool has_variables(const struct sw_program *program, const struct sw_body *body)
{
	for (size_t i = 0; i < body->insn.n; i++) {
		const struct sw_insn *x = &body->insn.at[i];
		if (x->op == SW_OP_SYMBOL_ADDRESS &&
		    ((uint64_t)x->imm >= program->symbols || !program->symbol[x->imm].constant))
			return true;
	}
	return false;
}

void sw_needed_find(const struct sw_program *program, struct sw_ssa *ssa, const struct sw_stack_frames *frames)
{
	struct finder f = {.ssa = ssa, .frames = frames, .words = frames->vars / 64 + 1};
	size_t n = ssa->flow.block.n;
	if (n > MAX_BYTES / sizeof *f.in / f.words)
		return;
	f.in_variables = has_variables(program, &ssa->body);
	f.in = sw_calloc(n * f.words, sizeof *f.in);
	f.live = sw_alloc(f.words * sizeof *f.live);
	f.again = sw_alloc(n * sizeof *f.again);
	ssa->need = f.need = sw_calloc(ssa->body.insn.n + 1, sizeof *f.need);
	if (settle_needed(&f)) {
		ssa->live = f.in;
		ssa->live_words = f.words;
	} else {
		free(ssa->need);
		ssa->need = NULL;
		free(f.in);
	}
	free(f.live);
	free(f.again);
}
