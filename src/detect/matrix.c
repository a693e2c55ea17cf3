/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/matrix.h"

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

struct sw_verdict sw_matrix(const struct sw_range *a, const struct sw_range *b, bool crowded)
{
	enum sw_contact contact = sw_contact_of(a, b);
	enum sw_evidence weaker = a->evidence < b->evidence ? a->evidence : b->evidence;
	if (crowded && contact != SW_CONTACT_BYTES)
		return possible;
	struct sw_verdict verdict = *table[weaker][contact];
	if (verdict.severity == SW_ERROR && (a->loose || b->loose))
		verdict = warning; /* where in the box depends on data: as sure as a shared base */
	if (a->polls || b->polls)
		return verdict.severity == SW_ERROR ? warning : possible;
	return verdict;
}
