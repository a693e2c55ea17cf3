/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that kernels reach without a pointer; code that shows less than all, or is not there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/kernels/kernel_code.h"
#include "detect/judge.h"
#include "detect/kernels.h"

/* ---- what is not a pointer --------------------------------------------------------------------------------------- */

START_TEST(pointers_in_memory_are_counted)
{
	struct tb *tb = with_code(two_streams());
	test_launch(tb, &(struct test_call)CHASE(DEV), S1);
	test_launch(tb, &(struct test_call)FILL(DEV2, 0, 256), S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.indirect_kernels, 1);
	ck_assert_uint_eq(j->coverage.symbol_kernels, 0);
	ck_assert_uint_eq(j->coverage.wild_kernels, 0);
	sw_judgement_free(j);
}
END_TEST

/* 0: the texture was made before anybody watched; 1: over the memory that is written; 2: over other memory. */
START_TEST(textures_are_known_by_handle)
{
	struct tb *tb = with_code(two_streams());
	if (_i)
		tb_object(tb, SW_OBJECT_TEXTURE, 7, DEV2 + (_i == 1 ? 0 : 2048), 1024);
	test_launch(tb, &(struct test_call)FETCH(DEV, 7), S1);
	test_launch(tb, &(struct test_call)FILL(DEV2, 0, 256), S2);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_uint_eq(j->coverage.object_kernels, _i == 0);
	ck_assert_uint_eq(count_of(j, 102), _i == 1);
	if (_i == 1) {
		ck_assert_int_eq(only(j, 102)->severity, SW_WARNING); /* where in it is not known */
		ck_assert_int_eq(only(j, 102)->access[0]->evidence_detail->via, SW_VIA_TEXTURE);
	}
	sw_judgement_free(j);
}
END_TEST

START_TEST(textures_of_arrays)
{
	struct tb *tb = with_code(two_streams());
	tb_alloc(tb, SW_MEM_ARRAY, 0x4444, 4096);
	tb_object(tb, SW_OBJECT_TEXTURE, 7, 0x4444, 0)->side = SW_SIDE_ARRAY;
	test_launch(tb, &(struct test_call)FETCH(DEV, 7), S1);
	if (_i)
		order(tb, S1, S2);
	tb_copy(tb, 0x4444, SW_SIDE_ARRAY, PIN, SW_SIDE_HOST, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 102), !_i);
	sw_judgement_free(j);
}
END_TEST

/* ---- code that shows less --------------------------------------------------------------------------------------- */

