/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are more than work: conditional ones, memory operations, events, semaphores, allocations, child graphs
   that are replaced. */
#include "detect/judge.h"

#define GRAPH	   0x100ull
#define EXEC	   0x200ull
#define A	   0x1010ull
#define B	   0x1020ull
#define C	   0x1030ull
#define D	   0x1040ull
#define CONDITION  0x1050ull
#define BODY(i)	   (0x1100ull + 16 * (uint64_t)(i))
#define DEV3	   0x7f3000000000ull
#define FLAGS	   0x7f4000000000ull
#define CHILD_TYPE 4u

/* After `before`, 0: none, in `parent`, 0 the graph itself. */
static struct sw_rec_graph_node *node_set(struct tb *tb, uint64_t node, uint64_t before, uint64_t parent, uint64_t dst)
{
	struct sw_rec_set work = {.dst = dst, .width = 64, .height = 1};
	struct sw_rec_graph_node *r = tb_node(tb, EXEC, node, &before, before ? 1 : 0, SW_REC_SET, &work, sizeof work);
	r->parent = parent;
	return r;
}

static struct sw_rec_graph_node *node_bare(struct tb *tb, uint64_t node, uint64_t before, uint32_t type)
{
	struct sw_rec_graph_node *r = tb_node(tb, EXEC, node, &before, before ? 1 : 0, SW_REC_PAD, NULL, 0);
	r->type = type;
	return r;
}

static void describe(struct tb *tb, uint32_t nodes)
{
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, EXEC);
	tb_node_head(tb, EXEC, nodes);
}

/* Beyond a number of nodes branches are not compared, which is counted. */
START_TEST(branches_of_huge_graphs_are_counted)
{
	static const uint32_t nodes[] = {100, 32769};
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_DEVICE, DEV3, 64ull * nodes[_i]);
	describe(tb, nodes[_i]);
	for (uint32_t i = 0; i < nodes[_i]; i++)
		node_set(tb, A + 16 * i, 0, 0, DEV3 + 64ull * i);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	ck_assert_uint_eq(j->coverage.uncompared_graphs, _i);
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, 0);
	sw_judgement_free(j);
}
END_TEST

/* ---- conditional nodes ------------------------------------------------------------------------------------------- */

static void body(struct tb *tb, uint64_t graph, uint64_t parent)
{
	struct sw_rec_graph_node *r = node_bare(tb, graph, 0, CHILD_TYPE);
	r->parent = parent;
	r->flags = SW_NODE_BODY;
}

/* A body may run: what it does concurrently with an unordered node is likely a race, never a certain one. */
START_TEST(a_body_may_race)
{
	struct tb *tb = two_streams();
	describe(tb, 4);
	node_set(tb, A, 0, 0, DEV);
	node_bare(tb, CONDITION, _i ? A : 0, 13);
	body(tb, BODY(0), CONDITION);
	node_set(tb, B, 0, BODY(0), DEV);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		ck_assert_int_eq(only(j, 107)->severity, SW_WARNING);
		ck_assert_int_eq(only(j, 107)->confidence, SW_LIKELY);
	}
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, 0);
	sw_judgement_free(j);
}
END_TEST

/* One body of a node runs at a time, whatever lies inside them; two nodes of one body run together. */
START_TEST(bodies_exclude_each_other)
{
	struct tb *tb = two_streams();
	describe(tb, 6);
	node_bare(tb, CONDITION, 0, 13);
	body(tb, BODY(0), CONDITION);
	node_set(tb, A, 0, BODY(0), DEV);
	body(tb, BODY(1), CONDITION);
	node_bare(tb, C, 0, CHILD_TYPE)->parent = BODY(_i);
	node_set(tb, B, 0, C, DEV);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 107), _i ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* A write that may not have happened is reported as such, and stands for no other. */
START_TEST(a_body_against_a_stream)
{
	struct tb *tb = two_streams();
	describe(tb, 3);
	node_bare(tb, CONDITION, 0, 13);
	body(tb, BODY(0), CONDITION);
	node_set(tb, A, 0, BODY(0), DEV);
	if (_i)
		tb_set(tb, DEV, 64, S1);
	tb_graph_launch(tb, EXEC, S1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 2 : 1);
	ck_assert_uint_eq(j->errors, _i ? 1 : 0);
	ck_assert_uint_ge(j->warnings, 1);
	sw_judgement_free(j);
}
END_TEST

/* ---- events are bound to what they depend on --------------------------------------------------------------------- */

