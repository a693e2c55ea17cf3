/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds the addresses of a launch by intervals: which terms are needed, how often loops turn, spans of sites. */
#include "footprint/launch/spans/spans.h"
#include "footprint/rules.h"

#include <stdlib.h>
#include <string.h>

/* ---- addresses without bounds in any launch */

/*
 * Addresses that no evaluation bounds: a pointer plus an unknown number of 64 bits, for example one that a loop moves
 * in a way that is not followed.  All that a launch touches there is open, so it lies in the allocations that its
 * pointers lead to.
 *
 * The number must go nowhere but into such sums: a condition on it, or bits of it, might bound it after all.
 */

/* The search for addresses that are endless, i.e. without bounds in any launch. */
struct search {
	const struct sw_footprint *f;
	bool *endless; /* by term */
	bool *spoiled; /* by term: something else is made from it, too */
};

/* Is the term an unknown number of 64 bits without bounds? */
static bool is_any_number(const struct sw_term *t)
{
	return t->op == SW_OP_RANGE && t->width == 64 && !(t->flags & SW_SIGNED) && t->imm == 0 && t->imm2 == -1;
}

/* Is the term (SW_NO_TERM: no) known to be endless? */
static bool is_endless(const struct search *x, uint32_t term)
{
	return term < x->f->terms && x->endless[term];
}

/* Are all n terms endless, and is there at least one? */
static bool all_endless(const struct search *x, const uint32_t *term, uint32_t n)
{
	uint32_t i = 0;
	while (i < n && is_endless(x, term[i]))
		i++;
	return n && i == n;
}

/*
 * Is a term as unbounded as the number that it is made of?  Yes for a copy of all 64 bits; a sum or difference with
 * exactly one such number (two may cancel out); a STEP that starts at one and moves by a known distance; a choice of
 * which every way is one and the condition none.  Anything else (products, shifts, bits) may bound it.
 */
static bool stays_endless(const struct search *x, const struct sw_term *t)
{
	const uint32_t way[2] = {t->b, t->c};
	bool a = is_endless(x, t->a), b = is_endless(x, t->b);
	if (t->width != 64)
		return false;
	switch (t->op) {
	case SW_OP_MOV:
		return a;
	case SW_OP_EXTEND:
		return a && t->imm == 64;
	case SW_OP_ADD:
	case SW_OP_SUB:
		return a != b;
	case SW_TERM_STEP:
		return a && !b;
	case SW_OP_SELECT:
		return !a && all_endless(x, way, 2);
	case SW_TERM_ANY:
		return all_endless(x, x->f->alternative + t->a, t->b);
	default:
		return false;
	}
}

/* Finds the endless terms: unknown numbers that are not spoiled, and sums of one and other numbers. */
static void find_endless(const struct search *x)
{
	for (uint32_t i = 0; i < x->f->terms; i++) {
		const struct sw_term *t = &x->f->term[i];
		x->endless[i] = (is_any_number(t) && !x->spoiled[i]) || stays_endless(x, t);
	}
}

/* If `by`, something else than an endless number is made from the term: it might be bounded. */
static void spoil_term(const struct search *x, uint32_t term, bool by)
{
	if (by && is_endless(x, term))
		x->spoiled[term] = true;
}

/* Spoils the operands of terms that may bound them.  Users come first: what one of them does to a number counts for
   all that it was made of. */
static void spoil_operands(const struct search *x)
{
	for (uint32_t i = x->f->terms; i-- > 0;) {
		const struct sw_term *t = &x->f->term[i];
		const uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
		bool by = !x->endless[i] || x->spoiled[i];
		for (uint32_t k = 0; k < n; k++)
			spoil_term(x, operand[k], by);
		for (uint32_t k = 0; t->op == SW_TERM_ANY && k < (t->imm2 ? 2 : 1) * t->b; k++)
			spoil_term(x, x->f->alternative[t->a + k], by || k >= t->b);
		if (t->op == SW_TERM_LOADED)
			spoil_term(x, t->a, true);
	}
}

