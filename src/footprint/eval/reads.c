/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/eval/reads.h"

void sw_reads_bytes(struct sw_reads *reads, uint32_t at, uint32_t bytes)
{
	for (uint32_t i = 0; reads && i < bytes && at + i < reads->bytes; i++)
		reads->byte[at + i] |= SW_READ_NUMBER;
}

static void read_base(struct sw_reads *reads, uint32_t base, uint64_t value)
{
	struct sw_base_read *b = &reads->base[base];
	if (!b->used)
		*b = (struct sw_base_read){.used = true, .value = value, .least = -SW_INFINITE, .most = SW_INFINITE};
}

void sw_reads_param(struct sw_reads *reads, uint32_t term, uint32_t at, uint32_t bytes, uint64_t value)
{
	if (!reads)
		return;
	uint8_t use = reads->words->use[term];
	uint32_t base = reads->words->of[term];
	if (use == SW_WORD_BASE && sw_reads_is_base(value)) {
		read_base(reads, base - 1, value);
		if (reads->words->low[base - 1])
			reads->byte[at] |= SW_READ_LOW;
	} else if (use == SW_WORD_LOW) {
		reads->byte[at] |= SW_READ_LOW;
	} else {
		sw_reads_bytes(reads, at, bytes);
	}
}

void sw_reads_root(struct sw_reads *reads, uint32_t at, uint64_t value)
{
	if (!reads)
		return;
	uint32_t base = sw_base_word_at(reads->words, at);
	if (base && sw_reads_is_base(value))
		read_base(reads, base - 1, value);
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

void sw_reads_between(struct sw_reads *reads, uint32_t term, sw_wide lo, sw_wide hi, sw_wide from, sw_wide to)
{
	uint32_t base = reads ? reads->words->of[term] : 0;
	if (!base)
		return;
	struct sw_base_read *b = &reads->base[base - 1];
	if (!b->used) /* no pointer: its value is part of the key */
		return;
	if (lo < from || hi > to)
		b->least = b->most = 0;
	b->least = from - lo > b->least ? from - lo : b->least;
	b->most = to - hi < b->most ? to - hi : b->most;
	if (b->least > 0 || b->most < 0)
		b->least = b->most = 0;
}

void sw_reads_pin(struct sw_reads *reads, uint32_t term)
{
	sw_reads_between(reads, term, 0, 0, 0, 0);
}

void sw_reads_below(struct sw_reads *reads, uint32_t term, sw_wide least, const struct sw_root *root, uint64_t address)
{
	uint32_t base = reads ? reads->words->of[term] : 0;
	sw_wide at = (sw_wide)address;
	if (!base || (root->kind == SW_ROOT_PARAM && root->param == reads->words->at[base - 1])) /* both move */
		return;
	if (least < at)
		sw_reads_between(reads, term, least, least, -SW_INFINITE, at - 1);
	else
		sw_reads_between(reads, term, least, least, at, SW_INFINITE);
}
