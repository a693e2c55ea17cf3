/* SPDX-License-Identifier: Apache-2.0 */
/* Events that an observer of a judgement sees. */
#include "detect/judge.h"

struct seen {
	unsigned operations, completed, hazards, edges, begun, order_errors;
	uint64_t last_completed;
};

static void on_operation(void *arg, const struct sw_operation *op)
{
	struct seen *seen = arg;
	seen->operations++;
	seen->order_errors += op->record->rec->kind != op->what.kind;
}

static void on_completed(void *arg, uint64_t seq, uint32_t stream, uint64_t t_ns)
{
	struct seen *seen = arg;
	seen->completed++;
	seen->order_errors += seq <= seen->last_completed || !stream || !t_ns;
	seen->last_completed = seq;
}

static void on_edge(void *arg, const struct sw_hb_edge *edge, uint32_t from, uint32_t to)
{
	(void)edge, (void)from, (void)to;
	((struct seen *)arg)->edges++;
}

static void on_hazard(void *arg, const struct sw_finding *f, const struct sw_access *a, const struct sw_access *b)
{
	struct seen *seen = arg;
	seen->hazards++;
	seen->order_errors += f->id != 103 || a->seq >= b->seq;
}

static void on_begin(void *arg, const struct sw_judgement *j)
{
	((struct seen *)arg)->begun += j->findings.n == 0;
}

START_TEST(observers_see_the_run)
{
	struct seen seen = {0};
	struct sw_observer observer = {.arg = &seen,
				       .operation = on_operation,
				       .completed = on_completed,
				       .edge = on_edge,
				       .hazard = on_hazard,
				       .begin = on_begin};
	struct tb *tb = two_streams();
	for (int i = 0; i < 3; i++) {
		tb_set(tb, DEV, 64, S1);
		tb_set(tb, DEV, 64, S2);
	}
	tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_sync_begin(tb, SW_SYNC_CONTEXT, 0);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.observer = &observer});
	ck_assert_uint_eq(seen.operations, 7 + 6 + 2);
	ck_assert_uint_eq(seen.completed, 3);
	ck_assert_uint_eq(seen.begun, 1);
	ck_assert_uint_eq(seen.hazards, 5);
	ck_assert_uint_eq(seen.order_errors, 0);
	ck_assert_uint_ge(seen.edges, 1);
	sw_judgement_free(j);
}
END_TEST

/* ---- what confirm asks for, and adds ----------------------------------------------------------------------------- */

static enum sw_order asked_order(struct tb *tb, uint64_t earlier, uint64_t later, bool *known)
{
	struct sw_asked_order asked = {.earlier = earlier, .later = later};
	sw_judgement_free(judged_with(tb, &(struct sw_judge_options){.asked = &asked}));
	*known = asked.known;
	return asked.order;
}

static uint64_t set(struct tb *tb, uint64_t stream)
{
	tb_set(tb, DEV, 64, stream);
	return tb->seq;
}

START_TEST(the_order_of_two_calls)
{
	bool known;
	struct tb *tb = two_streams();
	uint64_t first = set(tb, S1), second = set(tb, S2);
	ck_assert_int_eq(asked_order(tb, first, second, &known), SW_ORDER_NONE);
	ck_assert(known);
	tb = two_streams();
	first = set(tb, S1);
	order(tb, S1, S2);
	second = set(tb, S2);
	ck_assert_int_eq(asked_order(tb, first, second, &known), SW_ORDER_DOCUMENTED);
	ck_assert(known);
	tb = two_streams();
	first = set(tb, S1);
	second = tb_sync(tb, SW_SYNC_STREAM, S1); /* no work */
	asked_order(tb, first, second, &known);
	ck_assert(!known);
}
END_TEST

/* Hazards of two sets, with an edge from the first one. */
static size_t with_edge(uint32_t record, uint32_t wait)
{
	struct tb *tb = two_streams();
	const uint64_t first = set(tb, S1), second = set(tb, S2);
	const struct sw_added_edge added[] = {{first, SW_EDGE_AFTER, record}, {second, SW_EDGE_BEFORE, wait}};
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.added = added, .n_added = 2});
	const size_t n = count_of(j, 103);
	sw_judgement_free(j);
	return n;
}

START_TEST(a_wait_is_for_the_event_of_its_number)
{
	ck_assert_uint_eq(with_edge(0, 0), 0);
	ck_assert_uint_eq(with_edge(3, 3), 0);
	ck_assert_uint_eq(with_edge(0, 1), 1);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, the_order_of_two_calls);
	tcase_add_test(tc, a_wait_is_for_the_event_of_its_number);
	tcase_add_test(tc, observers_see_the_run);
}

int main(void)
{
	return run_cases("observer", add);
}
