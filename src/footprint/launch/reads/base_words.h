/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which words of the parameter block are nothing but where an address begins: a launch that differs in such a word
 * alone touches the same bytes, moved.  Found once a kernel, from its terms.
 *
 * Every term that such a word goes into adds something to it, or chooses it, and ends in the address of an access.  A
 * word that is compared, multiplied, masked beyond its low bits or subtracted is a number.  Which one of several words
 * was chosen or found in a table, and whether the access is said to be made from that one, is known when a launch is
 * evaluated (reads.h).
 */
#ifndef SW_FOOTPRINT_LAUNCH_READS_BASE_WORDS_H
#define SW_FOOTPRINT_LAUNCH_READS_BASE_WORDS_H

#include "footprint/footprint.h"

#define SW_BASE_LOW_BITS 8 /* of a word that is tested for alignment */

/* LOW_BASE: its low bits are looked at as well. */
enum sw_word_use { SW_WORD_NUMBER, SW_WORD_LOW, SW_WORD_BASE, SW_WORD_LOW_BASE };

/* By term, of PARAM and ELEMENT terms: enum sw_word_use.  malloc'ed.  memory: for evaluations that know what some of it
   holds: words that go into the address of a load whose value counts are numbers. */
uint8_t *sw_base_words_find(const struct sw_footprint *footprint, bool memory);

/* A comparison of a term of 64 bits, its first operand, with 0. */
bool sw_base_asks_for_null(const struct sw_term *terms, const struct sw_term *term);

/* Operands that make the address of what they point to the result's: a bit set. */
uint32_t sw_base_carriers(const struct sw_term *term);

#endif
