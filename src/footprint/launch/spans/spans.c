/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/launch/spans/spans.h"

#include <stdlib.h>
#include <string.h>

/* Wider spans, of conditions that hide that the access is never made, are looked at once more. */
#define WIDE ((sw_wide)1 << 30)
/* Loops have a bit each. */
#define MOST_LOOPS 64u
/* Terms that are bounded at most: beyond it an evaluation is as cheap. */
#define MOST_TERMS 20000u

/* ---- of the kernel ----------------------------------------------------------------------------------------------- */

static void mark_needed(const struct sw_footprint *f, bool *needed, uint32_t term)
{
	if (term < f->terms)
		needed[term] = true;
}

static void mark_operands(const struct sw_footprint *f, bool *needed, uint32_t number)
{
	const struct sw_term *t = &f->term[number];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	for (uint32_t i = 0; i < n; i++)
		mark_needed(f, needed, operand[i]);
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < (t->imm2 ? 2 : 1) * t->b; i++)
		mark_needed(f, needed, f->alternative[t->a + i]);
}

static void mark_loops(struct sw_spans *s, bool *needed)
{
	const struct sw_footprint *f = s->f;
	for (uint32_t i = 0; i < f->loops; i++)
		for (uint32_t k = 0; k < f->loop[i].backs; k++) {
			const struct sw_term *t = &f->term[f->fact[f->loop[i].back + k].term];
			if (t->op != SW_OP_COMPARE || t->a >= f->terms || t->b >= f->terms)
				continue;
			needed[t->a] = needed[t->b] = true;
			*sw_vec_push(&s->fact) = t->a;
			*sw_vec_push(&s->fact) = t->b;
		}
}

static uint64_t loops_of(const struct sw_spans *s, uint32_t number)
{
	const struct sw_footprint *f = s->f;
	const struct sw_term *t = &f->term[number];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	uint64_t loops = t->op == SW_TERM_STEP && t->c < MOST_LOOPS ? UINT64_C(1) << t->c : 0;
	for (uint32_t i = 0; i < n; i++)
		loops |= operand[i] < f->terms ? s->loops[operand[i]] : 0;
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < (t->imm2 ? 2 : 1) * t->b; i++)
		loops |= s->loops[f->alternative[t->a + i]];
	return loops;
}

/* All that it may touch starts from words of the parameter block. */
static bool starts_from_words(const struct sw_footprint *f, const struct sw_access_site *site)
{
	uint32_t i = 0;
	while (i < site->roots &&
	       (f->root[site->root + i].kind == SW_ROOT_PARAM || f->root[site->root + i].kind == SW_ROOT_ENVIRONMENT))
		i++;
	return site->roots && i == site->roots;
}

/* Sites of one address have the same roots. */
static void add_site(struct sw_spans *s, uint32_t number, const bool *endless)
{
	const struct sw_access_site *site = &s->f->site[number];
	for (size_t i = 0; i < s->site.n; i++) {
		struct sw_span_site *old = &s->site.at[i];
		if (old->address != site->address || old->size != site->size)
			continue;
		old->bytes = site->bytes > old->bytes ? site->bytes : old->bytes;
		return;
	}
	s->hopeless |= site->size == SW_NO_TERM && !site->bytes;
	*sw_vec_push(&s->site) = (struct sw_span_site){
		.address = site->address,
		.size = site->size,
		.bytes = site->bytes,
		.number = number,
		.endless = endless[site->address] && starts_from_words(s->f, site),
	};
}

static void bound_term(struct sw_spans *s, uint32_t number)
{
	s->value[number].range = sw_span_operate(s, number);
	s->value[number].quotient = sw_span_quotient_of(s, number);
	s->value[number].pointer = sw_span_moves_with(s, number);
}

static void add_term(struct sw_spans *s, uint32_t number)
{
	s->terms++;
	s->loops[number] = loops_of(s, number);
	sw_span_hint(s, number);
	sw_span_note_table(s, number);
	sw_span_note_word(s, number);
	if (s->f->term[number].op != SW_OP_CONST)
		return;
	bound_term(s, number);
	s->stamp[number] = UINT64_MAX;
}

struct sw_spans *sw_spans_new(const struct sw_footprint *f)
{
	struct sw_spans *s = sw_calloc(1, sizeof *s);
	bool *needed = sw_calloc(f->terms + 1u, sizeof *needed), *endless = sw_spans_endless(f);
	s->f = f;
	s->value = sw_calloc(f->terms + 1u, sizeof *s->value);
	s->loops = sw_calloc(f->terms + 1u, sizeof *s->loops);
	s->stamp = sw_calloc(f->terms + 1u, sizeof *s->stamp);
	s->hint = sw_calloc(f->terms + 1u, sizeof *s->hint);
	s->unit = sw_calloc(f->terms + 1u, sizeof *s->unit);
	s->table = sw_calloc(f->terms + 1u, sizeof *s->table);
	s->word = sw_calloc(f->terms + 1u, sizeof *s->word);
	s->turns = sw_calloc(f->loops + 1u, sizeof *s->turns);
	for (uint32_t i = 0; i < f->sites; i++) {
		if (f->site[i].address == SW_NO_TERM)
			continue; /* nothing but its roots is known */
		mark_needed(f, needed, f->site[i].address);
		mark_needed(f, needed, f->site[i].size);
		for (uint32_t k = 0; k < f->site[i].facts; k++)
			mark_needed(f, needed, f->fact[f->site[i].fact + k].term);
		add_site(s, i, endless);
	}
	mark_loops(s, needed);
	for (uint32_t i = f->terms; i-- > 0;)
		if (needed[i])
			mark_operands(f, needed, i);
	for (uint32_t i = 0; i < f->terms; i++)
		if (needed[i])
			add_term(s, i);
	s->hopeless |= f->loops > MOST_LOOPS || s->terms > MOST_TERMS;
	free(needed);
	free(endless);
	return s;
}

