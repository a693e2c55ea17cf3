/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a launch of a footprint built by hand, and compares what it touches. */
#ifndef TESTS_FOOTPRINT_REACHES_H
#define TESTS_FOOTPRINT_REACHES_H

#include <check.h>
#include <inttypes.h>

#include "terms.h"

/* Where the buffer of the first parameter lies. */
#define A UINT64_C(0x7f0000000000)

static inline struct sw_reaches evaluate(struct terms *t)
{
	struct sw_reaches out = {0};
	sw_footprint_evaluate(&t->f, &t->geometry, &out);
	return out;
}

static inline void expect(struct sw_reaches *r, size_t at, enum sw_extent extent, uint64_t address, uint64_t width)
{
	ck_assert_uint_lt(at, r->n);
	const struct sw_reach *x = &r->at[at];
	if (x->extent != extent || x->address != address || x->width != width)
		ck_abort_msg("reach %zu: extent %u (%s) address A%+" PRId64 " width %" PRIu64 " pitch %" PRIu64
			     " rows %" PRIu64,
			     at, x->extent, sw_why_text(x->why), (int64_t)(x->address - A), x->width, x->pitch,
			     x->rows);
}

static inline void expect_rows(struct sw_reaches *r, size_t at, uint64_t address, uint64_t width, uint64_t pitch,
			       uint64_t rows)
{
	expect(r, at, SW_EXTENT_BOX, address, width);
	ck_assert_uint_eq(r->at[at].pitch, pitch);
	ck_assert_uint_eq(r->at[at].rows, rows);
}

static inline void finish(struct terms *t, struct sw_reaches *r)
{
	free(r->at);
	free(t);
}

static inline void launch(struct terms *t, uint32_t grid, uint32_t block)
{
	t->geometry.grid[0] = grid;
	t->geometry.block[0] = block;
	t->value[0] = A;
}

#endif
