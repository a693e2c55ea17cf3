/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts with their nouns: "1 call was lost", "2 calls were lost".
 *
 * tests/tree/counted.py finds messages that print a count before a plural without these functions.
 */
#ifndef SW_BASE_COUNTED_H
#define SW_BASE_COUNTED_H

#include <stddef.h>
#include <stdint.h>

/* The word that agrees with n. */
static inline const char *sw_plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* Writes n and words, in which the alternatives "{one|many}" agree with n: sw_counted(text, sizeof text, 1,
   "{call|calls} {was|were} lost").  Text that is too long is cut. */
void sw_counted(char *text, size_t bytes, uint64_t n, const char *words);

#endif
