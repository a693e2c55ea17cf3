/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which symbol holds an address.  libdw looks at every symbol of a file for each address, 12 ms in a library of 46,000
 * symbols; this puts them into buckets once.  Few addresses are asked for: sorting all symbols took longer.
 *
 *     add, add, ... finish, find, find, ...
 */
#ifndef SW_REPORT_SYMBOLS_SYMBOL_INDEX_H
#define SW_REPORT_SYMBOLS_SYMBOL_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

enum sw_symbol_bind { SW_SYMBOL_LOCAL, SW_SYMBOL_WEAK, SW_SYMBOL_GLOBAL };

struct sw_index_symbol {
	uint64_t address;
	uint32_t bytes; /* 0 unknown: a label */
	uint32_t number : 30, bind : 2;
};

struct sw_symbol_bucket {
	size_t first;
	uint64_t end; /* the latest of its symbols and of those before: bounds how far back one must look */
	bool label;   /* a label lies there */
};

struct sw_symbol_index {
	SW_VEC(struct sw_index_symbol) symbols; /* by bucket */
	struct sw_symbol_bucket *bucket;	/* each begins where the one before ends */
	uint64_t low;				/* address of the first */
	unsigned shift;				/* its addresses, as a power of 2 */
};

/* number: the caller's name for it, below 2^30. */
void sw_symbol_index_add(struct sw_symbol_index *index, uint64_t address, uint64_t bytes, uint32_t number,
			 enum sw_symbol_bind bind);
void sw_symbol_index_finish(struct sw_symbol_index *index);
void sw_symbol_index_free(struct sw_symbol_index *index);

/*
 * The number of the symbol whose bytes hold the address: a global or weak one before a local one, the one that begins
 * nearest, the shortest of those, a global one before a weak one. -1: none does; *label: a symbol without a size begins
 * after all that end before the address, and so may be meant.
 */
int64_t sw_symbol_index_find(const struct sw_symbol_index *index, uint64_t address, bool *label);

#endif
