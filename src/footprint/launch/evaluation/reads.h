/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of what an evaluation read of its launch.  Two launches of a kernel with the same geometry that agree in
 * it have the same result, but for bases, with which addresses move.  Not thread-safe.
 */
#ifndef SW_FOOTPRINT_LAUNCH_EVALUATION_READS_H
#define SW_FOOTPRINT_LAUNCH_EVALUATION_READS_H

#include "footprint/footprint.h"
#include "base/memory.h"
#include "footprint/launch/linear/linear_form.h"

/*
 * Which words of the parameter block are nothing but where an address begins: a launch that differs in such a word
 * alone touches the same bytes, moved.  Found once a kernel, from its terms.
 *
 * Every term that such a word goes into adds something to it, or chooses it, and ends in the address of an access.  A
 * word that is compared, multiplied, masked beyond its low bits or subtracted is a number.  Which one of several words
 * was chosen or found in a table, and whether the access is said to be made from that one, is known when a launch is
 * evaluated.
 */

#define SW_BASE_LOW_BITS 8 /* of a word that is tested for alignment */

/* LOW_BASE: its low bits are looked at as well. */
enum sw_word_use { SW_WORD_NUMBER, SW_WORD_LOW, SW_WORD_BASE, SW_WORD_LOW_BASE };

/* By term, of PARAM and ELEMENT terms: enum sw_word_use.  malloc'ed.  memory: for evaluations that know what some of it
   holds: words that go into the address of a load whose value counts are numbers. */
uint8_t *sw_base_words_find(const struct sw_footprint *footprint, bool memory);

/* Is the term a comparison of its first operand, a term of 64 bits, with 0? */
bool sw_base_asks_for_null(const struct sw_term *terms, const struct sw_term *term);

/* A byte of the parameter block was read as part of a number; the low bits of the 16-bit word there were read. */
enum { SW_READ_NUMBER = 1, SW_READ_LOW = 2 };

/* A word that addresses are made from.  They may move as far as this; beyond, something may be decided in another way.
   Bases are counted from 1; 0: none. */
struct sw_base_read {
	uint32_t at;	   /* in the block */
	bool used, number; /* number: its very value counts */
	uint16_t tied;	   /* the base that moves as far; 0: none */
	uint64_t value;
	sw_wide least, most; /* distance */
};

struct sw_symbol_read {
	uint32_t symbol;
	uint64_t address;
};

/* A relation between two words of the parameter block that an evaluation relied on: their difference, the first less
   the second, is not `than` (else two values made from them would be equal), is less than it, or is not less.  at:
   their offsets in the block; UINT32_MAX stands for a word that is 0. */
enum sw_base_relation { SW_BASES_DIFFER, SW_BASES_LESS, SW_BASES_NOT_LESS };
struct sw_base_difference {
	uint32_t at[2];
	enum sw_base_relation relation;
	uint64_t than; /* LESS, NOT_LESS: signed */
};
#define SW_MOST_DIFFERENCES 64
/* Does the relation hold for these two values of its words? */
bool sw_base_difference_holds(const struct sw_base_difference *d, uint64_t first, uint64_t second);

struct sw_reads {
	bool memory;	    /* what memory holds counts, as far as it is known */
	const uint8_t *use; /* by term: sw_base_words_find() */
	uint32_t bytes;	    /* of the block */
	uint8_t *byte;	    /* of the block: SW_READ_ or'ed */
	uint16_t *base_at;  /* by byte of the block: the base that begins there */
	uint16_t *of;	    /* by term that was evaluated: which base it is made from */
	SW_VEC(struct sw_base_read) base;
	SW_VEC(struct sw_symbol_read) symbol;
	SW_VEC(struct sw_base_difference) different;
};

/* Empties the record for the launches of one kernel with so many bytes of parameters. */
void sw_reads_reset(struct sw_reads *reads, const struct sw_footprint *footprint, const uint8_t *use, uint32_t bytes);
/* Frees what the record holds. */
void sw_reads_free(struct sw_reads *reads);
/* Begins an evaluation for some blocks of the grid: for no term it is known yet which word of the parameter block
   its address is made from. */
void sw_reads_begin(struct sw_reads *reads, const struct sw_footprint *footprint);

