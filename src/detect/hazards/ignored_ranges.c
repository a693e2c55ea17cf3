/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that the program excludes from judging. */
#include "detect/hazards/ignored_ranges.h"

#include <stdlib.h>

#include "detect/memory/access.h"
#include "detect/memory/intervals.h"
#include "detect/model/model.h"

struct sw_intervals *sw_ignored_new(void)
{
	return sw_calloc(1, sizeof(struct sw_intervals));
}

void sw_judge_range_again(struct sw_model *m, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	while ((at = sw_intervals_from(m->ignored, lo)) && at->lo < hi) {
		sw_intervals_remove(m->ignored, at);
		free(at);
	}
}

void sw_ignore_range(struct sw_model *m, uint64_t lo, uint64_t hi)
{
	sw_judge_range_again(m, lo, hi);
	struct sw_interval *at = sw_calloc(1, sizeof *at);
	at->lo = lo;
	at->hi = hi;
	sw_intervals_insert(m->ignored, at);
}

bool sw_note_ignored(const struct sw_model *m, const struct sw_range *range)
{
	if (!m->ignored->n)
		return false;
	const struct sw_interval *at = sw_intervals_from(m->ignored, range->address);
	return at && at->lo <= range->address && (!range->bounded || sw_range_span(range) <= at->hi - range->address);
}

void sw_ignored_free(struct sw_model *m)
{
	sw_judge_range_again(m, 0, UINT64_MAX);
	free(m->ignored);
}
