/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a run: closed intervals of times or of sequence numbers. */
#ifndef SW_REPORT_EXCERPTS_H
#define SW_REPORT_EXCERPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct sw_excerpt {
	uint64_t from, to;
};
typedef SW_VEC(struct sw_excerpt) sw_excerpt_vec;

/* Sorts and joins those that overlap, as sw_excerpts_meet() needs them. */
void sw_excerpts_merge(sw_excerpt_vec *excerpts);
/* Does one of them overlap [from, to]? */
bool sw_excerpts_meet(const sw_excerpt_vec *excerpts, uint64_t from, uint64_t to);

/* Names come from programs and may hold anything: what is written is valid UTF-8. */

/* Bytes of the valid character at `text` (1 to 4), 0 if it is not one (overlong, surrogate, cut off, above U+10FFFF).
 */
size_t sw_utf8_length(const char *text);

#endif
