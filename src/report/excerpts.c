/* SPDX-License-Identifier: Apache-2.0 */
#include "report/excerpts.h"

#include <stdbool.h>
#include <stdlib.h>

/* Is it one of the later bytes of a character in UTF-8? */
static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Bytes of the UTF-8 character that begins here, 0: it is none.  Table 3-7 of the Unicode standard: the second byte's
   range depends on the first. */
size_t sw_utf8_length(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		return is_continuation(p[1]) ? 2 : 0;
	if ((p[0] & 0xf0) == 0xe0) {
		unsigned char low = p[0] == 0xe0 ? 0xa0 : 0x80, high = p[0] == 0xed ? 0x9f : 0xbf;
		return p[1] >= low && p[1] <= high && is_continuation(p[2]) ? 3 : 0;
	}
	if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		unsigned char low = p[0] == 0xf0 ? 0x90 : 0x80, high = p[0] == 0xf4 ? 0x8f : 0xbf;
		return p[1] >= low && p[1] <= high && is_continuation(p[2]) && is_continuation(p[3]) ? 4 : 0;
	}
	return 0;
}

/* For qsort(): by first line. */
static int by_start(const void *a, const void *b)
{
	const struct sw_excerpt *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

void sw_excerpts_merge(sw_excerpt_vec *excerpts)
{
	size_t n = 0;
	if (!excerpts->n)
		return;
	qsort(excerpts->at, excerpts->n, sizeof *excerpts->at, by_start);
	for (size_t i = 1; i < excerpts->n; i++) {
		struct sw_excerpt *last = &excerpts->at[n], *next = &excerpts->at[i];
		if (next->from > last->to)
			excerpts->at[++n] = *next;
		else if (next->to > last->to)
			last->to = next->to;
	}
	excerpts->n = n + 1;
}

bool sw_excerpts_meet(const sw_excerpt_vec *excerpts, uint64_t from, uint64_t to)
{
	size_t low = 0, high = excerpts->n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (excerpts->at[middle].to < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < excerpts->n && excerpts->at[low].from <= to;
}
