/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that need no trace: intervals, address space, matrix, table of findings; for ranges see test_ranges.c. */
#include <stdlib.h>
#include <string.h>

#include "detect/judge.h"
#include "detect/hazards/hazards.h"
#include "detect/model/collect.h"
#include "detect/memory/address_space.h"

/* ---- intervals ----------------------------------------------------------------------------------------------------
 */

START_TEST(intervals_agree_with_an_array)
{
	enum { SLOTS = 512 };
	static struct sw_interval nodes[SLOTS];
	bool in[SLOTS] = {0};
	struct sw_intervals set = {0};
	size_t n = 0;
	for (int round = 0; round < 20000; round++) {
		size_t i = random_below(SLOTS);
		if (in[i]) {
			sw_intervals_remove(&set, &nodes[i]);
			n--;
		} else {
			nodes[i].lo = i * 10;
			nodes[i].hi = i * 10 + 1 + random_below(10);
			sw_intervals_insert(&set, &nodes[i]);
			n++;
		}
		in[i] = !in[i];
		ck_assert_uint_eq(set.n, n);
		uint64_t x = random_below(SLOTS * 10);
		const struct sw_interval *want = NULL;
		for (size_t k = 0; k < SLOTS && !want; k++)
			if (in[k] && nodes[k].hi > x)
				want = &nodes[k];
		ck_assert_ptr_eq(sw_intervals_from(&set, x), want);
	}
}
END_TEST

enum { OVERLAPS = 512 };

/* Compares the answer with what asking each one gives. */
static void ask(const struct sw_overlaps *set, const struct sw_overlap *node, const bool *in,
		const struct sw_overlap *question)
{
	bool found[OVERLAPS] = {0}, any = false;
	sw_overlap_vec answer = {0};
	const struct sw_overlap *q = question;
	ck_assert(sw_overlaps_later(set, q->lo, q->hi, q->tick, q->seq, &answer) == (answer.n > 0));
	for (size_t i = 0; i < answer.n; i++) {
		ptrdiff_t number = (struct sw_overlap *)answer.at[i] - node;
		ck_assert(!found[number]);
		found[number] = true;
	}
	for (size_t i = 0; i < OVERLAPS; i++) {
		const struct sw_overlap *x = &node[i];
		bool is = in[i] && x->lo < q->hi && x->hi > q->lo && (x->tick > q->tick || x->seq >= q->seq);
		any |= is;
		if (found[i] != is)
			ck_abort_msg("%zu is %sfound", i, is ? "not " : "");
	}
	ck_assert(sw_overlaps_later(set, q->lo, q->hi, q->tick, q->seq, NULL) == any);
	free(answer.at);
}

/* Many at one place, few elsewhere: runs are cut there, and become empty. */
START_TEST(overlaps_agree_with_an_array)
{
	static struct sw_overlap nodes[OVERLAPS];
	bool in[OVERLAPS] = {0};
	struct sw_overlaps set = {0};
	size_t n = 0;
	for (uint64_t round = 1; round < 20000; round++) {
		size_t i = random_below(round / 4000 % 2 ? OVERLAPS : OVERLAPS / 8);
		if (in[i]) {
			sw_overlaps_remove(&set, nodes[i].lo, nodes[i].tick, &nodes[i]);
			n--;
		} else {
			uint64_t lo = random_below(3) ? random_below(4096) : 77;
			nodes[i] = (struct sw_overlap){lo, lo + 1 + random_below(64), round / 2, random_below(4096),
						       &nodes[i]};
			sw_overlaps_insert(&set, &nodes[i]);
			n++;
		}
		in[i] = !in[i];
		ck_assert_uint_eq(set.n, n);
		uint64_t lo = random_below(4096);
		ask(&set, nodes, in,
		    &(struct sw_overlap){lo, lo + 1 + random_below(64), round - random_below(800),
					 random_below(2) ? UINT64_MAX : random_below(4096), NULL});
	}
	sw_overlaps_clear(&set);
}
END_TEST

/* ---- address space --------------------------------------------------------------------------------------------------
 */

