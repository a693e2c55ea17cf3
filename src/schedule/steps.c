/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes that a replay passes.  Many calls enqueue nothing, wait for nothing and take the same time whatever changes
 * (cudaFuncGetAttributes, cudaGetFuncBySymbol): the next call on their thread begins later by the time that they and
 * the gap before them take.  These are sums of whole numbers, so each replay ends at the same nanosecond as with them.
 *
 * Work and what waits for work is passed by time.  A call is passed only when something needs it: a thread may be
 * hundreds of launches ahead of the device, and work that follows on its launch joins it in a run (runs.c).
 */
#include "schedule/nodes.h"

#include <stdlib.h>

enum { NEEDED = 1, FOLLOWED = 2, ADDED = 4, AFTER_TURN = 8 };

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
		w->ordered.needed[node] |= AFTER_TURN;
	}
}

static bool passes_over(const struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	return (w->ordered.needed[call] & (NEEDED | FOLLOWED)) == FOLLOWED &&
	       !(places && places->row[w->nodes.at[call].call]);
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
	*sw_vec_push(&w->ordered.single) = (struct sw_step){call, before, 0};
	if (before == SW_NONE)
		return;
	uint64_t since = n->flags & SW_NF_LAG ? w->nodes.at[n->prev].end : n->start;
	n->lead = (int64_t)(since - w->nodes.at[before].end);
}

/* The call that this one comes after and that is not added yet, SW_NONE: none.  Of calls only those that took a turn
   come after more than the one before them; waits are added when their time comes. */
static uint32_t missing_call(const struct sw_window *w, uint32_t call)
{
	const struct sw_schedule_node *n = &w->nodes.at[call];
	const uint8_t *needed = w->ordered.needed;
	if (n->prev != SW_NONE && !(needed[n->prev] & ADDED) && w->nodes.at[n->prev].kind == SW_NODE_CALL)
		return n->prev;
	if (!(needed[call] & AFTER_TURN))
		return SW_NONE;
	uint32_t turn = sw_edge_node(w->edges.at[n->edges]);
	return needed[turn] & ADDED || w->nodes.at[turn].kind != SW_NODE_CALL ? SW_NONE : turn;
}

static void pull(struct sw_ordered *o, uint32_t call)
{
	o->needed[call] |= ADDED; /* it will be: damaged times may make circles */
	*sw_vec_push(&o->pulled) = call;
}

/* A call, and before it those that it comes after. */
static void pull_calls(struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	struct sw_ordered *o = &w->ordered;
	if (o->needed[call] & ADDED)
		return;
	pull(o, call);
	while (o->pulled.n) {
		uint32_t last = o->pulled.at[o->pulled.n - 1], before = missing_call(w, last);
		if (before != SW_NONE) {
			pull(o, before);
		} else {
			o->pulled.n--;
			add_call(w, places, last);
		}
	}
}

static void add_other(struct sw_window *w, const struct sw_changed_places *places, uint32_t place)
{
	struct sw_ordered *o = &w->ordered;
	uint32_t node = o->other[place];
	const struct sw_schedule_node *n = &w->nodes.at[node];
	pull_calls(w, places, n->kind == SW_NODE_RETURN ? n->prev : n->call);
	o->needed[node] |= ADDED;
	*sw_vec_push(&o->single) = (struct sw_step){node, SW_NONE, place};
}

void sw_steps_make(const struct sw_schedule *s, struct sw_window *w, const struct sw_changed_places *places)
{
	struct sw_ordered *o = &w->ordered;
	if (!o->needed)
		find_needed(w);
	for (uint32_t i = 0; i < w->nodes.n; i++)
		o->needed[i] &= NEEDED | FOLLOWED;
	need_turns(w);
	o->single.n = 0;
	for (uint32_t i = 0; i < w->others.n; i++)
		add_other(w, places, i);
	for (size_t i = 0; i < o->calls; i++)
		pull_calls(w, places, o->call[i]);
	sw_runs_make(s, w, places);
}
