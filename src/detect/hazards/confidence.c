/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/confidence.h"

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

static bool has_bounds(const struct sw_range *range)
{
	return range->bounded && !range->vague;
}

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

/* The program said when it made a texture or surface which rows belong to it: no byte of another object. */
static bool was_described(const struct sw_range *range)
{
	const struct sw_evidence_detail *detail = range->evidence_detail;
	return detail && (detail->via == SW_VIA_TEXTURE || detail->via == SW_VIA_SURFACE);
}

/* In an allocation of several objects a hull covers bytes of other objects: its pointer, too, must lead to the other
   side's bytes. */
static bool strays(const struct sw_range *hull, const struct sw_range *other)
{
	if (was_described(hull))
		return false;
	struct sw_range first = sw_range_bytes(hull->base, 1, hull->role, hull->evidence);
	return hull->loose && hull->base != other->base && !sw_range_overlap(&first, other);
}

/* The edge of a hull, rounded up to whole tiles or lines, reaches into what starts after it. */
#define SW_GRAZE 16
static bool grazes(const struct sw_range *hull, const struct sw_range *other)
{
	uint64_t span = sw_range_span(hull), gap = other->address - hull->address;
	return strays(hull, other) && other->address > hull->address && gap < span && span - gap < span / SW_GRAZE;
}

/* Rows of different lengths: which bytes of the hull they are is known, but not kept.  A part of the hull may lie
   between them, all of it cannot. */
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

/* Code that polls or signals may order what no call orders: the other side takes part if it polls or signals, too, or
   writes what this one polls.  Flags that a kernel writes itself are semaphores of its own blocks, and locks: a copy
   takes no lock. */
static bool may_be_ordered(const struct sw_range *a, const struct sw_range *b)
{
	return (a->polls && b->polls) || (a->polls && !a->own_flags) || (b->polls && !b->own_flags);
}

struct sw_verdict sw_one_step_down(struct sw_verdict verdict)
{
	return verdict.severity == SW_ERROR ? warning : possible;
}

struct sw_verdict sw_matrix(const struct sw_range *a, const struct sw_range *b, enum sw_crowding crowding)
{
	enum sw_contact contact = sw_contact_of(a, b);
	enum sw_evidence weaker = a->evidence < b->evidence ? a->evidence : b->evidence;
	if (a->unplaced || b->unplaced)
		return possible;
	if (crowding >= SW_CROWDING_MANY && contact != SW_CONTACT_BYTES)
		return possible;
	if (grazes(a, b) || grazes(b, a) || lies_between(a, b) || lies_between(b, a))
		return possible;
	if (crowding >= SW_CROWDING_SEVERAL && (strays(a, b) || strays(b, a)))
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