START_TEST(space_finds_what_lives)
{
	struct sw_address_space space;
	struct sw_access gone = {.seq = 9};
	uint64_t at;
	sw_space_init(&space);
	struct sw_block *a = sw_space_add(&space, 0x10000, 0x1000, SW_MEM_DEVICE, 0);
	struct sw_block *p = sw_space_add(&space, 0x50000, 0x1000, SW_MEM_PINNED, 0x90000);
	ck_assert_ptr_eq(sw_space_find(&space, 0x10fff, &at), a);
	ck_assert_uint_eq(at, 0xfff);
	ck_assert_ptr_null(sw_space_find(&space, 0x11000, &at));
	ck_assert_ptr_eq(sw_space_find(&space, 0x90010, &at), p);
	ck_assert_uint_eq(at, 0x10);
	ck_assert_ptr_eq(sw_space_find(&space, 0x50010, &at), p);
	ck_assert_ptr_eq(sw_space_next(&space, NULL), a);
	ck_assert_ptr_eq(sw_space_next(&space, a), p);
	ck_assert_ptr_null(sw_space_next(&space, p));
	sw_space_remove(&space, a, &gone);
	ck_assert_ptr_null(sw_space_find(&space, 0x10000, &at));
	ck_assert_uint_eq(sw_space_find_freed(&space, 0x10800, &at)->gone.seq, 9);
	ck_assert_uint_eq(at, 0x800);
	/* a neighbour that takes part of its place ends the memory of it */
	sw_space_add(&space, 0x10f00, 0x1000, SW_MEM_DEVICE, 0);
	ck_assert_ptr_null(sw_space_find_freed(&space, 0x10800, &at));
	/* a block whose free was not seen goes when its place is given out again */
	sw_space_add(&space, 0x10000, 0x10000, SW_MEM_DEVICE, 0);
	ck_assert_uint_eq(sw_space_find(&space, 0x10f80, &at)->bytes, 0x10000);
	sw_space_free(&space);
}
END_TEST

START_TEST(space_survives_churn)
{
	enum { LIVE = 100 };
	struct sw_address_space space;
	struct sw_block *live[LIVE] = {0};
	struct sw_access gone = {0};
	uint64_t at;
	sw_space_init(&space);
	for (uint64_t i = 0; i < 200000; i++) {
		struct sw_block **slot = &live[i % LIVE];
		if (*slot)
			sw_space_remove(&space, *slot, &gone);
		*slot = sw_space_add(&space, 0x1000000 + i * 0x1000, 0x1000, SW_MEM_DEVICE, 0);
		ck_assert_ptr_eq(sw_space_find(&space, 0x1000000 + i * 0x1000 + 5, &at), *slot);
	}
	ck_assert_uint_eq(space.live.n, LIVE);
	ck_assert_uint_le(space.freed_n, 4096);
	sw_space_free(&space);
}
END_TEST

START_TEST(extents_end_at_the_next_start)
{
	struct sw_block block = {.bytes = 1000, .memory = SW_MEM_DEVICE};
	sw_block_start(&block, 500, 0);
	sw_block_start(&block, 200, 0);
	sw_block_start(&block, 200, 0);
	sw_block_start(&block, 0, 0);
	ck_assert_uint_eq(block.starts.n, 2);
	ck_assert_uint_eq(sw_block_extent(&block, 0, 0), 200);
	ck_assert_uint_eq(sw_block_extent(&block, 200, 0), 500);
	ck_assert_uint_eq(sw_block_extent(&block, 500, 0), 1000);
	ck_assert_int_eq(sw_block_crowding(&block), SW_CROWDING_FEW);
	for (uint64_t i = 1; i < 100; i++)
		sw_block_start(&block, i, 0);
	ck_assert_int_eq(sw_block_crowding(&block), SW_CROWDING_MANY);
	free(block.starts.at);
}
END_TEST

/* ---- matrix
 * ---------------------------------------------------------------------------------------------------------- */

