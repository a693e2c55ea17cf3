/* SPDX-License-Identifier: Apache-2.0 */
/* One memory at several addresses: cuMemMap of one handle, more than once. */
#include "detect/judge.h"

#define HERE   0x7f2000000000ull
#define THERE  0x7f3000000000ull
#define PIECE  (2ull << 20)
#define MEMORY 0x4a00ull
#define OTHER  0x4b00ull

static struct sw_rec_other *tell(struct tb *tb, const char *driver, uint64_t first, uint64_t second)
{
	struct sw_rec_other *o = tb_other(tb, SW_REC_OTHER, driver);
	o->args[0] = first;
	o->args[1] = second;
	return o;
}

static void map(struct tb *tb, uint64_t address, uint64_t memory, uint64_t at)
{
	struct sw_rec_alloc *a = tb_alloc(tb, SW_MEM_MAPPED, address, PIECE);
	a->owner = memory;
	a->extra = at;
}

static void unmap(struct tb *tb, uint64_t address)
{
	tb_free(tb, SW_MEM_MAPPED, address)->bytes = PIECE;
}

/* Two reservations, two memories, the first of which is mapped in the first. */
static struct tb *program(void)
{
	struct tb *tb = two_streams();
	tell(tb, "cuMemAddressReserve", HERE, 8 * PIECE);
	tell(tb, "cuMemAddressReserve", THERE, 8 * PIECE);
	tell(tb, "cuMemCreate", MEMORY, PIECE);
	tell(tb, "cuMemCreate", OTHER, PIECE);
	map(tb, HERE, MEMORY, 0);
	return tb;
}

static void expect(struct tb *tb, int id, size_t times)
{
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, id), times);
	if (times) {
		ck_assert_uint_eq(only(j, id)->count, 1);
		ck_assert_int_eq(only(j, id)->severity, SW_ERROR);
	} else {
		no_hazards(j);
	}
	sw_judgement_free(j);
}

/* Memory that was imported may be any: it is counted, and meets nothing by another address. */
START_TEST(imported)
{
	struct tb *tb = program();
	tell(tb, "cuMemImportFromShareableHandle", OTHER + 0x100, 5);
	map(tb, THERE, OTHER + 0x100, 0);
	h2d(tb, HERE, PIN, 4096, S1);
	d2h(tb, PIN + 8192, THERE, 4096, S2);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	ck_assert_uint_eq(j->coverage.imported_memory, 1);
	sw_judgement_free(j);
}
END_TEST

/* 0: another memory; 1: the same; 2: other bytes of it; 3: ordered; 4: in the same reservation. */
START_TEST(mapped_twice)
{
	struct tb *tb = program();
	uint64_t there = _i == 4 ? HERE + PIECE : THERE + PIECE;
	map(tb, there, _i ? MEMORY : OTHER, 0);
	tb_set(tb, HERE + 512, 64, S1);
	if (_i == 3)
		order(tb, S1, S2);
	d2h(tb, PIN, there + (_i == 2 ? 0 : 512), 64, S2);
	expect(tb, 101, _i == 1 || _i == 4);
}
END_TEST

/* Accesses before the memory was mapped once more; 1: ordered before that. */
START_TEST(mapped_later)
{
	struct tb *tb = program();
	tb_set(tb, HERE + 512, 64, S1);
	if (_i == 1)
		order(tb, S1, S2);
	map(tb, THERE, MEMORY, 0);
	d2h(tb, PIN, THERE + 512, 64, S2);
	expect(tb, 101, !_i);
}
END_TEST

/* Each address of three meets what is done by each other, once. */
START_TEST(mapped_three_times)
{
	static const uint64_t at[] = {HERE, THERE, THERE + 4 * PIECE};
	struct tb *tb = program();
	map(tb, at[1], MEMORY, 0);
	map(tb, at[2], MEMORY, 0);
	tb_set(tb, at[_i / 3], 64, S1);
	d2h(tb, PIN, at[_i % 3], 64, S2);
	expect(tb, 101, 1);
}
END_TEST

/* A part of the memory; 0: the part that is written, 1: another. */
START_TEST(mapped_in_parts)
{
	struct tb *tb = program();
	map(tb, THERE, MEMORY, PIECE / 2);
	h2d(tb, HERE + (_i ? 0 : PIECE / 2), PIN, 4096, S1);
	d2h(tb, PIN + 8192, THERE, 4096, S2);
	expect(tb, 101, !_i);
}
END_TEST

/* Work over several pieces, of which one is mapped elsewhere; 1: reads next to it. */
START_TEST(one_piece_of_many)
{
	struct tb *tb = program();
	map(tb, HERE + PIECE, OTHER, 0);
	map(tb, THERE + PIECE, OTHER, 0);
	tb_copy_2d(tb, HERE + 64, SW_SIDE_DEVICE, PIECE / 4, PIN, SW_SIDE_HOST, 64, 64, 8, S1);
	d2h(tb, PIN + 8192, THERE + PIECE + (_i ? 0 : 64), 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 101), 1); /* as a hull: not certain */
	ck_assert_int_eq(only(j, 101)->severity, SW_WARNING);
	sw_judgement_free(j);
}
END_TEST

/* 0: work by the other address continues; 1: work by this one. */
START_TEST(unmap_in_flight)
{
	struct tb *tb = program();
	map(tb, THERE, MEMORY, 0);
	tb_set(tb, _i ? THERE : HERE, 64, S1);
	unmap(tb, THERE);
	expect(tb, 105, (size_t)_i);
}
END_TEST

/* 0: the place shows other memory now; 1: the handle names other memory now; 2: that of before is still mapped. */
START_TEST(what_was_mapped_before)
{
	struct tb *tb = program();
	map(tb, THERE, MEMORY, 0);
	if (_i == 0) {
		unmap(tb, THERE);
		map(tb, THERE, OTHER, 0);
	}
	tell(tb, "cuMemRelease", MEMORY, 0);
	if (_i == 1) {
		tell(tb, "cuMemCreate", MEMORY, PIECE);
		unmap(tb, THERE);
		map(tb, THERE, MEMORY, 0);
	}
	tb_set(tb, HERE, 64, S1);
	d2h(tb, PIN, THERE, 64, S2);
	expect(tb, 101, _i == 2);
}
END_TEST

/* Reservations end with mappings in them. */
START_TEST(damaged_order_of_calls)
{
	struct tb *tb = program();
	map(tb, THERE, MEMORY, 0);
	map(tb, THERE + PIECE, MEMORY, 0);
	tell(tb, "cuMemAddressFree", _i ? HERE : THERE, 8 * PIECE);
	tb_set(tb, HERE, 64, S1);
	tb_set(tb, THERE, 64, S1);
	map(tb, THERE, MEMORY, UINT64_MAX - 64);
	sw_judgement_free(judged(tb));
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, mapped_twice, 0, 5);
	tcase_add_test(tc, imported);
	tcase_add_loop_test(tc, mapped_later, 0, 2);
	tcase_add_loop_test(tc, mapped_three_times, 0, 9);
	tcase_add_loop_test(tc, mapped_in_parts, 0, 2);
	tcase_add_loop_test(tc, one_piece_of_many, 0, 2);
	tcase_add_loop_test(tc, unmap_in_flight, 0, 2);
	tcase_add_loop_test(tc, what_was_mapped_before, 0, 3);
	tcase_add_loop_test(tc, damaged_order_of_calls, 0, 2);
}

int main(void)
{
	return run_cases("mappings", add);
}
