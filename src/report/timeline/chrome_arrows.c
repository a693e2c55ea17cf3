/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows between slices, from edges of the order. */
#include "report/timeline/chrome.h"

#include <stdlib.h>
#include <string.h>

/* ---- arrows ------------------------------------------------------------------------------------------------------ */

static const struct sw_drawn *call_of(const struct sw_chrome *c, uint64_t seq)
{
	const struct remembered *r = &c->calls[seq % REMEMBERED];
	return r->seq == seq && r->call.tid ? &r->call : NULL;
}

/* Never at the same nanosecond: Perfetto then may take the end for the start. */
void sw_chrome_arrow(struct sw_chrome *c, uint32_t from_pid, const struct sw_drawn *from, struct sw_place to,
		     const char *name, const char *category)
{
	/* A slice may be said to end a nanosecond early (chrome_events.c): the arrow begins before that. */
	const uint64_t last = from->end - (from->end - from->start > 2 ? 2 : 1);
	uint64_t ns = last < to.ns ? last : to.ns - 1;
	if (to.ns == 0 || ns < from->start)
		return;
	sw_event_flow(&c->events, (struct sw_place){from_pid, from->tid, ns}, to, name, category);
}

void sw_chrome_arrow_from_call(struct sw_chrome *c, uint64_t from_seq, const struct sw_drawn *to, const char *name,
			       const char *category)
{
	const struct sw_drawn *from = call_of(c, from_seq);
	if (from && to->tid)
		sw_chrome_arrow(c, PID_HOST, from, (struct sw_place){PID_HOST, to->tid, to->start}, name, category);
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

void sw_chrome_edge(void *arg, const struct sw_hb_edge *edge, uint32_t from_stream, uint32_t to_stream)
{
	struct sw_chrome *c = arg;
	(void)to_stream;
	/* The launch arrow stands for ENQUEUE; a host function's run is drawn when it is reported; arrows for locks
	   would be too many. */
	if (edge->kind == SW_EDGE_ENQUEUE || edge->kind == SW_EDGE_CALLBACK || edge->kind == SW_EDGE_HOST)
		return;
	if (c->edge_n == EDGES) {
		c->edge_n -= EDGES / 2;
		memmove(c->edges, c->edges + EDGES / 2, c->edge_n * sizeof *c->edges);
	}
	c->edges[c->edge_n++] = (struct waiting){*edge, from_stream, c->reported};
}

/*
 * The end of a wait, as a slice within the call's slice: an arrow needs a slice that starts after the work did, because
 * Perfetto makes every arrow lead from the slice that starts earlier to the one that starts later. It ends before the
 * call: if both ended in the same nanosecond, floating point could put the inner end after the outer one, and
 * Chromium's panel would then drop the slice.
 */
static uint64_t draw_release(struct sw_chrome *c, uint64_t seq, const struct sw_drawn *call, const struct waiting *w)
{
	uint64_t ns = (call->end - call->start) / 8;
	ns = ns > RELEASE_NS ? RELEASE_NS : ns ? ns : 1;
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, call->tid, call->end - ns}, call->end - ns / 2,
		       SW_LABEL("released"), "sync");
	sw_event_number(&c->events, "correlation", seq);
	const struct remembered *for_whom = &c->calls[w->edge.from_seq % REMEMBERED];
	if (for_whom->seq == w->edge.from_seq && for_whom->work.n)
		sw_event_label(&c->events, "waited_for", for_whom->work);
	if (w->from_stream)
		sw_event_label(&c->events, "on", sw_chrome_stream(c, w->from_stream));
	sw_event_end(&c->events);
	return call->end - ns;
}

static void draw_wait(struct sw_chrome *c, const struct waiting *w, uint64_t seq, const struct sw_drawn *call,
		      uint64_t *released)
{
	uint64_t from = w->edge.from_seq;
	const struct timed *timed = sw_chrome_timed_find(c, from);
	struct sw_work *work = timed ? NULL : sw_slice_layout_find(&c->lay, w->from_stream, from);
	const bool room = call->tid && call->end - call->start > 2;
	if (room && (timed || (work && !work->released_tid)) && !*released)
		*released = draw_release(c, seq, call, w);
	if (room && timed)
		sw_chrome_arrow(c, timed->pid, &timed->slice, (struct sw_place){PID_HOST, call->tid, *released},
				"releases host", "sync");
	if (room && work && !work->released_tid) {
		work->released_tid = call->tid;
		work->released_ns = *released;
	}
	if (!timed && (!work || work->seq != from))
		sw_chrome_arrow_from_call(c, from, call, "event", "event");
}

static void draw_edge(struct sw_chrome *c, const struct waiting *w, uint64_t seq, const struct sw_drawn *call,
		      uint64_t *released)
{
	static const char *const names[] = {
		[SW_EDGE_EVENT] = "event", [SW_EDGE_LEGACY] = "legacy default stream", [SW_EDGE_CONTEXT] = "context"};
	static const char *const kinds[] = {
		[SW_EDGE_EVENT] = "event", [SW_EDGE_LEGACY] = "legacy", [SW_EDGE_CONTEXT] = "context"};
	if (w->edge.from_seq == seq)
		return; /* a synchronous copy waits for itself */
	if (w->edge.kind == SW_EDGE_HOST_WAIT)
		draw_wait(c, w, seq, call, released);
	else
		sw_chrome_arrow_from_call(c, w->edge.from_seq, call, names[w->edge.kind], kinds[w->edge.kind]);
}

/* A wait's edges are reported just before its call and name the record of its end; other edges name the call itself. */
void sw_chrome_edges(struct sw_chrome *c, uint64_t seq, const struct sw_drawn *call)
{
	size_t kept = 0;
	uint64_t released = 0;
	for (size_t i = 0; i < c->edge_n; i++) {
		const struct waiting *w = &c->edges[i];
		bool just_now = w->reported == c->reported &&
				(w->edge.kind == SW_EDGE_HOST_WAIT || w->edge.kind == SW_EDGE_CONTEXT);
		if (w->edge.to_seq == seq || just_now)
			draw_edge(c, w, seq, call, &released);
		else if (w->edge.to_seq > seq || c->reported - w->reported < EDGES)
			c->edges[kept++] = *w;
	}
	c->edge_n = kept;
}