enum { A = SW_EV_ASSUMED, S = SW_EV_SIGNATURE, D = SW_EV_DIRECTION, F = SW_EV_FOOTPRINT, X = SW_EV_EXACT };
static const struct {
	int a, b;	     /* evidence */
	bool open_a, open_b; /* extent unknown */
	uint64_t at_b;	     /* a is at 100, bounded ones are 50 bytes long */
	bool crowded, polls;
	enum sw_severity severity;
	enum sw_confidence confidence;
} cases[] = {
	{X, X, false, false, 120, false, false, SW_ERROR, SW_CERTAIN},
	{X, F, false, false, 120, false, false, SW_ERROR, SW_CERTAIN},
	{F, F, false, false, 100, true, false, SW_ERROR, SW_CERTAIN},
	{F, F, false, false, 100, false, true, SW_NOTE, SW_POSSIBLE},
	{D, D, true, true, 100, false, false, SW_WARNING, SW_LIKELY},
	{S, S, true, true, 100, false, false, SW_WARNING, SW_LIKELY},
	{X, S, false, true, 100, false, false, SW_WARNING, SW_LIKELY},
	{X, S, false, true, 149, false, false, SW_WARNING, SW_LIKELY}, /* the pointer lies inside what is copied */
	{S, X, true, false, 120, false, false, SW_NOTE, SW_POSSIBLE},  /* only by the assumed extent */
	{S, S, true, true, 120, false, false, SW_NOTE, SW_POSSIBLE},
	{S, S, true, true, 100, true, false, SW_NOTE, SW_POSSIBLE},
	{S, S, true, true, 100, false, true, SW_NOTE, SW_POSSIBLE},
	{A, X, true, false, 100, false, false, SW_NOTE, SW_POSSIBLE},
	{A, A, true, true, 100, false, false, SW_NOTE, SW_POSSIBLE},
};

START_TEST(matrix_is_the_documented_one)
{
	struct sw_range a = sw_range_bytes(100, 50, SW_WRITE, (enum sw_evidence)cases[_i].a);
	struct sw_range b = sw_range_bytes(cases[_i].at_b, 50, SW_READ, (enum sw_evidence)cases[_i].b);
	a.bounded = !cases[_i].open_a;
	b.bounded = !cases[_i].open_b;
	b.polls = cases[_i].polls;
	enum sw_crowding crowding = cases[_i].crowded ? SW_CROWDING_MANY : SW_CROWDING_SEVERAL;
	for (int turn = 0; turn < 2; turn++) {
		struct sw_verdict v = turn ? sw_matrix(&b, &a, crowding) : sw_matrix(&a, &b, crowding);
		ck_assert_int_eq(v.severity, cases[_i].severity);
		ck_assert_int_eq(v.confidence, cases[_i].confidence);
	}
}
END_TEST

/* A box of which perhaps not all is touched is worth a warning; where it meets nothing is as sure as ever. */
static const struct {
	bool loose_a, loose_b, polls;
	enum sw_severity severity;
	enum sw_confidence confidence;
} loose[] = {
	{false, false, false, SW_ERROR, SW_CERTAIN},
	{true, false, false, SW_WARNING, SW_LIKELY},
	{true, true, false, SW_WARNING, SW_LIKELY},
	{true, false, true, SW_NOTE, SW_POSSIBLE},
};

START_TEST(loose_boxes_only_warn)
{
	struct sw_range a = sw_range_bytes(100, 50, SW_WRITE, SW_EV_FOOTPRINT);
	struct sw_range b = sw_range_bytes(120, 50, SW_READ, SW_EV_FOOTPRINT);
	a.loose = loose[_i].loose_a;
	b.loose = loose[_i].loose_b;
	a.polls = loose[_i].polls;
	for (int turn = 0; turn < 2; turn++) {
		struct sw_verdict v = turn ? sw_matrix(&b, &a, SW_CROWDING_FEW) : sw_matrix(&a, &b, SW_CROWDING_FEW);
		ck_assert_int_eq(v.severity, loose[_i].severity);
		ck_assert_int_eq(v.confidence, loose[_i].confidence);
	}
}
END_TEST

/* In a pool a hull reaches into what belongs to others: only where its pointer leads, too, it is worth a warning. */
START_TEST(hulls_in_pools_stray)
{
	static const struct {
		uint64_t base;
		enum sw_crowding crowding;
		enum sw_confidence confidence;
	} ways[] = {{0, SW_CROWDING_FEW, SW_LIKELY},
		    {0, SW_CROWDING_SEVERAL, SW_POSSIBLE},
		    {0, SW_CROWDING_MANY, SW_POSSIBLE},
		    {100, SW_CROWDING_MANY, SW_LIKELY},
		    {120, SW_CROWDING_SEVERAL, SW_LIKELY}};
	struct sw_range a = sw_range_bytes(0, 1000, SW_WRITE, SW_EV_FOOTPRINT);
	struct sw_range b = sw_range_bytes(100, 50, SW_READ, SW_EV_EXACT);
	a.loose = true;
	a.base = ways[_i].base;
	for (int turn = 0; turn < 2; turn++) {
		struct sw_verdict v =
			turn ? sw_matrix(&b, &a, ways[_i].crowding) : sw_matrix(&a, &b, ways[_i].crowding);
		ck_assert_int_eq(v.confidence, ways[_i].confidence);
	}
}
END_TEST

