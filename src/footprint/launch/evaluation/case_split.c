/* SPDX-License-Identifier: Apache-2.0 */
/* A case: which facts hold and which of several possibilities is looked at. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "footprint/launch/evaluation/eval.h"

/* Is the mark of this number still the one that had this serial, so that the facts up to it hold as they did? */
static bool mark_stands(const struct sw_eval *e, uint32_t mark, uint64_t serial)
{
	return mark < e->mark.n && e->mark.at[mark].serial == serial;
}

struct sw_validity sw_eval_valid_now(const struct sw_eval *e)
{
	uint32_t last = (uint32_t)e->mark.n - 1;
	struct sw_validity valid = {.known = true, .lasting = !e->case_local};
	if (valid.lasting)
		return valid;
	valid.has_uninterpreted_fact = e->has_uninterpreted_fact;
	valid.mark = last;
	valid.serial = e->mark.at[last].serial;
	valid.state = e->state;
	valid.assumed_fact = e->assumed_fact;
	valid.assumed_serial = e->assumed_fact ? e->mark.at[e->assumed_fact - 1].serial : 0;
	return valid;
}

struct sw_validity sw_eval_valid_as_assumed(const struct sw_eval *e)
{
	uint32_t last = (uint32_t)e->mark.n - 1;
	uint64_t serial = e->mark.at[last].serial;
	return (struct sw_validity){
		.known = true, .mark = last, .serial = serial, .assumed_fact = last + 1, .assumed_serial = serial};
}

bool sw_eval_is_valid(const struct sw_eval *e, struct sw_validity *v)
{
	if (!v->known || v->lasting || mark_stands(e, v->mark, v->serial))
		return v->known;
	if (v->state != e->state || (v->has_uninterpreted_fact && !e->has_uninterpreted_fact) ||
	    (v->assumed_fact && !mark_stands(e, v->assumed_fact - 1, v->assumed_serial)))
		return false;
	v->mark = (uint32_t)e->mark.n - 1;
	v->serial = e->mark.at[v->mark].serial;
	return true;
}

void sw_eval_case_mark(struct sw_eval *e)
{
	*sw_vec_push(&e->mark) = (struct sw_case_mark){e->holds.n,    e->loops.n, e->narrowed.n,
						       ++e->serials,  e->state,	  e->has_uninterpreted_fact,
						       e->impossible, e->choices};
}

void sw_eval_case_return(struct sw_eval *e, size_t mark)
{
	struct sw_case_mark *m = &e->mark.at[mark];
	e->interval_round += e->narrowed.n != m->narrowed;
	while (e->narrowed.n > m->narrowed) {
		const struct sw_narrowed *old = &e->narrowed.at[--e->narrowed.n];
		struct sw_variable *v = &e->variable.at[old->var];
		v->lo = old->lo;
		v->hi = old->hi;
		sw_eval_mark(v);
	}
	e->holds.n = e->hold_state.n = m->holds;
	e->loops.n = m->loops;
	e->has_uninterpreted_fact = m->has_uninterpreted_fact;
	e->impossible = m->impossible;
	e->state = m->state;
	e->case_local = false;
	e->assumed_fact = 0;
	e->round += 2; /* a mark of the round before is less than both of this one */
	m->serial = ++e->serials;
	e->mark.n = mark + 1;
}

void sw_eval_case_begin(struct sw_eval *e)
{
	if (!e->mark.n)
		sw_eval_case_mark(e);
	e->mark.at[0].state = ++e->serials;
	sw_eval_case_return(e, 0);
}

void sw_eval_enter_facts(struct sw_eval *e, const struct sw_access_site *site, size_t n)
{
	for (size_t i = e->mark.n - 1; i < n && !e->impossible; i++) {
		const struct sw_fact *fact = &e->f->fact[site->fact + site->facts - 1 - i];
		sw_eval_enter_loops(e, fact->term);
		sw_eval_fact(e, fact->term, fact->truth);
		sw_eval_case_mark(e);
	}
}

void sw_eval_enter_rest(struct sw_eval *e, const struct sw_access_site *site)
{
	sw_eval_enter_facts(e, site, site->facts);
	sw_eval_enter_loops(e, site->address);
	if (site->size != SW_NO_TERM)
		sw_eval_enter_loops(e, site->size);
}

void sw_eval_enter_site(struct sw_eval *e, const struct sw_access_site *site)
{
	sw_eval_case_begin(e);
	sw_eval_enter_rest(e, site);
}

bool sw_eval_next_case(struct sw_eval *e, uint32_t chosen)
{
	for (; e->choices > chosen; e->choices--) {
		struct sw_choice *last = &e->choice[e->choices - 1];
		size_t mark = e->mark.n - 1;
		if (++last->taken == last->options)
			continue;
		while (e->mark.at[mark].choices >= e->choices)
			mark--;
		sw_eval_case_return(e, mark);
		return true;
	}
	return false;
}

/* Makes values computed so far in this case invalid: where a term was looked at before need not be where it is
   computed. */
static void forget_states(struct sw_eval *e)
{
	sw_eval_case_changed(e);
	for (size_t i = 0; i < e->mark.n; i++)
		e->mark.at[i].state = ++e->serials;
}