/* By term, malloc'ed: is it an address without bounds in any launch? */
static bool *find_endless_terms(const struct sw_footprint *f)
{
	struct search x = {.f = f,
			   .endless = sw_calloc(f->terms + 1u, sizeof *x.endless),
			   .spoiled = sw_calloc(f->terms + 1u, sizeof *x.spoiled)};
	if (SW_RULE_IS_OFF(span_endless)) {
		free(x.spoiled);
		return x.endless;
	}
	find_endless(&x);
	for (uint32_t i = 0; i < f->sites; i++)
		spoil_term(&x, f->site[i].size, true);
	for (uint32_t i = 0; i < f->facts; i++)
		spoil_term(&x, f->fact[i].term, true);
	spoil_operands(&x);
	find_endless(&x);
	free(x.spoiled);
	return x.endless;
}

/* ---- how often a loop turns */

/*
 * How often a loop turns at most: by the conditions that hold at the end of each completed iteration, where one side
 * moves by the same step each time.  That it does not wrap around follows as in evaluation/loop_counters.c.
 */

#define DEEP 12

/* A number that moves with a loop: start + step * k in iteration k. */
struct moving {
	struct sw_bounds start;
	sw_wide step;
};

static bool follow_term(const struct sw_spans *s, uint32_t number, uint32_t loop, unsigned width, unsigned depth,
			struct moving *out);

/* follow_term() for a sum or difference. */
static bool follow_sum(const struct sw_spans *s, const struct sw_term *t, uint32_t loop, unsigned depth,
		       struct moving *out)
{
	struct moving x, y;
	if (!follow_term(s, t->a, loop, t->width, depth, &x) || !follow_term(s, t->b, loop, t->width, depth, &y))
		return false;
	if (t->op == SW_OP_SUB)
		y = (struct moving){{-y.start.hi, -y.start.lo}, -y.step};
	*out = (struct moving){{x.start.lo + y.start.lo, x.start.hi + y.start.hi}, x.step + y.step};
	return true;
}

/* Is the number in [-limit, limit]? */
static bool is_small(sw_wide x, sw_wide limit)
{
	return x >= -limit && x <= limit;
}

/* follow_term() for a product by a fixed number: 4 * i + 3 < n, in index arithmetic of vectors. */
static bool follow_product(const struct sw_spans *s, const struct sw_term *t, uint32_t loop, unsigned depth,
			   struct moving *out)
{
	const sw_wide most = (sw_wide)1 << 64;
	for (int swap = 0; swap < 2; swap++) {
		struct sw_bounds by = sw_span_exact(s, swap ? t->a : t->b, t->width, true);
		struct moving x;
		if (!sw_span_fixed(by) || !is_small(by.lo, UINT32_MAX))
			continue;
		if (!follow_term(s, swap ? t->b : t->a, loop, t->width, depth, &x) || !is_small(x.start.lo, most) ||
		    !is_small(x.start.hi, most) || !is_small(x.step, most))
			return false;
		*out = (struct moving){sw_bounds_product(x.start, by), x.step * by.lo};
		return true;
	}
	return false;
}

/* follow_term() for the variable of this loop itself. */
static bool follow_step(const struct sw_spans *s, const struct sw_term *t, uint32_t loop, struct moving *out)
{
	struct sw_bounds step = sw_span_exact(s, t->b, t->width, true);
	uint64_t bit = UINT64_C(1) << loop;
	if (t->c != loop || (s->loops[t->a] | s->loops[t->b]) & bit || !sw_span_fixed(step))
		return false;
	*out = (struct moving){sw_span_of(s, t->a, t->width), step.lo};
	return true;
}

