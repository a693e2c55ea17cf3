/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/launch/reads/reads.h"

#include <stdlib.h>
#include <string.h>

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
	uint32_t from = t->op == SW_OP_SELECT ? 0 : sw_base_carriers(t);
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

/* false: they are too many. */
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

/* A word that is wanted as a base; 0: it is none. */
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

/* A word that is no pointer is part of the key: it stays where it is. */
static uint32_t moving_base(const struct sw_reads *reads, uint32_t base)
{
	return base && reads->base.at[base - 1].used ? base : 0;
}

/* least, made from one word, lies below another word or not.  It stays so as long as their difference does; false: that
   is not kept. */
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