static struct sw_rec_graph_node *node_record(struct tb *tb, uint64_t node, uint64_t before)
{
	struct sw_rec_event_record work = {.event = E1, .flags = SW_EVENT_RECORD_EXTERNAL};
	return tb_node(tb, EXEC, node, &before, 1, SW_REC_EVENT_RECORD, &work, sizeof work);
}

/* The record stands for A, which it depends on, not for the unordered B, nor for C after it. */
START_TEST(a_record_stands_for_what_comes_before_it)
{
	struct tb *tb = two_streams();
	describe(tb, 4);
	node_set(tb, B, 0, 0, DEV + 4096);
	node_set(tb, A, 0, 0, DEV);
	node_record(tb, D, A);
	node_set(tb, C, D, 0, DEV + 8192);
	tb_graph_launch(tb, EXEC, S1);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV + 4096 * (uint64_t)_i, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 1 : 0);
	sw_judgement_free(j);
}
END_TEST

/* B waits, the unordered A does not. */
START_TEST(a_wait_holds_what_comes_behind_it)
{
	struct tb *tb = two_streams();
	struct sw_rec_stream_wait wait = {.event = E1, .flags = 1};
	uint64_t before = D;
	describe(tb, 3);
	tb_node(tb, EXEC, D, NULL, 0, SW_REC_STREAM_WAIT, &wait, sizeof wait);
	struct sw_rec_set set = {.dst = DEV + 4096, .width = 64, .height = 1};
	tb_node(tb, EXEC, B, &before, 1, SW_REC_SET, &set, sizeof set);
	node_set(tb, A, 0, 0, DEV);
	tb_set(tb, _i ? DEV : DEV + 4096, 64, S2);
	tb_event_record(tb, E1, S2);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 1 : 0);
	sw_judgement_free(j);
}
END_TEST

/* Where an edge may be missing, events are bound to the whole graph: more order than there is. */
START_TEST(a_record_of_an_unknown_graph)
{
	struct tb *tb = two_streams();
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, EXEC);
	tb_node_head(tb, EXEC, 3)->flags |= SW_NODE_INCOMPLETE;
	node_set(tb, A, 0, 0, DEV);
	node_record(tb, D, A);
	node_set(tb, B, 0, 0, DEV + 4096);
	tb_graph_launch(tb, EXEC, S1);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV + 4096, 64, S2);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	ck_assert_uint_ge(j->coverage.edges_for_safety, 1);
	sw_judgement_free(j);
}
END_TEST

/* ---- memory operations, semaphores ------------------------------------------------------------------------------- */

/* A node writes a flag after its work; a stream waits for it. */
START_TEST(a_node_writes_a_flag)
{
	struct tb *tb = two_streams();
	struct sw_rec_mem_op ops[2] = {
		{.h = {.kind = SW_REC_MEM_OP, .words = sizeof *ops / 8}, .op = SW_MEMOP_BATCH},
		{.h = {.kind = SW_REC_MEM_OP, .words = sizeof *ops / 8},
		 .op = SW_MEMOP_WRITE_VALUE,
		 .address = FLAGS,
		 .bytes = 4,
		 .value = 1},
	};
	uint64_t before = A;
	tb_alloc(tb, SW_MEM_DEVICE, FLAGS, 4096);
	describe(tb, 2);
	node_set(tb, A, 0, 0, DEV);
	tb_node(tb, EXEC, B, &before, 1, SW_REC_MEM_OP, ops, sizeof ops);
	tb_graph_launch(tb, EXEC, S1);
	if (_i) {
		struct sw_rec_mem_op *wait = tb_mem_op(tb, SW_MEMOP_WAIT_VALUE, FLAGS, 4, S2);
		wait->value = 1;
		wait->flags = 1;
	}
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), _i ? 0 : 1);
	ck_assert_uint_eq(count_of(j, 903), 0);
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, 0);
	sw_judgement_free(j);
}
END_TEST

START_TEST(a_node_waits_for_a_flag)
{
	struct tb *tb = two_streams();
	struct sw_rec_mem_op op = {.op = SW_MEMOP_WAIT_VALUE, .address = FLAGS, .bytes = 4, .value = 1, .flags = 1};
	tb_alloc(tb, SW_MEM_DEVICE, FLAGS, 4096);
	describe(tb, 2);
	tb_node(tb, EXEC, B, NULL, 0, SW_REC_MEM_OP, &op, sizeof op);
	node_set(tb, A, B, 0, DEV);
	tb_set(tb, DEV, 64, S2);
	if (_i)
		tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, FLAGS, 4, S2)->value = 1;
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	/* A wait that no write explains is said, and nothing in its context is sure any more. */
	ck_assert_uint_eq(count_of(j, 903), _i ? 0 : 1);
	ck_assert_uint_eq(j->errors, 0);
	sw_judgement_free(j);
}
END_TEST

