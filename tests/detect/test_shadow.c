/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The access map against brute force: random accesses on random streams.  Whatever the map forgets or joins, it finds a
 * conflict for exactly those accesses for which comparing with the whole past finds one, and exactly those pairs that a
 * map without segments finds (byte_map.h).  SHADOW_SEEDS: another number of runs than the usual one.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "detect/byte_map.h"
#include "detect/judge.h"
#include "detect/memory/shadow.h"

enum { STREAMS = 5, EVENTS = 4, BYTES = 96, STEPS = 400 };

struct past {
	struct sw_point point;
	struct sw_range range;
};

struct run {
	struct sw_hb *hb;
	struct sw_shadow shadow;
	struct sw_use_pool pool;
	SW_VEC(struct past) past;
	uint32_t serial;
	uint64_t state, seq;
	bool races;	 /* an earlier use is not ordered before the new one */
	sw_use_vec pair; /* those that met the new one */
	struct byte_map bytes;
	size_t most_segments, most_uses, by_rows;
};

/* Shapes of the accesses of a run. */
enum { DENSE, BOXES, TILES };

static uint64_t below(struct run *run, uint64_t n)
{
	return sw_hash_u64(++run->state) % n;
}

static struct sw_hb_at at(struct run *run, uint64_t stream)
{
	return (struct sw_hb_at){.stream = stream, .seq = ++run->seq, .thread = 1, .ctx = 1};
}

static void meet(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later)
{
	struct run *run = arg;
	ck_assert_uint_lt(earlier->access.seq, later->access.seq);
	ck_assert(sw_range_overlap(&earlier->range, &later->range));
	if (sw_hb_ordered(run->hb, earlier->access.point, later->access.point.lane) == SW_ORDER_NONE)
		run->races = true;
	ck_assert(!run->pair.n || run->pair.at[run->pair.n - 1]->access.seq < earlier->access.seq);
	*sw_vec_push(&run->pair) = earlier;
}

static bool conflicts(const struct sw_range *a, const struct sw_range *b)
{
	return (sw_role_writes(a->role) || sw_role_writes(b->role)) &&
	       !(a->role == SW_ATOMIC && b->role == SW_ATOMIC) && sw_range_overlap(a, b);
}

static bool brute_force(const struct run *run, const struct sw_range *range, uint32_t lane)
{
	for (size_t i = 0; i < run->past.n; i++)
		if (conflicts(&run->past.at[i].range, range) &&
		    sw_hb_ordered(run->hb, run->past.at[i].point, lane) == SW_ORDER_NONE)
			return true;
	return false;
}

/* A tile of a few columns, or what was done in one of its rows: rows have more segments between them than there are
   rows. */
static struct sw_range random_tile(struct run *run, enum sw_role role)
{
	uint64_t column = below(run, 24), size[3] = {1 + below(run, 3), 2 + below(run, 2), 1};
	if (below(run, 3))
		return sw_range_bytes(column + 24 * below(run, 3), 1 + below(run, 2), role, SW_EV_EXACT);
	return sw_range_box(column, size, 24, 0, role, SW_EV_EXACT);
}

static struct sw_range random_range(struct run *run, int kind)
{
	static const enum sw_role roles[] = {SW_READ, SW_READ, SW_WRITE, SW_READ_WRITE, SW_ATOMIC};
	enum sw_role role = roles[below(run, 5)];
	if (kind == TILES && below(run, 16))
		return random_tile(run, role);
	uint64_t start = below(run, BYTES), bytes = 1 + below(run, BYTES - start);
	if (kind == BOXES && below(run, 2)) {
		uint64_t size[3] = {1 + below(run, 6), 1 + below(run, 5), 1};
		return sw_range_box(below(run, 40), size, 8 + below(run, 2) * 2, 0, role, SW_EV_EXACT);
	}
	if (below(run, 3) == 0) {
		start = 0;
		bytes = BYTES;
	}
	return sw_range_bytes(start, bytes, role, SW_EV_EXACT);
}

