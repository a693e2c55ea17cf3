/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers that lie in device memory: followed where the host uploaded them and nothing wrote there since, else
 * counted. The kernel `chase` stores four bytes where the pointer at its table leads to.
 */
#include <string.h>

#include "detect/judge.h"
#include "detect/kernels.h"

enum { TABLE = 4096 };
static const uint64_t target = DEV2 + 64;

/* From the host, with what the source held. */
static struct sw_rec_copy *upload(struct tb *tb, uint64_t from, uint64_t pointer, uint64_t stream)
{
	const uint64_t words[4] = {pointer, 0, 12, 1};
	struct sw_rec_copy *r = tb_add(tb, SW_REC_COPY, sizeof *r + sizeof words, true);
	r->h.ctx = tb->ctx;
	r->h.dur = (uint32_t)tb->dur;
	r->dst = DEV + TABLE;
	r->src = from;
	r->bytes = sizeof words;
	r->stream = stream;
	r->dst_side = SW_SIDE_DEVICE;
	r->src_side = SW_SIDE_HOST;
	r->flags = SW_COPY_CONTENT;
	memcpy(r + 1, words, sizeof words);
	return r;
}

/* The kernel, and a copy on another stream from the first 4 KiB of what the table's pointer may lead to. */
static void chase(struct tb *tb)
{
	test_launch(tb, &(struct test_call)CHASE(DEV + TABLE), S1);
	d2h(tb, PIN + 65536, DEV2, 4096, S2);
}

/* 0: pageable; 1: pinned memory, which may change; 2: a pointer to what is not copied; 3: ordered. */
START_TEST(followed)
{
	struct tb *tb = with_code(two_streams());
	upload(tb, _i == 1 ? PIN : HOST, _i == 2 ? DEV2 + 8192 : target, S1);
	test_launch(tb, &(struct test_call)CHASE(DEV + TABLE), S1);
	if (_i == 3)
		order(tb, S1, S2);
	d2h(tb, PIN + 65536, DEV2, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.indirect_kernels, 0);
	ck_assert_uint_eq(j->coverage.followed_kernels, 1);
	if (_i < 2) {
		const struct sw_finding *f = only(j, 101);
		ck_assert_int_eq(f->severity, _i ? SW_WARNING : SW_ERROR);
		ck_assert_int_eq(f->access[0]->evidence_detail->via, SW_VIA_MEMORY);
		ck_assert_uint_eq(f->access[0]->bytes, 4);
		ck_assert_int_eq(f->access[0]->param, 0);
	} else {
		no_hazards(j);
	}
	sw_judgement_free(j);
}
END_TEST

static void by_set(struct tb *tb)
{
	tb_set(tb, DEV + TABLE + 31, 1, S1);
}

static void by_copy(struct tb *tb)
{
	d2d(tb, DEV + TABLE, DEV + 65536, 8, S1);
}

static void by_kernel(struct tb *tb)
{
	test_launch(tb, &(struct test_call)FILL(DEV, TABLE / 4, 1), S1);
}

static void by_open_kernel(struct tb *tb)
{
	test_launch(tb, &(struct test_call)SCATTER(DEV, DEV + 65536, 256), S1);
}

static void by_unknown_pointer(struct tb *tb)
{
	test_launch(tb, &(struct test_call)CHASE(DEV + 65536), S1);
}

static void by_wild_kernel(struct tb *tb)
{
	test_launch(tb, &(struct test_call)WILD(DEV + 65536), S1);
}

static void by_free(struct tb *tb)
{
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_free_sync(tb, SW_MEM_DEVICE, DEV);
	tb_alloc(tb, SW_MEM_DEVICE, DEV, 1 << 20);
}

static void by_loss(struct tb *tb)
{
	tb_loss(tb, tb->seq + 1, tb->seq + 2, 2);
}

static void by_unclassified_call(struct tb *tb)
{
	tb_add(tb, SW_REC_UNCLASSIFIED, sizeof(struct sw_rec_other), true);
}

/* Put off, and over before anybody asks. */
static void by_kernel_long_ago(struct tb *tb)
{
	by_kernel(tb);
	for (int i = 0; i < 2000; i++) {
		test_launch(tb, &(struct test_call)FILL(DEV2, 65536, 64), S1);
		tb_sync(tb, SW_SYNC_STREAM, S1);
	}
}

static void (*const ends[])(struct tb *tb) = {
	by_set,		by_copy, by_kernel, by_open_kernel,	  by_unknown_pointer,
	by_wild_kernel, by_free, by_loss,   by_unclassified_call, by_kernel_long_ago};

static void expect_counted(struct tb *tb, uint64_t counted)
{
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.indirect_kernels, counted);
	ck_assert_uint_eq(j->coverage.followed_kernels, 0);
	no_hazards(j);
	sw_judgement_free(j);
}

START_TEST(overwritten)
{
	struct tb *tb = with_code(two_streams());
	upload(tb, HOST, target, S1);
	ends[_i](tb);
	chase(tb);
	expect_counted(tb, ends[_i] == by_unknown_pointer ? 2 : 1);
}
END_TEST

