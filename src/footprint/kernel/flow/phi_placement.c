/* SPDX-License-Identifier: Apache-2.0 */
/* Where values that reach a block on several paths need a phi: dominance frontiers of the variables' writes. */
#include "footprint/kernel/flow/ssa.h"

#include <stdlib.h>
#include <string.h>

/* Beyond these the kernel is taken flat. */
#define MAX_FRONTIER (1u << 22)
#define MAX_PHIS     (1u << 21)
#define MAX_STEPS    (1u << 26)

/* Lists of blocks by variable, as chains through one pool. */
struct chain {
	uint32_t block, next;
};
struct placer {
	const struct sw_ssa *ssa;
	const struct sw_stack_frames *frames;
	struct variable {
		uint32_t defs, uses;	       /* first of the chain, + 1; 0: empty */
		uint32_t def_block, use_block; /* of the first, + 1 */
	} * variable;
	SW_VEC(struct chain) chain;
	uint32_t *frontier, *frontier_first;
	uint32_t *live, *placed, *queued; /* by block: 1 + variable that it was last marked for */
	SW_VEC(uint32_t) stack;
	uint64_t steps;
};

/*
 * The variables that an instruction writes (def) and reads (use): its registers, its guard, and the variables of the
 * stack frame that an access to local memory reaches (sw_frames_var()).  Parts that nothing needs (enum sw_need) are
 * left out.  A LOAD writes one register for each element.
 */
void sw_effects_of(const struct sw_ssa *ssa, const struct sw_stack_frames *frames, uint32_t insn,
		   struct sw_effects *out)
{
	const struct sw_insn *x = &ssa->body.insn.at[insn];
	uint8_t need = sw_need_of(ssa, insn);
	out->defs = out->uses = 0;
	if (!need)
		return;
	uint32_t count = x->op == SW_OP_LOAD ? x->count : 1;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->src[i].reg != SW_NO_REG && need & (i ? SW_NEED_REST : SW_NEED_FIRST))
			out->use[out->uses++] = x->src[i].reg;
	if (x->guard != SW_NO_REG && need & SW_NEED_GUARD)
		out->use[out->uses++] = x->guard;
	if (!(need & SW_NEED_RESULT))
		return;
	if (x->dst != SW_NO_REG)
		for (uint32_t k = 0; k < count; k++)
			out->def[out->defs++] = x->dst + k;
	for (uint32_t k = 0; frames->at[insn] != SW_NO_PLACE && k < x->count; k++) {
		uint32_t var = sw_frames_var(frames, &ssa->body, insn, k);
		if (var == SW_NO_REG)
			continue;
		if (x->op == SW_OP_LOAD)
			out->use[out->uses++] = var;
		else
			out->def[out->defs++] = var;
	}
}

/* Puts a block at the front of a list. */
static void push_block(struct placer *p, uint32_t *list, uint32_t block)
{
	*sw_vec_push(&p->chain) = (struct chain){block, *list};
	*list = (uint32_t)p->chain.n;
}

/* Notes that the block writes the variable. */
static void note_def(struct placer *p, uint32_t var, uint32_t block)
{
	struct variable *v = &p->variable[var];
	if (v->def_block != block + 1)
		push_block(p, &v->defs, block);
	v->def_block = block + 1;
}

/* Notes that the block reads the variable's value from above: not one that it wrote itself before. */
static void note_use(struct placer *p, uint32_t var, uint32_t block)
{
	struct variable *v = &p->variable[var];
	if (v->def_block == block + 1)
		return; /* written above in the same block */
	if (v->use_block != block + 1)
		push_block(p, &v->uses, block);
	v->use_block = block + 1;
}

/* Notes what an instruction reads and writes that only computes, as most of the code does. */
static void scan_plain(struct placer *p, const struct sw_insn *x, uint32_t block)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->src[i].reg != SW_NO_REG)
			note_use(p, x->src[i].reg, block);
	if (x->guard != SW_NO_REG)
		note_use(p, x->guard, block);
	if (x->guard != SW_NO_REG && x->dst != SW_NO_REG)
		note_use(p, x->dst, block); /* keeps its value where the guard is false */
	if (x->dst != SW_NO_REG)
		note_def(p, x->dst, block);
}

