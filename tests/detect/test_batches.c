/* SPDX-License-Identifier: Apache-2.0 */
/* Batch copies: elements that depend on each other (SW108), sources that are read out of stream order. */
#include "detect/judge.h"

enum { FIRST = SW_COPY_BATCH | SW_COPY_BATCH_FIRST | SW_COPY_BATCH_MORE, LAST = SW_COPY_BATCH };

static struct sw_rec_copy *element(struct tb *tb, uint64_t dst, uint64_t src, uint64_t bytes, uint32_t flags)
{
	struct sw_rec_copy *r = tb_copy(tb, dst, SW_SIDE_UNIFIED, src, SW_SIDE_UNIFIED, bytes, S1);
	r->flags = flags;
	return r;
}

static void expect(struct tb *tb, int id, size_t times)
{
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, id), times);
	if (times)
		ck_assert_int_eq(only(j, id)->severity, SW_ERROR);
	else
		no_hazards(j);
	sw_judgement_free(j);
}

/* 0: apart; 1: target on target; 2: source on target; 3: target on an earlier source; 4: both read the same. */
START_TEST(elements_that_meet)
{
	static const uint64_t dst[] = {8192, 4095, 8192, 20480, 8192}, src[] = {8192, 8192, 4095, 8192, 0};
	struct tb *tb = two_streams();
	element(tb, DEV, _i == 3 ? DEV + 16384 + 4096 : DEV2, 4096, FIRST);
	element(tb, DEV + dst[_i], _i == 2 ? DEV + src[_i] : DEV2 + src[_i], 4096, LAST);
	expect(tb, 108, _i > 0 && _i < 4);
}
END_TEST

/* The first and the last of many; 1: of two calls. */
START_TEST(many_elements)
{
	struct tb *tb = two_streams();
	for (uint64_t i = 0; i < 200; i++)
		element(tb, DEV + 4096 * (i * 77 % 200), DEV2, 4096,
			SW_COPY_BATCH | (i ? 0 : SW_COPY_BATCH_FIRST) | (_i && i == 99 ? 0 : SW_COPY_BATCH_MORE) |
				(_i && i == 100 ? SW_COPY_BATCH_FIRST : 0));
	element(tb, PIN, DEV + 64, 8, LAST);
	expect(tb, 108, !_i);
}
END_TEST

/* 0: the call before failed; 1: its end was lost; 2: another thread's; 3: traces before minor 8. */
START_TEST(others_are_not_compared)
{
	struct tb *tb = two_streams();
	if (_i == 2)
		tb_thread(tb, 2);
	element(tb, DEV, DEV2, 64, _i == 3 ? SW_COPY_BATCH : FIRST);
	if (_i == 0)
		element(tb, DEV + 64, DEV2, 64, LAST)->h.status = 1;
	if (_i == 1)
		tb_loss(tb, tb->seq + 1, tb->seq + 2, 2);
	if (_i == 1)
		tb->seq += 2;
	tb_thread(tb, 1);
	element(tb, PIN, DEV, 64, _i == 3 ? SW_COPY_BATCH : _i == 1 ? SW_COPY_BATCH | SW_COPY_BATCH_MORE : FIRST);
	element(tb, PIN + 64, DEV + 8, 64, LAST);
	expect(tb, 108, 0);
}
END_TEST

static void discard(struct tb *tb, uint64_t address, uint64_t stream)
{
	tb_mem_op(tb, SW_MEMOP_DISCARD, address, 4096, stream);
}

/* A discard writes indeterminate values.  0: it meets a read; 1: a write; 2: other bytes; 3: an event orders both; 4: a
   prefetch changes no byte. */
START_TEST(discards)
{
	static const int id[] = {102, 103, 0, 0, 0};
	struct tb *tb = two_streams();
	if (_i == 1)
		h2d(tb, DEV, PIN, 4096, S1);
	else
		d2h(tb, PIN, DEV, 4096, S1);
	if (_i == 3)
		order(tb, S1, S2);
	if (_i == 4)
		tb_mem_op(tb, SW_MEMOP_PREFETCH, DEV, 4096, S2);
	else
		discard(tb, _i == 2 ? DEV + 8192 : DEV, S2);
	struct sw_judgement *j = judged(tb);
	if (id[_i])
		ck_assert_int_eq(only(j, id[_i])->severity, SW_ERROR);
	else
		no_hazards(j);
	ck_assert_uint_eq(j->coverage.unclassified_calls, 0);
	sw_judgement_free(j);
}
END_TEST

/* The bytes are read on another stream, which waits for nothing. */
START_TEST(reads_what_is_discarded)
{
	struct tb *tb = two_streams();
	discard(tb, DEV, S1);
	d2h(tb, PIN, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 101)->severity, SW_ERROR);
	sw_judgement_free(j);
}
END_TEST

/* Earlier work of the stream fills the source.  0: read in stream order; 1, 2: out of it; 3: the host waited. */
START_TEST(source_is_still_written)
{
	static const uint32_t order[] = {0, SW_COPY_SRC_DURING, SW_COPY_SRC_ANYTIME, SW_COPY_SRC_DURING};
	struct tb *tb = two_streams();
	d2h(tb, PIN, DEV2, 4096, S1);
	if (_i == 3)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	element(tb, DEV, PIN, 4096, SW_COPY_BATCH | SW_COPY_BATCH_FIRST | order[_i]);
	expect(tb, 104, _i == 1 || _i == 2);
}
END_TEST

/* The host frees the source at once: 0, 2: it may still be read; 1: it was read during the call. */
START_TEST(source_goes_at_once)
{
	static const uint32_t order[] = {0, SW_COPY_SRC_DURING, SW_COPY_SRC_ANYTIME};
	struct tb *tb = two_streams();
	element(tb, DEV, PIN, 4096, SW_COPY_BATCH | SW_COPY_BATCH_FIRST | order[_i]);
	tb_host_access(tb, PIN, 64, true);
	expect(tb, 104, _i != 1);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, elements_that_meet, 0, 5);
	tcase_add_loop_test(tc, many_elements, 0, 2);
	tcase_add_loop_test(tc, others_are_not_compared, 0, 4);
	tcase_add_loop_test(tc, discards, 0, 5);
	tcase_add_test(tc, reads_what_is_discarded);
	tcase_add_loop_test(tc, source_is_still_written, 0, 4);
	tcase_add_loop_test(tc, source_goes_at_once, 0, 3);
}

int main(void)
{
	return run_cases("batches", add);
}
