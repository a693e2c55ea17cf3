/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outer bounds of what a launch touches, for a small part of the cost of its evaluation.
 *
 * Each term is bounded by an interval, from its operands' intervals: no conditions but those that end loops or keep all
 * threads away, no linear programs, no cases.  So spans are wider than what is touched, for example by threads that do
 * nothing.  That is enough to find the allocation of an access, and not for more.
 *
 * Sound: whatever the launch touches through a site that has an address lies in one of the spans, or is an open reach
 * of an endless one.
 *
 * Not thread-safe: one a thread.  The footprint must live as long.
 */
#ifndef SW_FOOTPRINT_LAUNCH_SPANS_H
#define SW_FOOTPRINT_LAUNCH_SPANS_H

#include "footprint/footprint.h"

struct sw_span {
	uint64_t lo, hi;  /* [lo, hi) */
	uint32_t site;	  /* one that may be there */
	uint32_t pointer; /* of the module itself */
	bool endless;	  /* what the site touches is open in each launch; lo, hi: of a root's words, in the parameter
			     block */
};

struct sw_spans;

/* Prepares the spans of a kernel, once for all its launches. */
struct sw_spans *sw_spans_new(const struct sw_footprint *footprint);
void sw_spans_free(struct sw_spans *spans); /* NULL is allowed */

/* The spans of a launch, *n of them at *out until the next call.  False: some access has no bounds, or the parameter
   block lacks what it is made from. */
bool sw_spans_find(struct sw_spans *spans, const struct sw_geometry *geometry, const struct sw_span **out, uint32_t *n);

#endif
