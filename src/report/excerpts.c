/* SPDX-License-Identifier: Apache-2.0 */
#include "report/excerpts.h"

#include <stdlib.h>

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
