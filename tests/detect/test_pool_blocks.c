/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a caching allocator (PyTorch's): which memory they belong to, where pointers into them end, and what
   happens when one is handed out again too early.  Each case with its fixed twin. */
#include "detect/judge.h"
#include "detect/kernels.h"
#include "detect/memory/pool_blocks.h"

#define KB 1024u

static struct sw_rec_annotation *begin(struct tb *tb, uint64_t address, uint64_t bytes)
{
	struct sw_rec_annotation *a = tb_annotation(tb, SW_NOTE_TENSOR_BEGIN, address, bytes, 0);
	a->flags = SW_NOTE_ON_HOST;
	return a;
}

static struct sw_rec_annotation *end(struct tb *tb, uint64_t address)
{
	struct sw_rec_annotation *a = tb_annotation(tb, SW_NOTE_TENSOR_END, address, 0, 0);
	a->flags = SW_NOTE_ON_HOST;
	return a;
}

static const struct sw_allocation *allocation_of(const struct sw_judgement *j, const struct sw_access *access)
{
	ck_assert_uint_ge(access->allocation, 1);
	ck_assert_uint_le(access->allocation, j->allocations.n);
	return &j->allocations.at[access->allocation - 1];
}

/* ---- reuse ------------------------------------------------------------------------------------------------------- */

/* A tensor of S1 that S2 reads and the host frees. */
static struct tb *read_elsewhere(void)
{
	struct tb *tb = two_streams();
	begin(tb, DEV + KB, KB);
	tb_set(tb, DEV + KB, KB, S1);
	order(tb, S1, S2);
	d2d(tb, DEV2, DEV + KB, KB, S2);
	return tb;
}

enum { EARLY, TWICE, WAITED, RECORDED, STILL_BUSY, ELSEWHERE, OTHER_PART, SAME_PART, REUSES };

/* RECORDED: record_stream(), the allocator sees that the event is done before it reuses the block.  STILL_BUSY: it
   asked too early. */
START_TEST(reused)
{
	struct tb *tb = read_elsewhere();
	uint64_t to = _i == ELSEWHERE ? DEV + 4 * KB : _i >= OTHER_PART ? DEV + KB + KB / 2 : DEV + KB;
	tb_event_create(tb, E2);
	if (_i == WAITED)
		order(tb, S2, S1);
	if (_i == RECORDED || _i == STILL_BUSY)
		tb_event_record(tb, E2, S2);
	end(tb, DEV + KB);
	if (_i == RECORDED || _i == STILL_BUSY)
		tb_query(tb, SW_SYNC_EVENT, E2, _i == RECORDED ? 0 : 600);
	begin(tb, to, KB);
	tb_set(tb, _i == OTHER_PART ? DEV + 2 * KB : to, KB / 2, S1);
	if (_i == TWICE) /* what comes after the first reuse on its stream is no finding of its own */
		d2d(tb, to, DEV2 + 64 * KB, KB / 2, S1);
	struct sw_judgement *j = judged(tb);
	if (_i == EARLY || _i == TWICE || _i == STILL_BUSY || _i == SAME_PART) {
		const struct sw_finding *f = only(j, SW_FINDING_USE_AFTER_FREE);
		ck_assert_int_eq(f->severity, SW_ERROR);
		ck_assert_int_eq(f->confidence, SW_CERTAIN);
		ck_assert_uint_eq(f->accesses, 3);
		ck_assert_uint_eq(f->third->role, SW_FREE);
		ck_assert_uint_gt(f->third->seq, f->access[0]->seq);
		ck_assert_uint_lt(f->third->seq, f->access[1]->seq);
		ck_assert_uint_eq(allocation_of(j, f->access[0])->address, DEV + KB);
		ck_assert_uint_eq(allocation_of(j, f->access[1])->address, to);
		ck_assert_uint_eq(allocation_of(j, f->third)->address, DEV + KB);
		ck_assert_uint_eq(j->errors, 1);
	} else {
		no_hazards(j);
	}
	sw_judgement_free(j);
}
END_TEST

/* A block was not freed, or its free was not recorded: then this is as between two uses of one tensor. */
START_TEST(not_freed)
{
	struct tb *tb = read_elsewhere();
	if (_i)
		begin(tb, DEV + KB, KB);
	tb_set(tb, DEV + KB, KB, S1);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, SW_FINDING_RACE_WAR);
	ck_assert_uint_eq(f->accesses, 2);
	ck_assert(allocation_of(j, f->access[0])->pool_block);
	ck_assert_uint_eq(allocation_of(j, f->access[0])->bytes, KB);
	ck_assert_uint_eq(allocation_of(j, f->access[0])->number, 1);
	ck_assert_uint_eq(allocation_of(j, f->access[1])->number, 1 + _i);
	sw_judgement_free(j);
}
END_TEST

