/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operation touches, before and after it is placed in an allocation.
 *
 * A range is a box of bytes:  `slices` x `rows` rows of `width` bytes. 2D and 3D copies stay boxes, they never become
 * their hull: two column tiles of one matrix do not conflict.  Signatures and code of kernels are turned into ranges as
 * well; nothing in this module depends on where a range comes from.
 */
#ifndef SW_DETECT_MEMORY_ACCESS_H
#define SW_DETECT_MEMORY_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/detect.h"

struct sw_range {
	uint64_t address; /* first byte; inside an allocation: offset from its start */
	uint64_t base;	/* the pointer that it is reached from, as `address`; the same, unless code computes with it */
	uint64_t width; /* bytes of a row; 0 with !bounded: extent unknown */
	uint64_t pitch, rows;	/* bytes from row to row, rows (>= 1) */
	uint64_t slice, slices; /* bytes from slice to slice, slices (>= 1) */
	enum sw_role role;	/* SW_READ, SW_WRITE, SW_READ_WRITE, SW_ATOMIC */
	enum sw_evidence evidence;
	int32_t param;	/* parameter that holds the pointer, -1 none */
	bool bounded;	/* the box is all that can be touched; else `address` is only where it starts */
	bool below;	/* unbounded, and may start before `address` */
	bool loose;	/* bounded, but perhaps not all of it is touched: an index is data-dependent */
	bool vague;	/* bounded by its allocation alone: not better than a pointer (`base`) without a known end */
	bool perhaps;	/* of work that may not run (a body of a conditional node), or by a pointer that may have been
			   another: at most a warning */
	bool polls;	/* signals through memory, or is a library's workspace: one step down in the matrix */
	uint8_t phase;	/* enum sw_grid_phase: of a kernel, with respect to its griddepcontrol.wait */
	bool own_flags; /* it also writes what it polls (semaphores between its own blocks): at most a warning */
	bool unplaced;	/* through a texture, surface or tensor map, and which part of it is not known: possible at most
			 */
	const struct sw_evidence_detail *evidence_detail; /* evidence from the kernel's code, NULL: none */
};

/* A range of consecutive bytes. */
struct sw_range sw_range_bytes(uint64_t address, uint64_t bytes, enum sw_role role, enum sw_evidence evidence);
/* A range of which only the start is known: all that can be reached from a pointer. */
struct sw_range sw_range_open(uint64_t address, enum sw_role role, enum sw_evidence evidence, int32_t param);
/* A range that is a box: size[0] bytes in each of size[1] rows, `pitch` apart, in each of size[2] slices; 0 counts as
   1.  One without gaps becomes consecutive bytes. */
struct sw_range sw_range_box(uint64_t address, const uint64_t size[3], uint64_t pitch, uint64_t slice,
			     enum sw_role role, enum sw_evidence evidence);

/* Bytes from the first to the last byte touched, saturating; 0: touches nothing. */
uint64_t sw_range_span(const struct sw_range *range);
static inline bool sw_range_dense(const struct sw_range *range)
{
	return range->rows == 1 && range->slices == 1;
}
/* Do two bounded ranges share a byte?  Exact, except that of two boxes with different pitches and more than 65536 rows
   only the first rows are compared (then a conflict may be missed, never invented). */
bool sw_range_overlap(const struct sw_range *a, const struct sw_range *b);
/* Are the rows of a box disjoint, and in the order of their addresses? */
bool sw_range_has_rows_apart(const struct sw_range *range);
/* Do both touch a byte in [lo, hi)?  Of two boxes one must have its rows apart; else all bytes count. */
bool sw_range_overlap_within(const struct sw_range *a, const struct sw_range *b, uint64_t lo, uint64_t hi);

static inline bool sw_role_reads(enum sw_role role)
{
	return role == SW_READ || role == SW_READ_WRITE || role == SW_ATOMIC;
}
static inline bool sw_role_writes(enum sw_role role)
{
	return role == SW_WRITE || role == SW_READ_WRITE || role == SW_ATOMIC || role == SW_FREE || role == SW_ALLOC;
}

/* Rank of an access as evidence: the higher of two may supersede the other. */
static inline int sw_range_rank(const struct sw_range *range)
{
	if (range->bounded && !range->vague)
		return range->loose ? 3 : 4;
	return (int)range->evidence < 2 ? (int)range->evidence : 2;
}

/*
 * Disjoint half-open intervals [lo, hi) in order: a treap, intrusive.
 *
 * Search, insertion and removal take O(log n) expected steps whatever the order of arrival, so a program that allocates
 * and frees by the million costs no more than one that does not.  Not thread-safe; nodes belong to the caller.
 */

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
/* Adds an interval, whose lo and hi overlap nothing in the set.  Both may be changed later as long as order and
   disjointness hold. */
void sw_intervals_insert(struct sw_intervals *set, struct sw_interval *node);
/* Takes the interval out of the set; nothing happens if it is not there. */
void sw_intervals_remove(struct sw_intervals *set, struct sw_interval *node);

static inline struct sw_interval *sw_intervals_next(const struct sw_intervals *set, const struct sw_interval *node)
{
	(void)set;
	return node->after;
}

#endif
