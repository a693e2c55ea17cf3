/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses made from the digits of one number: rows and columns of an index that was divided (`i / w`, `i % w`), as
 * libraries walk tensors of any shape and stride, and programs their warps and lanes.
 *
 * Where the number takes all values of an interval, what is touched is a few boxes, whatever the strides.  One site
 * rarely has all values (four of an unrolled loop have a quarter each), so sites that differ in their numbers alone are
 * put together first.
 */
#ifndef SW_FOOTPRINT_LAUNCH_EVALUATION_DIGITS_H
#define SW_FOOTPRINT_LAUNCH_EVALUATION_DIGITS_H

#include "footprint/launch/evaluation/eval.h"

/* address = constant + sum of by[j] * digit j of x + what is free.  Digit j counts unit[j] (1, and then multiples of
   each other); the last one is not bounded. */
struct sw_digits {
	struct sw_form x;
	sw_wide constant;
	uint32_t n, frees;
	sw_wide unit[SW_FORM_VARS + 1], by[SW_FORM_VARS + 1];
	sw_wide free_by[SW_FORM_VARS], free_count[SW_FORM_VARS]; /* numbers of threads and blocks, of nothing else */
};

/* Bounds of a form that is made so: of linear programs, those that whole numbers are needed for fail.  Infinite where
   it is not; hold in this case. */
struct sw_bounds sw_digits_bound(const struct sw_eval *e, const struct sw_form *form);

/* A site in one case: which numbers x is, as boxes of "bytes". */
#define SW_DIGIT_BOXES 8
struct sw_digit_site {
	struct sw_digits digits;
	struct sw_reach hull; /* what is said of it otherwise */
	uint64_t bytes;
	struct sw_reach x[SW_DIGIT_BOXES];
	uint32_t n;
	bool done;
};
/* Keeps a site, with the hull of its addresses, until all sites are kept: sw_digits_finish() may make boxes of several.
   False: its address is not made from digits. */
bool sw_digits_keep(struct sw_eval *e, const struct sw_form *address, uint64_t bytes, const struct sw_reach *hull);
/* Appends, for all sites that were kept, boxes where they can be made, else the hulls. */
void sw_digits_finish(struct sw_eval *e, struct sw_reaches *out);

#endif