/* The whole allocation is freed, and its address is allocated again: no tensor lives there. */
START_TEST(memory_returned)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_DEVICE, DEV + (64u << 20), 64 * KB);
	begin(tb, DEV + (64u << 20), KB);
	tb_free(tb, SW_MEM_DEVICE, DEV + (64u << 20));
	tb_alloc(tb, SW_MEM_DEVICE, DEV + (64u << 20), 64 * KB);
	tb_set(tb, DEV + (64u << 20), KB, S1);
	tb_set(tb, DEV + (64u << 20), KB, S2);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, SW_FINDING_RACE_WAW);
	ck_assert(!allocation_of(j, f->access[0])->pool_block);
	sw_judgement_free(j);
}
END_TEST

/* A block that lies in no allocation, or sticks out of one, is counted and believed nothing of. */
START_TEST(unplaced)
{
	struct tb *tb = two_streams();
	begin(tb, DEV + KB, KB);
	if (_i) {
		begin(tb, DEV + (64u << 20), KB);
		begin(tb, DEV + (1u << 20) - KB, 2 * KB);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.pool_blocks, _i ? 3 : 1);
	ck_assert_uint_eq(j->coverage.pool_blocks_unplaced, _i ? 2 : 0);
	sw_judgement_free(j);
}
END_TEST

/* ---- record_stream() that was not needed ------------------------------------------------------------------------- */

/* Where the block is freed: in the allocator, below the deleter; `event`: where it records events. */
static void free_recorded(struct tb *tb, bool event, bool elsewhere)
{
	if (event) {
		tb_stack(tb, 7, 0x9000ull, elsewhere ? 0x9100ull : 0x1010ull, elsewhere ? 0x9200ull : 0x2000ull,
			 elsewhere ? 0x9300ull : 0x2100ull, 0x3000ull, 0x4000ull, 0x5000ull);
		tb_event_record(tb, E2, S2);
	}
	tb_stack(tb, 6, 0x1020ull, 0x2000ull, 0x2100ull, 0x3000ull, 0x4000ull, 0x5000ull);
	end(tb, DEV + KB);
	tb_stack(tb, 0);
}

static void use_on_both(struct tb *tb, bool told_stream)
{
	struct sw_rec_annotation *a = begin(tb, DEV + KB, KB);
	a->stream = S1;
	a->flags = told_stream ? 0 : SW_NOTE_ON_HOST;
	tb_set(tb, DEV + KB, KB, S1);
	order(tb, S1, S2);
	d2d(tb, DEV2, DEV + KB, KB, S2);
}

enum { NEEDLESS, NEEDED, ONCE_NEEDED, NEEDED_BEFORE, OTHER_EVENT, STREAM_UNKNOWN, LATER_WORK, RECORDS };

START_TEST(record_stream)
{
	struct tb *tb = two_streams();
	tb_event_create(tb, E2);
	const unsigned rounds = _i == ONCE_NEEDED || _i == NEEDED_BEFORE ? 2 : 1;
	for (unsigned round = 0; round < rounds; round++) {
		const bool needed = _i == NEEDED || (_i == ONCE_NEEDED && round) || (_i == NEEDED_BEFORE && !round);
		use_on_both(tb, _i != STREAM_UNKNOWN);
		if (!needed)
			order(tb, S2, S1);
		if (_i == LATER_WORK)
			d2d(tb, DEV2, DEV + KB, KB, S2);
		free_recorded(tb, true, _i == OTHER_EVENT);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, SW_FINDING_RECORD_NEEDLESS), _i == NEEDLESS);
	if (_i == NEEDLESS) {
		const struct sw_finding *f = only(j, SW_FINDING_RECORD_NEEDLESS);
		ck_assert_int_eq(f->severity, SW_NOTE);
		ck_assert_uint_eq(allocation_of(j, f->access[0])->address, DEV + KB);
	}
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* ---- pointers ---------------------------------------------------------------------------------------------------- */

/* A pointer into one tensor says nothing of its neighbour.  0: they were not reported as two. */
START_TEST(bounds_a_pointer)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z1fPf", 1, 8);
	struct sw_judge_options all = {.keep_possible = true};
	for (unsigned i = 0; _i && i < 2; i++)
		begin(tb, DEV + i * KB, KB);
	tb_launch(tb, f, S1, 1, DEV);
	tb_set(tb, DEV + KB, 64, S2);
	struct sw_judgement *j = judged_with(tb, &all);
	ck_assert_uint_eq(count_of(j, SW_FINDING_RACE_WAW), !_i);
	sw_judgement_free(j);
}
END_TEST

/* A kernel that goes down from its pointer, to the end of one tensor or the start of the next: it touches the one
   below, and not the one below that. */