/* The order by a semaphore is not known: that is said, and a hazard after it is no more than possible. */
START_TEST(semaphores_are_not_followed)
{
	struct tb *tb = two_streams();
	describe(tb, 2);
	node_set(tb, A, 0, 0, DEV);
	node_bare(tb, B, A, _i ? 8 : 9);
	tb_graph_launch(tb, EXEC, S1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(only(j, 903)->count, 1);
	ck_assert_uint_eq(j->errors, 0);
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, 0);
	sw_judgement_free(j);
}
END_TEST

/* A graph for launches by kernels is reported once; what is seen is judged as ever. */
START_TEST(launched_by_kernels)
{
	struct tb *tb = two_streams();
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, EXEC)->flags = _i ? 4 : 2;
	tb_node_head(tb, EXEC, 1);
	node_set(tb, A, 0, 0, DEV);
	tb_graph_launch(tb, EXEC, S1);
	tb_graph_launch(tb, EXEC, S1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 903), _i ? 1 : 0);
	ck_assert_uint_eq(j->errors, 1);
	sw_judgement_free(j);
}
END_TEST

/* ---- programmatic dependencies, child graphs, memory ------------------------------------------------------------- */

START_TEST(weak_edges_are_counted)
{
	struct tb *tb = two_streams();
	describe(tb, 2);
	node_set(tb, A, 0, 0, DEV);
	node_set(tb, B, A, 0, DEV)->flags = _i ? SW_NODE_WEAK : 0;
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	ck_assert_uint_eq(j->coverage.edges_for_safety, _i ? 1 : 0);
	sw_judgement_free(j);
}
END_TEST

/* 0: as it was made; 1: the child writes elsewhere; 2: it holds another child; 3: what it holds is not known. */
START_TEST(a_child_is_replaced)
{
	struct tb *tb = two_streams();
	describe(tb, 3);
	node_bare(tb, C, 0, CHILD_TYPE);
	node_set(tb, A, 0, C, DEV);
	node_set(tb, B, 0, 0, DEV2);
	if (_i) {
		tb_graph(tb, SW_GRAPH_EXEC_UPDATE, 0, EXEC);
		struct sw_rec_graph_node *r = node_bare(tb, C, 0, CHILD_TYPE);
		r->flags = SW_NODE_CHANGED | (_i == 3 ? SW_NODE_INCOMPLETE : 0);
		r->nodes = _i == 2 ? 2 : 1;
		if (_i == 2)
			node_bare(tb, D, 0, CHILD_TYPE)->parent = C;
		node_set(tb, D + 8, 0, _i == 2 ? D : C, _i == 1 ? DEV + 4096 : DEV2);
	}
	tb_graph_launch(tb, EXEC, S1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 107), _i == 2 ? 1 : 0);
	ck_assert_uint_eq(count_of(j, 103), _i == 0 ? 1 : 0);
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, _i == 3 ? 1 : 0);
	sw_judgement_free(j);
}
END_TEST

static void node_alloc(struct tb *tb, uint64_t node)
{
	struct sw_rec_alloc alloc = {.memory = SW_MEM_ASYNC, .address = DEV3, .bytes = 4096};
	tb_node(tb, EXEC, node, NULL, 0, SW_REC_ALLOC, &alloc, sizeof alloc);
}

/* Memory of a graph continues after its launch: 0, 1: freed on the stream, and then used or not; 2: used on another
   stream; 3: freed by the host. */
START_TEST(memory_outlives_the_launch)
{
	struct tb *tb = two_streams();
	describe(tb, 2);
	node_alloc(tb, A);
	node_set(tb, B, A, 0, DEV3);
	tb_graph_launch(tb, EXEC, S1);
	if (_i < 2)
		tb_free(tb, SW_MEM_ASYNC, DEV3)->stream = S1;
	if (_i == 3) {
		tb_sync(tb, SW_SYNC_STREAM, S1);
		tb_free_sync(tb, SW_MEM_UNKNOWN, DEV3);
	}
	if (_i == 0 || _i == 2)
		tb_set(tb, DEV3, 64, _i ? S2 : S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 105), _i == 0 ? 1 : 0);
	ck_assert_uint_eq(count_of(j, 103) + count_of(j, 106), _i == 2 ? 2 : 0);
	sw_judgement_free(j);
}
END_TEST

