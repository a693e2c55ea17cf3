/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Half-open intervals [lo, hi) that may overlap, each with the step at which it came: finds those in a range that are
 * later than a given step.
 *
 * They lie in order of lo, then tick, in runs of some dozens, each with the largest values in it: a search walks along
 * the runs, which are few, and into those that may hold a result.  (A treap with the same values takes five times as
 * long for some thousand intervals: each of its nodes is a cache miss.) Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_OVERLAPS_H
#define SW_DETECT_MEMORY_OVERLAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

struct sw_overlap {
	uint64_t lo, hi, tick, seq;
	void *what;
};

struct sw_overlap_run;

struct sw_overlaps {
	SW_VEC(struct sw_overlap_run) run;
	size_t n;
};

typedef SW_VEC(void *) sw_overlap_vec;

void sw_overlaps_insert(struct sw_overlaps *set, const struct sw_overlap *interval);
/* Adds an interval. */
void sw_overlaps_remove(struct sw_overlaps *set, uint64_t lo, uint64_t tick, const void *what);
void sw_overlaps_clear(struct sw_overlaps *set);
/* What share a byte with [lo, hi), and have a tick after `tick` or a seq from `seq` on, are appended to *out.  out
   NULL: is there one? */
bool sw_overlaps_later(const struct sw_overlaps *set, uint64_t lo, uint64_t hi, uint64_t tick, uint64_t seq,
		       sw_overlap_vec *out);

#endif
