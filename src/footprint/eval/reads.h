/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an evaluation read of its launch.  Two launches of a kernel with the same geometry that agree in it have the
 * same result, but for bases, with which addresses move.  Not thread-safe.
 */
#ifndef SW_FOOTPRINT_EVAL_READS_H
#define SW_FOOTPRINT_EVAL_READS_H

#include "base/memory.h"
#include "footprint/eval/base_words.h"
#include "footprint/linear/linear_form.h"

/* Of a byte of the parameter block: read as part of a number; the low bits of the 16-bit word there were. */
enum { SW_READ_NUMBER = 1, SW_READ_LOW = 2 };

/* Addresses that are made from it may move as far as this; beyond, something may be decided in another way. */
struct sw_base_read {
	bool used;
	uint64_t value;
	sw_wide least, most; /* distance */
};

struct sw_symbol_read {
	uint32_t symbol;
	uint64_t address;
};

struct sw_reads {
	const struct sw_base_words *words;
	uint8_t *byte;	/* of the block: SW_READ_ or'ed */
	uint32_t bytes; /* of the block */
	struct sw_base_read base[SW_BASE_WORDS];
	SW_VEC(struct sw_symbol_read) symbol;
};

/* Pointers of programs: an address and what is added to it stay far from both ends of the address space. */
static inline bool sw_reads_is_base(uint64_t value)
{
	return value >= UINT64_C(1) << 32 && value < UINT64_C(1) << 62;
}

struct sw_eval;
/* A term of the parameter block was read.  NULL reads: nobody wants to know, in all of these. */
void sw_reads_param(struct sw_reads *reads, uint32_t term, uint32_t at, uint32_t bytes, uint64_t value);
void sw_reads_bytes(struct sw_reads *reads, uint32_t at, uint32_t bytes);
/* The word that a root is made from. */
void sw_reads_root(struct sw_reads *reads, uint32_t at, uint64_t value);
void sw_reads_symbol(struct sw_reads *reads, uint32_t symbol, uint64_t address);
/* Numbers between lo and hi were made from the term, and it counts that they lie in [from, to]. */
void sw_reads_between(struct sw_reads *reads, uint32_t term, sw_wide lo, sw_wide hi, sw_wide from, sw_wide to);
/* It counts whether `least`, made from the term, lies below the address that a root's word holds. */
void sw_reads_below(struct sw_reads *reads, uint32_t term, sw_wide least, const struct sw_root *root, uint64_t address);
/* What was decided holds for the very value of the term's base only. */
void sw_reads_pin(struct sw_reads *reads, uint32_t term);

#endif
