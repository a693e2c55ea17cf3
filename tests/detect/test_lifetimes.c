/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that comes and goes: pools that give out an address again, reserved addresses of which parts are mapped,
 * blocks of suballocators; and streams that signal each other through memory.  Each case with its fixed twin.
 */
#include "detect/judge.h"

#define POOL  (DEV + (64 << 20))
#define PIECE (2u << 20)

static void error_of(const struct sw_judgement *j, int id)
{
	ck_assert_int_eq(only(j, id)->severity, SW_ERROR);
	ck_assert_int_eq(only(j, id)->confidence, SW_CERTAIN);
	ck_assert_uint_eq(j->errors, 1);
}

static void either(struct tb *tb, bool clean, int id)
{
	struct sw_judgement *j = judged(tb);
	if (clean)
		no_hazards(j);
	else
		error_of(j, id);
	sw_judgement_free(j);
}

/* ---- pools --------------------------------------------------------------------------------------------------------
 */

static void pool_alloc(struct tb *tb, uint64_t address, uint64_t bytes, uint64_t stream)
{
	tb_alloc(tb, SW_MEM_ASYNC, address, bytes)->stream = stream;
}

static void pool_free(struct tb *tb, uint64_t address, uint64_t stream)
{
	tb_free(tb, SW_MEM_ASYNC, address)->stream = stream;
}

/* Nothing uses the memory: what is wrong with the free is that it may come before the allocation. */
START_TEST(free_before_alloc)
{
	struct tb *tb = two_streams();
	pool_alloc(tb, POOL, 4096, S1);
	if (_i)
		order(tb, S1, S2);
	pool_free(tb, POOL, S2);
	either(tb, _i, 106);
}
END_TEST

/* 0: the memory is used too, which says enough. */
START_TEST(free_before_use)
{
	struct tb *tb = two_streams();
	pool_alloc(tb, POOL, 4096, S1);
	tb_set(tb, POOL, 64, S1);
	if (_i)
		order(tb, S1, S2);
	pool_free(tb, POOL, S2);
	either(tb, _i, 105);
}
END_TEST

/* The address is allocated again on another stream: its new life has nothing to do with the old one. */
START_TEST(address_comes_back)
{
	struct tb *tb = two_streams();
	pool_alloc(tb, POOL, 4096, S1);
	tb_set(tb, POOL, 4096, S1);
	pool_free(tb, POOL, S1);
	pool_alloc(tb, POOL + (_i ? 1024 : 0), 2048, S2);
	tb_set(tb, POOL + 1024, 512, S2);
	pool_free(tb, POOL + (_i ? 1024 : 0), S2);
	either(tb, true, 0);
}
END_TEST

/* The edge that it brings along is one of this run: other memory that relies on it is a note.  1: without reuse.  2:
   with an event. */
START_TEST(edge_of_reuse)
{
	struct tb *tb = two_streams();
	pool_alloc(tb, POOL, 4096, S1);
	tb_set(tb, DEV, 64, S1);
	pool_free(tb, POOL, S1);
	if (_i == 2)
		order(tb, S1, S2);
	pool_alloc(tb, _i == 1 ? POOL + 8192 : POOL, 4096, S2);
	d2d(tb, DEV2, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	if (_i == 2) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 101);
		ck_assert_int_eq(f->severity, _i ? SW_ERROR : SW_NOTE);
		ck_assert(f->measured_order == !_i);
	}
	sw_judgement_free(j);
}
END_TEST

/* More frees than are remembered, then the first address again. */
START_TEST(many_frees)
{
	struct tb *tb = two_streams();
	for (unsigned i = 0; i < 5000; i++) {
		pool_alloc(tb, POOL + i * 4096ull, 4096, S1);
		pool_free(tb, POOL + i * 4096ull, S1);
	}
	pool_alloc(tb, POOL, 5000 * 4096ull, S2);
	tb_set(tb, POOL, 5000 * 4096ull, S2);
	either(tb, true, 0);
}
END_TEST

/* ---- reserved addresses -------------------------------------------------------------------------------------------
 */

static void map(struct tb *tb, unsigned first, unsigned pieces)
{
	for (unsigned i = first; i < first + pieces; i++)
		tb_alloc(tb, SW_MEM_MAPPED, POOL + (uint64_t)i * PIECE, PIECE);
}

static struct tb *segment(unsigned pieces)
{
	struct tb *tb = two_streams();
	struct sw_rec_other *o = tb_other(tb, SW_REC_OTHER, "cuMemAddressReserve");
	o->args[0] = POOL;
	o->args[1] = 16ull * PIECE;
	map(tb, 0, pieces);
	return tb;
}

static void unmap(struct tb *tb, unsigned first, unsigned pieces)
{
	tb_free(tb, SW_MEM_MAPPED, POOL + (uint64_t)first * PIECE)->bytes = (uint64_t)pieces * PIECE;
}