/* Writes a term modulo 2^width as start + step * k in iteration k of the loop; false: it does not move so. */
static bool follow_term(const struct sw_spans *s, uint32_t number, uint32_t loop, unsigned width, unsigned depth,
			struct moving *out)
{
	const struct sw_term *t = &s->f->term[number];
	if (!(s->loops[number] >> loop & 1)) {
		*out = (struct moving){sw_span_of(s, number, width), 0};
		return true;
	}
	if (!depth || t->width < width)
		return false;
	switch (t->op) {
	case SW_TERM_STEP:
		return follow_step(s, t, loop, out);
	case SW_OP_ADD:
	case SW_OP_SUB:
		return follow_sum(s, t, loop, depth - 1, out);
	case SW_OP_MUL:
		return follow_product(s, t, loop, depth - 1, out);
	case SW_OP_MOV:
		return follow_term(s, t->a, loop, width, depth - 1, out);
	default:
		return false;
	}
}

static struct sw_bounds negated_bounds(struct sw_bounds x)
{
	return (struct sw_bounds){-x.hi, -x.lo};
}

/* Moves an interval into the type by a multiple of 2^width; false: that takes different ones. */
static bool move_into(struct sw_bounds *x, struct sw_bounds type)
{
	sw_wide modulus = type.hi - type.lo + 1, turns = sw_wide_floor(x->lo - type.lo, modulus);
	if (turns != sw_wide_floor(x->hi - type.lo, modulus))
		return false;
	x->lo -= turns * modulus;
	x->hi -= turns * modulus;
	return true;
}

/* How often a loop turns that goes on while moving <= limit - below; SW_INFINITE: the number may wrap around first. */
static sw_wide turns_below(struct moving m, struct sw_bounds limit, struct sw_bounds type, sw_wide below)
{
	if (limit.hi - below + m.step > type.hi)
		return SW_INFINITE;
	sw_wide last = sw_wide_floor(limit.hi - below - m.start.lo, m.step);
	return last < 0 ? 0 : last + 1;
}

/* How often a loop turns that goes on until both are equal, if they ever are; else SW_INFINITE. */
static sw_wide turns_until(struct moving m, struct sw_bounds limit, unsigned width)
{
	sw_wide modulus = (sw_wide)1 << width, ahead = m.step > 0 ? limit.lo - m.start.lo : m.start.lo - limit.lo;
	sw_wide step = m.step > 0 ? m.step : -m.step;
	if (!sw_span_fixed(m.start) || !sw_span_fixed(limit))
		return SW_INFINITE;
	ahead -= sw_wide_floor(ahead, modulus) * modulus;
	return ahead % step ? SW_INFINITE : ahead / step;
}

/* How often the loop turns at most before this comparison ends it; SW_INFINITE: unknown. */
static sw_wide turns_by(const struct sw_spans *s, uint32_t loop, const struct sw_term *t, bool truth)
{
	static const uint8_t negated[] = {
		[SW_EQ] = SW_NE, [SW_NE] = SW_EQ, [SW_LT] = SW_GE, [SW_LE] = SW_GT, [SW_GT] = SW_LE, [SW_GE] = SW_LT};
	static const uint8_t turned[] = {
		[SW_EQ] = SW_EQ, [SW_NE] = SW_NE, [SW_LT] = SW_GT, [SW_LE] = SW_GE, [SW_GT] = SW_LT, [SW_GE] = SW_LE};
	unsigned width = (unsigned)t->imm2;
	bool is_signed = t->flags & SW_SIGNED;
	struct moving a, b;
	if (t->op != SW_OP_COMPARE || t->imm < SW_EQ || t->imm > SW_GE || t->imm2 < 1 || t->imm2 > 64 ||
	    !follow_term(s, t->a, loop, width, DEEP, &a) || !follow_term(s, t->b, loop, width, DEEP, &b) ||
	    !a.step == !b.step)
		return SW_INFINITE;
	uint8_t condition = truth ? (uint8_t)t->imm : negated[t->imm];
	struct moving m = a.step ? a : b;
	struct sw_bounds limit = sw_span_exact(s, a.step ? t->b : t->a, width, is_signed);
	struct sw_bounds type = sw_span_type(width, is_signed);
	if (!a.step)
		condition = turned[condition];
	if (condition == SW_NE)
		return turns_until(m, limit, width);
	if (!move_into(&m.start, type))
		return SW_INFINITE;
	if (m.step < 0) {
		m = (struct moving){negated_bounds(m.start), -m.step};
		limit = negated_bounds(limit);
		type = negated_bounds(type);
		condition = turned[condition];
	}
	return condition == SW_LT || condition == SW_LE ? turns_below(m, limit, type, condition == SW_LT) : SW_INFINITE;
}

