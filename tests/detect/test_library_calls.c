/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of cuBLAS and others: which work is part of which call, handles, what their arguments mean. */
#include "detect/libraries/library_calls.h"
#include "detect/kernels.h"
#include "judge.h"

#include <string.h>

#define WORD(value) ((uint64_t)(value))
#define BLAS	    WORD(0x51a5)

/* A kernel without code and without parameters: only what its call says is known. */
static uint32_t opaque(struct tb *tb)
{
	return tb_function(tb, "_Z6opaquev", 0);
}

static void made(struct tb *tb, uint64_t handle)
{
	tb_library(tb, SW_LIBRARY_DONE, "cublasCreate_v2", handle, 1, WORD(0x1000));
}

static void gives(struct tb *tb, uint64_t handle, uint64_t workspace, uint64_t bytes)
{
	tb_library(tb, SW_LIBRARY_DONE, "cublasSetWorkspace_v2", handle, 3, handle, workspace, bytes);
}

static void calls(struct tb *tb, const char *name, uint64_t handle, uint32_t kernel, uint64_t stream)
{
	tb_library(tb, SW_LIBRARY_BEGIN, name, handle, 1, handle);
	tb_launch(tb, kernel, stream, 0);
	tb_library(tb, SW_LIBRARY_RETURN, "", 0, 0);
}

static const struct sw_library_call *call_of(const struct sw_judgement *j, const struct sw_access *access)
{
	ck_assert_uint_gt(access->library, 0);
	return &j->library_calls.at[access->library - 1];
}

START_TEST(work_between_two_records_is_part_of_the_call)
{
	struct tb *tb = two_streams();
	tb_library(tb, SW_LIBRARY_BEGIN, "cublasScopy_v2", BLAS, 1, BLAS);
	h2d(tb, DEV, PIN, 4096, S1);
	tb_thread(tb, 2);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, 101);
	ck_assert_str_eq(call_of(j, f->access[0])->function, "cublasScopy_v2");
	ck_assert_int_eq(call_of(j, f->access[0])->library, SW_CUDA_CUBLAS);
	ck_assert_uint_eq(f->access[1]->library, 0); /* another thread */
	sw_judgement_free(j);
}
END_TEST

START_TEST(what_comes_after_the_call_is_not)
{
	struct tb *tb = two_streams();
	h2d(tb, DEV, PIN, 4096, S1);
	tb_library(tb, SW_LIBRARY_BEGIN, "cufftExecC2C", 0, 1, WORD(0));
	tb_library(tb, SW_LIBRARY_RETURN, "", 0, 0);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(only(j, 101)->access[0]->library, 0);
	ck_assert_uint_eq(only(j, 101)->access[1]->library, 0);
	sw_judgement_free(j);
}
END_TEST

/* An event that cuDNN keeps for itself and records again before anyone waited; the program has its part; cuBLAS has. */
START_TEST(events_of_a_library)
{
	static const char *const others[] = {"cudnnRNNForward", NULL, "cublasSgemm_v2"};
	struct tb *tb = two_streams();
	order(tb, S1, S2);
	tb_library(tb, SW_LIBRARY_BEGIN, "cudnnRNNForward", BLAS, 1, BLAS);
	tb_event_record(tb, E1, S1);
	tb_library(tb, SW_LIBRARY_RETURN, "", 0, 0);
	if (others[_i])
		tb_library(tb, SW_LIBRARY_BEGIN, others[_i], BLAS, 1, BLAS);
	tb_event_record(tb, E1, S1);
	if (others[_i])
		tb_library(tb, SW_LIBRARY_RETURN, "", 0, 0);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 203), _i != 0);
	sw_judgement_free(j);
}
END_TEST

/* Two calls with the workspaces that they were given. */
static struct sw_judgement *two_calls(const char *first, const char *second, uint64_t other, bool ordered)
{
	struct tb *tb = two_streams();
	const uint32_t kernel = opaque(tb);
	made(tb, BLAS);
	made(tb, BLAS + 1);
	gives(tb, BLAS, DEV, 65536);
	gives(tb, BLAS + 1, other, 65536);
	calls(tb, first, BLAS, kernel, S1);
	if (ordered)
		order(tb, S1, S2);
	calls(tb, second, BLAS + 1, kernel, S2);
	return judged(tb);
}

