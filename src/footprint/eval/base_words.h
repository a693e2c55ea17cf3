/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which words of the parameter block are nothing but where an address begins: a launch that differs in such a word
 * alone touches the same bytes, moved.  Found once a kernel, from its terms.
 *
 * Every term that such a word goes into adds something to it, and ends in the address of an access whose only root it
 * is.  A word that is compared, multiplied, masked beyond its low bits, chosen among others or subtracted is a number.
 */
#ifndef SW_FOOTPRINT_EVAL_BASE_WORDS_H
#define SW_FOOTPRINT_EVAL_BASE_WORDS_H

#include "footprint/footprint.h"

#define SW_BASE_WORDS	 63 /* more of them are numbers */
#define SW_BASE_LOW_BITS 12 /* of a word that is tested for alignment */

enum sw_word_use { SW_WORD_NUMBER, SW_WORD_LOW, SW_WORD_BASE };

struct sw_base_words {
	uint32_t n, at[SW_BASE_WORDS]; /* byte offsets in the parameter block */
	bool low[SW_BASE_WORDS];       /* its low bits are looked at as well */
	uint8_t *use;		       /* by term: of PARAM terms */
	uint8_t *of;		       /* by term: which base it is made from, + 1; 0: none */
};

void sw_base_words_find(const struct sw_footprint *footprint, struct sw_base_words *out);
void sw_base_words_free(struct sw_base_words *words);

/* Which base the word at this offset of the block is, + 1; 0: none. */
uint32_t sw_base_word_at(const struct sw_base_words *words, uint32_t offset);

#endif
