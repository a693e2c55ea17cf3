/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a replay, and what part of each delay belongs to which edge, so that a replay without changes reproduces
 * every recorded time.
 */
#include "schedule/nodes.h"

#include <stdlib.h>
#include <string.h>

/* ---- edges that the times contradict ----------------------------------------------------------------------------- */

/* The work had not ended when the call returned, so the call did not wait for it; or the other way round. */
static void drop_contradictions(struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++) {
		uint32_t *edge = &w->edges.at[e];
		const struct sw_schedule_node *from = &w->nodes.at[sw_edge_node(*edge)];
		if (sw_edge_why(*edge) == SW_WHY_NOT || from->end <= n->start + SW_CLOCK_ERROR_NS)
			continue;
		*edge |= SW_EDGE_DROPPED;
		w->dropped++;
	}
}

/* ---- delays ------------------------------------------------------------------------------------------------------ */

static uint64_t edges_end(const struct sw_window *w, uint32_t node)
{
	uint64_t end = 0;
	for (uint32_t e = w->nodes.at[node].edges; e < sw_edges_end(w, node); e++)
		if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
			end = sw_later(end, w->nodes.at[sw_edge_node(w->edges.at[e])].end);
	return end;
}

static int32_t short_of(uint64_t to, uint64_t from)
{
	int64_t d = (int64_t)(to - from);
	return d > INT32_MAX ? INT32_MAX : d < INT32_MIN ? INT32_MIN : (int32_t)d;
}

static void bind_call(struct sw_window *w, uint32_t node)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	uint64_t other = edges_end(w, node), before = n->prev == SW_NONE ? w->start : w->nodes.at[n->prev].end;
	n->flags &= (uint8_t)~SW_NF_LAG;
	if (other > before) {
		n->lead = 0;
		n->lag = short_of(n->start, other);
		n->flags |= SW_NF_LAG;
	} else {
		n->lead = (int64_t)(n->start - before);
	}
}

static void bind_return(struct sw_window *w, uint32_t node)
{
	struct sw_schedule_node *n = &w->nodes.at[node], *call = &w->nodes.at[n->prev];
	uint64_t took = n->end - call->start, done = edges_end(w, node), staged = 0;
	uint64_t own = sw_earlier(took, call->own);
	/* A call that moves bytes itself began to when the work before its own was done.  One that leaves that to the
	   device has nothing to do itself. */
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++) {
		const struct sw_schedule_node *work = &w->nodes.at[sw_edge_node(w->edges.at[e])];
		if (work->call != n->prev)
			continue;
		if (!(work->flags & SW_NF_STAGED)) {
			own = sw_earlier(own, SW_BARE_CALL_NS);
			continue;
		}
		uint64_t before = work->prev == SW_NONE ? 0 : w->nodes.at[work->prev].end;
		staged = took - sw_earlier(took, sw_less(before, call->start));
	}
	own = sw_later(own, staged);
	if (done <= call->start + own) {
		n->lead = (int64_t)took;
		/* What it does itself comes after what it waits for (cudaFree of 1 GiB after a kernel of 25 ms: 25.6
		   ms, without the kernel 0.6 ms, measured on H200). */
		n->lag = short_of(n->end, sw_later(done, call->start));
		return;
	}
	n->flags |= SW_NF_LAG | SW_NF_HELD;
	n->lead = (int64_t)own;
	n->lag = short_of(n->end, done);
}

static void bind_work(struct sw_window *w, uint32_t node, uint64_t taken)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	const struct sw_schedule_node *call = &w->nodes.at[n->call];
	uint64_t ready = edges_end(w, node), lead = n->kind == SW_NODE_WORK ? SW_LEAD_NS : 0;
	uint64_t since_call = sw_less(n->start, call->start);
	if (n->prev != SW_NONE)
		ready = sw_later(ready, w->nodes.at[n->prev].end);
	if (taken > ready && n->start - taken < SW_CLOCK_ERROR_NS && taken > call->start + lead &&
	    sw_less(n->start, ready) > SW_CLOCK_ERROR_NS) {
		n->flags |= SW_NF_HELD;
		ready = taken;
	}
	if (ready > call->start + lead) {
		n->lead = (int64_t)sw_earlier(since_call, lead);
		n->lag = short_of(n->start, ready);
		n->flags |= SW_NF_LAG;
		return;
	}
	n->lead = (int64_t)n->start - (int64_t)call->start;
	n->lag = (int32_t)sw_earlier(SW_LAG_NS, sw_less(n->start, ready));
}

/* What no reading changes. */
static void bind_calls(struct sw_window *w)
{
	for (uint32_t i = 0; i < w->nodes.n; i++)
		if (w->nodes.at[i].kind == SW_NODE_CALL)
			bind_call(w, i);
}

void sw_calibrate(struct sw_schedule *s, struct sw_window *w)
{
	struct sw_resources *resources = sw_resources_new(s);
	w->dropped = 0;
	if (!w->ordered.key) {
		sw_order_prepare(w);
		bind_calls(w);
	}
	for (size_t i = 0; i < w->others.n; i++)
		drop_contradictions(w, w->others.at[i]);
	sw_turns_forget(w);
	sw_order_parts(w);
	if (!w->reading)
		sw_order_whole(w);
	sw_turns_find(s, w);
	for (size_t i = 0; i < w->ordered.gap.n; i++)
		bind_call(w, w->ordered.gap.at[i]);
	w->ordered.taken.n = 0;
	for (size_t i = 0; i < w->others.n; i++) {
		uint32_t node = w->ordered.other[i];
		struct sw_schedule_node *n = &w->nodes.at[node];
		n->flags &= (uint8_t) ~(SW_NF_LAG | SW_NF_HELD | SW_NF_PATH | SW_NF_BODY);
		if (n->kind == SW_NODE_RETURN) {
			bind_return(w, node);
		} else {
			struct sw_resource *r = sw_resource_of(resources, s, n);
			bind_work(w, node, r ? sw_resource_free(r, n) : 0);
			sw_resources_pass(resources, w, n);
			if (r)
				sw_resource_take(resources, r, w, node);
		}
		w->ordered.taken_end[i] = (uint32_t)w->ordered.taken.n;
	}
	sw_resources_free(resources);
}
