/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of evaluations, kept by what each evaluation read of its launch.
 *
 * A launch gives the same result as an earlier one of its kernel if all that the earlier evaluation read is the same:
 * geometry, and those bytes of the parameter block that it read.  Words that are only the start of addresses
 * (launch/evaluation/reads.h) may differ: the result is moved with them.  So a training step whose tensors have other
 * addresses is not evaluated again.  Where it looked at memory, what it found there is the same, too.
 *
 * Not thread-safe: one a thread.  Footprints must live as long.
 */
#ifndef SW_FOOTPRINT_LAUNCH_MEMO_H
#define SW_FOOTPRINT_LAUNCH_MEMO_H

#include "footprint/footprint.h"

struct sw_launch_memo;

/* An empty memo.  most: bytes to keep; beyond that all results are dropped. */
struct sw_launch_memo *sw_launch_memo_open(size_t most);
void sw_launch_memo_close(struct sw_launch_memo *memo); /* NULL is allowed */

/* As sw_footprint_evaluate(), with the same results.  Without content: false if the result would be the same, whatever
 * memory holds. */
bool sw_launch_memo_evaluate(struct sw_launch_memo *memo, const struct sw_footprint *footprint,
			     const struct sw_geometry *geometry, struct sw_reaches *out);

struct sw_launch_memo_totals {
	uint64_t asked, evaluated;
	size_t bytes; /* kept */
};
/* Counts of the launches that were asked for and of those that had to be evaluated. */
struct sw_launch_memo_totals sw_launch_memo_totals(const struct sw_launch_memo *memo);

#endif