/* A hull that reaches a little into what starts after it: its end is rounded up. */
START_TEST(hulls_graze_their_neighbours)
{
	static const struct {
		uint64_t width;
		enum sw_confidence confidence;
	} ways[] = {{1000, SW_POSSIBLE}, {1060, SW_POSSIBLE}, {1200, SW_LIKELY}};
	struct sw_range a = sw_range_bytes(0, ways[_i].width, SW_READ, SW_EV_FOOTPRINT);
	struct sw_range b = sw_range_bytes(999, 1000, SW_WRITE, SW_EV_EXACT);
	a.loose = true;
	for (int turn = 0; turn < 2; turn++) {
		struct sw_verdict v = turn ? sw_matrix(&b, &a, SW_CROWDING_FEW) : sw_matrix(&a, &b, SW_CROWDING_FEW);
		ck_assert_int_eq(v.confidence, ways[_i].confidence);
	}
}
END_TEST

/* Semaphores between the blocks of one kernel, and locks, order nothing that does not look at them: no error, but no
   less than a warning.  Two kernels with flags may take one lock. */
START_TEST(own_flags_cap_at_a_warning)
{
	struct sw_range a = sw_range_bytes(100, 50, SW_WRITE, SW_EV_FOOTPRINT);
	struct sw_range b = sw_range_bytes(120, 50, SW_READ, SW_EV_EXACT);
	a.polls = a.own_flags = true;
	ck_assert_int_eq(sw_matrix(&a, &b, SW_CROWDING_FEW).severity, SW_WARNING);
	a.loose = true;
	ck_assert_int_eq(sw_matrix(&a, &b, SW_CROWDING_FEW).severity, SW_WARNING);
	b.polls = b.own_flags = true;
	ck_assert_int_eq(sw_matrix(&a, &b, SW_CROWDING_FEW).confidence, SW_POSSIBLE);
	b.polls = b.own_flags = a.own_flags = false;
	ck_assert_int_eq(sw_matrix(&a, &b, SW_CROWDING_FEW).confidence, SW_POSSIBLE);
}
END_TEST

/* A range that nothing but its allocation ends is worth its pointer. */
START_TEST(vague_boxes_are_pointers)
{
	static const struct {
		uint64_t base;
		bool vague;
		enum sw_confidence confidence;
	} ways[] = {{700, false, SW_LIKELY}, {700, true, SW_POSSIBLE}, {120, true, SW_LIKELY}, {100, true, SW_LIKELY}};
	struct sw_range a = sw_range_bytes(0, 1000, SW_WRITE, SW_EV_FOOTPRINT);
	struct sw_range b = sw_range_bytes(100, 50, SW_READ, SW_EV_EXACT);
	a.loose = true;
	a.base = ways[_i].base;
	a.vague = ways[_i].vague;
	for (int turn = 0; turn < 2; turn++) {
		struct sw_verdict v = turn ? sw_matrix(&b, &a, SW_CROWDING_FEW) : sw_matrix(&a, &b, SW_CROWDING_FEW);
		ck_assert_int_eq(v.confidence, ways[_i].confidence);
	}
}
END_TEST

/* Code that computes addresses: an unbounded access meets a box of the same pointer, wherever in the array that is. */
START_TEST(one_base_is_one_base)
{
	struct sw_range open = sw_range_open(100, SW_WRITE, SW_EV_DIRECTION, 0);
	struct sw_range box = sw_range_bytes(500, 50, SW_READ, SW_EV_FOOTPRINT);
	ck_assert_int_eq(sw_contact_of(&open, &box), SW_CONTACT_EXTENT);
	box.base = 100;
	ck_assert_int_eq(sw_contact_of(&open, &box), SW_CONTACT_BASE);
	ck_assert_int_eq(sw_contact_of(&box, &open), SW_CONTACT_BASE);
	ck_assert_int_eq(sw_matrix(&open, &box, SW_CROWDING_FEW).severity, SW_WARNING);
	ck_assert_int_eq(sw_matrix(&open, &box, SW_CROWDING_MANY).confidence, SW_POSSIBLE);
}
END_TEST