static bool access_now(struct run *run, int kind)
{
	struct sw_hb_at here = at(run, 0x100 + below(run, STREAMS) * 8);
	struct sw_shadow_use *use = sw_use_new(&run->pool);
	use->range = random_range(run, kind);
	use->end = use->range.address + sw_range_span(&use->range);
	use->access.point = sw_hb_enqueue(run->hb, &here);
	use->access.seq = here.seq;
	run->races = false;
	run->pair.n = 0;
	bool want = brute_force(run, &use->range, use->access.point.lane);
	struct sw_shadow_env env = {.pool = &run->pool,
				    .hb = run->hb,
				    .serial = ++run->serial,
				    .keep_from = 1,
				    .keep_to = 0,
				    .meet = meet,
				    .arg = run};
	sw_shadow_enter(&run->shadow, &env, use);
	run->by_rows += use->by_rows;
	ck_assert_msg(run->races == want, "step %u: brute force says %d", run->serial, want);
	byte_map_enter(&run->bytes, run->hb, use, &run->pair);
	*sw_vec_push(&run->past) = (struct past){use->access.point, use->range};
	sw_use_drop(&run->pool, use);
	if (run->shadow.segments.n > run->most_segments)
		run->most_segments = run->shadow.segments.n;
	if (run->pool.live > run->most_uses)
		run->most_uses = run->pool.live;
	return want;
}

static void synchronise(struct run *run)
{
	struct sw_hb_event_state state;
	struct sw_hb_at here = at(run, 0x100 + below(run, STREAMS) * 8);
	uint64_t event = 0x900 + below(run, EVENTS) * 8;
	switch (below(run, 7)) {
	case 0:
	case 1:
	case 2:
		sw_hb_event_record(run->hb, event, &here, 0, NULL);
		break;
	case 3:
	case 4:
		sw_hb_stream_wait(run->hb, &here, event, 0, &state);
		break;
	case 5:
		sw_hb_wait_end(run->hb, sw_hb_wait_stream(run->hb, &here), 1, ++run->seq, SW_ORDER_DOCUMENTED, NULL);
		break;
	default:
		if (below(run, 4) == 0)
			sw_hb_wait_end(run->hb, sw_hb_wait_context(run->hb, 1), 1, ++run->seq, SW_ORDER_DOCUMENTED,
				       NULL);
	}
}

START_TEST(map_agrees_with_brute_force)
{
	const char *seeds = getenv("SHADOW_SEEDS");
	const uint64_t last = seeds ? strtoull(seeds, NULL, 10) : 60;
	unsigned yes = 0, no = 0, by_rows = 0;
	for (uint64_t seed = 1; seed <= last; seed++) {
		struct run run = {.state = seed << 32, .hb = sw_hb_new(&(struct sw_hb_options){0})};
		for (int i = 0; i < STREAMS; i++)
			sw_hb_stream_create(run.hb, 1, 0x100 + (uint64_t)i * 8, true);
		for (int i = 0; i < STEPS; i++) {
			if (below(&run, 3))
				synchronise(&run);
			else if (access_now(&run, _i))
				yes++;
			else
				no++;
		}
		by_rows += run.by_rows;
		sw_shadow_clear(&run.shadow, &run.pool);
		ck_assert_uint_eq(run.pool.live, 0);
		ck_assert_uint_le(run.most_segments, BYTES);
		sw_arena_free(&run.pool.arena);
		byte_map_free(&run.bytes);
		free(run.pair.at);
		free(run.past.at);
		sw_hb_free(run.hb);
	}
	ck_assert_uint_gt(yes, 8 * last); /* both happen, in every run some */
	ck_assert_uint_gt(no, 8 * last);
	ck_assert(_i != TILES || by_rows > last);
}
END_TEST

static void count_met(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later)
{
	(void)earlier, (void)later;
	++*(int *)arg;
}

/* A million accesses of streams that wait for each other leave no more than a few uses. */
START_TEST(map_stays_small)
{
	struct run run = {.state = 1, .hb = sw_hb_new(&(struct sw_hb_options){0})};
	int met = 0;
	for (int i = 0; i < STREAMS; i++)
		sw_hb_stream_create(run.hb, 1, 0x100 + (uint64_t)i * 8, true);
	for (uint64_t i = 0; i < 200000; i++) {
		struct sw_hb_at here = at(&run, 0x100 + i % STREAMS * 8);
		struct sw_shadow_use *use = sw_use_new(&run.pool);
		use->range = sw_range_bytes(i % 64 * 16, 16, i % 3 ? SW_WRITE : SW_READ, SW_EV_EXACT);
		use->end = use->range.address + 16;
		use->access.point = sw_hb_enqueue(run.hb, &here);
		use->access.seq = here.seq;
		struct sw_shadow_env env = {.pool = &run.pool,
					    .hb = run.hb,
					    .serial = ++run.serial,
					    .keep_from = 1,
					    .meet = count_met,
					    .arg = &met};
		sw_shadow_enter(&run.shadow, &env, use);
		sw_use_drop(&run.pool, use);
		ck_assert_uint_le(run.pool.live, 64 * 2 * STREAMS);
	}
	ck_assert_uint_le(run.shadow.segments.n, 64);
	ck_assert_int_gt(met, 0);
	sw_shadow_clear(&run.shadow, &run.pool);
	sw_arena_free(&run.pool.arena);
	sw_hb_free(run.hb);
}
END_TEST