/* One copy over several pieces; the second one touches the last of them only. */
START_TEST(pieces_are_one_block)
{
	struct tb *tb = segment(4);
	h2d(tb, POOL, PIN, 4 * PIECE, S1);
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, POOL + 3 * PIECE + 64, 64, S2);
	either(tb, _i, 103);
}
END_TEST

START_TEST(unmap_in_flight)
{
	struct tb *tb = segment(4);
	h2d(tb, POOL, PIN, 4 * PIECE, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	unmap(tb, 2, 2);
	either(tb, _i, 105);
}
END_TEST

/* Work on the pieces that stay is none of the business of the one that goes. */
START_TEST(unmap_beside)
{
	struct tb *tb = segment(4);
	h2d(tb, POOL, PIN, 2 * PIECE, S1);
	unmap(tb, 2, 2);
	tb_set(tb, POOL + PIECE, 64, S1);
	either(tb, true, 0);
}
END_TEST

/* 0: after it was unmapped.  1: what still is mapped.  2: mapped again, not ordered with what was there before. */
START_TEST(use_of_unmapped)
{
	struct tb *tb = segment(4);
	tb_set(tb, POOL + 2 * PIECE, PIECE, S1);
	tb_sync(tb, SW_SYNC_STREAM, S1);
	unmap(tb, 2, 1);
	if (_i == 2)
		map(tb, 2, 1);
	tb_set(tb, POOL + (_i == 1 ? 3 : 2) * PIECE, 64, S2);
	either(tb, _i, 105);
}
END_TEST

/* A word that points into the reservation, not into memory, is no pointer. */
START_TEST(unmapped_is_no_memory)
{
	struct tb *tb = segment(_i ? 16 : 1);
	uint32_t f = tb_function(tb, "unnamed", 1, 8);
	tb_launch(tb, f, S1, 1, POOL + 8 * PIECE);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.kernels_by_evidence[SW_EV_ASSUMED], _i);
	sw_judgement_free(j);
}
END_TEST

/* ---- what the program says -----------------------------------------------------------------------------------------
 */

/* 0: handed to another stream without an order.  1: with one.  2: on the same stream. */
START_TEST(block_handed_on)
{
	struct tb *tb = two_streams();
	tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, DEV + 512, 1024, S1);
	tb_set(tb, DEV + 512, 1024, S1);
	tb_annotation(tb, SW_NOTE_BLOCK_END, DEV + 512, 0, S1);
	if (_i == 1)
		order(tb, S1, S2);
	tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, DEV + 1024, 512, _i == 2 ? S1 : S2);
	either(tb, _i, 105);
}
END_TEST

START_TEST(block_used_after_its_end)
{
	struct tb *tb = two_streams();
	tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, DEV, 1024, S1);
	if (!_i)
		tb_annotation(tb, SW_NOTE_BLOCK_END, DEV, 0, S1);
	tb_set(tb, DEV + 64, 64, S1);
	if (_i)
		tb_annotation(tb, SW_NOTE_BLOCK_END, DEV, 0, S1);
	either(tb, _i, 105);
}
END_TEST

START_TEST(block_used_before_its_begin)
{
	struct tb *tb = two_streams();
	tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, DEV, 1024, S1);
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, DEV, 64, S2);
	either(tb, _i, 106);
}
END_TEST

/* By the host: at once. */
START_TEST(block_ended_by_the_host)
{
	struct tb *tb = two_streams();
	tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, DEV, 1024, 0)->flags = SW_NOTE_ON_HOST;
	tb_set(tb, DEV, 64, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_annotation(tb, SW_NOTE_BLOCK_END, DEV, 0, 0)->flags = SW_NOTE_ON_HOST;
	either(tb, _i, 105);
}
END_TEST

/* A set over two blocks and what lies between them meets what is in the second one. */
START_TEST(range_over_blocks)
{
	struct tb *tb = two_streams();
	tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, DEV, 1024, 0)->flags = SW_NOTE_ON_HOST;
	tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, DEV + 4096, 1024, 0)->flags = SW_NOTE_ON_HOST;
	tb_set(tb, DEV + 4096 + 64, 64, S1);
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, DEV, 8192, S2);
	either(tb, _i, 103);
}
END_TEST

/* The allocation is released: what its blocks are used for counts. */
START_TEST(allocation_of_blocks_released)
{
	struct tb *tb = two_streams();
	pool_alloc(tb, POOL, 4096, S1);
	tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, POOL, 1024, S1);
	order(tb, S1, S2);
	tb_set(tb, POOL, 64, S2);
	if (_i)
		order(tb, S2, S1);
	pool_free(tb, POOL, S1);
	either(tb, _i, 105);
}
END_TEST