/* A write next to the table changes nothing: the pointers in it stay known. */
START_TEST(written_beside)
{
	struct tb *tb = with_code(two_streams());
	upload(tb, HOST, target, S1);
	tb_set(tb, DEV + TABLE - 4, 4, S1);
	tb_set(tb, DEV + TABLE + 32, 4, S1);
	test_launch(tb, &(struct test_call)FILL(DEV, TABLE / 4 - 256, 256), S1);
	chase(tb);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.followed_kernels, 1);
	only(j, 101);
	sw_judgement_free(j);
}
END_TEST

/* 0: not ordered before the kernel; 1: nothing was recorded; 2: the bytes are cut off; 3: another address; 4: it leads
   nowhere; 5: to the table itself, which the kernel overwrites; 6: managed memory; 7: the copy failed. */
START_TEST(not_known)
{
	struct tb *tb = with_code(two_streams());
	if (_i == 6) {
		tb_free_sync(tb, SW_MEM_DEVICE, DEV);
		tb_alloc(tb, SW_MEM_MANAGED, DEV, 1 << 20);
	}
	const uint64_t pointer = _i == 4 ? DEV2 - 4096 : _i == 5 ? DEV + TABLE : target;
	struct sw_rec_copy *last = upload(tb, _i ? HOST : PIN, pointer, _i ? S1 : S2);
	if (_i == 1)
		last->flags &= ~(uint32_t)SW_COPY_CONTENT;
	if (_i == 2)
		last->bytes += 8;
	if (_i == 3)
		last->dst += 8;
	if (_i == 7)
		last->h.status = 1;
	if (!_i) {
		test_launch(tb, &(struct test_call)CHASE(DEV + TABLE), S1);
		struct sw_judgement *j = judged(tb);
		ck_assert_uint_eq(j->coverage.indirect_kernels, 1);
		only(j, 101); /* the table itself */
		sw_judgement_free(j);
		return;
	}
	chase(tb);
	expect_counted(tb, 1);
}
END_TEST

/* One table for many launches, filled again for each. */
START_TEST(filled_again)
{
	struct tb *tb = with_code(two_streams());
	for (uint64_t i = 0; i < 50; i++) {
		upload(tb, HOST, DEV2 + 8192 + 64 * i, S1);
		test_launch(tb, &(struct test_call)CHASE(DEV + TABLE), S1);
	}
	d2h(tb, PIN + 65536, DEV2 + 8192 + 64 * 20, 4, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.followed_kernels, 50);
	ck_assert_uint_eq(only(j, 101)->count, 1);
	sw_judgement_free(j);
}
END_TEST

/* 0: the mode of the launch shows that it loads no pointer; 1: that it does. */
START_TEST(by_mode)
{
	struct tb *tb = with_code(two_streams());
	upload(tb, HOST, DEV2 + 8192, S1);
	for (uint64_t i = 0; i < 3; i++)
		test_launch(tb, &(struct test_call)EITHER(DEV + TABLE, DEV2 + 16384 + 64 * i, _i), S1);
	d2h(tb, PIN + 65536, DEV2 + (_i ? 16384 : 8192), 256, S2);
	d2h(tb, PIN + 65536, DEV2 + (_i ? 8192 : 16384), 4, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.followed_kernels, _i ? 3 : 0);
	ck_assert_uint_eq(j->coverage.indirect_kernels, 0);
	const struct sw_finding *f = only(j, 101);
	ck_assert_uint_eq(f->count, 1);
	ck_assert_int_eq(f->access[0]->evidence_detail->via, _i ? SW_VIA_MEMORY : SW_VIA_PARAMETER);
	ck_assert_int_eq(f->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* A launch before and after its table is known: 0: the table leads to what is copied, 1: elsewhere. */
START_TEST(known_later)
{
	struct tb *tb = with_code(two_streams());
	test_launch(tb, &(struct test_call)EITHER(DEV + TABLE, DEV2 + 16384, 1), S1);
	upload(tb, HOST, _i ? DEV2 + 8192 : target, S1);
	test_launch(tb, &(struct test_call)EITHER(DEV + TABLE, DEV2 + 16384, 1), S1);
	d2h(tb, PIN + 65536, DEV2, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.indirect_kernels, 1);
	ck_assert_uint_eq(j->coverage.followed_kernels, 1);
	if (_i)
		no_hazards(j);
	else
		only(j, 101);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, followed, 0, 4);
	tcase_add_loop_test(tc, overwritten, 0, (int)(sizeof ends / sizeof *ends));
	tcase_add_test(tc, written_beside);
	tcase_add_loop_test(tc, not_known, 0, 8);
	tcase_add_test(tc, filled_again);
	tcase_add_loop_test(tc, by_mode, 0, 2);
	tcase_add_loop_test(tc, known_later, 0, 2);
}

int main(void)
{
	return run_cases("tables", add);
}