/* How often a write of stream 0 meets one of `stream` to the same bytes; wait: the host waits in between. */
static int met_by(uint64_t stream, bool wait, bool ordered_too)
{
	struct run run = {.hb = sw_hb_new(&(struct sw_hb_options){0})};
	int met = 0;
	for (uint64_t i = 0; i < 2; i++)
		sw_hb_stream_create(run.hb, 1, 0x100 + i * 8, true);
	for (int i = 0; i < 2; i++) {
		struct sw_hb_at here = at(&run, 0x100 + (i ? stream : 0) * 8);
		struct sw_shadow_use *use = sw_use_new(&run.pool);
		if (i && wait)
			sw_hb_barrier(run.hb, here.seq);
		use->range = sw_range_bytes(0, 16, SW_WRITE, SW_EV_EXACT);
		use->end = 16;
		use->access.point = sw_hb_enqueue(run.hb, &here);
		use->access.seq = here.seq;
		struct sw_shadow_env env = {.pool = &run.pool,
					    .hb = run.hb,
					    .serial = ++run.serial,
					    .keep_to = UINT64_MAX,
					    .ordered_too = ordered_too,
					    .meet = count_met,
					    .arg = &met};
		sw_shadow_enter(&run.shadow, &env, use);
		sw_use_drop(&run.pool, use);
	}
	sw_shadow_clear(&run.shadow, &run.pool);
	sw_arena_free(&run.pool.arena);
	sw_hb_free(run.hb);
	return met;
}

START_TEST(ordered_pairs_meet_only_on_request)
{
	ck_assert_int_eq(met_by(1, false, false), 1);
	ck_assert_int_eq(met_by(1, true, false), 0);
	ck_assert_int_eq(met_by(1, true, true), 1);
	ck_assert_int_eq(met_by(0, false, true), 0); /* one stream */
}
END_TEST

static void use_to(struct run *run, uint64_t stream, struct sw_range range, uint64_t end, int *met)
{
	struct sw_hb_at here = at(run, stream);
	struct sw_shadow_use *use = sw_use_new(&run->pool);
	use->range = range;
	use->end = end;
	use->access.point = sw_hb_enqueue(run->hb, &here);
	use->access.seq = here.seq;
	struct sw_shadow_env env = {.pool = &run->pool,
				    .hb = run->hb,
				    .serial = ++run->serial,
				    .keep_from = 1,
				    .meet = count_met,
				    .arg = met};
	sw_shadow_enter(&run->shadow, &env, use);
	sw_use_drop(&run->pool, use);
}

static void use_on(struct run *run, uint64_t stream, struct sw_range range, int *met)
{
	use_to(run, stream, range, range.address + sw_range_span(&range), met);
}

static void end(struct run *run)
{
	sw_shadow_clear(&run->shadow, &run->pool);
	ck_assert_uint_eq(run->pool.live, 0);
	ck_assert_uint_eq(run->pool.links, 0);
	sw_arena_free(&run->pool.arena);
	sw_hb_free(run->hb);
}

/* An access of unknown extent, from byte 16 to 64 as far as is assumed, before or after one of known bytes or a box. */
START_TEST(unknown_extents_end_where_assumed)
{
	static const struct {
		uint64_t at, bytes[2], pitch; /* bytes[1]: rows */
		int meet;
	} other[] = {
		{0, {16, 1}, 0, 0}, {0, {17, 1}, 0, 1}, {63, {8, 1}, 0, 1}, {64, {8, 1}, 0, 0},
		{0, {80, 1}, 0, 1}, {32, {1, 1}, 0, 1}, {8, {8, 2}, 56, 0}, {8, {8, 2}, 55, 1},
	};
	struct run run = {.hb = sw_hb_new(&(struct sw_hb_options){0})};
	struct sw_range open = sw_range_open(16, SW_WRITE, SW_EV_SIGNATURE, 0);
	uint64_t size[3] = {other[_i / 2].bytes[0], other[_i / 2].bytes[1], 1};
	struct sw_range known = sw_range_box(other[_i / 2].at, size, other[_i / 2].pitch, 0, SW_READ, SW_EV_EXACT);
	int met = 0;
	for (uint64_t i = 0; i < 2; i++)
		sw_hb_stream_create(run.hb, 1, 0x100 + i * 8, true);
	for (int i = 0; i < 2; i++)
		if (i == _i % 2)
			use_to(&run, 0x100, open, 64, &met);
		else
			use_on(&run, 0x108, known, &met);
	ck_assert_int_eq(met, other[_i / 2].meet);
	end(&run);
}
END_TEST