/* Blocks end what is only assumed: a pointer into one says nothing of its neighbour. */
START_TEST(block_bounds_a_pointer)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z1fPf", 1, 8);
	struct sw_judge_options all = {.keep_possible = true};
	for (unsigned i = 0; _i && i < 2; i++)
		tb_annotation(tb, SW_NOTE_BLOCK_BEGIN, DEV + i * 1024, 1024, 0)->flags = SW_NOTE_ON_HOST;
	tb_launch(tb, f, S1, 1, DEV);
	tb_set(tb, DEV + 1024, 64, S2);
	struct sw_judgement *j = judged_with(tb, &all);
	ck_assert_uint_eq(count_of(j, 103), !_i);
	sw_judgement_free(j);
}
END_TEST

/* Annotations of a launch say what it touches.  0: the bytes that are set.  1: others.  2: said of another stream. */
START_TEST(said_of_a_launch)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z1fPf", 1, 8);
	tb_annotation(tb, SW_NOTE_WRITES, _i ? DEV + 4096 : DEV, 64, _i == 2 ? S2 : S1);
	tb_launch(tb, f, S1, 1, DEV);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, !_i);
	ck_assert_uint_eq(j->warnings, _i == 2);
	ck_assert_uint_eq(j->coverage.kernels_by_source[SW_BY_ANNOTATION], _i != 2);
	sw_judgement_free(j);
}
END_TEST

/* 0: never.  1: said.  2: said of other bytes.  3: taken back. */
START_TEST(ignored)
{
	struct tb *tb = two_streams();
	if (_i)
		tb_annotation(tb, SW_NOTE_IGNORE, _i == 2 ? DEV + 64 : DEV, 64, 0)->flags = SW_NOTE_ON_HOST;
	if (_i == 3)
		tb_annotation(tb, SW_NOTE_JUDGE, DEV, 64, 0)->flags = SW_NOTE_ON_HOST;
	tb_set(tb, DEV, 64, S1);
	tb_set(tb, DEV, 64, S2);
	either(tb, _i == 1, 103);
}
END_TEST

/* 0: nothing said.  1: an order.  2: one of another tag.  3: the host waits. */
START_TEST(said_order)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	if (_i)
		tb_annotation(tb, SW_NOTE_BEFORE, 0x1234, 0, S1);
	if (_i == 3)
		tb_annotation(tb, SW_NOTE_AFTER, 0x1234, 0, 0)->flags = SW_NOTE_ON_HOST;
	else if (_i)
		tb_annotation(tb, SW_NOTE_AFTER, _i == 2 ? 0x1235 : 0x1234, 0, S2);
	tb_set(tb, DEV, 64, S2);
	either(tb, _i == 1 || _i == 3, 103);
}
END_TEST

/* Memory of another process that is opened twice, closed once (0) or twice (1), and used. */
START_TEST(opened_twice)
{
	struct tb *tb = two_streams();
	for (int i = 0; i < 2; i++)
		tb_alloc(tb, SW_MEM_IPC, DEV + (64 << 20), 4096)->extra = 77;
	for (int i = 0; i <= _i; i++)
		tb_free(tb, SW_MEM_IPC, DEV + (64 << 20));
	tb_set(tb, DEV + (64 << 20), 64, S1);
	either(tb, !_i, 105);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, free_before_alloc, 0, 2);
	tcase_add_loop_test(tc, free_before_use, 0, 2);
	tcase_add_loop_test(tc, address_comes_back, 0, 2);
	tcase_add_loop_test(tc, edge_of_reuse, 0, 3);
	tcase_add_test(tc, many_frees);
	tcase_add_loop_test(tc, pieces_are_one_block, 0, 2);
	tcase_add_loop_test(tc, unmap_in_flight, 0, 2);
	tcase_add_test(tc, unmap_beside);
	tcase_add_loop_test(tc, use_of_unmapped, 0, 3);
	tcase_add_loop_test(tc, unmapped_is_no_memory, 0, 2);
	tcase_add_loop_test(tc, block_handed_on, 0, 3);
	tcase_add_loop_test(tc, block_used_after_its_end, 0, 2);
	tcase_add_loop_test(tc, block_used_before_its_begin, 0, 2);
	tcase_add_loop_test(tc, block_ended_by_the_host, 0, 2);
	tcase_add_loop_test(tc, range_over_blocks, 0, 2);
	tcase_add_loop_test(tc, allocation_of_blocks_released, 0, 2);
	tcase_add_loop_test(tc, block_bounds_a_pointer, 0, 2);
	tcase_add_loop_test(tc, said_of_a_launch, 0, 3);
	tcase_add_loop_test(tc, ignored, 0, 4);
	tcase_add_loop_test(tc, said_order, 0, 4);
	tcase_add_loop_test(tc, opened_twice, 0, 2);
}

int main(void)
{
	return run_cases("lifetimes", add);
}
