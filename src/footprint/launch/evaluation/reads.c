/* SPDX-License-Identifier: Apache-2.0 */
/* Records what an evaluation reads of the parameter block, and as what: reads.h. */
#include "footprint/launch/evaluation/reads.h"

#include <stdlib.h>
#include <string.h>

/* ---- words that are bases */

/* The parts of a term that its users want. */
enum { WANT_ALL = 1, WANT_LOW = 2, WANT_ADDRESS = 4, WANT_NULL = 8 };

struct base_search {
	const struct sw_footprint *f;
	uint8_t *want;
	uint8_t *use;
	bool memory;
};

/* Is the term a constant in [0, limit)? */
static bool is_constant_below(const struct sw_footprint *f, uint32_t term, int64_t limit)
{
	const struct sw_term *t = &f->term[term];
	return t->op == SW_OP_CONST && t->imm >= 0 && t->imm < limit;
}

/* Notes that some user wants this of the term (SW_NO_TERM: none). */
static void want_use(struct base_search *s, uint32_t term, uint8_t what)
{
	if (term != SW_NO_TERM)
		s->want[term] |= what;
}

/* Is the term a whole word of a table, which may be a pointer? */
static bool is_whole_element(const struct sw_term *t)
{
	return t->op == SW_TERM_ELEMENT && t->width == 64 && t->imm == 8;
}

/* Do the low bits of the term's value follow from the low bits of its operands? */
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

/* The operands that carry a base: if such an operand moves, the result moves as far.  A bit set. */
static uint32_t base_carriers(const struct sw_term *t)
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

/* Does nothing but the low bits of its operands go into the term? */
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

/* Notes the parts of its operands that a term needs, once the needs of all its users are known. */
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
		bool carries = base_carriers(t) >> i & 1;
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

/* Finds what is wanted of each term, from facts and addresses down to parameters. */
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

/* Is some access made through the pointer in this word? */
static bool is_root(const struct sw_footprint *f, int64_t offset)
{
	for (uint32_t i = 0; i < f->roots; i++) {
		const struct sw_root *root = &f->root[i];
		if (root->kind == SW_ROOT_PARAM && root->span <= 8 && root->param == offset)
			return true;
	}
	return false;
}

/* Is the term a word that addresses are made from and that decides nothing else? */
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

/* ---- what an evaluation read */

/* Two numbers that are no pointers into the same part of the address space. */
#define FAR_APART ((sw_wide)1 << 40)

void sw_reads_bytes(struct sw_reads *reads, uint32_t at, uint32_t bytes)
{
	for (uint32_t i = 0; reads && i < bytes && at + i < reads->bytes; i++)
		reads->byte[at + i] |= SW_READ_NUMBER;
}

void sw_reads_reset(struct sw_reads *reads, const struct sw_footprint *f, const uint8_t *use, uint32_t bytes)
{
	uint32_t room = bytes + 1u;
	reads->byte = sw_realloc(reads->byte, room, sizeof *reads->byte);
	reads->base_at = sw_realloc(reads->base_at, room, sizeof *reads->base_at);
	reads->of = sw_realloc(reads->of, f->terms + 1u, sizeof *reads->of);
	memset(reads->byte, 0, room * sizeof *reads->byte);
	memset(reads->base_at, 0, room * sizeof *reads->base_at);
	reads->use = use;
	reads->memory = false;
	reads->bytes = bytes;
	reads->base.n = 0;
	reads->symbol.n = 0;
	reads->different.n = 0;
}

void sw_reads_free(struct sw_reads *reads)
{
	free(reads->byte);
	free(reads->base_at);
	free(reads->of);
	free(reads->base.at);
	free(reads->symbol.at);
	free(reads->different.at);
	*reads = (struct sw_reads){0};
}

void sw_reads_begin(struct sw_reads *reads, const struct sw_footprint *f)
{
	if (reads)
		memset(reads->of, 0, f->terms * sizeof *reads->of);
}

/* The base that begins at this byte of the block, a new one if there is none yet; 0: none can. */
static uint32_t base_at(struct sw_reads *reads, uint32_t at)
{
	if (at > reads->bytes || reads->bytes - at < 8 || reads->base.n == UINT16_MAX)
		return 0;
	if (!reads->base_at[at]) {
		*sw_vec_push(&reads->base) = (struct sw_base_read){.at = at};
		reads->base_at[at] = (uint16_t)reads->base.n;
	}
	return reads->base_at[at];
}

