/* SPDX-License-Identifier: Apache-2.0 */
/* Launches judged by the code of their kernels: PTX in the trace, from there to the finding. */
#include "detect/judge.h"
#include "detect/kernels.h"

/* ---- two launches on two streams --------------------------------------------------------------------------------- */

static const struct {
	struct test_call first, second;
	int id; /* 0: nothing at all, not even a possible conflict */
	enum sw_severity severity;
	enum sw_confidence confidence;
} pairs[] = {
	{FILL(DEV, 0, 256), FILL(DEV, 0, 256), 103, SW_ERROR, SW_CERTAIN},
	{FILL(DEV, 0, 256), FILL(DEV, 255, 256), 103, SW_ERROR, SW_CERTAIN},
	{FILL(DEV, 0, 256), FILL(DEV, 256, 256), 0, 0, 0}, /* chunks of one array */
	{FILL(DEV, 0, 101), FILL(DEV, 100, 1), 103, SW_ERROR, SW_CERTAIN},
	{FILL(DEV, 0, 100), FILL(DEV, 100, 156), 0, 0, 0},			    /* the guard ends the chunk */
	{FILL(DEV + 4, -1, 100), FILL(DEV - 4, 100, 1), 103, SW_ERROR, SW_CERTAIN}, /* 0 to 99, and 99 */
	{COPY(DEV, DEV2, 256), FILL(DEV2, 0, 256), 102, SW_ERROR, SW_CERTAIN},
	{COPY(DEV, DEV2, 256), COPY(DEV + 4096, DEV2, 256), 0, 0, 0}, /* both only read the same */
	{FILL(DEV2, 0, 256), COPY(DEV, DEV2, 256), 101, SW_ERROR, SW_CERTAIN},
	{SCATTER(DEV, DEV2, 256), SCATTER(DEV, DEV2, 256), 103, SW_WARNING, SW_LIKELY},
	{SCATTER(DEV, DEV2, 256), FILL(DEV, 512, 256), 103, SW_WARNING, SW_LIKELY}, /* the same pointer */
	{SCATTER(DEV, DEV2, 256), FILL(DEV2, 256, 256), 0, 0, 0},		    /* beyond the index */
	{SCATTER(DEV, DEV2, 256), FILL(DEV2, 0, 256), 102, SW_ERROR, SW_CERTAIN},
	{MASKED(DEV, DEV2, 256), FILL(DEV, 0, 1), 103, SW_WARNING, SW_LIKELY},
	{MASKED(DEV, DEV2, 256), FILL(DEV, 256, 256), 0, 0, 0}, /* beyond the mask */
	{COUNT(DEV, 256), COUNT(DEV, 256), 0, 0, 0},
	{COUNT(DEV, 256), FILL(DEV, 0, 256), 103, SW_ERROR, SW_CERTAIN},
	{COUNT(DEV, 256), COPY(DEV2, DEV, 256), 101, SW_ERROR, SW_CERTAIN},
	{SIGNAL(DEV, 256), FILL(DEV, 0, 256), 103, SW_NOTE, SW_POSSIBLE},
	{SIGNAL(DEV, 256), FILL(DEV, 256, 256), 0, 0, 0},
	{MEMBERS(DEV2, DEV, 256), FILL(DEV, 0, 256), 103, SW_ERROR, SW_CERTAIN},
	{MEMBERS(DEV2, DEV, 256), FILL(DEV2, 0, 256), 0, 0, 0},		       /* a stale pointer in the structure */
	{WAITS(DEV, DEV2, 256), FILL(DEV, 0, 256), 103, SW_NOTE, SW_POSSIBLE}, /* the flags may order the two */
	{WAITS(DEV, 0, 256), FILL(DEV, 0, 256), 103, SW_ERROR, SW_CERTAIN},    /* there are none */
	{FORTH(DEV + 1024), FILL(DEV, 0, 256), 0, 0, 0},		       /* from its pointer on */
	{BACK(DEV + 1024), FILL(DEV, 0, 256), 103, SW_NOTE, SW_POSSIBLE},
	{BACK(DEV + 1024), FILL(DEV + 1024, 0, 256), 103, SW_WARNING, SW_LIKELY},
	{FILL(DEV, 0, 256), BACK(DEV + 1024), 103, SW_NOTE, SW_POSSIBLE},
	{CHASE(DEV), COPY(DEV2, DEV, 256), 0, 0, 0}, /* the table is only read */
	{CHASE(DEV), FILL(DEV2, 0, 256), 0, 0, 0},   /* where it points to is unknown */
};

START_TEST(two_launches)
{
	for (int ordered = 0; ordered < 2; ordered++) {
		struct tb *tb = with_code(two_streams());
		test_launch(tb, &pairs[_i].first, S1);
		if (ordered)
			order(tb, S1, S2);
		test_launch(tb, &pairs[_i].second, S2);
		struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
		ck_assert_uint_eq(j->coverage.kernels_by_source[SW_BY_PTX], 2);
		if (ordered || !pairs[_i].id) {
			no_hazards(j);
		} else {
			const struct sw_finding *f = only(j, pairs[_i].id);
			ck_assert_int_eq(f->severity, pairs[_i].severity);
			ck_assert_int_eq(f->confidence, pairs[_i].confidence);
			for (int side = 0; side < 2; side++) {
				ck_assert_ptr_nonnull(f->access[side]->evidence_detail);
				ck_assert_uint_eq(f->access[side]->evidence_detail->source, SW_SOURCE_PTX);
				ck_assert_uint_eq(f->access[side]->evidence_detail->arch, 90);
				ck_assert(!f->access[side]->evidence_detail->other_code);
			}
		}
		sw_judgement_free(j);
	}
}
END_TEST

