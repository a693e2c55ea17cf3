/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/symbol_index.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT 11u

void sw_symbol_index_add(struct sw_symbol_index *index, uint64_t address, uint64_t bytes, uint32_t number,
			 enum sw_symbol_bind bind)
{
	*sw_vec_push(&index->symbols) = (struct sw_index_symbol){
		.address = address,
		.bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes,
		.number = number,
		.bind = bind,
	};
}

void sw_symbol_index_free(struct sw_symbol_index *index)
{
	free(index->symbols.at);
	free(index->end);
	*index = (struct sw_symbol_index){0};
}

/* Digit by digit: libraries have up to a million symbols, and comparing sorts of so many are felt. */
static void sort(struct sw_index_symbol *at, struct sw_index_symbol *other, size_t n, uint64_t base, uint64_t span)
{
	struct sw_index_symbol *from = at, *to = other;
	for (unsigned shift = 0; shift < 64 && span >> shift; shift += DIGIT) {
		size_t first[(1u << DIGIT) + 1] = {0};
		for (size_t i = 0; i < n; i++)
			first[((from[i].address - base) >> shift & ((1u << DIGIT) - 1)) + 1]++;
		for (size_t i = 1; i < sizeof first / sizeof *first; i++)
			first[i] += first[i - 1];
		for (size_t i = 0; i < n; i++)
			to[first[(from[i].address - base) >> shift & ((1u << DIGIT) - 1)]++] = from[i];
		struct sw_index_symbol *swap = from;
		from = to;
		to = swap;
	}
	if (from != at)
		memcpy(at, from, n * sizeof *at);
}

void sw_symbol_index_finish(struct sw_symbol_index *index)
{
	size_t n = index->symbols.n;
	uint64_t low = UINT64_MAX, high = 0, end = 0;
	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t address = index->symbols.at[i].address;
		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	struct sw_index_symbol *other = sw_alloc(n * sizeof *other);
	sort(index->symbols.at, other, n, low, high - low);
	free(other);
	index->end = sw_alloc(n * sizeof *index->end);
	for (size_t i = 0; i < n; i++) {
		const struct sw_index_symbol *s = &index->symbols.at[i];
		uint64_t own = s->bytes > UINT64_MAX - s->address ? UINT64_MAX : s->address + s->bytes;
		index->end[i] = end = own > end ? own : end;
	}
}

/* First of the symbols that begin above the address. */
static size_t above(const struct sw_symbol_index *index, uint64_t address)
{
	size_t low = 0, high = index->symbols.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (index->symbols.at[middle].address > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Both hold the address; `old` begins no earlier. */
static bool is_better(const struct sw_index_symbol *s, const struct sw_index_symbol *old)
{
	bool local = s->bind == SW_SYMBOL_LOCAL, old_local = old->bind == SW_SYMBOL_LOCAL;
	if (local != old_local)
		return old_local;
	if (s->address != old->address)
		return false;
	return s->bytes != old->bytes ? s->bytes < old->bytes
	       : s->bind != old->bind ? s->bind > old->bind
				      : s->number < old->number;
}

int64_t sw_symbol_index_find(const struct sw_symbol_index *index, uint64_t address, bool *label)
{
	const struct sw_index_symbol *best = NULL;
	size_t first = above(index, address);
	*label = false;
	for (size_t i = first; i-- && index->end[i] > address;) {
		const struct sw_index_symbol *s = &index->symbols.at[i];
		bool done = best && best->bind != SW_SYMBOL_LOCAL && s->address != best->address;
		if (done)
			break;
		if (address - s->address < s->bytes && (!best || is_better(s, best)))
			best = s;
	}
	if (best)
		return best->number;
	for (size_t i = first; i-- && index->symbols.at[i].address >= index->end[first - 1];)
		*label |= !index->symbols.at[i].bytes;
	return -1;
}
