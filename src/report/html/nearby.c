/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/nearby.h"

#include <stdlib.h>

#define OPERATIONS_MOST 200000u

static void add_around(struct sw_nearby *n, const struct sw_access *access)
{
	if (access->seq)
		*sw_vec_push(&n->excerpts) = (struct sw_excerpt){access->seq > SW_NEARBY ? access->seq - SW_NEARBY : 0,
								 access->seq + SW_NEARBY};
}

static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_nearby *n = arg;
	if (n->operations.n >= OPERATIONS_MOST || !sw_excerpts_meet(&n->excerpts, op->what.seq, op->what.seq))
		return;
	*sw_vec_push(&n->operations) =
		(struct sw_nearby_operation){.seq = op->what.seq,
					     .call_ns = op->what.t_ns,
					     .call_end_ns = op->what.t_ns + op->what.dur_ns,
					     .start_ns = op->gpu_start_ns,
					     .end_ns = op->gpu_end_ns,
					     .measured = op->gpu_end_ns != 0,
					     .stream = op->what.stream,
					     .thread = op->what.thread,
					     .name = sw_name_operation_brief(&n->report->names, &op->what),
					     .enqueues = op->enqueues};
	*sw_map_put(&n->index, op->what.seq) = n->operations.n;
}

static void on_work(void *arg, const struct sw_stretch *stretch)
{
	struct sw_nearby *n = arg;
	uint64_t index = sw_map_get(&n->index, stretch->seq);
	if (!index || n->operations.at[index - 1].measured)
		return;
	n->operations.at[index - 1].start_ns = stretch->start_ns;
	n->operations.at[index - 1].end_ns = stretch->end_ns;
}

struct sw_nearby *sw_nearby_new(struct sw_report *report)
{
	struct sw_nearby *n = sw_calloc(1, sizeof *n);
	n->report = report;
	n->observer = (struct sw_observer){.arg = n, .operation = on_operation, .work = on_work};
	for (size_t i = 0; i < report->groups.n && i < SW_NEARBY_MOST; i++) {
		const struct sw_finding *f = report->shown.at[report->groups.at[i].leader].finding;
		for (uint32_t k = 0; k < f->accesses; k++)
			add_around(n, sw_finding_access(f, k));
		add_around(n, &sw_finding_more(f)->waited_for);
	}
	sw_excerpts_merge(&n->excerpts);
	return n;
}

const struct sw_observer *sw_nearby_observer(struct sw_nearby *nearby)
{
	return &nearby->observer;
}

static int by_seq(const void *a, const void *b)
{
	const struct sw_nearby_operation *x = a, *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

size_t sw_nearby_from(struct sw_nearby *n, uint64_t seq)
{
	if (n->index.n) {
		qsort(n->operations.at, n->operations.n, sizeof *n->operations.at, by_seq);
		sw_map_free(&n->index); /* complete: sorted once */
		n->index = (struct sw_map){0};
	}
	size_t low = 0, high = n->operations.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (n->operations.at[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void sw_nearby_free(struct sw_nearby *n)
{
	free(n->excerpts.at);
	free(n->operations.at);
	sw_map_free(&n->index);
	free(n);
}
