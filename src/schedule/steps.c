/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes that a replay passes.  Many calls enqueue nothing, wait for nothing and take the same time whatever changes
 * (cudaFuncGetAttributes, cudaGetFuncBySymbol): the next call on their thread begins later by the time that they and
 * the gap before them take.  These are sums of whole numbers, so each replay ends at the same nanosecond as with them.
 */
#include "schedule/nodes.h"

#include <stdlib.h>

enum { NEEDED = 1, FOLLOWED = 2 };

static void need(struct sw_window *w, uint32_t node)
{
	w->ordered.needed[node] |= NEEDED;
}

/* What the time of other nodes depends on; calls that overlap the one before count as such. */
static void find_needed(struct sw_window *w)
{
	w->ordered.needed = sw_calloc(w->nodes.n + 1, 1);
	for (size_t i = 0; i < w->others.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[w->others.at[i]];
		need(w, n->kind == SW_NODE_RETURN ? n->prev : n->call);
		for (uint32_t e = n->edges; e < sw_edges_end(w, w->others.at[i]); e++)
			need(w, sw_edge_node(w->edges.at[e]));
	}
	for (size_t i = 0; i < w->ordered.calls; i++) {
		uint32_t node = w->ordered.call[i];
		const struct sw_schedule_node *n = &w->nodes.at[node];
		if (n->prev == SW_NONE || n->start < w->nodes.at[n->prev].end || n->end < n->start)
			need(w, node);
		if (n->prev == SW_NONE)
			continue;
		w->ordered.needed[n->prev] |= FOLLOWED;
		if (n->start < w->nodes.at[n->prev].end)
			need(w, n->prev);
	}
}

/* Threads that take turns: not the same calls in all readings. */
static void need_turns(struct sw_window *w)
{
	for (size_t i = 0; i < w->ordered.gap.n; i++) {
		uint32_t node = w->ordered.gap.at[i], edge = w->edges.at[w->nodes.at[node].edges];
		if (sw_edge_why(edge) == SW_WHY_NOT)
			continue;
		need(w, node);
		need(w, sw_edge_node(edge));
	}
}

static bool passes_over(const struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	return w->ordered.needed[call] == FOLLOWED && !(places && places->row[w->nodes.at[call].call]);
}

/* The node before a call in the replay.  Of a call that is passed over, `like` is that node. */
static uint32_t before_of(const struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	uint32_t prev = w->nodes.at[call].prev;
	if (prev == SW_NONE || w->nodes.at[prev].kind != SW_NODE_CALL || !passes_over(w, places, prev))
		return prev;
	return w->nodes.at[prev].like;
}

static void add_call(struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	struct sw_schedule_node *n = &w->nodes.at[call];
	uint32_t before = before_of(w, places, call);
	if (passes_over(w, places, call)) {
		n->like = before;
		return;
	}
	*sw_vec_push(&w->ordered.steps) = (struct sw_step){call, before};
	if (before == SW_NONE)
		return;
	uint64_t since = n->flags & SW_NF_LAG ? w->nodes.at[n->prev].end : n->start;
	n->lead = (int64_t)(since - w->nodes.at[before].end);
}

void sw_steps_make(struct sw_window *w, const struct sw_changed_places *places)
{
	struct sw_ordered *o = &w->ordered;
	size_t call = 0, other = 0;
	if (!o->needed)
		find_needed(w);
	need_turns(w);
	o->steps.n = 0;
	while (call < o->calls || other < w->others.n)
		if (other == w->others.n || (call < o->calls && sw_order_before(o, o->call[call], o->other[other])))
			add_call(w, places, o->call[call++]);
		else
			*sw_vec_push(&o->steps) = (struct sw_step){o->other[other++], SW_NONE};
}