/* Bounds the iterations of all loops; true if a loop has fewer than before. */
static bool span_count_turns(struct sw_spans *s)
{
	const struct sw_footprint *f = s->f;
	bool better = false;
	if (SW_RULE_IS_OFF(span_turns))
		return false;
	for (uint32_t i = 0; i < f->loops; i++)
		for (uint32_t k = 0; k < f->loop[i].backs; k++) {
			const struct sw_fact *fact = &f->fact[f->loop[i].back + k];
			sw_wide turns = turns_by(s, i, &f->term[fact->term], fact->truth);
			better |= turns < s->turns[i];
			s->turns[i] = turns < s->turns[i] ? turns : s->turns[i];
		}
	return better;
}

/* ---- spans of a launch */

/* Wider spans, of conditions that hide that the access is never made, are looked at once more. */
#define WIDE ((sw_wide)1 << 30)
/* Loops have a bit each. */
#define MOST_LOOPS 64u
/* Terms that are bounded at most: beyond it an evaluation is as cheap. */
#define MOST_TERMS 20000u

/* ---- of the kernel ----------------------------------------------------------------------------------------------- */

/* Marks a term (SW_NO_TERM: none) as needed. */
static void mark_needed(const struct sw_footprint *f, bool *needed, uint32_t term)
{
	if (term < f->terms)
		needed[term] = true;
}

/* Marks all that a term is made of as needed. */
static void mark_operands(const struct sw_footprint *f, bool *needed, uint32_t number)
{
	const struct sw_term *t = &f->term[number];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	for (uint32_t i = 0; i < n; i++)
		mark_needed(f, needed, operand[i]);
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < (t->imm2 ? 2 : 1) * t->b; i++)
		mark_needed(f, needed, f->alternative[t->a + i]);
}

/* Marks what the ends of loops compare as needed, and lists it. */
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

/* The loops that a term depends on, one bit each. */
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

/* Does all that the site may touch start from words of the parameter block? */
static bool starts_from_words(const struct sw_footprint *f, const struct sw_access_site *site)
{
	uint32_t i = 0;
	while (i < site->roots &&
	       (f->root[site->root + i].kind == SW_ROOT_PARAM || f->root[site->root + i].kind == SW_ROOT_ENVIRONMENT))
		i++;
	return site->roots && i == site->roots;
}

/* Adds a site to those that are bounded; one of an address that is there already makes that one larger.  Sites of
   one address have the same roots. */
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

/* Bounds a term whose operands are bounded. */
static void bound_term(struct sw_spans *s, uint32_t number)
{
	s->value[number].range = sw_span_operate(s, number);
	s->value[number].quotient = sw_span_quotient_of(s, number);
	s->value[number].pointer = sw_span_moves_with(s, number);
}

/* Prepares a needed term; a constant is bounded once for all launches. */
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
	bool *needed = sw_calloc(f->terms + 1u, sizeof *needed), *endless = find_endless_terms(f);
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
	/* The part that starts at a null pointer. */
	span.lo = 0;
	span.hi = (uint64_t)(hi - all);
	*sw_vec_push(&s->found) = span;
}