void sw_spans_free(struct sw_spans *s)
{
	if (!s)
		return;
	free(s->fact.at);
	free(s->work.at);
	free(s->stamp);
	free(s->hint);
	free(s->unit);
	free(s->table);
	free(s->site.at);
	free(s->found.at);
	free(s->value);
	free(s->loops);
	free(s->turns);
	free(s->word);
	free(s->read.at);
	free(s->pointer.at);
	sw_spans_forget(s);
	free(s);
}

/* ---- of a launch ------------------------------------------------------------------------------------------------- */

struct sw_bounds sw_span_type(unsigned width, bool is_signed)
{
	sw_wide half = (sw_wide)1 << (width - 1);
	return is_signed ? (struct sw_bounds){-half, half - 1} : (struct sw_bounds){0, 2 * half - 1};
}

struct sw_bounds sw_span_wrapped(struct sw_bounds x, struct sw_bounds type)
{
	sw_wide modulus = type.hi - type.lo + 1, turns;
	if (x.lo >= type.lo && x.hi <= type.hi)
		return x;
	turns = sw_wide_floor(x.lo - type.lo, modulus);
	if (turns != sw_wide_floor(x.hi - type.lo, modulus))
		return type;
	return (struct sw_bounds){x.lo - turns * modulus, x.hi - turns * modulus};
}

void sw_span_add(struct sw_spans *s, const struct sw_span_site *site, sw_wide lo, sw_wide hi)
{
	const sw_wide all = (sw_wide)1 << 64;
	sw_wide turns = sw_wide_floor(lo, all);
	struct sw_span span = {.site = site->number, .pointer = s->value[site->address].pointer};
	lo -= turns * all;
	hi -= turns * all;
	span.lo = (uint64_t)lo;
	span.hi = hi < all ? (uint64_t)hi : UINT64_MAX;
	*sw_vec_push(&s->found) = span;
	if (hi < all)
		return;
	/* What would start at a null pointer. */
	span.lo = 0;
	span.hi = (uint64_t)(hi - all);
	*sw_vec_push(&s->found) = span;
}

static bool add_endless(struct sw_spans *s, const struct sw_span_site *site)
{
	const struct sw_access_site *of = &s->f->site[site->number];
	for (uint32_t i = 0; i < of->roots; i++) {
		const struct sw_root *root = &s->f->root[of->root + i];
		if (root->kind == SW_ROOT_PARAM)
			*sw_vec_push(&s->found) =
				(struct sw_span){root->param, root->param + (root->span > 8 ? root->span : 8),
						 site->number, SW_SPAN_NO_POINTER, true};
	}
	return true;
}

static bool add_spans(struct sw_spans *s, const struct sw_span_site *site)
{
	struct sw_bounds at = s->value[site->address].range, size = {site->bytes, site->bytes};
	if (site->size != SW_NO_TERM)
		size = sw_span_exact(s, site->size, s->f->term[site->size].width, false);
	s->far = true;
	if (size.hi > SW_SPAN_FAR)
		return false;
	if (site->endless)
		return add_endless(s, site);
	if (sw_span_has_pointers(s, site) && sw_span_add_pointers(s, site, size.hi))
		return true;
	if (at.hi - at.lo > SW_SPAN_FAR)
		return false;
	sw_span_add(s, site, at.lo, at.hi + size.hi);
	return true;
}

static bool is_bounded(const struct sw_spans *s, uint32_t number)
{
	return s->stamp[number] >= (s->loops[number] ? s->round : s->launch);
}

static bool want_term(struct sw_spans *s, uint32_t number)
{
	if (number >= s->f->terms || is_bounded(s, number))
		return false;
	*sw_vec_push(&s->work) = number;
	return true;
}

/* Of a choice its conditions, then the ways that they leave: index arithmetic for 25 dimensions mostly is for two. */
static bool want_way(struct sw_spans *s, const struct sw_term *t)
{
	const uint32_t *way = s->f->alternative + t->a, *condition = way + t->b;
	bool any = false;
	if (t->op == SW_OP_SELECT) {
		if (want_term(s, t->a))
			return true;
		struct sw_bounds which = sw_span_exact(s, t->a, 1, false);
		any |= which.hi != 0 && want_term(s, t->b);
		any |= which.lo == 0 && want_term(s, t->c);
		return any;
	}
	for (uint32_t i = 0; t->imm2 && i < t->b; i++)
		any |= want_term(s, condition[i]);
	for (uint32_t i = 0; !any && i < t->b; i++)
		if (t->imm2 && sw_span_exact(s, condition[i], 1, false).hi == 0)
			continue;
		else if (want_term(s, way[i]))
			return true;
	return any;
}