START_TEST(a_workspace_of_two_handles)
{
	struct sw_judgement *j = two_calls("cublasSgemm_v2", "cublasDgemm_v2", DEV + 4096, false);
	const struct sw_finding *f = only(j, 101);
	ck_assert_int_eq(f->confidence, SW_LIKELY);
	ck_assert_int_eq(f->fix, SW_FIX_WORKSPACE);
	ck_assert(f->workspace);
	ck_assert_uint_eq(call_of(j, f->access[0])->number, 1);
	ck_assert_uint_eq(call_of(j, f->access[1])->number, 2);
	ck_assert_uint_eq(call_of(j, f->access[1])->workspace, DEV + 4096);
	sw_judgement_free(j);
	j = two_calls("cublasSgemm_v2", "cublasDgemm_v2", DEV + 65536, false);
	no_hazards(j);
	sw_judgement_free(j);
	j = two_calls("cublasSgemm_v2", "cublasDgemm_v2", DEV, true);
	no_hazards(j);
	sw_judgement_free(j);
	j = two_calls("cublasSgemm_v2", "cublasZcopy_v2", DEV, false); /* which needs none */
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* The work of one call on two streams is ordered by the library; how much of the workspace each kernel uses is not
   known. Two calls: a hazard. */
START_TEST(two_streams_of_one_call)
{
	for (int two = 0; two < 2; two++) {
		struct tb *tb = two_streams();
		const uint32_t kernel = opaque(tb);
		made(tb, BLAS);
		gives(tb, BLAS, DEV, 65536);
		tb_library(tb, SW_LIBRARY_BEGIN, "cublasSgemm_v2", BLAS, 1, BLAS);
		tb_launch(tb, kernel, S1, 0);
		if (two) {
			tb_library(tb, SW_LIBRARY_RETURN, "", 0, 0);
			tb_library(tb, SW_LIBRARY_BEGIN, "cublasSgemm_v2", BLAS, 1, BLAS);
		}
		tb_launch(tb, kernel, S2, 0);
		tb_library(tb, SW_LIBRARY_RETURN, "", 0, 0);
		struct sw_judgement *j = judged(tb);
		if (two)
			ck_assert_int_eq(only(j, 101)->confidence, SW_LIKELY);
		else
			no_hazards(j);
		sw_judgement_free(j);
	}
}
END_TEST

/* Only the pointer of a kernel is known: two kernels in one workspace are a hazard if they use the same one. */
START_TEST(parts_of_a_workspace)
{
	for (int apart = 0; apart < 2; apart++) {
		struct tb *tb = with_code(two_streams());
		struct test_call first = FORTH(DEV + 4096), second = FORTH(DEV + 4096 + (apart ? 8192 : 0));
		made(tb, BLAS);
		gives(tb, BLAS, DEV, 65536);
		for (int i = 0; i < 2; i++) {
			tb_library(tb, SW_LIBRARY_BEGIN, "cublasSgemm_v2", BLAS, 1, BLAS);
			test_launch(tb, i ? &second : &first, i ? S2 : S1);
			tb_library(tb, SW_LIBRARY_RETURN, "", 0, 0);
		}
		struct sw_judgement *j = judged(tb);
		if (apart)
			no_hazards(j);
		else
			ck_assert_int_eq(only(j, 103)->confidence, SW_LIKELY);
		sw_judgement_free(j);
	}
}
END_TEST

START_TEST(a_destroyed_handle_has_none)
{
	struct tb *tb = two_streams();
	const uint32_t kernel = opaque(tb);
	made(tb, BLAS);
	gives(tb, BLAS, DEV, 65536);
	calls(tb, "cublasSgemm_v2", BLAS, kernel, S1);
	tb_library(tb, SW_LIBRARY_GONE, "cublasDestroy_v2", BLAS, 1, BLAS);
	calls(tb, "cublasSgemm_v2", BLAS, kernel, S2);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

START_TEST(lost_records)
{
	struct tb *tb = two_streams();
	const uint32_t kernel = opaque(tb);
	made(tb, BLAS);
	gives(tb, BLAS, DEV, 65536);
	tb_library(tb, SW_LIBRARY_BEGIN, "cublasSgemm_v2", BLAS, 1, BLAS);
	tb_loss(tb, tb->seq + 1, tb->seq + 2, 2);
	h2d(tb, DEV, PIN, 4096, S1);		       /* the call may have returned */
	calls(tb, "cublasSgemm_v2", BLAS, kernel, S2); /* its handle may have another workspace */
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, 101);
	ck_assert_uint_eq(f->access[0]->library, 0);
	ck_assert_uint_eq(count_of(j, 103), 0);
	sw_judgement_free(j);
}
END_TEST

/* A copy by the program that overlaps a workspace in use is a hazard, but not between two library calls. */
START_TEST(a_workspace_and_other_work)
{
	struct tb *tb = two_streams();
	made(tb, BLAS);
	gives(tb, BLAS, DEV, 65536);
	calls(tb, "cublasSgemm_v2", BLAS, opaque(tb), S1);
	h2d(tb, DEV, PIN, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert(!only(j, 103)->workspace);
	ck_assert_int_eq(only(j, 103)->fix, SW_FIX_EVENT);
	sw_judgement_free(j);
}
END_TEST

START_TEST(records_that_lie_about_their_length)
{
	struct tb *tb = two_streams();
	tb_library(tb, SW_LIBRARY_BEGIN, "cublasSgemm_v2", BLAS, 2, BLAS, WORD(1))->words = 40;
	tb_library(tb, SW_LIBRARY_BEGIN, "cublasSgemm_v2", BLAS, 2, BLAS, WORD(1))->words = UINT32_MAX;
	tb_library(tb, SW_LIBRARY_BEGIN, "cublasSgemm_v2", BLAS, 2, BLAS, WORD(1))->name_bytes = UINT32_MAX;
	tb_library(tb, (enum sw_library_op)77, "cublasSgemm_v2", BLAS, 0);
	tb_library(tb, SW_LIBRARY_DONE, "cublasSetWorkspace_v2", BLAS, 1, BLAS);
	tb_library(tb, SW_LIBRARY_DONE, "cufftPlan1d", 0, 0);
	tb_library(tb, SW_LIBRARY_BEGIN, "", 0, 0);
	h2d(tb, DEV, PIN, 4096, S1);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static struct sw_operands operands(const char *function, bool device_scalars, uint32_t n, const uint64_t *words)
{
	struct sw_library_open open = {.words = n, .device_scalars = device_scalars};
	memcpy(open.word, words, n * sizeof *words);
	return sw_library_operands(&open, function);
}
#define OPERANDS(function, device, ...)                                                                                \
	operands(function, device, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void is_box(const struct sw_range *range, uint64_t address, uint64_t width, uint64_t pitch, uint64_t rows,
		   enum sw_role role)
{
	ck_assert_uint_eq(range->address, address);
	ck_assert_uint_eq(range->width, width);
	ck_assert_uint_eq(range->pitch, pitch);
	ck_assert_uint_eq(range->rows, rows);
	ck_assert_int_eq(range->role, role);
	ck_assert(range->bounded);
}

START_TEST(a_product)
{
	/* op(A) is 4 x 6, op(B) 6 x 5; A is transposed */
	struct sw_operands o =
		OPERANDS("cublasDgemm_v2", false, BLAS, 1, 0, 4, 5, 6, 0x10, 0xa000, 7, 0xb000, 8, 0x20, 0xc000, 9);
	ck_assert_uint_eq(o.n, 3);
	is_box(&o.at[0], 0xa000, 6 * 8, 7 * 8, 4, SW_READ);
	is_box(&o.at[1], 0xb000, 6 * 8, 8 * 8, 5, SW_READ);
	is_box(&o.at[2], 0xc000, 4 * 8, 9 * 8, 5, SW_READ_WRITE);
	o = OPERANDS("cublasDgemm_v2_64", true, BLAS, 1, 0, 4, 5, 6, 0x10, 0xa000, 7, 0xb000, 8, 0x20, 0xc000, 9);
	ck_assert_uint_eq(o.n, 5);
	is_box(&o.at[3], 0x10, 8, 8, 1, SW_READ);
	is_box(&o.at[4], 0x20, 8, 8, 1, SW_READ);
}
END_TEST

START_TEST(products_of_batches)
{
	struct sw_operands o = OPERANDS("cublasHgemmStridedBatched", false, BLAS, 0, 0, 4, 5, 6, 0x10, 0xa000, 4, 100,
					0xb000, 6, 200, 0x20, 0xc000, 4, 0, 3);
	ck_assert_uint_eq(o.n, 3);
	ck_assert_uint_eq(o.at[0].slices, 3);
	ck_assert_uint_eq(o.at[0].slice, 200);
	ck_assert_uint_eq(o.at[1].slice, 400);
	ck_assert_uint_eq(o.at[2].slices, 1); /* all in one place */
}
END_TEST

START_TEST(types_in_the_arguments)
{
	/* halves, halves, floats */
	struct sw_operands o = OPERANDS("cublasGemmEx", false, BLAS, 0, 0, 4, 5, 6, 0x10, 0xa000, 2, 8, 0xb000, 2, 8,
					0x20, 0xc000, 0, 8, 68, 0);
	ck_assert_uint_eq(o.n, 3);
	is_box(&o.at[0], 0xa000, 4 * 2, 8 * 2, 6, SW_READ);
	is_box(&o.at[2], 0xc000, 4 * 4, 8 * 4, 5, SW_READ_WRITE);
	/* 4-bit numbers are not understood: nothing is known */
	o = OPERANDS("cublasGemmEx", false, BLAS, 0, 0, 4, 5, 6, 0x10, 0xa000, 16, 8, 0xb000, 2, 8, 0x20, 0xc000, 0, 8,
		     68, 0);
	ck_assert_uint_eq(o.n, 0);
}
END_TEST

START_TEST(vectors)
{
	struct sw_operands o = OPERANDS("cublasZaxpy_v2", false, BLAS, 10, 0x10, 0xa000, 3, 0xb000, WORD(-2));
	ck_assert_uint_eq(o.n, 2);
	is_box(&o.at[0], 0xa000, 16, 48, 10, SW_READ);
	is_box(&o.at[1], 0xb000, 16, 32, 10, SW_READ_WRITE); /* backwards: the same bytes */
	o = OPERANDS("cublasSscal_v2", true, BLAS, 10, 0x10, 0xa000, 1);
	ck_assert_uint_eq(o.n, 2);
	is_box(&o.at[0], 0xa000, 40, 40, 1, SW_READ_WRITE);
	o = OPERANDS("cublasSgemv_v2", false, BLAS, 1, 4, 6, 0x10, 0xa000, 5, 0xb000, 1, 0x20, 0xc000, 2);
	ck_assert_uint_eq(o.n, 3);
	is_box(&o.at[0], 0xa000, 16, 20, 6, SW_READ);
	ck_assert_uint_eq(sw_range_span(&o.at[1]), 4 * 4);
	ck_assert_uint_eq(sw_range_span(&o.at[2]), (5 * 2 + 1) * 4);
}
END_TEST

START_TEST(what_is_not_understood_has_no_operands)
{
	ck_assert_uint_eq(
		OPERANDS("cublasSgemm_v3", false, BLAS, 0, 0, 4, 5, 6, 0, 0xa000, 4, 0xb000, 6, 0, 0xc000, 4).n, 0);
	ck_assert_uint_eq(OPERANDS("cublasSgemm_v2", false, BLAS, 0, 0, 4).n, 0);
	ck_assert_uint_eq(OPERANDS("cublasScopy_v2", false, BLAS, WORD(1) << 50, 0xa000, 1, 0xb000, 1).n, 0);
	ck_assert_uint_eq(OPERANDS("cublasXcopy_v2", false, BLAS, 4, 0xa000, 1, 0xb000, 1).n, 0);
	ck_assert_uint_eq(OPERANDS("cufftExecC2C", false, 1, 0xa000, 0xb000, WORD(-1)).n, 0); /* of an unknown plan */
	ck_assert_uint_eq(OPERANDS("", false, 0).n, 0);
}
END_TEST

START_TEST(transforms)
{
	struct sw_library_open open = {
		.words = 3, .word = {1, 0xa000, 0xb000}, .plan = {.rank = 2, .n = {4, 6}, .batch = 1}};
	struct sw_operands o = sw_library_operands(&open, "cufftExecR2C");
	ck_assert_uint_eq(o.n, 2);
	ck_assert_uint_eq(sw_range_span(&o.at[0]), 4 * 6 * 4);
	ck_assert_uint_eq(sw_range_span(&o.at[1]), 4 * 4 * 8); /* half of 6, and one */
	ck_assert_int_eq(o.at[1].role, SW_WRITE);
	o = sw_library_operands(&open, "cufftExecZ2D");
	ck_assert_uint_eq(sw_range_span(&o.at[0]), 4 * 4 * 16);
	ck_assert_int_eq(o.at[0].role, SW_READ_WRITE); /* may be overwritten */
	ck_assert_uint_eq(sw_range_span(&o.at[1]), 4 * 6 * 8);
	open.word[2] = 0xa000;
	o = sw_library_operands(&open, "cufftExecR2C");
	ck_assert_uint_eq(o.n, 1);
	ck_assert_uint_eq(sw_range_span(&o.at[0]), 4 * 4 * 8); /* the real side is padded */
	o = sw_library_operands(&open, "cufftExecC2C");
	ck_assert_uint_eq(sw_range_span(&o.at[0]), 4 * 6 * 8);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, work_between_two_records_is_part_of_the_call);
	tcase_add_test(tc, what_comes_after_the_call_is_not);
	tcase_add_test(tc, a_workspace_of_two_handles);
	tcase_add_test(tc, two_streams_of_one_call);
	tcase_add_test(tc, parts_of_a_workspace);
	tcase_add_test(tc, a_destroyed_handle_has_none);
	tcase_add_test(tc, lost_records);
	tcase_add_test(tc, a_workspace_and_other_work);
	tcase_add_test(tc, records_that_lie_about_their_length);
	tcase_add_test(tc, a_product);
	tcase_add_test(tc, products_of_batches);
	tcase_add_test(tc, types_in_the_arguments);
	tcase_add_test(tc, vectors);
	tcase_add_test(tc, what_is_not_understood_has_no_operands);
	tcase_add_test(tc, transforms);
	tcase_add_loop_test(tc, events_of_a_library, 0, 3);
}

int main(void)
{
	return run_cases("library_calls", add);
}
