/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the grid that find different things in a table of parameters, one after the other.
 *
 * Tables say what each block works on (the chunk of a tensor, of 110 tensors, in optimisers that take all of them in
 * one launch).  Looked at together the blocks touch something somewhere; those that find the same pointer touch a box.
 */
#include <stdlib.h>
#include <string.h>

#include "footprint/launch/evaluation/eval.h"

/* Groups of blocks that are evaluated, those counted that turned out to be too large: a thousand tensors of one launch.
   Beyond that the whole grid is evaluated at once. */
#define MAX_PIECES 4096
/* Work for all groups together, as a multiple of what one evaluation may cost. */
#define BUDGETS 10
/* Groups that may exceed what one evaluation may cost: splitting does not help the others then. */
#define MOST_EXHAUSTED 2

/* Loops that depend on each other in a chain: nests are three deep. */
#define MAX_ROUNDS 32

struct pieces {
	const struct sw_footprint *f;
	const struct sw_geometry *g;
	struct sw_reads *reads;
	struct sw_known_bounds *known;
	SW_VEC(struct sw_blocks) todo; /* the last one is next */
	uint64_t budget, most;	       /* left; of one evaluation */
};

/* ---- what depends on elements of the parameter block, or of tables in memory */

static bool any_fact(const struct sw_footprint *f, uint32_t fact, uint32_t n, const bool *term)
{
	for (uint32_t i = 0; i < n; i++) {
		if (term[f->fact[fact + i].term])
			return true;
	}
	return false;
}

/* memory: the content of some is known. */
static bool is_table(const struct sw_term *t, bool memory)
{
	return t->op == SW_TERM_ELEMENT || (memory && t->op == SW_TERM_LOADED);
}

static bool mark_term(const struct sw_footprint *f, uint32_t i, bool memory, const bool *term, const bool *loop)
{
	const struct sw_term *t = &f->term[i];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	bool any = is_table(t, memory) || (t->op == SW_TERM_STEP && t->c < f->loops && loop[t->c]);
	for (uint32_t k = 0; k < n; k++)
		any |= operand[k] != SW_NO_TERM && term[operand[k]];
	for (uint32_t k = 0; t->op == SW_TERM_ANY && k < t->b; k++)
		any |= term[f->alternative[t->a + k]];
	return any;
}

/* Loops depend on terms and terms on loops: until nothing changes, or all may. */
static void mark_terms(const struct sw_footprint *f, bool memory, bool *term, bool *loop)
{
	bool again = true;
	for (int round = 0; again; round++) {
		again = false;
		if (round == MAX_ROUNDS) {
			memset(term, true, f->terms);
			return;
		}
		for (uint32_t i = 0; i < f->terms; i++)
			term[i] = mark_term(f, i, memory, term, loop);
		for (uint32_t i = 0; i < f->loops; i++) {
			const struct sw_loop *l = &f->loop[i];
			bool any = any_fact(f, l->entry, l->entries, term) || any_fact(f, l->back, l->backs, term) ||
				   (l->parent < f->loops && loop[l->parent]);
			again |= any && !loop[i];
			loop[i] |= any;
		}
	}
}

/* By number: the sites that do (that: true), or do not, depend on elements; NULL: there are none that do. */
static bool *mark_sites(const struct sw_footprint *f, bool memory)
{
	bool *term = sw_calloc(f->terms + 1u, sizeof *term), *loop = sw_calloc(f->loops + 1u, sizeof *loop),
	     *site = NULL;
	bool any = false;
	for (uint32_t i = 0; i < f->terms && !any; i++)
		any = is_table(&f->term[i], memory);
	if (any) {
		site = sw_calloc(f->sites + 1u, sizeof *site);
		mark_terms(f, memory, term, loop);
		for (uint32_t i = 0; i < f->sites; i++) {
			const struct sw_access_site *s = &f->site[i];
			site[i] = (s->address != SW_NO_TERM && term[s->address]) ||
				  (s->size != SW_NO_TERM && term[s->size]) || any_fact(f, s->fact, s->facts, term);
		}
	}
	free(term);
	free(loop);
	return site;
}

/* ---- */

static struct sw_blocks all_blocks(const struct sw_geometry *g)
{
	struct sw_blocks all = {{0}, {0}};
	for (int i = 0; i < 3; i++)
		all.hi[i] = g->grid[i] ? g->grid[i] - 1 : 0;
	return all;
}

static struct sw_eval new_evaluation(const struct pieces *p, struct sw_blocks blocks, bool splitting)
{
	return (struct sw_eval){.f = p->f,
				.g = p->g,
				.reads = p->reads,
				.known = p->known,
				.blocks = blocks,
				.splitting = splitting,
				.budget = p->budget < p->most ? p->budget : p->most};
}

static void push_halves(struct pieces *p, struct sw_blocks blocks, const struct sw_eval *e)
{
	struct sw_blocks front = blocks, back = blocks;
	front.hi[e->split.axis] = e->split.last;
	back.lo[e->split.axis] = e->split.last + 1;
	*sw_vec_push(&p->todo) = back;
	*sw_vec_push(&p->todo) = front;
}

