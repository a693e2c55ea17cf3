/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that are remembered against launches that are evaluated: the same results, wherever the pointer lies and
 * whatever else changes.
 *
 *     test_launch_memo [FIRST [COUNT]]     seeds of the oracle's random kernels
 *
 * A floor on what is remembered keeps the test from passing on a memo that remembers nothing.
 */
#include <inttypes.h>
#include <stdio.h>

#include "footprint/launch_memo.h"
#include "oracle.h"

/* Where the pointer of a kernel lies, one launch after the other: 0 means anywhere. */
static const uint64_t places[] = {ORACLE_BASE,
				  ORACLE_BASE + 8,
				  ORACLE_BASE - 4096,
				  0x7e0000000000,
				  ORACLE_BASE,
				  UINT64_C(1) << 32,
				  (UINT64_C(1) << 32) + 64,
				  (UINT64_C(1) << 32) - 8,
				  (UINT64_C(1) << 62) - 8,
				  UINT64_C(1) << 62,
				  UINT64_MAX - 64,
				  8,
				  0,
				  ORACLE_BASE + 0x123450,
				  0};
#define PLACES (sizeof places / sizeof *places)

static bool same_reach(const struct sw_reach *a, const struct sw_reach *b)
{
	return a->role == b->role && a->extent == b->extent && a->polls == b->polls && a->why == b->why &&
	       a->site == b->site && a->root.kind == b->root.kind && a->root.weak == b->root.weak &&
	       a->root.param == b->root.param && a->root.span == b->root.span && a->root.symbol == b->root.symbol &&
	       a->address == b->address && a->width == b->width && a->pitch == b->pitch && a->rows == b->rows &&
	       a->slice == b->slice && a->slices == b->slices && a->below == b->below;
}

static bool same(const struct sw_reaches *a, const struct sw_reaches *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (!same_reach(&a->at[i], &b->at[i]))
			return false;
	}
	return true;
}

static void print(const char *what, const struct sw_reaches *reaches)
{
	fprintf(stderr, "  %s:\n", what);
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		fprintf(stderr,
			"    role %u extent %u why %u param %u at %" PRIx64 " width %" PRIu64 " rows %" PRIu64
			"/%" PRIu64 " slices %" PRIu64 "/%" PRIu64 " below %d\n",
			r->role, r->extent, r->why, r->root.param, r->address, r->width, r->rows, r->pitch, r->slices,
			r->slice, r->below);
	}
}

/* One launch; false: it is remembered wrongly. */
static bool check(struct sw_launch_memo *memo, const struct oracle_kernel *k)
{
	struct sw_reaches remembered = {0}, evaluated = {0};
	sw_launch_memo_evaluate(memo, &k->t->f, &k->t->geometry, &remembered);
	sw_footprint_evaluate(&k->t->f, &k->t->geometry, &evaluated);
	bool good = same(&remembered, &evaluated);
	if (!good) {
		fprintf(stderr, "pointer %" PRIx64 " params %" PRId64 " %" PRId64 " grid %u\n", k->t->value[0],
			(int64_t)k->t->value[1], (int64_t)k->t->value[2], k->t->geometry.grid[0]);
		print("remembered", &remembered);
		print("evaluated", &evaluated);
	}
	free(remembered.at);
	free(evaluated.at);
	return good;
}

static bool check_kernel(struct oracle_kernel *k, uint64_t seed, struct sw_launch_memo_totals *totals)
{
	/* Small: what is forgotten must not change results. */
	struct sw_launch_memo *memo = sw_launch_memo_open(seed % 7 ? 1 << 20 : 1);
	uint64_t value[3] = {k->t->value[0], k->t->value[1], k->t->value[2]};
	bool good = true;
	for (uint32_t i = 0; i < PLACES && good; i++) {
		k->t->value[0] = places[i] ? places[i] : oracle_random(UINT64_MAX);
		good = check(memo, k);
	}
	for (uint32_t i = 0; i < 8 && good; i++) {
		k->t->value[0] = ORACLE_BASE + 512 * oracle_random(1000);
		k->t->value[1 + i % 2] = oracle_random(2) ? value[1 + i % 2] : oracle_random(100);
		k->t->geometry.grid[0] = 1 + (uint32_t)oracle_random(3);
		good = check(memo, k);
	}
	struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
	totals->asked += own.asked;
	totals->evaluated += own.evaluated;
	sw_launch_memo_close(memo);
	if (!good)
		fprintf(stderr, "seed %" PRIu64 ": not the same\n", seed);
	return good;
}

/* Steps back from the pointer, farther than some pointers lie from address 0: there it wraps around. */
static bool check_ends(struct sw_launch_memo_totals *totals)
{
	static const uint64_t far[] = {ORACLE_BASE, UINT64_C(1) << 32, ORACLE_BASE + 64, UINT64_C(1) << 43,
				       (UINT64_C(1) << 43) - 4096};
	struct oracle_kernel k = {.t = terms_new()};
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	bool good = true;
	uint32_t back = mul(k.t, 64, extend(k.t, 64, 32, 0, special(k.t, SW_CTAID_X)), constant(k.t, 64, 4096));
	site(k.t, SW_TOUCH_WRITE, 0, op(k.t, SW_OP_SUB, 64, 0, param(k.t, 64, 0), back), 4, 0);
	k.t->geometry.grid[0] = UINT32_C(1) << 31;
	for (uint32_t i = 0; i < sizeof far / sizeof *far && good; i++) {
		k.t->value[0] = far[i];
		good = check(memo, &k);
	}
	struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
	totals->asked += own.asked;
	totals->evaluated += own.evaluated;
	sw_launch_memo_close(memo);
	free(k.t);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		 count = argc > 2 ? strtoull(argv[2], NULL, 0) : 1500, failed = 0;
	struct sw_launch_memo_totals totals = {0};
	static struct oracle_kernel k;
	failed += !check_ends(&totals);
	for (uint64_t seed = first; seed < first + count && failed < 3; seed++) {
		oracle_make(&k, seed);
		failed += !check_kernel(&k, seed, &totals);
		free(k.t);
	}
	printf("%" PRIu64 " launches, %" PRIu64 " evaluated, %" PRIu64 " kernels wrong\n", totals.asked,
	       totals.evaluated, failed);
	if (totals.evaluated * 3 > totals.asked * 2) {
		fprintf(stderr, "fewer than a third of the launches are remembered\n");
		failed++;
	}
	return failed != 0;
}
