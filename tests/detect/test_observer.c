/* SPDX-License-Identifier: Apache-2.0 */
/* What an observer of a judgement sees. */
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

static void add(TCase *tc)
{
	tcase_add_test(tc, observers_see_the_run);
}

int main(void)
{
	return run_cases("observer", add);
}