/* Facts reported of an access: the bytes, the parameter, the instruction. */
START_TEST(an_access_is_told_exactly)
{
	struct tb *tb = with_code(two_streams());
	test_launch(tb, &(struct test_call)COPY(DEV, DEV2, 100), S1);
	test_launch(tb, &(struct test_call)FILL(DEV2 + 64, 1, 50), S2);
	struct sw_judgement *j = judged(tb);
	const struct sw_access *const *a = only(j, 102)->access;
	ck_assert_uint_eq(a[0]->address, DEV2);
	ck_assert_uint_eq(a[0]->bytes, 400);
	ck_assert_int_eq(a[0]->param, 1);
	ck_assert_int_eq(a[0]->role, SW_READ);
	ck_assert_str_eq(a[0]->evidence_detail->mnemonic, "ld.global");
	ck_assert_uint_eq(a[1]->address, DEV2 + 68);
	ck_assert_uint_eq(a[1]->bytes, 200);
	ck_assert(a[1]->extent_known);
	ck_assert_int_eq(a[1]->evidence, SW_EV_FOOTPRINT);
	ck_assert_int_eq(a[1]->evidence_detail->extent, SW_EXTENT_BOX);
	ck_assert_uint_eq(j->coverage.kernels_by_evidence[SW_EV_FOOTPRINT], 2);
	sw_judgement_free(j);
}
END_TEST

/* The geometry of each launch counts, not that of the first: what is remembered of a kernel is asked for by all of it.
 */
START_TEST(each_launch_has_its_geometry)
{
	struct tb *tb = with_code(two_streams());
	uint32_t fill = test_function(tb, "fill");
	uint64_t words[] = {DEV, 1ull << 62};
	tb_launch_block(tb, fill, S1, words, sizeof words);
	tb_launch_block(tb, fill, S1, words, sizeof words)->grid[0] = _i ? 2 : 1;
	test_launch(tb, &(struct test_call)FILL(DEV, 256, 256), S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i);
	sw_judgement_free(j);
}
END_TEST

/* ---- against what is not a kernel -------------------------------------------------------------------------------- */

START_TEST(copies_meet_boxes)
{
	struct tb *tb = with_code(two_streams());
	test_launch(tb, &(struct test_call)FILL(DEV, 256, 256), S1);
	d2h(tb, PIN, _i ? DEV + 1020 : DEV, _i ? 8 : 1024, S2);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_uint_eq(count_of(j, 101), _i);
	if (_i)
		ck_assert_int_eq(only(j, 101)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

START_TEST(memory_that_was_freed)
{
	struct tb *tb = with_code(two_streams());
	if (_i)
		tb_free_sync(tb, SW_MEM_UNKNOWN, DEV);
	test_launch(tb, &(struct test_call)MEMBERS(DEV2, DEV, 256), S1);
	if (!_i)
		tb_free_sync(tb, SW_MEM_UNKNOWN, DEV2); /* the stale member */
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 105), _i);
	if (_i)
		ck_assert_int_eq(only(j, 105)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* A guard that was not understood: what lies beyond the allocation is not meant, the rest not certain. */
START_TEST(nothing_leaves_its_allocation)
{
	struct tb *tb = with_code(two_streams());
	tb_alloc(tb, SW_MEM_DEVICE, DEV + (1 << 20), 1 << 20);
	test_launch(tb, &(struct test_call)FILL(DEV + (1 << 20) - 64, 0, 256), S1);
	tb_set(tb, _i ? DEV + (1 << 20) - 8 : DEV + (1 << 20), 8, S2);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_uint_eq(count_of(j, 103), _i);
	if (_i)
		ck_assert_int_eq(only(j, 103)->severity, SW_WARNING);
	sw_judgement_free(j);
}
END_TEST

START_TEST(boxes_are_no_starts)
{
	struct tb *tb = with_code(two_streams());
	uint32_t fill = test_function(tb, "fill");
	for (uint64_t i = 0; i < 200; i++)
		tb_launch(tb, fill, S1, 2, DEV, i * 256 | 256ull << 32);
	test_launch(tb, &(struct test_call)SCATTER(DEV, DEV2, 256), S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 103)->severity, SW_WARNING); /* of a pool it would only be possible */
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, two_launches, 0, sizeof pairs / sizeof *pairs);
	tcase_add_test(tc, an_access_is_told_exactly);
	tcase_add_loop_test(tc, each_launch_has_its_geometry, 0, 2);
	tcase_add_loop_test(tc, copies_meet_boxes, 0, 2);
	tcase_add_loop_test(tc, memory_that_was_freed, 0, 2);
	tcase_add_loop_test(tc, nothing_leaves_its_allocation, 0, 2);
	tcase_add_test(tc, boxes_are_no_starts);
}

int main(void)
{
	return run_cases("footprints", add);
}
