/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/spans/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Loops have a bit each. */
#define MOST_LOOPS 64u
/* Terms that are bounded at most: beyond it an evaluation is as cheap. */
#define MOST_TERMS 20000u
/* Farther than this no access goes: the interval says nothing. */
#define FAR ((sw_wide)1 << 48)

/* ---- of the kernel ----------------------------------------------------------------------------------------------- */

static void mark(const struct sw_footprint *f, bool *needed, uint32_t term)
{
	if (term < f->terms)
		needed[term] = true;
}

static void mark_operands(const struct sw_footprint *f, bool *needed, uint32_t number)
{
	const struct sw_term *t = &f->term[number];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	for (uint32_t i = 0; i < n; i++)
		mark(f, needed, operand[i]);
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < (t->imm2 ? 2 : 1) * t->b; i++)
		mark(f, needed, f->alternative[t->a + i]);
}

static void mark_loops(const struct sw_footprint *f, bool *needed)
{
	for (uint32_t i = 0; i < f->loops; i++)
		for (uint32_t k = 0; k < f->loop[i].backs; k++) {
			const struct sw_term *t = &f->term[f->fact[f->loop[i].back + k].term];
			if (t->op != SW_OP_COMPARE)
				continue;
			mark(f, needed, t->a);
			mark(f, needed, t->b);
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
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < t->b; i++)
		loops |= s->loops[f->alternative[t->a + i]];
	return loops;
}

static void add_site(struct sw_spans *s, const struct sw_access_site *site)
{
	for (size_t i = 0; i < s->site.n; i++) {
		struct sw_span_site *old = &s->site.at[i];
		if (old->address != site->address || old->size != site->size)
			continue;
		old->bytes = site->bytes > old->bytes ? site->bytes : old->bytes;
		return;
	}
	s->hopeless |= site->size == SW_NO_TERM && !site->bytes;
	*sw_vec_push(&s->site) = (struct sw_span_site){site->address, site->size, site->bytes};
}

struct sw_spans *sw_spans_new(const struct sw_footprint *f)
{
	struct sw_spans *s = sw_calloc(1, sizeof *s);
	bool *needed = sw_calloc(f->terms + 1u, sizeof *needed);
	s->f = f;
	s->value = sw_calloc(f->terms + 1u, sizeof *s->value);
	s->loops = sw_calloc(f->terms + 1u, sizeof *s->loops);
	s->turns = sw_calloc(f->loops + 1u, sizeof *s->turns);
	for (uint32_t i = 0; i < f->sites; i++) {
		if (f->site[i].address == SW_NO_TERM)
			continue; /* nothing but its roots is known */
		mark(f, needed, f->site[i].address);
		mark(f, needed, f->site[i].size);
		add_site(s, &f->site[i]);
	}
	mark_loops(f, needed);
	for (uint32_t i = f->terms; i-- > 0;)
		if (needed[i])
			mark_operands(f, needed, i);
	for (uint32_t i = 0; i < f->terms; i++) {
		if (!needed[i])
			continue;
		s->loops[i] = loops_of(s, i);
		*sw_vec_push(&s->need) = i;
	}
	/* What an inner loop starts from needs the bounds of the outer one. */
	s->rounds = f->loops ? 3 : 1;
	s->hopeless |= f->loops > MOST_LOOPS || s->need.n > MOST_TERMS;
	free(needed);
	return s;
}