/* Notes the value of a base that was read; one that also counts as a number may not move. */
static void read_base(struct sw_reads *reads, uint32_t base, uint64_t value)
{
	struct sw_base_read *b = &reads->base.at[base - 1];
	if (b->used)
		return;
	b->used = true;
	b->value = value;
	b->least = b->number ? 0 : -SW_INFINITE;
	b->most = b->number ? 0 : SW_INFINITE;
}

/* The base's value decided something: it may not move any more (0: no base). */
static void make_number(struct sw_reads *reads, uint32_t base)
{
	if (!base)
		return;
	struct sw_base_read *b = &reads->base.at[base - 1];
	b->number = true;
	b->least = b->most = 0;
}

/* From here on the two move alike, or not at all. */
static void tie_bases(struct sw_reads *reads, uint32_t a, uint32_t b)
{
	if (a == b)
		return;
	if (!a || !b || !reads->base.at[a - 1].used || !reads->base.at[b - 1].used) {
		make_number(reads, a);
		make_number(reads, b);
		return;
	}
	while (reads->base.at[a - 1].tied)
		a = reads->base.at[a - 1].tied;
	while (reads->base.at[b - 1].tied)
		b = reads->base.at[b - 1].tied;
	if (a != b)
		reads->base.at[a - 1].tied = (uint16_t)b;
}

void sw_reads_finish(struct sw_reads *reads)
{
	for (size_t i = 0; i < reads->base.n; i++) {
		const struct sw_base_read *b = &reads->base.at[i];
		while (b->used && !b->least && !b->most && b->tied) {
			make_number(reads, b->tied);
			b = &reads->base.at[b->tied - 1];
		}
	}
}

void sw_reads_follow(struct sw_reads *reads, const struct sw_term *terms, uint32_t term)
{
	if (!reads)
		return;
	const struct sw_term *t = &terms[term];
	uint32_t from = t->op == SW_OP_SELECT ? 0 : base_carriers(t);
	uint32_t a = from & 1 ? reads->of[t->a] : 0, b = from & 2 ? reads->of[t->b] : 0;
	if (a && b) { /* a sum has one base at most */
		make_number(reads, a);
		make_number(reads, b);
	}
	reads->of[term] = (uint16_t)(a ? a : b);
}

void sw_reads_choose(struct sw_reads *reads, uint32_t term, uint32_t chosen)
{
	if (reads)
		reads->of[term] = reads->of[chosen];
}

void sw_reads_mix(struct sw_reads *reads, uint32_t term, const uint32_t *of, uint32_t n)
{
	if (!reads)
		return;
	reads->of[term] = n ? reads->of[of[0]] : 0;
	for (uint32_t i = 1; i < n; i++)
		tie_bases(reads, reads->of[of[i]], reads->of[of[0]]);
}

bool sw_base_difference_holds(const struct sw_base_difference *d, uint64_t first, uint64_t second)
{
	sw_wide difference = (sw_wide)first - (sw_wide)second;
	switch (d->relation) {
	case SW_BASES_LESS:
		return difference < (int64_t)d->than;
	case SW_BASES_NOT_LESS:
		return difference >= (int64_t)d->than;
	case SW_BASES_DIFFER:
		break;
	}
	return first - second != d->than;
}

/* Remembers how two words of the parameter block, from which addresses are made, must lie to each other so that the
   result stays the same.  False: there are too many such relations. */
static bool keep_different(struct sw_reads *reads, struct sw_base_difference d)
{
	for (size_t i = 0; i < reads->different.n; i++) {
		const struct sw_base_difference *old = &reads->different.at[i];
		if (old->at[0] == d.at[0] && old->at[1] == d.at[1] && old->relation == d.relation &&
		    old->than == d.than)
			return true;
	}
	if (reads->different.n == SW_MOST_DIFFERENCES)
		return false;
	*sw_vec_push(&reads->different) = d;
	return true;
}