/* Notes for each variable in which blocks it is written and read. */
static void scan_effects(struct placer *p)
{
	struct sw_effects *e = sw_alloc(sizeof *e);
	for (uint32_t b = 0; b < p->ssa->flow.block.n; b++) {
		const struct sw_basic_block *block = &p->ssa->flow.block.at[b];
		for (uint32_t i = block->first; i < block->end; i++) {
			const struct sw_insn *x = &p->ssa->body.insn.at[i];
			if (!sw_need_of(p->ssa, i))
				continue;
			if (x->op < SW_OP_LOAD) {
				scan_plain(p, x, b);
				continue;
			}
			sw_effects_of(p->ssa, p->frames, i, e);
			for (uint32_t k = 0; k < e->uses; k++)
				note_use(p, e->use[k], b);
			for (uint32_t k = 0; k < e->defs; k++) {
				if (x->guard != SW_NO_REG)
					note_use(p, e->def[k], b); /* keeps its value where the guard is false */
				note_def(p, e->def[k], b);
			}
		}
	}
	free(e);
}

/* Does the variable need PHIs?  Not if it is written in one block that dominates all its uses: it is a value
   already. */
static bool needs_phi(const struct placer *p, uint32_t var)
{
	uint32_t def = p->variable[var].defs;
	if (!def || !p->variable[var].uses)
		return false;
	if (p->chain.at[def - 1].next)
		return true;
	uint32_t block = p->chain.at[def - 1].block;
	for (uint32_t u = p->variable[var].uses; u; u = p->chain.at[u - 1].next) {
		uint32_t at = p->chain.at[u - 1].block;
		if (at == block ? p->ssa->flow.irregular || p->ssa->flow.block.at[at].loop != SW_NO_LOOP
				: !sw_flow_dominates(&p->ssa->flow, block, at))
			return true;
	}
	return false;
}

/* Finds the dominance frontier of each block (where its dominance ends) by the walk of Cooper, Harvey and Kennedy,
   in two passes: count, fill.  False: they are too large. */
static bool find_frontiers(struct placer *p)
{
	const struct sw_flow *flow = &p->ssa->flow;
	uint32_t n = (uint32_t)flow->block.n, *last = sw_calloc(n, sizeof *last);
	uint64_t total = 0;
	p->frontier_first = sw_calloc((size_t)n + 2, sizeof *p->frontier_first);
	for (int pass = 0; pass < 2; pass++) {
		memset(last, 0xff, n * sizeof *last);
		for (uint32_t b = 0; b < n; b++) {
			const struct sw_basic_block *block = &flow->block.at[b];
			for (uint32_t i = 0; block->preds > 1 && i < block->preds; i++)
				for (uint32_t r = flow->edge.at[block->pred + i]; r != block->idom && last[r] != b;
				     r = flow->block.at[r].idom) {
					last[r] = b;
					if (!pass && ++total > MAX_FRONTIER)
						goto out;
					if (pass)
						p->frontier[p->frontier_first[r + 1]++] = b;
					else
						p->frontier_first[r + 2]++;
				}
		}
		for (uint32_t b = 0; !pass && b <= n; b++)
			p->frontier_first[b + 1] += p->frontier_first[b];
		if (!pass)
			p->frontier = sw_alloc((size_t)total * sizeof *p->frontier + 1);
	}
out:
	free(last);
	return total <= MAX_FRONTIER;
}