/* Ends the record after the last evaluation: pointers that move as far as one that stays where it is stay, too. */
void sw_reads_finish(struct sw_reads *reads);

/* Pointers of programs: an address and what is added to it stay far from both ends of the address space. */
#define SW_LEAST_BASE ((sw_wide)1 << 32)
/* Can the value be a pointer of a program? */
static inline bool sw_reads_is_base(uint64_t value)
{
	return value >= SW_LEAST_BASE && value < UINT64_C(1) << 62;
}

/* Finds the base that a term is made from, i.e. the word of the parameter block that its address begins at, before
   the term is evaluated and after its operands were.  NULL reads: not wanted, in all of these. */
void sw_reads_follow(struct sw_reads *reads, const struct sw_term *terms, uint32_t term);
/* Gives the term the base of `chosen`, the one of several others that it is. */
void sw_reads_choose(struct sw_reads *reads, uint32_t term, uint32_t chosen);
/* Gives the term a base that moves as those of several others do: it is one of these terms, or lies between them. */
void sw_reads_mix(struct sw_reads *reads, uint32_t term, const uint32_t *of, uint32_t n);
/* Notes that a decision depends on the words at two offsets of the parameter block being unequal. */
void sw_reads_unequal(struct sw_reads *reads, uint32_t at, uint32_t other);
/* Notes that a decision depends on two terms being unequal; difference: a less b in this launch.  With too many such
   relations the words that the terms are made from become numbers, whose very values count. */
void sw_reads_differ(struct sw_reads *reads, uint32_t a, uint32_t b, sw_wide difference);
/* Notes that an access by this term, between lo and hi, is reported as made from the root's word.  One below
   SW_LEAST_BASE that is made from no base stays where it is. */
void sw_reads_name(struct sw_reads *reads, uint32_t term, const struct sw_root *root, sw_wide lo, sw_wide hi);
/* Notes that bytes of the parameter block were read for a term, and their value. */
void sw_reads_param(struct sw_reads *reads, uint32_t term, uint32_t at, uint32_t bytes, uint64_t value);
/* Notes that bytes of the parameter block were read as a number. */
void sw_reads_bytes(struct sw_reads *reads, uint32_t at, uint32_t bytes);
/* Notes that an element of a table in the parameter block was read, which the term is made from. */
void sw_reads_element(struct sw_reads *reads, uint32_t term, uint32_t at, uint32_t bytes, uint64_t value);
/* Notes that the term's element may as well be the one at another offset, which is equal. */
void sw_reads_same(struct sw_reads *reads, uint32_t term, uint32_t at, uint32_t bytes, uint64_t value);
/* Is the term's element one whose value does not count, if it is a base? */
bool sw_reads_wants_base(const struct sw_reads *reads, uint32_t term);
/* Notes the word that a root is made from, and its value. */
void sw_reads_root(struct sw_reads *reads, uint32_t at, uint64_t value);
/* Notes that the address of a module variable was read. */
void sw_reads_symbol(struct sw_reads *reads, uint32_t symbol, uint64_t address);
/* Notes that numbers between lo and hi were made from the term, and that a decision depends on their lying in
   [from, to]. */
void sw_reads_between(struct sw_reads *reads, uint32_t term, sw_wide lo, sw_wide hi, sw_wide from, sw_wide to);
/* Notes that a decision depends on the term's base not moving by this distance, modulo 2^64. */
void sw_reads_avoid(struct sw_reads *reads, uint32_t term, sw_wide distance);
/* Notes that a decision depends on whether `least`, the least value of the term, lies below the address that a
   root's word holds. */
void sw_reads_below(struct sw_reads *reads, uint32_t term, sw_wide least, const struct sw_root *root, uint64_t address);
/* The base that a term is made from where it was evaluated last, for a later look at the same case. */
uint16_t sw_reads_base_of(const struct sw_reads *reads, uint32_t term);
/* Sets the base that a term is made from, which sw_reads_base_of() gave before. */
void sw_reads_set_base(struct sw_reads *reads, uint32_t term, uint16_t base);
/* Notes that a decision holds for no other value of the term's base. */
void sw_reads_pin(struct sw_reads *reads, uint32_t term);

#endif