/* With CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH a launch frees what the one before allocated. */
START_TEST(memory_is_freed_by_the_next_launch)
{
	struct tb *tb = two_streams();
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, EXEC)->flags = 1;
	tb_node_head(tb, EXEC, 2);
	node_alloc(tb, A);
	node_set(tb, B, A, 0, DEV3);
	tb_graph_launch(tb, EXEC, S1);
	order(tb, S1, S2);
	tb_copy(tb, DEV2, SW_SIDE_DEVICE, DEV3, SW_SIDE_DEVICE, 64, S2);
	if (_i)
		order(tb, S2, S1);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 105), _i ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* A graph that allocates, uses and frees, and again at the same address: 0: each use comes after its allocation; 1: the
   first one after none. */
START_TEST(memory_is_used_after_its_allocation)
{
	struct sw_rec_free release = {.memory = SW_MEM_ASYNC, .address = DEV3};
	const uint64_t b = B, d = D;
	struct tb *tb = two_streams();
	describe(tb, 5);
	node_alloc(tb, A);
	node_set(tb, B, _i ? 0 : A, 0, DEV3);
	tb_node(tb, EXEC, C, &b, 1, SW_REC_FREE, &release, sizeof release);
	struct sw_rec_alloc again = {.memory = SW_MEM_ASYNC, .address = DEV3, .bytes = 4096};
	const uint64_t c = C;
	tb_node(tb, EXEC, D, &c, 1, SW_REC_ALLOC, &again, sizeof again);
	node_set(tb, D + 8, d, 0, DEV3);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 106), _i ? 1 : 0);
	sw_judgement_free(j);
}
END_TEST

/* Whatever the bytes say: no crash, no end that never comes. */
START_TEST(damaged)
{
	struct sw_rec_mem_op op = {.op = SW_MEMOP_WAIT_VALUE, .address = FLAGS, .bytes = 4, .value = 1};
	struct sw_rec_event_record record = {.event = E1, .flags = SW_EVENT_RECORD_EXTERNAL};
	uint64_t before = A;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct tb *tb = two_streams();
		describe(tb, 7);
		node_set(tb, A, 0, 0, DEV);
		node_bare(tb, CONDITION, A, 13);
		body(tb, BODY(0), CONDITION);
		node_set(tb, B, 0, BODY(0), DEV);
		node_bare(tb, C, 0, CHILD_TYPE);
		tb_node(tb, EXEC, D, &before, 1, SW_REC_MEM_OP, &op, sizeof op);
		tb_node(tb, EXEC, D + 8, &before, 1, SW_REC_EVENT_RECORD, &record, sizeof record);
		tb_graph_launch(tb, EXEC, S1);
		node_bare(tb, C, 0, CHILD_TYPE)->flags = SW_NODE_CHANGED;
		tb_graph_launch(tb, EXEC, S1);
		tb_set(tb, DEV, 64, S2);
		struct sw_judgement *j = judged_damaged(tb, NULL, seed + (uint64_t)_i * 1000, 1 + (unsigned)seed % 16);
		if (j)
			sw_judgement_free(j);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, damaged, 0, 8);
	tcase_add_loop_test(tc, branches_of_huge_graphs_are_counted, 0, 2);
	tcase_add_loop_test(tc, a_body_may_race, 0, 2);
	tcase_add_loop_test(tc, bodies_exclude_each_other, 0, 2);
	tcase_add_loop_test(tc, a_body_against_a_stream, 0, 2);
	tcase_add_loop_test(tc, a_record_stands_for_what_comes_before_it, 0, 3);
	tcase_add_loop_test(tc, a_wait_holds_what_comes_behind_it, 0, 2);
	tcase_add_test(tc, a_record_of_an_unknown_graph);
	tcase_add_loop_test(tc, a_node_writes_a_flag, 0, 2);
	tcase_add_loop_test(tc, a_node_waits_for_a_flag, 0, 2);
	tcase_add_loop_test(tc, semaphores_are_not_followed, 0, 2);
	tcase_add_loop_test(tc, launched_by_kernels, 0, 2);
	tcase_add_loop_test(tc, weak_edges_are_counted, 0, 2);
	tcase_add_loop_test(tc, a_child_is_replaced, 0, 4);
	tcase_add_loop_test(tc, memory_outlives_the_launch, 0, 4);
	tcase_add_loop_test(tc, memory_is_freed_by_the_next_launch, 0, 2);
	tcase_add_loop_test(tc, memory_is_used_after_its_allocation, 0, 2);
}

int main(void)
{
	return run_cases("graph nodes", add);
}
