/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disjoint half-open intervals [lo, hi) in order: a treap, intrusive.
 *
 * Search, insertion and removal take O(log n) expected steps whatever the order of arrival, so a program that allocates
 * and frees by the million costs no more than one that does not.  Not thread-safe; nodes belong to the caller.
 */
#ifndef SW_DETECT_MEMORY_INTERVALS_H
#define SW_DETECT_MEMORY_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

struct sw_interval {
	uint64_t lo, hi;
	struct sw_interval *left, *right;
	struct sw_interval *before, *after; /* in order: walking along costs no search */
	uint64_t priority;
};

struct sw_intervals {
	struct sw_interval *root;
	size_t n;
	uint64_t made; /* feeds the priorities: the same insertions give the same tree */
};

/* The first interval that ends after x: the one that holds x, else the next one; NULL: none. */
struct sw_interval *sw_intervals_from(const struct sw_intervals *set, uint64_t x);
/* lo and hi are set by the caller and overlap nothing in the set.  Both may be changed later as long as order and
   disjointness hold. */
void sw_intervals_insert(struct sw_intervals *set, struct sw_interval *node);
void sw_intervals_remove(struct sw_intervals *set, struct sw_interval *node);

static inline struct sw_interval *sw_intervals_next(const struct sw_intervals *set, const struct sw_interval *node)
{
	(void)set;
	return node->after;
}

#endif