/* Code that cannot be followed counts for what it shows, and its parameters as if there were no code. */
START_TEST(wild_code_proves_nothing)
{
	struct tb *tb = with_code(two_streams());
	test_launch(tb, &(struct test_call)WILD(DEV), S1);
	test_launch(tb, &(struct test_call)FILL(_i ? DEV2 : DEV, 0, 256), S2);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_uint_eq(j->coverage.wild_kernels, 1);
	ck_assert_uint_eq(count_of(j, 103) + count_of(j, 101), !_i);
	for (size_t i = 0; i < j->findings.n; i++)
		if (sw_finding_is(j->findings.at[i].id, SW_FAMILY_HAZARD))
			ck_assert_int_lt(j->findings.at[i].severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* PTX of another architecture: how it uses its pointers is a good guess, how far is not. */
START_TEST(other_code_is_a_guess)
{
	size_t bytes;
	struct tb *tb = two_streams();
	const char *text = test_kernels_elsewhere(&bytes);
	tb->image = tb_image(tb, SW_IMAGE_PTX, NULL, text, bytes);
	test_launch(tb, &(struct test_call)FILL(DEV, 0, 256), S1);
	test_launch(tb, &(struct test_call)FILL(_i ? DEV2 : DEV, 256, 256), S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.kernels_by_source[SW_BY_OTHER_CODE], 2);
	ck_assert_uint_eq(count_of(j, 103), !_i);
	if (!_i) {
		const struct sw_finding *f = only(j, 103);
		ck_assert_int_eq(f->severity, SW_WARNING);
		ck_assert_int_eq(f->access[0]->evidence, SW_EV_DIRECTION);
		ck_assert(f->access[0]->evidence_detail->other_code);
		ck_assert_uint_eq(f->access[0]->evidence_detail->arch, 120);
	}
	sw_judgement_free(j);
}
END_TEST

/* 0: no image; 1: an image without this kernel; 2: another kernel of that name; 3: footprints are switched off. */
START_TEST(no_code_is_told)
{
	size_t bytes;
	struct tb *tb = _i ? with_code(two_streams()) : two_streams();
	uint32_t f = _i == 1 ? tb_function(tb, "missing", 1, 8)
			     : tb_function(tb, "fill", _i == 2 ? 2 : 3, 8, 8 - 4 * (_i != 2), 4);
	(void)test_kernels(&bytes);
	tb_launch(tb, f, S1, 2, DEV, 256ull << 32);
	tb_set(tb, DEV + 4096, 64, S2);
	struct sw_judgement *j =
		judged_with(tb, &(struct sw_judge_options){.keep_possible = true, .no_footprints = _i == 3});
	ck_assert_uint_eq(j->coverage.kernels_by_source[SW_BY_ASSUMED], 1);
	ck_assert_uint_eq(j->coverage.codeless_kernels, _i == 0);
	ck_assert_uint_eq(j->coverage.unreadable_kernels, _i == 1 || _i == 2);
	const struct sw_finding *found = only(j, 103);
	ck_assert_int_eq(found->confidence, SW_POSSIBLE);
	if (_i < 3)
		ck_assert_ptr_nonnull(found->access[0]->evidence_detail->unread);
	sw_judgement_free(j);
}
END_TEST

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* 0: older than the load; 1: written since; 2: removed. */
START_TEST(code_in_a_file_must_be_what_was_loaded)
{
	char path[64];
	size_t bytes;
	const char *text = test_kernels(&bytes);
	snprintf(path, sizeof path, "/tmp/test-footprints-%d.ptx", (int)getpid());
	FILE *f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fwrite(text, 1, bytes, f);
	fclose(f);
	struct tb *tb = two_streams();
	tb->header.start_realtime_ns = _i == 1 ? 1 : UINT64_MAX / 2;
	tb->image = tb_image(tb, SW_IMAGE_PTX, path, NULL, 0);
	test_launch(tb, &(struct test_call)FILL(DEV, 0, 256), S1);
	test_launch(tb, &(struct test_call)FILL(DEV, 256, 256), S2);
	if (_i == 2)
		unlink(path);
	struct sw_judgement *j = judged(tb);
	unlink(path);
	ck_assert_uint_eq(j->coverage.kernels_by_source[SW_BY_PTX], _i ? 0 : 2);
	ck_assert_uint_eq(j->coverage.unreadable_kernels, _i ? 2 : 0);
	sw_judgement_free(j);
}
END_TEST

/* A file cut short anywhere has the same build id or none. */
START_TEST(build_ids_of_damaged_files)
{
	static uint8_t file[1 << 16];
	uint32_t bytes = 0, cut_bytes;
	FILE *f = fopen("/proc/self/exe", "rb");
	ck_assert_ptr_nonnull(f);
	size_t n = fread(file, 1, sizeof file, f);
	fclose(f);
	const uint8_t *id = sw_code_build_id(file, n, &bytes);
	for (size_t cut = 0; cut < n; cut += cut < 4096 ? 1 : 4093) {
		uint8_t *part = malloc(cut + 1);
		memcpy(part, file, cut);
		const uint8_t *found = sw_code_build_id(part, cut, &cut_bytes);
		if (found) {
			ck_assert_ptr_nonnull(id);
			ck_assert_uint_eq(cut_bytes, bytes);
			ck_assert_mem_eq(found, id, bytes);
		}
		free(part);
	}
	ck_assert_ptr_null(sw_code_build_id("text", 4, &bytes));
}
END_TEST

/* Any damage to a trace with code: judged to its end, whatever is left (sanitizers look on). */
#define COUNTERS 0x7f2000000000ull

START_TEST(damaged_traces_with_code)
{
	struct test_call calls[] = {FILL(DEV, 0, 256),	     SCATTER(DEV, DEV2, 256),
				    MEMBERS(DEV2, DEV, 256), CHASE(DEV),
				    COPY(DEV, DEV2, 256),    VARIABLE,
				    FETCH(DEV, 7),	     WILD(DEV)};
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct tb *tb = with_code(two_streams());
		tb_code(tb, SW_REC_CODE_LOAD, 0x7001, tb->image);
		tb_alloc(tb, SW_MEM_SYMBOL, COUNTERS, 1024)->owner = 0x7001;
		tb_name(tb, SW_NAME_SYMBOL, COUNTERS, 0, "counters");
		tb_object(tb, SW_OBJECT_TEXTURE, 7, DEV2, 1024)->rank = 2;
		for (size_t i = 0; i < 3 * sizeof calls / sizeof *calls; i++)
			test_launch(tb, &calls[i % (sizeof calls / sizeof *calls)], i % 2 ? S1 : S2);
		sw_judgement_free(judged_damaged(tb, &(struct sw_judge_options){.keep_possible = true, .threads = 1},
						 seed, 1 + (unsigned)seed));
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, damaged_traces_with_code);
	tcase_add_test(tc, pointers_in_memory_are_counted);
	tcase_add_loop_test(tc, textures_are_known_by_handle, 0, 3);
	tcase_add_loop_test(tc, textures_of_arrays, 0, 2);
	tcase_add_loop_test(tc, wild_code_proves_nothing, 0, 2);
	tcase_add_loop_test(tc, other_code_is_a_guess, 0, 2);
	tcase_add_loop_test(tc, no_code_is_told, 0, 4);
	tcase_add_loop_test(tc, code_in_a_file_must_be_what_was_loaded, 0, 3);
	tcase_add_test(tc, build_ids_of_damaged_files);
}

int main(void)
{
	return run_cases("code", add);
}