void sw_reads_unequal(struct sw_reads *reads, uint32_t at, uint32_t other)
{
	if (reads && !keep_different(reads, (struct sw_base_difference){{at, other}, SW_BASES_DIFFER, 0})) {
		sw_reads_bytes(reads, at, 8);
		sw_reads_bytes(reads, other, 8);
	}
}

void sw_reads_differ(struct sw_reads *reads, uint32_t a, uint32_t b, sw_wide difference)
{
	uint32_t base[2] = {reads ? reads->of[a] : 0, reads ? reads->of[b] : 0};
	struct sw_base_difference d = {.than = 0 - (uint64_t)difference};
	if (base[0] == base[1])
		return;
	for (int i = 0; i < 2; i++) {
		const struct sw_base_read *word = base[i] ? &reads->base.at[base[i] - 1] : NULL;
		d.at[i] = word ? word->at : UINT32_MAX;
		d.than += word ? (i ? 0 - word->value : word->value) : 0;
	}
	if (keep_different(reads, d))
		return;
	make_number(reads, base[0]);
	make_number(reads, base[1]);
}

/* The base that stands for a root, if that is one word of the parameter block; else 0. */
static uint32_t base_of_root(struct sw_reads *reads, const struct sw_root *root)
{
	return root->kind == SW_ROOT_PARAM && root->span <= 8 ? base_at(reads, root->param) : 0;
}

void sw_reads_name(struct sw_reads *reads, uint32_t term, const struct sw_root *root, sw_wide lo, sw_wide hi)
{
	if (!reads)
		return;
	uint32_t named = base_of_root(reads, root), own = reads->of[term];
	if (own && lo < SW_LEAST_BASE)
		make_number(reads, own);
	else if (own || hi >= SW_LEAST_BASE)
		tie_bases(reads, own, named);
}

bool sw_reads_wants_base(const struct sw_reads *reads, uint32_t term)
{
	return reads && (reads->use[term] == SW_WORD_BASE || reads->use[term] == SW_WORD_LOW_BASE);
}

/* Notes that a word was read which the term wants as a base; returns that base, 0: the word cannot be one. */
static uint32_t read_word(struct sw_reads *reads, uint32_t term, uint32_t at, uint64_t value)
{
	uint32_t base = sw_reads_wants_base(reads, term) && sw_reads_is_base(value) ? base_at(reads, at) : 0;
	if (!base)
		return 0;
	read_base(reads, base, value);
	if (reads->use[term] == SW_WORD_LOW_BASE)
		reads->byte[at] |= SW_READ_LOW;
	return base;
}

void sw_reads_param(struct sw_reads *reads, uint32_t term, uint32_t at, uint32_t bytes, uint64_t value)
{
	if (!reads)
		return;
	uint32_t base = read_word(reads, term, at, value);
	reads->of[term] = (uint16_t)base;
	if (!base && reads->use[term] == SW_WORD_LOW)
		reads->byte[at] |= SW_READ_LOW;
	else if (!base)
		sw_reads_bytes(reads, at, bytes);
}

void sw_reads_element(struct sw_reads *reads, uint32_t term, uint32_t at, uint32_t bytes, uint64_t value)
{
	if (!reads)
		return;
	reads->of[term] = (uint16_t)read_word(reads, term, at, value);
	if (!reads->of[term])
		sw_reads_bytes(reads, at, bytes);
}

void sw_reads_same(struct sw_reads *reads, uint32_t term, uint32_t at, uint32_t bytes, uint64_t value)
{
	if (!reads)
		return;
	uint32_t base = read_word(reads, term, at, value);
	if (base)
		tie_bases(reads, base, reads->of[term]);
	else
		sw_reads_bytes(reads, at, bytes);
}

void sw_reads_root(struct sw_reads *reads, uint32_t at, uint64_t value)
{
	if (!reads)
		return;
	uint32_t base = sw_reads_is_base(value) ? base_at(reads, at) : 0;
	if (base)
		read_base(reads, base, value);
	else
		sw_reads_bytes(reads, at, 8);
}

void sw_reads_symbol(struct sw_reads *reads, uint32_t symbol, uint64_t address)
{
	if (!reads)
		return;
	for (size_t i = 0; i < reads->symbol.n; i++) {
		if (reads->symbol.at[i].symbol == symbol)
			return;
	}
	*sw_vec_push(&reads->symbol) = (struct sw_symbol_read){symbol, address};
}