/* Adds a span for each word of the parameter block that an endless site starts from. */
static void add_endless(struct sw_spans *s, const struct sw_span_site *site)
{
	const struct sw_access_site *of = &s->f->site[site->number];
	for (uint32_t i = 0; i < of->roots; i++) {
		const struct sw_root *root = &s->f->root[of->root + i];
		if (root->kind == SW_ROOT_PARAM)
			*sw_vec_push(&s->found) =
				(struct sw_span){root->param, root->param + (root->span > 8 ? root->span : 8),
						 site->number, SW_SPAN_NO_POINTER, true};
	}
}

/* Adds the spans of a site whose address is bounded; false: they are too wide to say anything. */
static bool add_spans(struct sw_spans *s, const struct sw_span_site *site)
{
	struct sw_bounds at = s->value[site->address].range, size = {site->bytes, site->bytes};
	if (site->size != SW_NO_TERM)
		size = sw_span_exact(s, site->size, s->f->term[site->size].width, false);
	s->far = true;
	if (size.hi > SW_SPAN_FAR)
		return false;
	if (site->endless) {
		add_endless(s, site);
		return true;
	}
	if (sw_span_has_pointers(s, site) && sw_span_add_pointers(s, site, size.hi))
		return true;
	if (at.hi - at.lo > SW_SPAN_FAR)
		return false;
	sw_span_add(s, site, at.lo, at.hi + size.hi);
	return true;
}

/* Is the term bounded already, in this round or, if no loop goes into it, in this launch? */
static bool is_bounded(const struct sw_spans *s, uint32_t number)
{
	return s->stamp[number] >= (s->loops[number] ? s->round : s->launch);
}

/* Puts a term on the list of those to be bounded; false: it is bounded, or there is none. */
static bool want_term(struct sw_spans *s, uint32_t number)
{
	if (number >= s->f->terms || is_bounded(s, number))
		return false;
	*sw_vec_push(&s->work) = number;
	return true;
}

/* Asks for the terms that a choice needs: its conditions first, then only the ways that they leave. (Index
   arithmetic for 25 dimensions mostly is for two.) True: some are not bounded yet. */
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

/* Puts the operands that are needed and not bounded yet on the list; false: there are none. */
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

/* Bounds a term and all that it needs, without recursion. */
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

/* The start of an inner loop needs the bounds of the outer one. */
#define ROUNDS 2u

/* Bounds how often each loop turns in this launch, in rounds: an inner loop may start from the variable of an outer
   one. */
static void count_turns(struct sw_spans *s)
{
	for (uint32_t i = 0; i < s->f->loops; i++)
		s->turns[i] = SW_INFINITE;
	for (unsigned i = 0; s->f->loops && i < ROUNDS; i++) {
		for (size_t k = 0; k < s->fact.n; k++) {
			bound_all(s, s->fact.at[k]);
			sw_span_pin(s, s->fact.at[k]);
		}
		if (!span_count_turns(s))
			break;
		s->round++;
	}
}

/* Conditions within conditions that are looked at. */
#define MOST_DEEP 8u

/* Does the condition hold: 1 or 0 if the launch alone decides it, so that every evaluation sees that, too; -1: it
   does not. */
static int is_decided(const struct sw_spans *s, uint32_t number, unsigned depth)
{
	const struct sw_term *t = &s->f->term[number];
	if (SW_RULE_IS_OFF(span_decided))
		return -1;
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

/* Does no thread of this launch come to the site, because a condition that it needs does not hold? */
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

/* Does no thread come to any of the sites that share this one's address? */
static bool all_idle(struct sw_spans *s, const struct sw_span_site *site)
{
	for (uint32_t i = site->number; i < s->f->sites; i++) {
		const struct sw_access_site *other = &s->f->site[i];
		if (other->address == site->address && other->size == site->size && !is_idle(s, other))
			return false;
	}
	return true;
}

/* Adds the spans of a site, none where no thread of this launch comes there.  False: it is not bounded. */
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
