/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs (SW107), their launches against everything else, and captures that fail (SW204). */
#include "detect/judge.h"

#define GRAPH 0x100ull
#define EXEC  0x200ull
#define OTHER 0x300ull
#define A     0x1010ull
#define B     0x1020ull
#define C     0x1030ull
#define CHILD 0x1040ull
#define DEV3  0x7f3000000000ull

/* Nodes that depend on `before`, 0: none. */
static void node_set(struct tb *tb, uint64_t exec, uint64_t node, uint64_t before, uint64_t dst)
{
	struct sw_rec_set work = {.dst = dst, .width = 64, .height = 1};
	tb_node(tb, exec, node, &before, before ? 1 : 0, SW_REC_SET, &work, sizeof work);
}

static struct sw_rec_graph_node *node_copy(struct tb *tb, uint64_t exec, uint64_t node, uint64_t before, uint64_t dst,
					   uint64_t src)
{
	struct sw_rec_copy_nd work = {
		.width = 64,
		.height = 1,
		.depth = 1,
		.dst = {.base = dst, .pitch = 64, .slice_rows = 1, .side = SW_SIDE_DEVICE},
		.src = {.base = src, .pitch = 64, .slice_rows = 1, .side = SW_SIDE_DEVICE},
	};
	return tb_node(tb, exec, node, &before, before ? 1 : 0, SW_REC_COPY_ND, &work, sizeof work);
}

static void describe(struct tb *tb, uint64_t exec, uint32_t nodes)
{
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, exec);
	tb_node_head(tb, exec, nodes);
}

/* Two nodes on DEV, a writer and a reader. */
static void write_and_read(struct tb *tb, bool ordered)
{
	describe(tb, EXEC, 2);
	node_set(tb, EXEC, A, 0, DEV);
	node_copy(tb, EXEC, B, ordered ? A : 0, DEV2, DEV);
}

START_TEST(branches)
{
	struct tb *tb = two_streams();
	write_and_read(tb, _i);
	tb_graph_launch(tb, EXEC, S1);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 107);
		ck_assert_int_eq(f->severity, SW_ERROR);
		ck_assert_int_eq(f->confidence, SW_CERTAIN);
		ck_assert_uint_eq(f->count, 1); /* a description is judged once */
		ck_assert_int_eq(f->access[0]->role, SW_WRITE);
		ck_assert_int_eq(f->access[1]->role, SW_READ);
		ck_assert_uint_eq(j->errors, 1);
	}
	ck_assert_uint_eq(j->coverage.graph_launches, 2);
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, 0);
	sw_judgement_free(j);
}
END_TEST

/* A third node between the two orders them as well as an edge does, whichever is described first. */
START_TEST(order_is_transitive)
{
	struct tb *tb = two_streams();
	describe(tb, EXEC, 3);
	node_copy(tb, EXEC, C, _i ? B : 0, DEV2 + 64, DEV);
	node_set(tb, EXEC, B, A, DEV2 + 512);
	node_set(tb, EXEC, A, 0, DEV);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 107), _i ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* A node of the capture names the captured call. */
START_TEST(nodes_name_the_captured_call)
{
	struct tb *tb = two_streams();
	tb_capture(tb, SW_CAPTURE_BEGIN, S1, 0);
	uint64_t write = sw_rec_seq(&tb_set(tb, DEV, 64, S1)->h);
	tb_event_record(tb, E1, S1);
	tb_stream_wait(tb, S2, E1);
	tb_call(tb, "cuMemcpyDtoDAsync_v2", "cudaMemcpyAsync");
	uint64_t read = sw_rec_seq(&tb_copy(tb, DEV2, SW_SIDE_DEVICE, DEV, SW_SIDE_DEVICE, 64, S2)->h);
	tb_capture(tb, SW_CAPTURE_END, S1, GRAPH);
	describe(tb, EXEC, 2);
	struct sw_rec_set set = {.dst = DEV, .width = 64, .height = 1};
	tb_node(tb, EXEC, A, NULL, 0, SW_REC_SET, &set, sizeof set)->origin = write;
	node_copy(tb, EXEC, B, 0, DEV2, DEV)->origin = read;
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	const struct sw_finding *f = only(j, 107);
	ck_assert_uint_eq(f->access[0]->node, write);
	ck_assert_uint_eq(f->access[1]->node, read);
	ck_assert_uint_eq(j->streams.at[f->access[0]->stream].handle, S1);
	ck_assert_uint_eq(j->streams.at[f->access[1]->stream].handle, S2);
	ck_assert_int_eq(f->fix, SW_FIX_EVENT_CAPTURED);
	sw_judgement_free(j);
}
END_TEST