START_TEST(goes_down)
{
	struct tb *tb = with_code(two_streams());
	struct sw_judge_options all = {.keep_possible = true};
	for (unsigned i = 0; i < 3; i++)
		begin(tb, DEV + i * KB, KB);
	test_launch(tb, &(struct test_call)BACK(DEV + 2 * KB), S1);
	tb_set(tb, DEV + (_i ? 0 : KB + 512), 64, S2);
	struct sw_judgement *j = judged_with(tb, &all);
	ck_assert_uint_eq(j->findings.n > 0, !_i);
	sw_judgement_free(j);
}
END_TEST

/* Where hundreds are in one allocation that nothing describes, what is only roughly known is possible at most.  With
   their blocks reported, a tensor is like an allocation of its own. */
START_TEST(one_among_many)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z1fPf", 1, 8);
	for (unsigned i = 0; i < 100; i++) {
		if (_i)
			begin(tb, DEV + i * KB, KB);
		tb_set(tb, DEV + i * KB, 64, S1);
	}
	order(tb, S1, S2);
	tb_launch(tb, f, S1, 1, DEV + 50 * KB);
	tb_set(tb, DEV + 50 * KB, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, SW_FINDING_RACE_WAW), _i);
	ck_assert_uint_eq(j->warnings, _i);
	sw_judgement_free(j);
}
END_TEST

/* An object that started in a block while it was another's does not end a pointer to the new one.  0: the set of its
   end is missed where that is forgotten. */
START_TEST(starts_of_the_one_before)
{
	struct tb *tb = two_streams();
	uint32_t f = tb_function(tb, "_Z1fPf", 1, 8);
	struct sw_judge_options all = {.keep_possible = true};
	for (unsigned i = 0; i < 4; i++)
		begin(tb, DEV + i * KB, KB);
	for (unsigned i = 0; i < 4; i++)
		tb_set(tb, DEV + i * KB, KB, S1);
	for (unsigned i = 0; i < 4; i++)
		end(tb, DEV + i * KB);
	begin(tb, DEV, 4 * KB);
	order(tb, S1, S2);
	tb_launch(tb, f, S1, 1, DEV);
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, DEV + 3 * KB, KB, S2);
	struct sw_judgement *j = judged_with(tb, &all);
	ck_assert_uint_eq(count_of(j, SW_FINDING_RACE_WAW), !_i);
	sw_judgement_free(j);
}
END_TEST

/* ---- which block was where, when -------------------------------------------------------------------------------- */

START_TEST(history)
{
	uint64_t now = 0;
	struct sw_pool_blocks t = {.now = &now};
	struct sw_access call = {.seq = 7};
	for (now = 10; now < 40; now += 10) {
		sw_pool_block_begin(&t, DEV, KB, &call);
		now += 5;
		sw_pool_block_end(&t, DEV, &call);
		now -= 5;
	}
	now = 40;
	sw_pool_block_begin(&t, DEV + KB / 2, KB, &call);
	for (unsigned step = 0; step < 40; step++) {
		const struct sw_pool_block *pool_block = sw_pool_block_at(&t, DEV + 100, step);
		const unsigned since = step % 10;
		if (step < 10 || since >= 5)
			ck_assert_ptr_null(pool_block);
		else
			ck_assert_uint_eq(pool_block->number, step / 10);
	}
	ck_assert_uint_eq(sw_pool_block_at(&t, DEV + KB, 41)->number, 4);
	ck_assert_ptr_null(sw_pool_block_at(&t, DEV + 100, 41));
	ck_assert_ptr_null(sw_pool_block_at(&t, DEV + KB + KB / 2, 41));
	sw_pool_blocks_trim(&t, 25);
	ck_assert_uint_eq(t.ended.n, 1);
	ck_assert_uint_eq(sw_pool_block_at(&t, DEV, 32)->number, 3);
	sw_pool_blocks_trim(&t, UINT64_MAX);
	ck_assert_uint_eq(t.ended.n, 0);
	struct sw_pool_block *kept = sw_pool_block_keep(sw_pool_block_at(&t, DEV + KB, 41));
	sw_pool_blocks_forget(&t);
	ck_assert_uint_eq(kept->refs, 1);
	sw_pool_block_drop(kept);
	sw_pool_blocks_free(&t);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, reused, 0, REUSES);
	tcase_add_loop_test(tc, not_freed, 0, 2);
	tcase_add_loop_test(tc, record_stream, 0, RECORDS);
	tcase_add_test(tc, memory_returned);
	tcase_add_loop_test(tc, unplaced, 0, 2);
	tcase_add_loop_test(tc, bounds_a_pointer, 0, 2);
	tcase_add_loop_test(tc, goes_down, 0, 2);
	tcase_add_loop_test(tc, one_among_many, 0, 2);
	tcase_add_loop_test(tc, starts_of_the_one_before, 0, 2);
	tcase_add_test(tc, history);
}

int main(void)
{
	return run_cases("pool_blocks", add);
}
