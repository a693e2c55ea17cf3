/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/launch/reads/base_words.h"

#include <stdlib.h>

/* What is wanted of a term by those that use it. */
enum { WANT_ALL = 1, WANT_LOW = 2, WANT_ADDRESS = 4, WANT_NULL = 8 };

struct base_search {
	const struct sw_footprint *f;
	uint8_t *want;
	uint8_t *use;
	bool memory;
};

static bool is_constant_below(const struct sw_footprint *f, uint32_t term, int64_t limit)
{
	const struct sw_term *t = &f->term[term];
	return t->op == SW_OP_CONST && t->imm >= 0 && t->imm < limit;
}

static void want_use(struct base_search *s, uint32_t term, uint8_t what)
{
	if (term != SW_NO_TERM)
		s->want[term] |= what;
}

/* A word of a table. */
static bool is_whole_element(const struct sw_term *t)
{
	return t->op == SW_TERM_ELEMENT && t->width == 64 && t->imm == 8;
}

/* Its low bits follow from the low bits of its operands. */
static bool keeps_low(const struct sw_term *t)
{
	switch (t->op) {
	case SW_OP_ADD:
	case SW_OP_SUB:
	case SW_OP_AND:
	case SW_OP_OR:
	case SW_OP_XOR:
	case SW_OP_NOT:
	case SW_OP_MOV:
		return t->width >= SW_BASE_LOW_BITS;
	case SW_OP_EXTEND:
		return t->width >= SW_BASE_LOW_BITS && t->imm >= SW_BASE_LOW_BITS;
	default:
		return false;
	}
}

uint32_t sw_base_carriers(const struct sw_term *t)
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

/* Nothing but the low bits of its operands goes into it. */
static bool asks_for_low(const struct sw_footprint *f, const struct sw_term *t)
{
	return (t->op == SW_OP_AND && (is_constant_below(f, t->a, 1 << SW_BASE_LOW_BITS) ||
				       is_constant_below(f, t->b, 1 << SW_BASE_LOW_BITS))) ||
	       (t->op == SW_OP_EXTEND && t->imm <= SW_BASE_LOW_BITS);
}

/* Whether a pointer is null: what no base is, and what is made from one as far as the evaluation says. */
bool sw_base_asks_for_null(const struct sw_term *terms, const struct sw_term *t)
{
	return t->op == SW_OP_COMPARE && (t->imm == SW_EQ || t->imm == SW_NE) && t->imm2 == 64 &&
	       terms[t->b].op == SW_OP_CONST && !terms[t->b].imm;
}

/* What a term needs of its operands, once the needs of all its users are known. */
static void want_operands(struct base_search *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	bool masks = asks_for_low(s->f, t);
	if (!s->want[number]) /* is never evaluated */
		return;
	if (s->memory && t->op == SW_TERM_LOADED)
		want_use(s, t->a, WANT_ALL);
	if (sw_base_asks_for_null(s->f->term, t)) {
		want_use(s, t->a, WANT_NULL);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (operand[i] == SW_NO_TERM)
			continue;
		bool carries = sw_base_carriers(t) >> i & 1;
		if (masks || (keeps_low(t) && s->want[number] == WANT_LOW))
			want_use(s, operand[i], WANT_LOW);
		else if (carries && s->f->term[operand[i]].width == 64)
			want_use(s, operand[i], s->want[number]);
		else
			want_use(s, operand[i], WANT_ALL);
	}
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < t->b; i++) {
		want_use(s, s->f->alternative[t->a + i], t->width == 64 ? s->want[number] : WANT_ALL);
		if (t->imm2)
			want_use(s, s->f->alternative[t->a + t->b + i], WANT_ALL);
	}
}

static void want_of_sites(struct base_search *s)
{
	const struct sw_footprint *f = s->f;
	for (uint32_t i = 0; i < f->facts; i++)
		want_use(s, f->fact[i].term, WANT_ALL);
	for (uint32_t i = 0; i < f->sites; i++) {
		want_use(s, f->site[i].address, WANT_ADDRESS);
		want_use(s, f->site[i].size, WANT_ALL);
	}
	for (uint32_t i = f->terms; i-- > 0;)
		want_operands(s, i);
}

/* Some access is made through the pointer in this word. */
static bool is_root(const struct sw_footprint *f, int64_t offset)
{
	for (uint32_t i = 0; i < f->roots; i++) {
		const struct sw_root *root = &f->root[i];
		if (root->kind == SW_ROOT_PARAM && root->span <= 8 && root->param == offset)
			return true;
	}
	return false;
}

static bool may_be_base(const struct base_search *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	if (!(s->want[number] & WANT_ADDRESS) || s->want[number] & WANT_ALL)
		return false;
	return is_whole_element(t) || (t->op == SW_OP_PARAM && t->width == 64 && t->imm >= 0 && is_root(s->f, t->imm));
}

uint8_t *sw_base_words_find(const struct sw_footprint *f, bool memory)
{
	struct base_search s = {f, sw_calloc(f->terms + 1u, 1), sw_calloc(f->terms + 1u, 1), memory};
	want_of_sites(&s);
	for (uint32_t i = 0; i < f->terms; i++) {
		if (may_be_base(&s, i))
			s.use[i] = s.want[i] & WANT_LOW ? SW_WORD_LOW_BASE : SW_WORD_BASE;
		else if (f->term[i].op == SW_OP_PARAM && s.want[i] == WANT_LOW && f->term[i].width >= 16)
			s.use[i] = SW_WORD_LOW;
	}
	free(s.want);
	return s.use;
}