/* Nodes of a child graph are ordered by the node that holds it. */
START_TEST(child_graphs)
{
	struct tb *tb = two_streams();
	describe(tb, EXEC, 3);
	tb_node(tb, EXEC, CHILD, NULL, 0, SW_REC_PAD, NULL, 0)->type = 4;
	struct sw_rec_set set = {.dst = DEV, .width = 64, .height = 1};
	tb_node(tb, EXEC, A, NULL, 0, SW_REC_SET, &set, sizeof set)->parent = CHILD;
	node_copy(tb, EXEC, B, _i ? CHILD : 0, DEV2, DEV);
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 107), _i ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* Work outside meets each of the unordered nodes that touch its bytes; of ordered ones the last.  0: two branches; 1:
   one node after the other; 2: through a node that does something else; 3: two branches, launched twice; 4: three
   branches; 5: two chains of two; 6: a branch and a chain that joins it. */
START_TEST(branches_against_stream)
{
	static const struct {
		uint32_t nodes;
		uint8_t before[4]; /* bits */
		bool reads[4];
		uint32_t launches, meets;
	} graph[] = {
		{2, {0, 0}, {true, true}, 1, 2},
		{2, {0, 1}, {true, true}, 1, 1},
		{3, {0, 1, 2}, {true, false, true}, 1, 1},
		{2, {0, 0}, {true, true}, 2, 2},
		{3, {0, 0, 0}, {true, true, true}, 1, 3},
		{4, {0, 0, 1, 2}, {true, true, true, true}, 1, 2},
		{4, {0, 0, 2, 5}, {true, true, true, true}, 1, 1},
	};
	struct tb *tb = two_streams();
	describe(tb, EXEC, graph[_i].nodes);
	for (uint32_t i = 0; i < graph[_i].nodes; i++) {
		uint64_t before[4];
		uint32_t n = 0;
		for (uint32_t k = 0; k < i; k++)
			if (graph[_i].before[i] >> k & 1)
				before[n++] = A + 16 * k;
		struct sw_rec_copy_nd work = {
			.width = 64,
			.height = 1,
			.depth = 1,
			.dst = {.base = DEV2 + 4096 * i, .pitch = 64, .slice_rows = 1, .side = SW_SIDE_DEVICE},
			.src = {.base = graph[_i].reads[i] ? DEV : DEV2 + 65536, .pitch = 64, .slice_rows = 1},
		};
		work.src.side = SW_SIDE_DEVICE;
		tb_node(tb, EXEC, A + 16 * i, before, n, SW_REC_COPY_ND, &work, sizeof work);
	}
	for (uint32_t i = 0; i < graph[_i].launches; i++)
		tb_graph_launch(tb, EXEC, S1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(only(j, 102)->count, graph[_i].meets);
	sw_judgement_free(j);
}
END_TEST

START_TEST(launch_against_stream)
{
	struct tb *tb = two_streams();
	write_and_read(tb, true);
	uint32_t stack = tb_stack(tb, 1, 0x401000ull);
	const uint16_t api = tb_graph_launch(tb, EXEC, S1)->h.api;
	if (_i)
		order(tb, S1, S2);
	tb_set(tb, DEV2, 8, S2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		const struct sw_access *earlier = only(j, 103)->access[0];
		ck_assert_uint_eq(earlier->bytes, 64);
		ck_assert_uint_eq(earlier->launch_stack, stack);
		ck_assert_uint_eq(earlier->launch_api, api);
	}
	sw_judgement_free(j);
}
END_TEST

/* "Each launch is ordered after [...] any previous launches of hGraphExec" (cuGraphLaunch); of another it is not. */
START_TEST(two_launches)
{
	struct tb *tb = two_streams();
	write_and_read(tb, true);
	describe(tb, OTHER, 1);
	node_set(tb, OTHER, A, 0, DEV);
	tb_graph_launch(tb, EXEC, S1);
	tb_graph_launch(tb, _i ? EXEC : OTHER, S2);
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		ck_assert_uint_eq(j->errors, 2); /* against the writer, against the reader */
	sw_judgement_free(j);
}
END_TEST

/* An update replaces what one node does; a disabled node does nothing. */
START_TEST(changed_nodes)
{
	struct tb *tb = two_streams();
	describe(tb, EXEC, 2);
	node_set(tb, EXEC, A, 0, DEV);
	node_copy(tb, EXEC, B, 0, DEV2, DEV + 4096);
	tb_graph_launch(tb, EXEC, S1);
	tb_graph(tb, SW_GRAPH_EXEC_UPDATE, 0, EXEC);
	node_copy(tb, EXEC, B, 0, DEV2, DEV)->flags = SW_NODE_CHANGED;
	if (_i)
		tb_node(tb, EXEC, A, NULL, 0, SW_REC_PAD, NULL, 0)->flags = SW_NODE_DISABLED;
	if (_i == 2)
		tb_node(tb, EXEC, A, NULL, 0, SW_REC_PAD, NULL, 0)->flags = SW_NODE_ENABLED;
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 107), _i == 1 ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* Branches are not judged where an edge may be missing, but what is known of the launch still is. */
START_TEST(incomplete)
{
	struct tb *tb = two_streams();
	tb_graph(tb, SW_GRAPH_INSTANTIATE, GRAPH, EXEC);
	tb_node_head(tb, EXEC, _i ? 3 : 2)->flags |= _i ? 0 : SW_NODE_INCOMPLETE;
	node_set(tb, EXEC, A, 0, DEV);
	node_copy(tb, EXEC, B, 0, DEV2, DEV);
	tb_graph_launch(tb, EXEC, S1);
	tb_set(tb, DEV, 8, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 107), 0);
	ck_assert_uint_eq(j->coverage.unknown_graph_launches, 1);
	ck_assert_uint_ge(j->errors, 1);
	sw_judgement_free(j);
}
END_TEST

