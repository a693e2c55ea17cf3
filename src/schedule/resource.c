/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that work of several queues shares. Copies of one direction use one engine; kernels share the
 * multiprocessors. In a replay, pieces that do not fit on the device together, and did not overlap in the run, keep
 * their order.
 */
#include "schedule/nodes.h"

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

static void retire(struct sw_resource *r, uint32_t i)
{
	uint32_t q = r->running[i].quarters;
	r->seen[q] = sw_later(r->seen[q], r->running[i].seen);
	sw_moments_keep_latest(&r->done[q], &r->running_done[i]);
	r->running[i] = r->running[--r->n];
	r->running_done[i] = r->running_done[r->n];
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

uint64_t sw_resource_free(struct sw_resource *r, const struct sw_schedule_node *n, struct sw_moments *done)
{
	uint64_t seen = 0;
	retire_until(r, n->start);
	if (done)
		sw_moments_set(done, 0);
	/* Two that ask for more than four quarters together. */
	for (uint32_t q = 5u - n->quarters; q <= 4; q++) {
		seen = sw_later(seen, r->seen[q]);
		if (done)
			sw_moments_keep_latest(done, &r->done[q]);
	}
	return seen;
}

void sw_resource_take(struct sw_resource *r, const struct sw_schedule_node *n, const struct sw_moments *done)
{
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
	if (done)
		r->running_done[r->n] = *done;
	r->running[r->n++].quarters = n->quarters;
}
