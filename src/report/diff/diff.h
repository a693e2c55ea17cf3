/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs compared: which findings are new, gone, better, worse.
 *
 * Findings belong together by their call sites: the id, the operations, and the functions on their stacks, so that
 * lines which moved change nothing.  Not thread-safe.
 */
#ifndef SW_REPORT_DIFF_DIFF_H
#define SW_REPORT_DIFF_DIFF_H

#include "report/diff/digest.h"

enum sw_change { SW_CHANGE_NEW, SW_CHANGE_WORSE, SW_CHANGE_BETTER, SW_CHANGE_GONE, SW_CHANGE_SAME, SW_CHANGES };

/* A wait changed when its host time, with both runs scaled to one length, differs by more than both: so much of the
   larger side, and so much in all. */
#define SW_DIFF_NOISE_PERCENT 25u
#define SW_DIFF_NOISE_NS      200000u

struct sw_diff_entry {
	enum sw_change change;
	const struct sw_digest_finding *a, *b; /* NULL: not there */
	bool new_error;			       /* an error in b, none in a */
};

struct sw_diff {
	const struct sw_digest *a, *b;
	SW_VEC(struct sw_diff_entry) entries; /* by change, then in the order of their reports */
	size_t count[SW_CHANGES], new_errors;
};

/* The digests must outlive the comparison. */
void sw_diff_make(struct sw_diff *diff, const struct sw_digest *a, const struct sw_digest *b);
void sw_diff_free(struct sw_diff *diff);

/* "new", "worse", ... */
const char *sw_name_change(enum sw_change change);
/* `all`: what did not change, too. */
void sw_diff_text(const struct sw_diff *diff, FILE *out, bool colour, bool all);
/* doc/diff.schema.json */
void sw_diff_json(const struct sw_diff *diff, FILE *out);

#endif
