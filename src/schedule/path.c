/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of each window: from the node that ended last backwards, each time to what its start waited for. */
#include "schedule/nodes.h"

/* The node, among those with an edge to this one, that ended last. */
static uint32_t last_of(const struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	bool queue = n->kind == SW_NODE_WORK || n->kind == SW_NODE_MARK;
	uint32_t last = queue ? n->prev : SW_NONE;
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++) {
		uint32_t from = sw_edge_node(w->edges.at[e]);
		if (sw_edge_why(w->edges.at[e]) == SW_WHY_NOT)
			continue;
		if (last == SW_NONE || w->nodes.at[from].end > w->nodes.at[last].end)
			last = from;
	}
	return last;
}

/* Work that another piece delayed: the last of its kind that ended before it began. */
static uint32_t holder(const struct sw_schedule *s, const struct sw_window *w, uint32_t node, size_t place)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	uint32_t best = SW_NONE;
	(void)s;
	for (size_t i = place; i-- > 0 && place - i < 4096;) {
		uint32_t other = w->order[i];
		const struct sw_schedule_node *o = &w->nodes.at[other];
		if (o->kind != SW_NODE_WORK || o->does != n->does || o->end > n->start)
			continue;
		if (best == SW_NONE || o->end > w->nodes.at[best].end)
			best = other;
		if (n->start - o->end < SW_CLOCK_ERROR_NS)
			break;
	}
	return best;
}

/* The predecessor on the path: *body: from that node's end, else from its begin. SW_NONE: the path begins here. */
static uint32_t step_back(const struct sw_schedule *s, const struct sw_window *w, uint32_t node, size_t place,
			  bool *body)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	uint32_t from;
	*body = true;
	switch ((enum sw_node_kind)n->kind) {
	case SW_NODE_CALL:
		return n->flags & SW_NF_LAG ? last_of(w, node) : n->prev;
	case SW_NODE_RETURN:
		return n->flags & SW_NF_LAG ? last_of(w, node) : n->prev;
	case SW_NODE_WORK:
	case SW_NODE_MARK:
		if (n->flags & SW_NF_LAG) {
			from = n->flags & SW_NF_HELD ? holder(s, w, node, place) : SW_NONE;
			return from != SW_NONE ? from : last_of(w, node);
		}
		*body = false;
		return n->call;
	}
	return SW_NONE;
}

static void mark_path(const struct sw_schedule *s, struct sw_window *w)
{
	uint32_t node = SW_NONE;
	uint64_t end = 0;
	bool body = true;
	for (uint32_t i = 0; i < w->nodes.n; i++) {
		w->nodes.at[i].flags &= (uint8_t) ~(SW_NF_PATH | SW_NF_BODY);
		if (w->nodes.at[i].end >= end) {
			end = w->nodes.at[i].end;
			node = i;
		}
	}
	/* Edges lead back in the order, so each node is passed once and the place only goes down. */
	for (size_t place = w->nodes.n; place-- > 0 && node != SW_NONE;) {
		if (w->order[place] != node)
			continue;
		w->nodes.at[node].flags |= SW_NF_PATH | (body ? SW_NF_BODY : 0);
		node = step_back(s, w, node, place, &body);
	}
}

typedef void stretch_fn(void *arg, const struct sw_stretch *stretch);

static void report_stretch(stretch_fn *stretch, void *arg, enum sw_stretch_kind kind, const struct sw_schedule_node *n,
			   uint64_t from, uint64_t to)
{
	struct sw_stretch reported = {kind,    (enum sw_work_kind)n->does, n->seq, from, to,
				      n->lane, n->flags & SW_NF_TIMED};
	if (to > from)
		stretch(arg, &reported);
}

static void report_node(const struct sw_window *w, const struct sw_schedule_node *n, uint64_t *at, stretch_fn *stretch,
			void *arg)
{
	switch ((enum sw_node_kind)n->kind) {
	case SW_NODE_CALL:
		report_stretch(stretch, arg, SW_STRETCH_HOST, n, *at, n->start);
		if (n->flags & SW_NF_BODY)
			report_stretch(stretch, arg, SW_STRETCH_CALL, n, sw_later(*at, n->start), n->end);
		*at = sw_later(*at, n->flags & SW_NF_BODY ? n->end : n->start);
		return;
	case SW_NODE_RETURN:
		report_stretch(stretch, arg, n->flags & SW_NF_LAG ? SW_STRETCH_LATENCY : SW_STRETCH_CALL, n, *at,
			       n->end);
		*at = sw_later(*at, n->end);
		return;
	case SW_NODE_WORK:
	case SW_NODE_MARK:
		report_stretch(stretch, arg, SW_STRETCH_LATENCY, n, *at, n->start);
		report_stretch(stretch, arg, SW_STRETCH_WORK, n, sw_later(n->start, *at), n->end);
		*at = sw_later(*at, n->end);
		return;
	}
	(void)w;
}

void sw_schedule_path(struct sw_schedule *s, stretch_fn *stretch, void *arg)
{
	sw_read_times(s, 0);
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		uint64_t at = w->start;
		mark_path(s, w);
		for (size_t k = 0; k < w->nodes.n; k++)
			if (w->nodes.at[w->order[k]].flags & SW_NF_PATH)
				report_node(w, &w->nodes.at[w->order[k]], &at, stretch, arg);
	}
}

void sw_schedule_each_work(struct sw_schedule *s, stretch_fn *work, void *arg)
{
	sw_read_times(s, 0);
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		for (size_t k = 0; k < w->nodes.n; k++)
			if (w->nodes.at[w->order[k]].kind == SW_NODE_WORK)
				report_stretch(work, arg, SW_STRETCH_WORK, &w->nodes.at[w->order[k]],
					       w->nodes.at[w->order[k]].start, w->nodes.at[w->order[k]].end);
	}
}
