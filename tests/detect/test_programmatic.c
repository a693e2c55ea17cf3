/* SPDX-License-Identifier: Apache-2.0 */
/* Programmatic dependent launch (SW109): kernels of kernels.h that trigger and wait, on one stream and in graphs. */
#include <string.h>

#include "detect/judge.h"
#include "detect/kernels.h"

#define GRAPH 0x9000ull
#define EXEC  0x9100ull
#define A     0x9200ull
#define B     0x9300ull
#define C     0x9400ull
#define MID   (DEV + 65536)
#define FAR   (DEV2 + 65536)

static struct sw_rec_launch *overlapping(struct tb *tb, struct test_call call, uint64_t stream)
{
	struct sw_rec_launch *l = test_launch(tb, &call, stream);
	l->flags |= SW_LAUNCH_PROGRAMMATIC;
	return l;
}

static struct sw_judgement *all_of(struct tb *tb)
{
	return judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
}

static void finds(struct tb *tb, bool hazard, enum sw_severity severity)
{
	struct sw_judgement *j = all_of(tb);
	if (!hazard) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 109);
		ck_assert_int_eq(f->severity, severity);
		ck_assert_int_eq(f->confidence, SW_CERTAIN);
		ck_assert_int_eq(f->fix, SW_FIX_GRID_WAIT);
		ck_assert(f->measured_order == (severity == SW_WARNING));
	}
	sw_judgement_free(j);
}

/* ---- two kernels, the second of which copies what the first wrote ----------------------------------------------- */

static const struct {
	struct test_call first, second;
	bool hazard;
	enum sw_severity severity;
} pairs[] = {
	{OVERLAPPING("early", DEV, DEV2, 64), OVERLAPPING("between", MID, DEV, 64), true, SW_ERROR},
	{OVERLAPPING("early", DEV, DEV2, 64), COPY(MID, DEV, 64), true, SW_ERROR}, /* it never waits */
	{OVERLAPPING("early", DEV, DEV2, 64), OVERLAPPING("behind", MID, DEV, 64), false, 0},
	{OVERLAPPING("late", DEV, DEV2, 64), OVERLAPPING("between", MID, DEV, 64), true, SW_WARNING},
	{OVERLAPPING("late", DEV, DEV2, 64), OVERLAPPING("behind", MID, DEV, 64), false, 0},
	{COPY(DEV, DEV2, 64), OVERLAPPING("between", MID, DEV, 64), false, 0}, /* no trigger */
	{COPY(DEV, DEV2, 64), COPY(MID, DEV, 64), false, 0},
	/* The load comes before the wait, the store after it. */
	{OVERLAPPING("early", DEV, DEV2, 64), OVERLAPPING("between", DEV2, FAR, 64), false, 0},
	{OVERLAPPING("early", DEV, DEV2, 64), FILL(DEV2, 0, 64), true, SW_ERROR},		/* it is read still */
	{OVERLAPPING("early", DEV, DEV2, 64), FILL(DEV2, 64, 64), false, 0},			/* other bytes */
	{OVERLAPPING("early", DEV, DEV2, 64), OVERLAPPING("between", MID, DEV2, 64), false, 0}, /* both read */
	{OVERLAPPING("early", DEV, DEV2, 64), PERHAPS(MID, DEV, 0), true, SW_ERROR},
	{OVERLAPPING("early", DEV, DEV2, 64), PERHAPS(MID, DEV, 1), false, 0},
};

START_TEST(two_kernels)
{
	struct tb *tb = with_code(two_streams());
	test_launch(tb, &pairs[_i].first, S1);
	overlapping(tb, pairs[_i].second, S1);
	finds(tb, pairs[_i].hazard, pairs[_i].severity);
}
END_TEST

/* Pairs of kernels that are launched or separated in another way: nothing is unordered. */
enum { PLAIN, SET, EVENT, WAIT, SYNCHRONISED, ONE_MORE, WAYS };

START_TEST(something_orders_both)
{
	const struct test_call first = OVERLAPPING("early", DEV, DEV2, 64), second = COPY(MID, DEV, 64);
	const struct test_call between = FILL(FAR, 0, 64);
	struct tb *tb = with_code(two_streams());
	tb_event_create(tb, E1);
	test_launch(tb, &first, S1);
	if (_i == SET)
		tb_set(tb, FAR, 64, S1);
	else if (_i == EVENT)
		tb_event_record(tb, E1, S1);
	else if (_i == WAIT)
		tb_stream_wait(tb, S1, E1);
	else if (_i == SYNCHRONISED)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	else if (_i == ONE_MORE)
		test_launch(tb, &between, S1);
	test_launch(tb, &second, S1)->flags |= _i == PLAIN ? 0 : SW_LAUNCH_PROGRAMMATIC;
	finds(tb, false, 0);
}
END_TEST

/* Work that follows the pair comes after both: a plain kernel, another stream by an event, the host. */
START_TEST(later_work_comes_after_both)
{
	struct tb *tb = with_code(two_streams());
	const struct test_call first = OVERLAPPING("early", DEV, DEV2, 64), later = FILL(DEV, 0, 64);
	test_launch(tb, &first, S1);
	overlapping(tb, (struct test_call)OVERLAPPING("behind", MID, DEV, 64), S1);
	if (_i == 1)
		order(tb, S1, S2);
	if (_i == 2)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	test_launch(tb, &later, _i ? S2 : S1);
	finds(tb, false, 0);
}
END_TEST

/* ---- chains ------------------------------------------------------------------------------------------------------ */