void sw_eval_doubt(struct sw_eval *e, uint32_t term)
{
	size_t base = e->work.n;
	if (!e->perhaps[term])
		forget_states(e);
	*sw_vec_push(&e->work) = term;
	while (e->work.n > base) {
		uint32_t at = e->work.at[--e->work.n];
		const struct sw_term *t = &e->f->term[at];
		uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
		if (e->perhaps[at])
			continue;
		e->perhaps[at] = true;
		for (uint32_t k = 0; k < n; k++)
			if (operand[k] != SW_NO_TERM)
				*sw_vec_push(&e->work) = operand[k];
		for (uint32_t k = 0; t->op == SW_TERM_ANY && k < (t->imm2 ? 2 : 1) * t->b; k++)
			*sw_vec_push(&e->work) = e->f->alternative[t->a + k];
	}
}

bool sw_eval_same_case(const struct sw_eval *e, const struct sw_access_site *a, const struct sw_access_site *b)
{
	if (!e->loops_of || a->loop != b->loop || a->facts != b->facts || a->size != b->size)
		return false;
	const struct sw_term_loops *x = &e->loops_of[a->address], *y = &e->loops_of[b->address];
	if (x->always != y->always || x->perhaps != y->perhaps)
		return false;
	for (uint32_t i = 0; a->fact != b->fact && i < a->facts; i++) {
		const struct sw_fact *p = &e->f->fact[a->fact + i], *q = &e->f->fact[b->fact + i];
		if (p->term != q->term || p->truth != q->truth)
			return false;
	}
	return true;
}

uint32_t sw_eval_shared_facts(const struct sw_footprint *f, const struct sw_access_site *a,
			      const struct sw_access_site *b)
{
	uint32_t n = 0, most = a->facts < b->facts ? a->facts : b->facts;
	const struct sw_fact *p = &f->fact[a->fact] + a->facts, *q = &f->fact[b->fact] + b->facts;
	while (n < most && p[-1 - (int64_t)n].term == q[-1 - (int64_t)n].term &&
	       p[-1 - (int64_t)n].truth == q[-1 - (int64_t)n].truth)
		n++;
	return n;
}

/* ---- sites that are alike */

static uint64_t mix_hash(uint64_t hash, uint64_t more)
{
	return sw_hash_u64(hash + more * UINT64_C(0x9e3779b97f4a7c15));
}

/* A hash of a term in which the numbers that are added or compared with are left out: terms have the same shape if
   they differ in these alone.  shape: of the terms before it, by number. */
static uint64_t shape_of(const struct sw_footprint *f, const struct sw_term *t, const uint64_t *shape)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	bool any_number = t->op == SW_OP_ADD || t->op == SW_OP_SUB || t->op == SW_OP_COMPARE;
	for (uint32_t k = 0; k < n && t->op != SW_OP_COMPARE && any_number; k++)
		if (f->term[operand[k]].op == SW_OP_CONST && (k || t->op == SW_OP_ADD))
			return shape[operand[!k]];
	uint64_t hash =
		mix_hash(t->op | (uint64_t)t->width << 8 | (uint64_t)t->flags << 16 | (uint64_t)t->bytes << 24, n);
	hash = mix_hash(mix_hash(hash, (uint64_t)t->imm), (uint64_t)t->imm2);
	for (uint32_t k = 0; k < n; k++) {
		bool number = operand[k] == SW_NO_TERM || (any_number && f->term[operand[k]].op == SW_OP_CONST);
		hash = mix_hash(hash, number ? 0 : shape[operand[k]]);
	}
	for (uint32_t k = 0; t->op == SW_TERM_ANY && k < (t->imm2 ? 2 : 1) * t->b; k++)
		hash = mix_hash(hash, shape[f->alternative[t->a + k]]);
	if (t->op == SW_TERM_STEP || t->op == SW_TERM_ELEMENT)
		hash = mix_hash(mix_hash(hash, t->op == SW_TERM_ELEMENT ? t->b : 0), t->c);
	return sw_term_is_unknown(t) ? mix_hash(mix_hash(hash, sw_term_why(t)), t->b) : hash;
}

/* A hash of a site that is the same for sites that are alike: address, facts, roots and access, with terms by shape. */
static uint64_t key_of(const struct sw_footprint *f, const struct sw_access_site *site, const uint64_t *shape)
{
	uint64_t hash = mix_hash(site->role | (uint64_t)site->polls << 8 | (uint64_t)site->op << 16, site->bytes);
	hash = mix_hash(mix_hash(mix_hash(hash, site->size), site->loop), site->order);
	for (uint32_t i = 0; i < site->roots; i++) {
		const struct sw_root *root = &f->root[site->root + i];
		hash = mix_hash(hash, root->kind | (uint64_t)root->weak << 8 | (uint64_t)root->loader << 16);
		hash = mix_hash(hash, root->param | (uint64_t)root->span << 32) + root->symbol;
	}
	for (uint32_t i = 0; i < site->facts; i++)
		hash = mix_hash(hash, shape[f->fact[site->fact + i].term] + f->fact[site->fact + i].truth);
	return mix_hash(hash, site->address == SW_NO_TERM ? 0 : shape[site->address]);
}

uint32_t *sw_alike_sites_find(const struct sw_footprint *f)
{
	uint64_t *shape = sw_calloc(f->terms + 1u, sizeof *shape);
	uint32_t *first = sw_calloc(f->sites + 1u, sizeof *first);
	struct sw_map by_key = {0};
	for (uint32_t i = 0; i < f->terms; i++)
		shape[i] = shape_of(f, &f->term[i], shape);
	for (uint32_t i = 0; i < f->sites; i++) {
		uint64_t *number = sw_map_put(&by_key, key_of(f, &f->site[i], shape));
		*number = *number ? *number : i + 1u;
		first[i] = (uint32_t)*number - 1;
	}
	sw_map_free(&by_key);
	free(shape);
	return first;
}