/* False: its operands are bounded. */
static bool want_operands(struct sw_spans *s, const struct sw_term *t)
{
	const uint32_t operand[3] = {t->a, t->b, t->c};
	bool any = false;
	if (t->op == SW_OP_SELECT || t->op == SW_TERM_ANY)
		return want_way(s, t);
	for (uint32_t i = 0, n = sw_term_operands(t); i < n; i++)
		any |= want_term(s, operand[i]);
	return any;
}

static void bound_all(struct sw_spans *s, uint32_t number)
{
	want_term(s, number);
	while (s->work.n) {
		number = s->work.at[s->work.n - 1];
		if (!is_bounded(s, number)) {
			if (want_operands(s, &s->f->term[number]))
				continue;
			bound_term(s, number);
			s->stamp[number] = s->round;
		}
		s->work.n--;
	}
}

/* What an inner loop starts from needs the bounds of the outer one. */
#define ROUNDS 2u

static void count_turns(struct sw_spans *s)
{
	for (uint32_t i = 0; i < s->f->loops; i++)
		s->turns[i] = SW_INFINITE;
	for (unsigned i = 0; s->f->loops && i < ROUNDS; i++) {
		for (size_t k = 0; k < s->fact.n; k++) {
			bound_all(s, s->fact.at[k]);
			sw_span_pin(s, s->fact.at[k]);
		}
		if (!sw_span_count_turns(s))
			break;
		s->round++;
	}
}

/* Conditions within conditions that are looked at. */
#define MOST_DEEP 8u

/* 1 or 0 if the launch alone decides it: every evaluation sees that, too.  -1: it does not. */
static int is_decided(const struct sw_spans *s, uint32_t number, unsigned depth)
{
	const struct sw_term *t = &s->f->term[number];
	if (t->op == SW_OP_COMPARE && t->imm2 >= 1 && t->imm2 <= 64) {
		struct sw_bounds truth = s->value[number].range;
		bool known = sw_span_fixed(s->value[t->a].range) && sw_span_fixed(s->value[t->b].range);
		return known && sw_span_fixed(truth) ? truth.lo != 0 : -1;
	}
	if (t->width != 1 || !depth)
		return -1;
	if (t->op == SW_OP_NOT || t->op == SW_OP_MOV) {
		int x = is_decided(s, t->a, depth - 1);
		return x < 0 ? -1 : x == (t->op == SW_OP_MOV);
	}
	if (t->op != SW_OP_AND && t->op != SW_OP_OR)
		return -1;
	int x = is_decided(s, t->a, depth - 1), y = is_decided(s, t->b, depth - 1), wins = t->op == SW_OP_OR;
	if (x == wins || y == wins)
		return wins;
	return x < 0 || y < 0 ? -1 : !wins;
}

/* No thread of this launch comes there: a condition that it needs does not hold. */
static bool is_idle(struct sw_spans *s, const struct sw_access_site *site)
{
	for (uint32_t i = 0; i < site->facts; i++) {
		const struct sw_fact *fact = &s->f->fact[site->fact + i];
		bound_all(s, fact->term);
		sw_span_pin(s, fact->term);
		int truth = is_decided(s, fact->term, MOST_DEEP);
		if (truth >= 0 && truth != (int)fact->truth)
			return true;
	}
	return false;
}

/* Is what the accesses by one address share with others idle? */
static bool all_idle(struct sw_spans *s, const struct sw_span_site *site)
{
	for (uint32_t i = site->number; i < s->f->sites; i++) {
		const struct sw_access_site *other = &s->f->site[i];
		if (other->address == site->address && other->size == site->size && !is_idle(s, other))
			return false;
	}
	return true;
}

/* False: not bounded. */
static bool bound_site(struct sw_spans *s, const struct sw_span_site *site)
{
	size_t from = s->found.n;
	struct sw_bounds at;
	bound_all(s, site->address);
	if (site->size != SW_NO_TERM) {
		bound_all(s, site->size);
		sw_span_pin(s, site->size);
	}
	at = s->value[site->address].range;
	bool bounded = add_spans(s, site);
	if ((bounded && (site->endless || at.hi - at.lo < WIDE)) || !all_idle(s, site))
		return bounded;
	s->found.n = from;
	return true;
}

bool sw_spans_bound(struct sw_spans *s, const struct sw_geometry *geometry)
{
	s->g = geometry;
	s->found.n = 0;
	sw_span_begin_reads(s);
	s->launch = ++s->round;
	count_turns(s);
	for (size_t i = 0; i < s->site.n; i++) {
		if (!bound_site(s, &s->site.at[i]))
			return false;
	}
	return true;
}