/* The second kernel does nothing to the data of the first; the third reads them before its wait, or behind it. */
static const struct {
	const char *second, *third;
	bool hazard;
} chains[] = {
	{"first", "between", true},   /* it triggers, then waits: the first may still run */
	{"middle", "between", false}, /* it waits, then triggers */
	{"early", "between", true},   /* it never waits */
	{"early", "behind", false},   /* as measured, and counted as order */
	{"first", "behind", false},   {"behind", "between", false}, /* no trigger */
};

START_TEST(three_kernels)
{
	struct tb *tb = with_code(two_streams());
	const struct test_call first = OVERLAPPING("early", DEV, DEV2, 64);
	test_launch(tb, &first, S1);
	overlapping(tb, (struct test_call){chains[_i].second, 3, {FAR, FAR + 4096, 64}}, S1);
	overlapping(tb, (struct test_call){chains[_i].third, 3, {MID, DEV, 64}}, S1);
	finds(tb, chains[_i].hazard, SW_ERROR);
}
END_TEST

/* ---- code that is not known -------------------------------------------------------------------------------------- */

/* 0: of the first kernel; 1: of the second. */
START_TEST(unknown_code_is_possible_at_most)
{
	struct tb *tb = with_code(two_streams());
	const struct test_call first = OVERLAPPING("early", DEV, DEV2, 64), second = COPY(MID, DEV, 64);
	const struct test_call wild = WILD(DEV);
	test_launch(tb, _i ? &first : &wild, S1);
	overlapping(tb, _i ? wild : second, S1);
	struct sw_judgement *j = all_of(tb);
	ck_assert_uint_eq(j->errors + j->warnings, 0);
	ck_assert_uint_eq(j->coverage.unsure_overlaps, 1);
	for (size_t i = 0; i < j->findings.n; i++)
		if (j->findings.at[i].id == 109)
			ck_assert_int_eq(j->findings.at[i].confidence, SW_POSSIBLE);
	sw_judgement_free(j);
}
END_TEST

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

static void kernel_node(struct tb *tb, uint64_t node, struct test_call call, uint64_t before, uint64_t edge)
{
	struct {
		struct sw_rec_launch l;
		uint64_t params[3];
	} work = {.l = {.function = test_function(tb, call.kernel), .grid = {1, 1, 1}, .block = {256, 1, 1}}};
	const uint64_t edges[] = {before, edge};
	memcpy(work.params, call.word, sizeof work.params);
	work.l.param_bytes = (uint16_t)(call.words * 8);
	struct sw_rec_graph_node *r =
		tb_node(tb, EXEC, node, edges, before ? (edge ? 2 : 1) : 0, SW_REC_LAUNCH, &work, sizeof work);
	if (edge) { /* as many of them as dependencies */
		r->before = 1;
		r->flags |= SW_NODE_EDGES | SW_NODE_WEAK;
	}
}

static const struct {
	const char *first, *second;
	uint64_t edge;
	bool hazard;
	enum sw_severity severity;
} nodes[] = {
	{"early", "between", SW_EDGE_OF(1, 1, 0), true, SW_ERROR},
	{"early", "behind", SW_EDGE_OF(1, 1, 0), false, 0},
	{"early", "between", 0, false, 0}, /* a plain edge */
	{"late", "between", SW_EDGE_OF(1, 1, 0), true, SW_WARNING},
	{"copy", "between", SW_EDGE_OF(1, 1, 0), false, 0},	  /* no trigger */
	{"copy", "between", SW_EDGE_OF(1, 2, 0), true, SW_ERROR}, /* from the start of the first */
	{"copy", "behind", SW_EDGE_OF(1, 2, 0), false, 0},
};

START_TEST(two_nodes)
{
	struct tb *tb = with_code(two_streams());
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, EXEC);
	tb_node_head(tb, EXEC, 2);
	kernel_node(tb, A, (struct test_call){nodes[_i].first, 3, {DEV, DEV2, 64}}, 0, 0);
	kernel_node(tb, B, (struct test_call){nodes[_i].second, 3, {MID, DEV, 64}}, A, nodes[_i].edge);
	tb_graph_launch(tb, EXEC, S1);
	finds(tb, nodes[_i].hazard, nodes[_i].severity);
}
END_TEST

START_TEST(three_nodes)
{
	const uint64_t edge = SW_EDGE_OF(1, 1, 0);
	struct tb *tb = with_code(two_streams());
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, EXEC);
	tb_node_head(tb, EXEC, 3);
	kernel_node(tb, A, (struct test_call)OVERLAPPING("early", DEV, DEV2, 64), 0, 0);
	kernel_node(tb, B, (struct test_call){chains[_i].second, 3, {FAR, FAR + 4096, 64}}, A, edge);
	kernel_node(tb, C, (struct test_call){chains[_i].third, 3, {MID, DEV, 64}}, B, edge);
	tb_graph_launch(tb, EXEC, S1);
	finds(tb, chains[_i].hazard, SW_ERROR);
}
END_TEST

#define N(table) ((int)(sizeof(table) / sizeof(table)[0]))

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, two_kernels, 0, N(pairs));
	tcase_add_loop_test(tc, something_orders_both, 0, WAYS);
	tcase_add_loop_test(tc, later_work_comes_after_both, 0, 3);
	tcase_add_loop_test(tc, three_kernels, 0, N(chains));
	tcase_add_loop_test(tc, unknown_code_is_possible_at_most, 0, 2);
	tcase_add_loop_test(tc, two_nodes, 0, N(nodes));
	tcase_add_loop_test(tc, three_nodes, 0, N(chains));
}

int main(void)
{
	return run_cases("programmatic", add);
}