void sw_spans_free(struct sw_spans *s)
{
	if (!s)
		return;
	free(s->need.at);
	free(s->site.at);
	free(s->found.at);
	free(s->value);
	free(s->loops);
	free(s->turns);
	free(s->key.at);
	for (uint32_t i = 0; i < SW_SPAN_MEMORIES; i++)
		free(s->memory[i].key);
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

struct sw_bounds sw_span_of(const struct sw_spans *s, uint32_t term, unsigned width)
{
	unsigned own = s->f->term[term].width;
	/* Higher bits are zero. */
	return width > own ? sw_span_wrapped(s->value[term].range, sw_span_type(own, false)) : s->value[term].range;
}

struct sw_bounds sw_span_exact(const struct sw_spans *s, uint32_t term, unsigned width, bool is_signed)
{
	return sw_span_wrapped(sw_span_of(s, term, width), sw_span_type(width, is_signed));
}

static bool add_span(struct sw_spans *s, const struct sw_span_site *site)
{
	struct sw_bounds at = sw_span_exact(s, site->address, 64, false), size = {site->bytes, site->bytes};
	if (site->size != SW_NO_TERM)
		size = sw_span_exact(s, site->size, s->f->term[site->size].width, false);
	if (at.hi - at.lo > FAR || size.hi > FAR || at.hi + size.hi > UINT64_MAX)
		return false;
	*sw_vec_push(&s->found) = (struct sw_span){(uint64_t)at.lo, (uint64_t)(at.hi + size.hi)};
	return true;
}

static void bound_terms(struct sw_spans *s)
{
	for (size_t i = 0; i < s->need.n; i++) {
		uint32_t number = s->need.at[i];
		s->value[number].range = sw_span_operate(s, number);
		s->value[number].quotient = sw_span_quotient_of(s, number);
	}
}

static bool find(struct sw_spans *s, const struct sw_geometry *geometry)
{
	s->g = geometry;
	s->found.n = 0;
	for (uint32_t i = 0; i < s->f->loops; i++)
		s->turns[i] = SW_INFINITE;
	for (unsigned round = 0; round < s->rounds; round++) {
		bound_terms(s);
		if (round + 1 < s->rounds && !sw_span_count_turns(s))
			break;
	}
	for (size_t i = 0; i < s->site.n; i++)
		if (!add_span(s, &s->site.at[i]))
			return false;
	return true;
}

/* ---- launches that were asked about ------------------------------------------------------------------------------ */

/* Remembered are those of kernels that take longer than to remember them. */
#define FEW_TERMS  16u
#define MOST_BYTES 8192u

static void make_key(struct sw_spans *s, const struct sw_geometry *g)
{
	const uint32_t size[9] = {g->grid[0],  g->grid[1], g->grid[2],	    g->block[0],   g->block[1],
				  g->block[2], g->cluster, g->shared_bytes, g->param_bytes};
	s->key.n = 0;
	sw_vec_reserve(&s->key, sizeof size + g->param_bytes);
	memcpy(s->key.at, size, sizeof size);
	if (g->param_bytes)
		memcpy(s->key.at + sizeof size, g->params, g->param_bytes);
	s->key.n = sizeof size + g->param_bytes;
}

static void remember(struct sw_spans *s, struct sw_span_memory *memory, bool bounded)
{
	size_t bytes = s->found.n * sizeof *s->found.at, from = (s->key.n + 7) & ~(size_t)7;
	free(memory->key);
	*memory = (struct sw_span_memory){sw_alloc(from + bytes), s->key.n, bounded, NULL, (uint32_t)s->found.n};
	memcpy(memory->key, s->key.at, s->key.n);
	if (bytes)
		memcpy((char *)memory->key + from, s->found.at, bytes);
	memory->span = (const struct sw_span *)(const void *)((char *)memory->key + from);
}

bool sw_spans_find(struct sw_spans *s, const struct sw_geometry *geometry, const struct sw_span **out, uint32_t *n)
{
	if (s->hopeless)
		return false;
	if (s->need.n < FEW_TERMS || geometry->param_bytes > MOST_BYTES) {
		bool bounded = find(s, geometry);
		*out = s->found.at;
		*n = (uint32_t)s->found.n;
		return bounded;
	}
	make_key(s, geometry);
	struct sw_span_memory *memory = &s->memory[sw_hash_words(s->key.at, s->key.n) % SW_SPAN_MEMORIES];
	if (!memory->key || memory->bytes != s->key.n || memcmp(memory->key, s->key.at, s->key.n))
		remember(s, memory, find(s, geometry));
	*out = memory->span;
	*n = memory->n;
	return memory->bounded;
}
