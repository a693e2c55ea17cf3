/* SPDX-License-Identifier: Apache-2.0 */
/* Severity and confidence of a conflict, by what is known of both accesses: all rules.  Pure functions. */
#include "detect/hazards/hazards.h"

#include "detect/memory/access.h"
#include "detect/memory/address_space.h"

static const struct sw_verdict error = {SW_ERROR, SW_CERTAIN};
static const struct sw_verdict warning = {SW_WARNING, SW_LIKELY};
static const struct sw_verdict possible = {SW_NOTE, SW_POSSIBLE};

/* By the weaker evidence of the two sides.  Exact evidence may come without bounds (a whole array): then it counts as
   direction known. */
static const struct sw_verdict *const table[SW_EV_EXACT + 1][SW_CONTACTS] = {
	/*                   bytes     same base  assumed extent */
	[SW_EV_ASSUMED] = {&possible, &possible, &possible}, [SW_EV_SIGNATURE] = {&warning, &warning, &possible},
	[SW_EV_DIRECTION] = {&warning, &warning, &possible}, [SW_EV_FOOTPRINT] = {&error, &warning, &possible},
	[SW_EV_EXACT] = {&error, &warning, &possible},
};

/* Are the first and the last byte of the range known from code or a call, not estimated? */
static bool has_bounds(const struct sw_range *range)
{
	return range->bounded && !range->vague;
}

/* Does the range of unknown extent start from the pointer of the other one, or at one of its bytes?  Where it has
   bounds, they are compared instead. */
static bool starts_inside(const struct sw_range *open, const struct sw_range *other)
{
	if (has_bounds(open))
		return false;
	if (open->base == other->base)
		return true;
	struct sw_range first = sw_range_bytes(open->base, 1, open->role, open->evidence);
	return has_bounds(other) && sw_range_overlap(&first, other);
}

enum sw_contact sw_contact_of(const struct sw_range *a, const struct sw_range *b)
{
	if (has_bounds(a) && has_bounds(b))
		return SW_CONTACT_BYTES;
	return starts_inside(a, b) || starts_inside(b, a) ? SW_CONTACT_BASE : SW_CONTACT_EXTENT;
}

/* Is the range that of a texture or surface?  The program said which rows belong to it: none is another object's. */
static bool was_described(const struct sw_range *range)
{
	const struct sw_evidence_detail *detail = range->evidence_detail;
	return detail && (detail->via == SW_VIA_TEXTURE || detail->via == SW_VIA_SURFACE);
}

/* Does the pointer of the hull (the interval that holds all that an access touches) lead to other bytes than the other
   side's?  In an allocation of several objects a hull covers bytes of other objects, so its pointer, too, must lead
   there. */
static bool hull_base_outside(const struct sw_range *hull, const struct sw_range *other)
{
	if (was_described(hull))
		return false;
	struct sw_range first = sw_range_bytes(hull->base, 1, hull->role, hull->evidence);
	return hull->loose && hull->base != other->base && !sw_range_overlap(&first, other);
}

/* The edge of a hull, rounded up to whole tiles or lines, reaches into what starts after it. */
#define SW_GRAZE 16
/* Does the hull (the interval that holds all that an access touches) reach only with its last sixteenth into what
   starts after it?  It is rounded up to whole tiles or lines. */
static bool overlaps_hull_edge(const struct sw_range *hull, const struct sw_range *other)
{
	uint64_t span = sw_range_span(hull), gap = other->address - hull->address;
	return hull_base_outside(hull, other) && other->address > hull->address && gap < span &&
	       span - gap < span / SW_GRAZE;
}

/* May the other range lie in a gap between two rows of the hull, so that they share no byte?  For rows of different
   lengths (`why` RAGGED) the hull is the least interval that holds all of them, and which of its bytes they touch is
   not kept.  No, if it covers the whole hull. */
static bool lies_between(const struct sw_range *hull, const struct sw_range *other)
{
	const struct sw_evidence_detail *detail = hull->evidence_detail;
	if (!hull->loose || !detail || detail->why != SW_WHY_RAGGED)
		return false;
	uint64_t end = hull->address + sw_range_span(hull);
	bool covers = has_bounds(other) && !other->loose && sw_range_dense(other) && other->address <= hull->address &&
		      other->address + other->width >= end;
	return !covers;
}

/* May code that polls or signals order the two, though no call does?  The other side takes part if it polls or signals,
   too, or writes what this one polls.  Flags that a kernel writes itself are semaphores of its own blocks, and locks: a
   copy takes no lock. */
static bool may_be_ordered(const struct sw_range *a, const struct sw_range *b)
{
	return (a->polls && b->polls) || (a->polls && !a->own_flags) || (b->polls && !b->own_flags);
}

/* The verdict on two ranges in one allocation that are known to overlap: by the weaker evidence of the two and by how
   they meet (bytes, pointer, assumed extent), then weakened for all that may keep them apart. */
struct sw_verdict sw_matrix(const struct sw_range *a, const struct sw_range *b, enum sw_crowding crowding)
{
	enum sw_contact contact = sw_contact_of(a, b);
	enum sw_evidence weaker = a->evidence < b->evidence ? a->evidence : b->evidence;
	if (a->unplaced || b->unplaced)
		return possible;
	if (crowding >= SW_CROWDING_MANY && contact != SW_CONTACT_BYTES)
		return possible;
	if (overlaps_hull_edge(a, b) || overlaps_hull_edge(b, a) || lies_between(a, b) || lies_between(b, a))
		return possible;
	if (crowding >= SW_CROWDING_SEVERAL && (hull_base_outside(a, b) || hull_base_outside(b, a)))
		return possible;
	struct sw_verdict verdict = *table[weaker][contact];
	/* Where in the box, or whether at all, depends on data: as sure as a shared base. */
	if (verdict.severity == SW_ERROR && (a->loose || b->loose || a->perhaps || b->perhaps))
		verdict = warning;
	if (may_be_ordered(a, b))
		return possible;
	if (verdict.severity == SW_ERROR && (a->polls || b->polls))
		return warning;
	return verdict;
}
