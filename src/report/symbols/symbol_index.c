/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of an object by address. */
#include "report/symbols/debug_objects.h"

#include <stdlib.h>
#include <string.h>

/* Buckets: in a library of 300,000 symbols each holds a few hundred. */
#define BUCKETS 2048u

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

/* Frees the index. */
void sw_symbol_index_free(struct sw_symbol_index *index)
{
	free(index->symbols.at);
	free(index->bucket);
	*index = (struct sw_symbol_index){0};
}

/* The bucket of an address. */
static uint32_t bucket_of(const struct sw_symbol_index *index, uint64_t address)
{
	return (uint32_t)((address - index->low) >> index->shift);
}

/* The address after the symbol, saturating. */
static uint64_t end_of(const struct sw_index_symbol *s)
{
	return s->bytes > UINT64_MAX - s->address ? UINT64_MAX : s->address + s->bytes;
}

/* Keeps in *end the latest end of the symbols so far, and in *label whether a label (a symbol without size) lies
   there. */
static void extend_reach(const struct sw_index_symbol *s, uint64_t *end, bool *label)
{
	uint64_t own = end_of(s);
	*label = own > *end ? !s->bytes : *label || (own == *end && !s->bytes);
	*end = own > *end ? own : *end;
}

/* For each bucket the latest end of all symbols up to it, by which a search knows how far back to look. */
static void find_ends(struct sw_symbol_index *index)
{
	uint64_t end = 0;
	bool label = false;
	for (uint32_t b = 0; b < BUCKETS; b++) {
		for (size_t i = index->bucket[b].first; i < index->bucket[b + 1].first; i++)
			extend_reach(&index->symbols.at[i], &end, &label);
		index->bucket[b].end = end;
		index->bucket[b].label = label;
	}
}

/* Sorts the symbols, once all are added, and puts them into buckets of equal width of addresses. */
void sw_symbol_index_finish(struct sw_symbol_index *index)
{
	const size_t n = index->symbols.n;
	uint64_t low = UINT64_MAX, high = 0;
	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t address = index->symbols.at[i].address;
		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	index->low = low;
	while ((high - low) >> index->shift >= BUCKETS)
		index->shift++;
	index->bucket = sw_calloc(BUCKETS + 2, sizeof *index->bucket);
	for (size_t i = 0; i < n; i++)
		index->bucket[bucket_of(index, index->symbols.at[i].address) + 2].first++;
	for (uint32_t b = 0; b < BUCKETS; b++)
		index->bucket[b + 1].first += index->bucket[b].first;
	struct sw_index_symbol *sorted = sw_alloc(n * sizeof *sorted);
	for (size_t i = 0; i < n; i++)
		sorted[index->bucket[bucket_of(index, index->symbols.at[i].address) + 1].first++] =
			index->symbols.at[i];
	free(index->symbols.at);
	index->symbols.at = sorted;
	index->symbols.room = n;
	find_ends(index);
}

/* Is `s` the symbol to name, rather than `old`, which holds the address as well? */
static bool is_better(const struct sw_index_symbol *s, const struct sw_index_symbol *old)
{
	bool local = s->bind == SW_SYMBOL_LOCAL, old_local = old->bind == SW_SYMBOL_LOCAL;
	if (local != old_local)
		return old_local;
	if (s->address != old->address)
		return s->address > old->address;
	return s->bytes != old->bytes ? s->bytes < old->bytes
	       : s->bind != old->bind ? s->bind > old->bind
				      : s->number < old->number;
}

int64_t sw_symbol_index_find(const struct sw_symbol_index *index, uint64_t address, bool *label)
{
	const struct sw_index_symbol *best = NULL;
	*label = false;
	if (!index->bucket || address < index->low)
		return -1;
	const uint64_t steps = (address - index->low) >> index->shift;
	const uint32_t last = steps < BUCKETS ? (uint32_t)steps : BUCKETS - 1;
	uint64_t end = last ? index->bucket[last - 1].end : 0;
	bool at_end = last && index->bucket[last - 1].label;
	/* Backwards until no earlier bucket has a symbol that reaches the address. */
	for (uint32_t b = last + 1; b-- > 0 && (b == last || index->bucket[b].end > address);)
		for (size_t i = index->bucket[b].first; i < index->bucket[b + 1].first; i++) {
			const struct sw_index_symbol *s = &index->symbols.at[i];
			if (s->address > address)
				continue;
			if (address - s->address < s->bytes && (!best || is_better(s, best)))
				best = s;
			if (b == last)
				extend_reach(s, &end, &at_end);
		}
	*label = !best && at_end;
	return best ? (int64_t)best->number : -1;
}