/* Dependencies in a circle, on nodes that do not exist, parents that come later. */
START_TEST(impossible)
{
	struct tb *tb = two_streams();
	describe(tb, EXEC, 2);
	node_set(tb, EXEC, A, _i == 0 ? B : _i == 1 ? 0x9990 : A, DEV);
	node_copy(tb, EXEC, B, _i == 0 ? A : 0, DEV2, DEV)->parent = _i == 2 ? C : 0;
	tb_graph_launch(tb, EXEC, S1);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

START_TEST(event_nodes)
{
	struct tb *tb = two_streams();
	bool waits = _i & 2, there = _i & 1;
	describe(tb, EXEC, 2);
	node_set(tb, EXEC, A, waits ? B : 0, DEV);
	if (waits) {
		struct sw_rec_stream_wait wait = {.event = E1, .flags = 1};
		tb_node(tb, EXEC, B, NULL, 0, SW_REC_STREAM_WAIT, &wait, sizeof wait);
		tb_set(tb, DEV, 64, S2);
		if (there)
			tb_event_record(tb, E1, S2);
		tb_graph_launch(tb, EXEC, S1);
	} else {
		struct sw_rec_event_record record = {.event = E1, .flags = SW_EVENT_RECORD_EXTERNAL};
		tb_node(tb, EXEC, B, (uint64_t[]){A}, 1, SW_REC_EVENT_RECORD, &record, sizeof record);
		tb_graph_launch(tb, EXEC, S1);
		if (there)
			tb_stream_wait(tb, S2, E1);
		tb_set(tb, DEV, 64, S2);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 103), there ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* Memory that a node allocates begins with the launch. */
START_TEST(memory_nodes)
{
	struct tb *tb = two_streams();
	struct sw_rec_alloc alloc = {.memory = SW_MEM_ASYNC, .address = DEV3, .bytes = 4096};
	struct sw_rec_free gone = {.memory = SW_MEM_ASYNC, .address = DEV3};
	describe(tb, EXEC, 3);
	tb_node(tb, EXEC, A, NULL, 0, SW_REC_ALLOC, &alloc, sizeof alloc);
	node_set(tb, EXEC, B, A, DEV3);
	tb_node(tb, EXEC, C, (uint64_t[]){B}, 1, SW_REC_FREE, &gone, sizeof gone);
	tb_graph_launch(tb, EXEC, S1);
	tb_graph_launch(tb, EXEC, S1);
	if (!_i)
		tb_set(tb, DEV3, 8, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, _i ? 0 : 1);
	ck_assert_uint_eq(count_of(j, 105), _i ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

/* An exec at the address of one that was destroyed is another. */
START_TEST(destroyed)
{
	struct tb *tb = two_streams();
	write_and_read(tb, true);
	tb_graph_launch(tb, EXEC, S1);
	tb_graph(tb, SW_GRAPH_EXEC_DESTROY, 0, EXEC);
	if (_i)
		tb_graph(tb, SW_GRAPH_EXEC_DESTROY, 0, EXEC);
	describe(tb, EXEC, 1);
	node_set(tb, EXEC, A, 0, DEV + 4096);
	tb_graph_launch(tb, EXEC, S2);
	tb_set(tb, DEV, 8, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, 2); /* after nothing on stream 1, which wrote DEV and read it */
	sw_judgement_free(j);
}
END_TEST

static const struct {
	uint16_t status;
	bool found;
	enum sw_fix fix;
} refusals[] = {{900, true, SW_FIX_OUTSIDE_CAPTURE},
		{902, true, SW_FIX_ONE_CAPTURE},
		{903, true, SW_FIX_END_WHERE_BEGUN},
		{904, true, SW_FIX_JOIN},
		{905, true, SW_FIX_RECORD_IN_CAPTURE},
		{906, true, SW_FIX_NONBLOCKING},
		{907, true, SW_FIX_RECORD_OUTSIDE},
		{901, false, SW_FIX_NONE},
		{1, false, SW_FIX_NONE}};

START_TEST(refused)
{
	struct tb *tb = two_streams();
	tb_capture(tb, SW_CAPTURE_BEGIN, S1, 0);
	tb_event_record(tb, E1, S1);
	tb_stream_wait(tb, S2, E1);
	tb_set(tb, DEV, 64, S2);
	tb->status = refusals[_i].status;
	tb_capture(tb, SW_CAPTURE_END, S1, 0);
	tb->status = 0;
	tb_set(tb, DEV, 64, S1);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 204), refusals[_i].found);
	if (refusals[_i].found) {
		const struct sw_finding *f = only(j, 204);
		ck_assert_int_eq(f->severity, SW_WARNING);
		ck_assert_int_eq(f->confidence, SW_CERTAIN);
		ck_assert_uint_eq(f->refused, refusals[_i].status);
		ck_assert_int_eq(f->fix, refusals[_i].fix);
		/* An unjoined stream is named with what came last on it. */
		ck_assert_uint_eq(f->accesses, f->refused == 904 ? 2 : 1);
	}
	/* The capture has ended unless it was ended on the wrong stream. */
	ck_assert_uint_eq(j->coverage.sets, refusals[_i].status == 903 ? 0 : 1);
	sw_judgement_free(j);
}
END_TEST

START_TEST(damaged)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct tb *tb = two_streams();
		write_and_read(tb, false);
		tb_graph_launch(tb, EXEC, S1);
		tb_graph(tb, SW_GRAPH_EXEC_UPDATE, 0, EXEC);
		node_copy(tb, EXEC, B, 0, DEV2, DEV)->flags = SW_NODE_CHANGED;
		tb_graph_launch(tb, EXEC, S1);
		struct sw_judgement *j = judged_damaged(tb, NULL, seed + (uint64_t)_i * 1000, 1 + (unsigned)seed % 16);
		if (j)
			sw_judgement_free(j);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, branches, 0, 2);
	tcase_add_loop_test(tc, order_is_transitive, 0, 2);
	tcase_add_test(tc, nodes_name_the_captured_call);
	tcase_add_loop_test(tc, child_graphs, 0, 2);
	tcase_add_loop_test(tc, branches_against_stream, 0, 7);
	tcase_add_loop_test(tc, launch_against_stream, 0, 2);
	tcase_add_loop_test(tc, two_launches, 0, 2);
	tcase_add_loop_test(tc, changed_nodes, 0, 3);
	tcase_add_loop_test(tc, incomplete, 0, 2);
	tcase_add_loop_test(tc, impossible, 0, 3);
	tcase_add_loop_test(tc, event_nodes, 0, 4);
	tcase_add_loop_test(tc, memory_nodes, 0, 2);
	tcase_add_loop_test(tc, destroyed, 0, 2);
	tcase_add_loop_test(tc, refused, 0, sizeof refusals / sizeof *refusals);
	tcase_add_loop_test(tc, damaged, 0, 4);
}

int main(void)
{
	return run_cases("graphs", add);
}
