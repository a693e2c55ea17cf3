/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of work without time stamps of the device.
 *
 * A row of work on one queue ran between the call that enqueued it and the moment at which the host saw it complete. It
 * took all of that time if the host was blocked by it (the wait ended with it), else at most that time. How the pieces
 * of a row share the time is known only where pieces of the same class were seen alone, or from the size of a copy. The
 * rest is shared equally (long times), or given to the last piece (short times); the row ends at the same time.
 */
#include "schedule/nodes.h"

#include <stdlib.h>

/* The assumed speed of copies until the run shows another: pinned copies of 16 MiB take 0.31 to 0.33 ms from call to
   end ("cudaMemcpyAsync H2D pinned 16777216B", measured on H200 with driver 580), copies on the device 13 us. */
#define COPY_NS_PER_MIB 20000u
#define MOVE_NS_PER_MIB 700u
#define COPY_BASE_NS	2000u
/* The other reading of the times: a bus with a quarter of that speed (PCIe 3), other work concurrent with the
   copies. */
#define SLOW_COPIES 4u

/* Of the moment by which work was done.  LOOSE: the host was not held by it.  SHARED: by it or by other work. */
#define LOOSE  1u
#define SHARED 2u
#define NEVER  (UINT64_MAX - 3)

/* Work of a queue that shares one observation, counted from its last piece on. */
struct row {
	uint64_t by, known_ns;
	uint32_t unknown;
	uint32_t like; /* of those that are not known */
	bool mixed;    /* they are of several classes */
};

static uint64_t guess(const struct sw_schedule_node *n, bool slow)
{
	uint64_t per_mib = 0;
	switch ((enum sw_work_kind)n->does) {
	case SW_DOES_UPLOAD:
	case SW_DOES_DOWNLOAD:
		per_mib = COPY_NS_PER_MIB;
		break;
	case SW_DOES_MOVE:
	case SW_DOES_SET:
		per_mib = MOVE_NS_PER_MIB;
		break;
	case SW_DOES_KERNEL:
	case SW_DOES_GRAPH:
	case SW_DOES_HOST:
	case SW_DOES_OTHER:
		return 0;
	}
	return COPY_BASE_NS + ((uint64_t)n->own * per_mib >> 10) * (slow ? SLOW_COPIES : 1);
}

/* How long a piece takes according to its class, 0 unknown. */
static uint64_t usual(const struct sw_schedule *s, const struct sw_schedule_node *n)
{
	const struct sw_class *class = n->like ? &s->class_of.at[n->like - 1] : NULL;
	if (class && class->n)
		return class->sum_ns / class->n;
	return guess(n, s->slow_copies);
}

static bool guessed(const struct sw_schedule_node *n)
{
	return !(n->flags & SW_NF_TIMED) && (n->kind == SW_NODE_WORK || n->kind == SW_NODE_MARK);
}

/* ---- by when was it done ----------------------------------------------------------------------------------------- */

static void done_by(struct sw_window *w, uint32_t node, uint64_t by)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	if (guessed(n))
		n->end = sw_earlier(n->end, by);
}

/* Calls that may take as long by themselves as others wait: in one reading of the times they do (a stack limit that
   grows took 0.2 to 16 ms without anything to wait for, measured on H200 with driver 580). */
#define MAY_TAKE_NS 200000u

static uint64_t seen_by(const struct sw_window *w, uint32_t node, bool short_times)
{
	const struct sw_schedule_node *r = &w->nodes.at[node];
	const struct sw_schedule_node *call = &w->nodes.at[r->prev];
	uint64_t took = r->end - call->start;
	if (took <= (uint64_t)call->own + SW_TAIL_NS || (short_times && call->own >= MAY_TAKE_NS))
		return r->end | LOOSE | SHARED;
	uint64_t by = (r->end - SW_TAIL_NS) & ~(uint64_t)(LOOSE | SHARED);
	return sw_edges_end(w, node) - r->edges > 1 ? by | SHARED : by;
}