/* ---- findings
 * -------------------------------------------------------------------------------------------------------- */

START_TEST(every_finding_explains_itself)
{
	static const enum sw_finding_family families[] = {
		[1] = SW_FAMILY_HAZARD,	  [2] = SW_FAMILY_MISUSE, [3] = SW_FAMILY_WAIT,
		[4] = SW_FAMILY_NEEDLESS, [6] = SW_FAMILY_GATE,	  [9] = SW_FAMILY_RECORDING};
	const struct sw_finding_info *info;
	size_t n = 0;
	for (; (info = sw_finding_info_at(n)); n++) {
		ck_assert_ptr_eq(sw_finding_info(info->number), info);
		/* Numbers and severities of a kind go together: scripts match SW1.., SW2.. */
		ck_assert_msg(info->family == families[info->number / 100], "SW%d: family", info->number);
		ck_assert_uint_gt(strlen(info->kind), 0);
		ck_assert_uint_gt(strlen(info->title), 0);
		ck_assert_msg(strlen(info->text) > 300, "SW%d says too little", info->number);
		ck_assert_msg(strstr(info->text, "Harmless"), "SW%d does not say when it is harmless", info->number);
		ck_assert_msg(strstr(info->text, "Basis"), "SW%d does not say what it rests on", info->number);
	}
	ck_assert_uint_ge(n, 28); /* numbers are never taken back */
	ck_assert_ptr_null(sw_finding_info(100));
}
END_TEST

/* ---- spreads ------------------------------------------------------------------------------------------------------
 */

/* Against the sorted numbers: never more than a sixteenth off. */
START_TEST(quantiles_are_a_sixteenth_off_at_most)
{
	enum { MANY = 2000 };
	static uint64_t ns[MANY];
	static struct sw_histogram spread;
	for (int round = 0; round < 50; round++) {
		unsigned shift = (unsigned)random_below(36);
		spread = (struct sw_histogram){0};
		for (size_t i = 0; i < MANY; i++) {
			uint64_t x = 1 + random_below(1ull << shift << random_below(4)), k = i;
			for (; k && ns[k - 1] > x; k--)
				ns[k] = ns[k - 1];
			ns[k] = x;
			sw_histogram_add(&spread, 1, x);
		}
		for (unsigned percent = 1; percent <= 100; percent++) {
			uint64_t want = ns[(MANY * percent + 99) / 100 - 1],
				 got = sw_histogram_quantile(&spread, percent);
			ck_assert_uint_le(got > want ? got - want : want - got, want / 16);
		}
	}
	spread = (struct sw_histogram){0};
	ck_assert_uint_eq(sw_histogram_quantile(&spread, 50), 0);
	sw_histogram_add(&spread, 1, UINT64_MAX);
	ck_assert_uint_gt(sw_histogram_quantile(&spread, 50), 1ull << 39);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, intervals_agree_with_an_array);
	tcase_add_test(tc, overlaps_agree_with_an_array);
	tcase_add_test(tc, space_finds_what_lives);
	tcase_add_test(tc, space_survives_churn);
	tcase_add_test(tc, extents_end_at_the_next_start);
	tcase_add_loop_test(tc, matrix_is_the_documented_one, 0, sizeof cases / sizeof *cases);
	tcase_add_loop_test(tc, loose_boxes_only_warn, 0, sizeof loose / sizeof *loose);
	tcase_add_loop_test(tc, hulls_in_pools_stray, 0, 5);
	tcase_add_loop_test(tc, hulls_graze_their_neighbours, 0, 3);
	tcase_add_test(tc, own_flags_cap_at_a_warning);
	tcase_add_loop_test(tc, vague_boxes_are_pointers, 0, 4);
	tcase_add_test(tc, one_base_is_one_base);
	tcase_add_test(tc, every_finding_explains_itself);
	tcase_add_test(tc, quantiles_are_a_sixteenth_off_at_most);
}

int main(void)
{
	return run_cases("units", add);
}