/* Marks the blocks at whose start the variable's value is still read later. */
static void mark_live(struct placer *p, uint32_t var)
{
	const struct sw_flow *flow = &p->ssa->flow;
	for (uint32_t d = p->variable[var].defs; d; d = p->chain.at[d - 1].next)
		p->queued[p->chain.at[d - 1].block] = var + 1; /* here: written in this block */
	p->stack.n = 0;
	for (uint32_t u = p->variable[var].uses; u; u = p->chain.at[u - 1].next) {
		p->live[p->chain.at[u - 1].block] = var + 1;
		*sw_vec_push(&p->stack) = p->chain.at[u - 1].block;
	}
	while (p->stack.n) {
		const struct sw_basic_block *b = &flow->block.at[p->stack.at[--p->stack.n]];
		p->steps += b->preds;
		for (uint32_t i = 0; i < b->preds; i++) {
			uint32_t q = flow->edge.at[b->pred + i];
			if (p->live[q] == var + 1 || p->queued[q] == var + 1)
				continue;
			p->live[q] = var + 1;
			*sw_vec_push(&p->stack) = q;
		}
	}
}

/* Is the variable's value at the start of the block read later? */
static bool is_live(const struct placer *p, uint32_t block, uint32_t var)
{
	const uint64_t *live = p->ssa->live;
	if (!live)
		return p->live[block] == var + 1;
	return live[block * p->ssa->live_words + var / 64] >> var % 64 & 1;
}

/* Places the phis of a variable: in the iterated dominance frontier of its definitions, where it is live. */
static void place_phis(struct placer *p, uint32_t var, struct sw_places *out)
{
	if (!p->ssa->live)
		mark_live(p, var);
	p->stack.n = 0;
	for (uint32_t d = p->variable[var].defs; d; d = p->chain.at[d - 1].next)
		*sw_vec_push(&p->stack) = p->chain.at[d - 1].block;
	while (p->stack.n) {
		uint32_t b = p->stack.at[--p->stack.n];
		p->steps += p->frontier_first[b + 1] - p->frontier_first[b];
		for (uint32_t i = p->frontier_first[b]; i < p->frontier_first[b + 1]; i++) {
			uint32_t f = p->frontier[i];
			if (p->placed[f] == var + 1 || !is_live(p, f, var))
				continue;
			p->placed[f] = var + 1;
			*sw_vec_push(&out->phi) = (struct sw_phi_place){f, var};
			*sw_vec_push(&p->stack) = f;
		}
	}
}

/* Sorts the places of PHIs by block; first[b] is where those of block b begin. */
static void sort_by_block(struct sw_places *places, uint32_t blocks)
{
	struct sw_phi_place *sorted = sw_alloc(places->phi.n * sizeof *sorted + 1);
	uint32_t *first = places->first = sw_calloc((size_t)blocks + 2, sizeof *first);
	for (size_t i = 0; i < places->phi.n; i++)
		first[places->phi.at[i].block + 2]++;
	for (uint32_t b = 0; b <= blocks; b++)
		first[b + 1] += first[b];
	for (size_t i = 0; i < places->phi.n; i++)
		sorted[first[places->phi.at[i].block + 1]++] = places->phi.at[i];
	free(places->phi.at);
	places->phi.at = sorted;
	places->phi.room = places->phi.n;
}

bool sw_places_find(const struct sw_ssa *ssa, const struct sw_stack_frames *frames, struct sw_places *places)
{
	struct placer p = {.ssa = ssa, .frames = frames};
	uint32_t blocks = (uint32_t)ssa->flow.block.n, vars = frames->vars;
	*places = (struct sw_places){0};
	p.variable = sw_calloc((size_t)vars + 1, sizeof *p.variable);
	p.live = sw_calloc(blocks, sizeof *p.live);
	p.placed = sw_calloc(blocks, sizeof *p.placed);
	p.queued = sw_calloc(blocks, sizeof *p.queued);
	scan_effects(&p);
	bool fits = find_frontiers(&p);
	for (uint32_t v = 0; fits && v < vars; v++) {
		if (needs_phi(&p, v))
			place_phis(&p, v, places);
		fits = p.steps < MAX_STEPS && places->phi.n < MAX_PHIS;
	}
	if (fits)
		sort_by_block(places, blocks);
	free(p.variable);
	free(p.chain.at);
	free(p.frontier);
	free(p.frontier_first);
	free(p.live);
	free(p.placed);
	free(p.queued);
	free(p.stack.at);
	return fits;
}

void sw_places_free(struct sw_places *places)
{
	free(places->phi.at);
	free(places->first);
	*places = (struct sw_places){0};
}
