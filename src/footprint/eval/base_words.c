/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/eval/base_words.h"

#include <stdlib.h>

#include "footprint/eval/eval.h"

/* What is wanted of a term by those that use it. */
enum { WANT_ALL = 1, WANT_LOW = 2, WANT_ADDRESS = 4 };

struct base_search {
	const struct sw_footprint *f;
	uint8_t *want;
	bool *plain;
	struct sw_base_words *out;
};

static bool is_constant_below(const struct sw_footprint *f, uint32_t term, int64_t limit)
{
	const struct sw_term *t = &f->term[term];
	return t->op == SW_OP_CONST && t->imm >= 0 && t->imm < limit;
}

static void want(struct base_search *s, uint32_t term, uint8_t what)
{
	if (term != SW_NO_TERM)
		s->want[term] |= what;
}

/* Made of parameters and constants alone, by operations whose low bits follow from the low bits of the operands. */
static bool is_plain(const struct base_search *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	switch (t->op) {
	case SW_OP_CONST:
	case SW_OP_PARAM:
		return true;
	case SW_OP_ADD:
	case SW_OP_SUB:
	case SW_OP_AND:
	case SW_OP_OR:
	case SW_OP_XOR:
		return t->width >= SW_BASE_LOW_BITS && s->plain[t->a] && s->plain[t->b];
	case SW_OP_NOT:
	case SW_OP_MOV:
		return t->width >= SW_BASE_LOW_BITS && s->plain[t->a];
	case SW_OP_EXTEND:
		return t->width >= SW_BASE_LOW_BITS && t->imm >= SW_BASE_LOW_BITS && s->plain[t->a];
	default:
		return false;
	}
}

/* Operands that make the address of what they point to the result's: a bit set. */
static uint32_t carriers(const struct sw_term *t)
{
	if (t->width != 64)
		return 0;
	switch (t->op) {
	case SW_OP_ADD:
		return 3;
	case SW_OP_SUB:
	case SW_OP_MOV:
	case SW_TERM_STEP:
		return 1;
	case SW_OP_EXTEND:
		return t->imm >= 64;
	case SW_OP_SELECT:
		return 6;
	default:
		return 0;
	}
}

/* Whether a pointer is null, which no base is. */
static bool asks_for_null(const struct sw_footprint *f, const struct sw_term *t)
{
	return t->op == SW_OP_COMPARE && (t->imm == SW_EQ || t->imm == SW_NE) && t->imm2 == 64 &&
	       f->term[t->a].op == SW_OP_PARAM && is_constant_below(f, t->b, 1);
}

/* What a term wants of its operands, when all that use it have said what they want. */
static void want_operands(struct base_search *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	bool masks = t->op == SW_OP_AND && (is_constant_below(s->f, t->a, 1 << SW_BASE_LOW_BITS) ||
					    is_constant_below(s->f, t->b, 1 << SW_BASE_LOW_BITS));
	for (uint32_t i = 0; i < n && !asks_for_null(s->f, t); i++) {
		if (operand[i] == SW_NO_TERM)
			continue;
		bool carries = carriers(t) >> i & 1;
		if (s->plain[number] && (masks || s->want[number] == WANT_LOW))
			want(s, operand[i], WANT_LOW);
		else if (carries && s->f->term[operand[i]].width == 64)
			want(s, operand[i], s->want[number]);
		else
			want(s, operand[i], WANT_ALL);
	}
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < t->b; i++) {
		want(s, s->f->alternative[t->a + i], t->width == 64 ? s->want[number] : WANT_ALL);
		if (t->imm2)
			want(s, s->f->alternative[t->a + t->b + i], WANT_ALL);
	}
}

static void want_of_sites(struct base_search *s)
{
	const struct sw_footprint *f = s->f;
	for (uint32_t i = 0; i < f->facts; i++)
		want(s, f->fact[i].term, WANT_ALL);
	for (uint32_t i = 0; i < f->sites; i++) {
		want(s, f->site[i].address, WANT_ADDRESS);
		want(s, f->site[i].size, WANT_ALL);
	}
	for (uint32_t i = 0; i < f->terms; i++)
		s->plain[i] = is_plain(s, i);
	for (uint32_t i = f->terms; i-- > 0;)
		want_operands(s, i);
}

/* Some access is made through the pointer in this word. */
static bool is_root(const struct sw_footprint *f, int64_t offset)
{
	for (uint32_t i = 0; i < f->roots; i++) {
		const struct sw_root *root = &f->root[i];
		if (root->kind == SW_ROOT_PARAM && root->span <= 8 && !root->weak && root->param == offset)
			return true;
	}
	return false;
}

uint32_t sw_base_word_at(const struct sw_base_words *words, uint32_t offset)
{
	for (uint32_t i = 0; i < words->n; i++) {
		if (words->at[i] == offset)
			return i + 1;
	}
	return 0;
}

