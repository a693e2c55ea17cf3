/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that work of several queues shares. Copies of one direction use one engine; kernels share the
 * multiprocessors. In a replay, pieces that do not fit on the device together, and did not overlap in the run, keep
 * their order.
 *
 * Which pieces a piece waits for depends on recorded times alone, so it is listed once for all replays.  Most need not
 * be listed: work on a queue waits for the work before it there, and so for all that that one waited for.
 */
#include "schedule/nodes.h"

#include <stdlib.h>

/* Beyond it the row that ended first is forgotten. */
#define MOST_ROWS 128u

struct sw_resources *sw_resources_new(const struct sw_schedule *s)
{
	struct sw_resources *r = sw_calloc(1, sizeof *r);
	r->queues = s->queues.n;
	r->row = sw_alloc((r->queues + 1) * sizeof *r->row);
	for (size_t i = 0; i < r->queues; i++)
		r->row[i] = r->rows++;
	return r;
}

void sw_resources_free(struct sw_resources *r)
{
	for (size_t i = 0; i < sizeof r->at / sizeof *r->at; i++) {
		for (size_t q = 0; q < 5; q++)
			free(r->at[i].ended[q].at);
		free(r->at[i].counted);
	}
	free(r->row);
	free(r);
}

struct sw_resource *sw_resource_of(struct sw_resources *r, const struct sw_schedule *s,
				   const struct sw_schedule_node *n)
{
	uint32_t which;
	if (n->kind != SW_NODE_WORK)
		return NULL;
	switch ((enum sw_work_kind)n->does) {
	case SW_DOES_UPLOAD:
		which = 0;
		break;
	case SW_DOES_DOWNLOAD:
		which = 1;
		break;
	case SW_DOES_KERNEL:
	case SW_DOES_GRAPH:
		which = 2;
		break;
	case SW_DOES_MOVE:
	case SW_DOES_SET:
	case SW_DOES_HOST:
	case SW_DOES_OTHER:
	default:
		return NULL;
	}
	uint32_t device = (uint32_t)s->queues.at[n->lane].device & 7u;
	return &r->at[device * SW_RESOURCES + which];
}

/* ---- pieces that run --------------------------------------------------------------------------------------------- */

static void end_piece(struct sw_resource *r, uint32_t quarters, struct sw_ended ended)
{
	size_t n = r->ended[quarters].n, at = 0, first = 0;
	while (at < n && r->ended[quarters].at[at].row != ended.row) {
		if (r->ended[quarters].at[at].number < r->ended[quarters].at[first].number)
			first = at;
		at++;
	}
	if (at < n) {
		struct sw_ended *same = &r->ended[quarters].at[at];
		same->node = ended.node > same->node ? ended.node : same->node;
		same->number = ended.number;
	} else if (n == MOST_ROWS) {
		r->ended[quarters].at[first] = ended;
	} else {
		*sw_vec_push(&r->ended[quarters]) = ended;
	}
}

static void retire(struct sw_resource *r, uint32_t i)
{
	uint32_t q = r->running[i].quarters;
	r->seen[q] = sw_later(r->seen[q], r->running[i].seen);
	end_piece(r, q, (struct sw_ended){r->running[i].node, r->running[i].row, ++r->ends});
	r->running[i] = r->running[--r->n];
}

static void retire_until(struct sw_resource *r, uint64_t t)
{
	if (r->n && r->next > t)
		return;
	r->next = UINT64_MAX;
	for (uint32_t i = 0; i < r->n;)
		if (r->running[i].seen <= t)
			retire(r, i);
		else
			r->next = sw_earlier(r->next, r->running[i++].seen);
}

/* Two that ask for more than four quarters together keep out of each other's way. */
static uint32_t least_quarters(const struct sw_schedule_node *n)
{
	return 5u - n->quarters;
}

uint64_t sw_resource_free(struct sw_resource *r, const struct sw_schedule_node *n)
{
	uint64_t seen = 0;
	retire_until(r, n->start);
	for (uint32_t q = least_quarters(n); q <= 4; q++)
		seen = sw_later(seen, r->seen[q]);
	return seen;
}

/* ---- what waits for them ----------------------------------------------------------------------------------------- */

void sw_resources_pass(struct sw_resources *r, const struct sw_window *w, const struct sw_schedule_node *n)
{
	/* In a replay a copy from pageable memory may take no time. */
	bool staged = w->nodes.at[n->call].flags & SW_NF_STAGED;
	int64_t took = staged ? 0 : (int64_t)(n->end - n->start);
	if (n->lag + took < 0 || took < 0)
		r->row[n->lane] = r->rows++;
}

static struct sw_counted *counted_of(struct sw_resources *all, struct sw_resource *r, uint32_t queue)
{
	if (!r->counted)
		r->counted = sw_calloc(all->queues + 1, sizeof *r->counted);
	if (r->counted[queue].row != all->row[queue])
		r->counted[queue] = (struct sw_counted){.row = all->row[queue]};
	return &r->counted[queue];
}

static void list_ended(struct sw_resources *all, struct sw_resource *r, struct sw_window *w,
		       const struct sw_schedule_node *n)
{
	struct sw_counted *counted = counted_of(all, r, n->lane);
	bool crowded = sw_taken_when_crowded(n);
	for (uint32_t q = least_quarters(n); q <= 4; q++) {
		uint64_t from = crowded ? counted->crowded[q] : counted->everywhere[q];
		for (size_t i = 0; i < r->ended[q].n; i++) {
			const struct sw_ended *ended = &r->ended[q].at[i];
			/* What starts before the end of the work before it waits for less than that one did. */
			if (n->lag < 0 || (ended->number > from && ended->row != all->row[n->lane]))
				*sw_vec_push(&w->ordered.taken) = ended->node;
		}
		counted->crowded[q] = r->ends;
		if (!crowded)
			counted->everywhere[q] = r->ends;
	}
}

void sw_resource_take(struct sw_resources *all, struct sw_resource *r, struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	list_ended(all, r, w, n);
	/* More at once than a device runs: the piece that ends first has ended. */
	if (r->n == SW_RUNNING) {
		uint32_t first = 0;
		for (uint32_t i = 1; i < r->n; i++)
			if (r->running[i].seen < r->running[first].seen)
				first = i;
		retire(r, first);
	}
	r->next = r->n ? sw_earlier(r->next, n->end) : n->end;
	r->running[r->n].seen = n->end;
	r->running[r->n].node = node;
	r->running[r->n].row = all->row[n->lane];
	r->running[r->n++].quarters = n->quarters;
}