/* A writer that waited for all of many readers but one: the one is found wherever it came.  Loop: the one; the last
   waits for all. */
#define READERS 300
static const int left_out[] = {0, 1, 63, 64, 65, 100, READERS - 1, READERS};
START_TEST(one_reader_of_many)
{
	struct run run = {.hb = sw_hb_new(&(struct sw_hb_options){0})};
	struct sw_hb_event_state state;
	int met = 0;
	for (uint64_t i = 0; i <= READERS; i++)
		sw_hb_stream_create(run.hb, 1, 0x1000 + i * 8, true);
	for (uint64_t i = 0; i < READERS; i++) {
		struct sw_hb_at here = at(&run, 0x1000 + i * 8), writer = at(&run, 0x1000 + READERS * 8);
		use_on(&run, here.stream, sw_range_bytes(0, BYTES, SW_READ, SW_EV_EXACT), &met);
		sw_hb_event_record(run.hb, 0x90000, &here, 0, NULL);
		if ((int)i != left_out[_i])
			sw_hb_stream_wait(run.hb, &writer, 0x90000, 0, &state);
	}
	use_on(&run, 0x1000 + READERS * 8, sw_range_bytes(8, 8, SW_WRITE, SW_EV_EXACT), &met);
	ck_assert_int_eq(met, left_out[_i] < READERS);
	ck_assert_uint_eq(run.pool.forgotten, 0);
	end(&run);
}
END_TEST

/* Column tiles of one matrix, more than a segment holds: what is forgotten is counted, and is of the lane that has so
 * many. */
START_TEST(what_is_forgotten_is_counted)
{
	struct run run = {.hb = sw_hb_new(&(struct sw_hb_options){0})};
	int met = 0, tiles = _i ? 700 : 500;
	for (uint64_t i = 0; i < 3; i++)
		sw_hb_stream_create(run.hb, 1, 0x100 + i * 8, true);
	use_on(&run, 0x100, sw_range_bytes(5000000, 8, SW_READ, SW_EV_EXACT), &met);
	for (uint64_t i = 0; i < (uint64_t)tiles; i++) { /* their hulls all hold byte 5000000 */
		/* Two slices that lie in each other: not entered by rows. */
		uint64_t size[3] = {4, 2, 2}, start = 4000000 + i * 8;
		use_on(&run, 0x108, sw_range_box(start, size, 1100000, 4, SW_READ, SW_EV_EXACT), &met);
	}
	ck_assert_int_eq(met, 0);
	ck_assert_int_eq(run.pool.forgotten > 0, _i);
	use_on(&run, 0x110, sw_range_bytes(5000000, 8, SW_WRITE, SW_EV_EXACT), &met);
	ck_assert_int_eq(met, 1);
	end(&run);
}
END_TEST

/* Tiles that nothing but each other overlaps stay few segments: entered by rows they would be a hundred times as many.
 */
START_TEST(tiles_alone_part_no_rows)
{
	struct run run = {.hb = sw_hb_new(&(struct sw_hb_options){0})};
	int met = 0;
	sw_hb_stream_create(run.hb, 1, 0x100, true);
	for (uint64_t i = 0; i < 400; i++) {
		uint64_t size[3] = {4, 32, 1};
		use_on(&run, 0x100, sw_range_box(i * 8, size, 4096, 0, SW_READ, SW_EV_EXACT), &met);
	}
	ck_assert_uint_le(run.shadow.segments.n, 801);
	end(&run);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, unknown_extents_end_where_assumed, 0, 16);
	tcase_add_loop_test(tc, one_reader_of_many, 0, sizeof left_out / sizeof *left_out);
	tcase_add_loop_test(tc, what_is_forgotten_is_counted, 0, 2);
	tcase_add_loop_test(tc, map_agrees_with_brute_force, DENSE, TILES + 1);
	tcase_add_test(tc, map_stays_small);
	tcase_add_test(tc, tiles_alone_part_no_rows);
	tcase_add_test(tc, ordered_pairs_meet_only_on_request);
}

int main(void)
{
	return run_cases("shadow", add);
}