/* Limits how far a base may move, so that what was made from it, and lay in [lo, hi], stays in [from, to]. */
static void keep_between(struct sw_reads *reads, uint32_t base, sw_wide lo, sw_wide hi, sw_wide from, sw_wide to)
{
	if (!base)
		return;
	struct sw_base_read *b = &reads->base.at[base - 1];
	if (!b->used) /* no pointer: its value is part of the key */
		return;
	if (lo < from || hi > to)
		b->least = b->most = 0;
	b->least = from - lo > b->least ? from - lo : b->least;
	b->most = to - hi < b->most ? to - hi : b->most;
	if (b->least > 0 || b->most < 0)
		b->least = b->most = 0;
}

void sw_reads_between(struct sw_reads *reads, uint32_t term, sw_wide lo, sw_wide hi, sw_wide from, sw_wide to)
{
	if (reads)
		keep_between(reads, reads->of[term], lo, hi, from, to);
}

/* The base, if it was read as one; else 0.  Words that are no pointers are part of the key and stay as they are. */
static uint32_t moving_base(const struct sw_reads *reads, uint32_t base)
{
	return base && reads->base.at[base - 1].used ? base : 0;
}

/* Keeps, as a relation between the words `own` and `named`, that `least`, which is made from the first, lies below (or
   not below) `at`, the value of the second.  False: their distance is no number of 64 bits, or there are too many
   relations. */
static bool keep_order(struct sw_reads *reads, uint32_t own, uint32_t named, sw_wide least, sw_wide at)
{
	const struct sw_base_read *a = &reads->base.at[own - 1], *b = &reads->base.at[named - 1];
	sw_wide from = least - (sw_wide)a->value; /* of the first word */
	struct sw_base_difference d = {{a->at, b->at}, least < at ? SW_BASES_LESS : SW_BASES_NOT_LESS, (uint64_t)-from};
	return -from == (int64_t)-from && keep_different(reads, d);
}

void sw_reads_below(struct sw_reads *reads, uint32_t term, sw_wide least, const struct sw_root *root, uint64_t address)
{
	sw_wide at = (sw_wide)address;
	if (!reads)
		return;
	uint32_t own = moving_base(reads, reads->of[term]), named = moving_base(reads, base_of_root(reads, root));
	if (own == named) /* both move, or none does */
		return;
	if (own && named && keep_order(reads, own, named, least, at))
		return;
	sw_wide half = (least < at ? at - least : least - at) / 2;
	if (own && named && half < FAR_APART) {
		tie_bases(reads, own, named);
	} else if (own && named && least < at) { /* neither comes half as far as to the other */
		keep_between(reads, own, least, least, -SW_INFINITE, least + half - 1);
		keep_between(reads, named, at, at, at - half, SW_INFINITE);
	} else if (own && named) {
		keep_between(reads, own, least, least, least - half, SW_INFINITE);
		keep_between(reads, named, at, at, -SW_INFINITE, at + half);
	} else if (own) {
		keep_between(reads, own, least, least, least < at ? -SW_INFINITE : at,
			     least < at ? at - 1 : SW_INFINITE);
	} else {
		keep_between(reads, named, at, at, least < at ? least + 1 : -SW_INFINITE,
			     least < at ? SW_INFINITE : least);
	}
}

void sw_reads_avoid(struct sw_reads *reads, uint32_t term, sw_wide distance)
{
	uint32_t base = reads ? moving_base(reads, reads->of[term]) : 0;
	if (!base)
		return;
	const struct sw_base_read *b = &reads->base.at[base - 1];
	if (!keep_different(reads, (struct sw_base_difference){
					   {b->at, UINT32_MAX}, SW_BASES_DIFFER, b->value + (uint64_t)distance}))
		make_number(reads, base);
}

uint16_t sw_reads_base_of(const struct sw_reads *reads, uint32_t term)
{
	return reads ? reads->of[term] : 0;
}

void sw_reads_set_base(struct sw_reads *reads, uint32_t term, uint16_t base)
{
	if (reads)
		reads->of[term] = base;
}

void sw_reads_pin(struct sw_reads *reads, uint32_t term)
{
	sw_reads_between(reads, term, 0, 0, 0, 0);
}