static void find_candidates(struct base_search *s)
{
	for (uint32_t i = 0; i < s->f->terms; i++) {
		const struct sw_term *t = &s->f->term[i];
		if (t->op != SW_OP_PARAM)
			continue;
		if (s->want[i] == WANT_LOW && t->width >= 16)
			s->out->use[i] = SW_WORD_LOW;
		if (!(s->want[i] & WANT_ADDRESS) || s->want[i] & WANT_ALL || t->width != 64 || t->imm < 0 ||
		    t->imm > UINT16_MAX || s->out->n == SW_BASE_WORDS || !is_root(s->f, t->imm))
			continue;
		s->out->use[i] = SW_WORD_BASE;
		s->out->low[s->out->n] = s->want[i] & WANT_LOW;
		s->out->at[s->out->n++] = (uint32_t)t->imm;
		s->out->of[i] = (uint8_t)s->out->n;
	}
}

/* A sum has one base at most. */
static void follow_sum(struct base_search *s, uint32_t number, bool *is_number)
{
	const struct sw_term *t = &s->f->term[number];
	uint32_t operand[2] = {t->a, t->b}, from = carriers(t), n = sw_term_operands(t);
	uint8_t *of = s->out->of;
	for (uint32_t k = 0; k < 2 && k < n; k++) {
		if (!(from >> k & 1) || operand[k] == SW_NO_TERM || !of[operand[k]])
			continue;
		if (of[number])
			is_number[of[number] - 1] = is_number[of[operand[k]] - 1] = true;
		of[number] = of[operand[k]];
	}
}

/* One of several: all have the same base, or theirs are numbers. */
static void follow_choice(struct base_search *s, uint32_t number, const uint32_t *from, uint32_t n, bool *is_number)
{
	uint8_t *of = s->out->of;
	bool same = true;
	for (uint32_t i = 1; i < n; i++)
		same &= of[from[i]] == of[from[0]];
	for (uint32_t i = 0; i < n && !same; i++) {
		if (of[from[i]])
			is_number[of[from[i]] - 1] = true;
	}
	of[number] = same && n ? of[from[0]] : 0;
}

/* Marks what each base goes into. */
static void follow(struct base_search *s, bool *is_number)
{
	for (uint32_t i = 0; i < s->f->terms; i++) {
		const struct sw_term *t = &s->f->term[i];
		const uint32_t way[2] = {t->b, t->c};
		if (t->width != 64)
			continue;
		if (t->op == SW_TERM_ANY)
			follow_choice(s, i, s->f->alternative + t->a, t->b, is_number);
		else if (t->op == SW_OP_SELECT)
			follow_choice(s, i, way, 2, is_number);
		else
			follow_sum(s, i, is_number);
	}
}

/* Is the value of this root's word asked for only where the access is made from it? */
static bool is_own(const struct base_search *s, const struct sw_access_site *site, const struct sw_root *root,
		   uint32_t base)
{
	bool same = root->kind == SW_ROOT_PARAM && root->span <= 8 && root->param == s->out->at[base];
	if (site->address == SW_NO_TERM)
		return same;
	return same && root == sw_eval_root(s->f, site) && s->out->of[site->address] == base + 1;
}

static void check_sites(const struct base_search *s, bool *number)
{
	const struct sw_footprint *f = s->f;
	for (uint32_t i = 0; i < f->sites; i++) {
		const struct sw_access_site *site = &f->site[i];
		uint32_t base = site->address == SW_NO_TERM ? 0 : s->out->of[site->address];
		const struct sw_root *named = sw_eval_root(f, site);
		if (base && (!named || !is_own(s, site, named, base - 1)))
			number[base - 1] = true;
		for (uint32_t k = 0; k < site->roots; k++) {
			const struct sw_root *root = &f->root[site->root + k];
			for (uint32_t b = 0; b < s->out->n; b++) {
				bool reads = root->kind == SW_ROOT_PARAM || root->kind == SW_ROOT_OBJECT;
				if (reads && root->param < s->out->at[b] + 8 &&
				    root->param + (root->span ? root->span : 8) > s->out->at[b] &&
				    !is_own(s, site, root, b))
					number[b] = true;
			}
		}
	}
}

void sw_base_words_find(const struct sw_footprint *f, struct sw_base_words *out)
{
	bool number[SW_BASE_WORDS] = {false};
	struct base_search s = {f, sw_calloc(f->terms + 1u, 1), sw_calloc(f->terms + 1u, sizeof(bool)), out};
	*out = (struct sw_base_words){.use = sw_calloc(f->terms + 1u, 1), .of = sw_calloc(f->terms + 1u, 1)};
	want_of_sites(&s);
	find_candidates(&s);
	follow(&s, number);
	check_sites(&s, number);
	for (uint32_t i = 0; i < f->terms; i++) {
		if (!out->of[i] || !number[out->of[i] - 1])
			continue;
		out->of[i] = 0;
		if (out->use[i] == SW_WORD_BASE)
			out->use[i] = SW_WORD_NUMBER;
	}
	for (uint32_t b = 0; b < out->n; b++) {
		if (number[b])
			out->at[b] = UINT32_MAX;
	}
	free(s.want);
	free(s.plain);
}

void sw_base_words_free(struct sw_base_words *words)
{
	free(words->use);
	free(words->of);
	*words = (struct sw_base_words){0};
}