static bool any_box(const struct sw_reaches *out, size_t from)
{
	while (from < out->n && out->at[from].extent != SW_EXTENT_BOX)
		from++;
	return from < out->n;
}

/* same: each group touches the same bytes or none, so the first box is all.  false: too many groups, or too much work,
   which it also will be where it was for a few of them. */
static bool by_groups(struct pieces *p, const bool *sites, bool same, struct sw_reaches *out)
{
	unsigned exhausted = 0;
	bool split_is_useless = false;
	size_t from = out->n;
	p->todo.n = 0;
	*sw_vec_push(&p->todo) = all_blocks(p->g);
	for (int n = 0; p->todo.n; n++) {
		struct sw_blocks blocks = p->todo.at[--p->todo.n];
		struct sw_eval e = new_evaluation(p, blocks, true);
		uint64_t before = e.budget;
		if (n == MAX_PIECES || !p->budget || exhausted == MOST_EXHAUSTED)
			return false;
		/* For better shapes no more than half of all is spent. */
		e.may_split_for_hull = !split_is_useless && n < MAX_PIECES / 2 && p->budget > BUDGETS * p->most / 2;
		sw_eval_sites(&e, sites, out);
		p->budget -= before - e.budget;
		split_is_useless |= e.split_is_useless;
		exhausted += !e.budget && !e.split.wanted;
		if (e.split.wanted)
			push_halves(p, blocks, &e);
		else if (same && any_box(out, from))
			break;
	}
	return true;
}

/* ---- accesses to one place, whatever the block and the thread: counters that a table's entry says whether to use */

/* So many are looked at one by one. */
#define MOST_PLACES 8u

static bool is_launch_value(const struct sw_footprint *f, uint32_t term, unsigned depth)
{
	const struct sw_term *t = &f->term[term];
	const uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	if (t->op == SW_OP_CONST || t->op == SW_OP_PARAM)
		return true;
	if (t->op != SW_OP_ADD && t->op != SW_OP_SUB && t->op != SW_OP_MOV && t->op != SW_OP_EXTEND)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!depth || !is_launch_value(f, operand[i], depth - 1))
			return false;
	return true;
}

/* Numbers alone: which pointers a table holds is no part of what a launch is remembered by. */
static bool has_small_elements(const struct sw_footprint *f)
{
	for (uint32_t i = 0; i < f->terms; i++)
		if (f->term[i].op == SW_TERM_ELEMENT && f->term[i].imm >= 8)
			return false;
	return true;
}

/* No thread of the whole grid comes there, or a few blocks show all that it touches.  false: neither is known. */
static bool settle_place(struct pieces *p, const bool *only, struct sw_reaches *out)
{
	size_t from = out->n;
	struct sw_eval e = new_evaluation(p, all_blocks(p->g), false);
	sw_eval_sites(&e, only, out);
	if (out->n == from)
		return true;
	out->n = from;
	p->budget = p->most;
	if (by_groups(p, only, true, out))
		return true;
	out->n = from;
	return false;
}

/* Takes what it settles from the sites. */
static void settle_places(struct pieces *p, bool *sites, struct sw_reaches *out)
{
	const struct sw_footprint *f = p->f;
	uint64_t budget = p->budget;
	bool *only = sw_calloc(f->sites + 1u, sizeof *only);
	for (uint32_t i = 0, n = 0; i < f->sites && n < MOST_PLACES && has_small_elements(f); i++) {
		const struct sw_access_site *s = &f->site[i];
		if (!sites[i] || s->address == SW_NO_TERM || s->size != SW_NO_TERM ||
		    !is_launch_value(f, s->address, 4))
			continue;
		n++;
		only[i] = true;
		sites[i] = !settle_place(p, only, out);
		only[i] = false;
		p->budget = budget;
	}
	free(only);
}

void sw_eval_grid_split(const struct sw_footprint *f, const struct sw_geometry *g, struct sw_reads *reads,
			struct sw_known_bounds *known, uint64_t budget, struct sw_reaches *out)
{
	struct pieces p = {.f = f, .g = g, .reads = reads, .known = known, .budget = budget, .most = budget};
	size_t from = out->n, others;
	bool *sites = mark_sites(f, g->content != NULL);
	bool any = !sites;
	for (uint32_t i = 0; sites && i < f->sites; i++)
		any |= sites[i] = !sites[i];
	struct sw_eval e = new_evaluation(&p, all_blocks(g), false);
	if (any)
		sw_eval_sites(&e, sites, out);
	if (sites) {
		for (uint32_t i = 0; i < f->sites; i++)
			sites[i] = !sites[i];
		if (!g->content)
			settle_places(&p, sites, out);
		others = out->n;
		p.budget = BUDGETS * budget;
		for (uint32_t i = any = 0; i < f->sites; i++)
			any |= sites[i];
		if (any && !by_groups(&p, sites, false, out)) {
			out->n = others;
			p.budget = budget;
			e = new_evaluation(&p, all_blocks(g), false);
			sw_eval_sites(&e, sites, out);
		}
		sw_reaches_join(out, from, SW_MAX_REACHES);
	}
	free(p.todo.at);
	free(sites);
}