/* Leaves in `end` by when each piece was done.  Edges lead back, so one pass from the end does. */
static void observe(struct sw_window *w, bool short_times)
{
	for (size_t i = 0; i < w->nodes.n; i++)
		if (guessed(&w->nodes.at[i]))
			w->nodes.at[i].end = NEVER;
	for (size_t i = w->nodes.n; i-- > 0;) {
		const struct sw_schedule_node *n = &w->nodes.at[i];
		uint64_t by = n->kind == SW_NODE_RETURN ? seen_by(w, (uint32_t)i, short_times) : n->end;
		if (n->kind == SW_NODE_CALL)
			continue;
		if (n->flags & SW_NF_TIMED)
			by = n->start | LOOSE;
		for (uint32_t e = n->edges; e < sw_edges_end(w, (uint32_t)i); e++)
			if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
				done_by(w, sw_edge_node(w->edges.at[e]), by);
		if (n->kind != SW_NODE_RETURN && n->prev != SW_NONE)
			done_by(w, n->prev, by);
	}
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Leaves in `lead` what the pieces of its row from here on are known to take, in `lag` how many are not known: less
   than 0 when these are of several classes, so that nothing says how they share the time. */
static void count_rows(const struct sw_schedule *s, struct sw_window *w)
{
	SW_VEC(struct row) rows = {0};
	for (size_t i = w->nodes.n; i-- > 0;) {
		struct sw_schedule_node *n = &w->nodes.at[i];
		if (!guessed(n))
			continue;
		while (rows.n <= n->lane)
			*sw_vec_push(&rows) = (struct row){0};
		struct row *row = &rows.at[n->lane];
		if (row->by != n->end)
			*row = (struct row){.by = n->end};
		uint64_t known = n->kind == SW_NODE_WORK ? usual(s, n) : 0;
		row->known_ns += known;
		if (n->kind == SW_NODE_WORK && !known) {
			row->mixed |= !n->like || (row->unknown && row->like != n->like);
			row->like = n->like;
			row->unknown++;
		}
		n->lead = (int64_t)row->known_ns;
		n->lag = row->unknown > 1 && row->mixed ? -(int32_t)row->unknown : (int32_t)row->unknown;
	}
	free(rows.at);
}

static uint64_t earliest(const struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node], *call = &w->nodes.at[n->call];
	uint64_t start = call->start + (n->kind == SW_NODE_WORK ? SW_LEAD_NS : 0);
	if (n->prev != SW_NONE)
		start = sw_later(start, w->nodes.at[n->prev].end);
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++)
		start = sw_later(start, w->nodes.at[sw_edge_node(w->edges.at[e])].end);
	return start;
}

static uint64_t take(const struct sw_schedule *s, const struct sw_schedule_node *n, uint64_t start, bool short_times)
{
	uint64_t by = n->end, own = usual(s, n), left = sw_less(by, start);
	uint32_t unknown = (uint32_t)(n->lag < 0 ? -n->lag : n->lag);
	uint64_t rest = sw_less(left, (uint64_t)n->lead);
	if (by == NEVER)
		return own;
	if (own)
		own = sw_earlier(own, left);
	/* The last piece of a row that held the host ends it; of several rows all of which are known, none is
	 * stretched. */
	bool last = !(by & SHARED && !unknown) &&
		    ((own && !unknown && own >= (uint64_t)n->lead) || (!own && unknown == 1 && !n->lead));
	if (!(by & LOOSE) && last)
		return left;
	if (own)
		return own;
	if (by & LOOSE)
		return short_times ? 0 : rest / (unknown ? unknown : 1);
	if (short_times && n->lag < 0)
		return 0;
	return rest / (unknown ? unknown : 1);
}

void sw_estimate(struct sw_schedule *s, struct sw_window *w, bool short_times)
{
	s->slow_copies = short_times;
	observe(w, short_times);
	count_rows(s, w);
	for (uint32_t i = 0; i < w->nodes.n; i++) {
		struct sw_schedule_node *n = &w->nodes.at[i];
		if (!guessed(n))
			continue;
		uint64_t start = earliest(w, i);
		if (n->kind == SW_NODE_WORK && n->end != NEVER)
			n->flags |= SW_NF_BRACKET;
		uint64_t took = n->kind == SW_NODE_WORK ? take(s, n, start, short_times) : 0;
		n->start = start;
		n->end = start + took;
		w->end = sw_later(w->end, n->end);
	}
	w->short_times = short_times;
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

static void learn(struct sw_schedule *s, const struct sw_schedule_node *n, uint64_t ns)
{
	if (!n->like)
		return;
	s->class_of.at[n->like - 1].sum_ns += ns;
	s->class_of.at[n->like - 1].n++;
}

/* A piece that is a row of its own, and was enqueued after all before it on its queue had been seen done. */
static bool alone(const struct sw_window *w, const struct sw_schedule_node *n)
{
	const struct sw_schedule_node *before = n->prev == SW_NONE ? NULL : &w->nodes.at[n->prev];
	return !(n->end & (LOOSE | SHARED)) && n->end != NEVER && (n->lag == 1 || (n->lag == 0 && n->lead)) &&
	       (!before || before->end <= w->nodes.at[n->call].start);
}

void sw_estimate_learn(struct sw_schedule *s, struct sw_window *w)
{
	observe(w, false);
	count_rows(s, w);
	for (uint32_t i = 0; i < w->nodes.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[i];
		if (n->kind != SW_NODE_WORK)
			continue;
		if (n->flags & SW_NF_TIMED)
			learn(s, n, n->end - n->start);
		else if (alone(w, n) && n->lead == (int64_t)usual(s, n))
			learn(s, n, sw_less(n->end, w->nodes.at[n->call].start + SW_LEAD_NS));
	}
}
