/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows between slices, from edges of the order and hazards. */
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
	uint64_t ns = from->end < to.ns ? from->end - 1 : to.ns - 1;
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
	c->edges[c->edge_n++] = (struct waiting){*edge, from_stream, c->told};
}

/*
 * The end of a wait, as a slice within the call's slice: an arrow needs a slice that starts after the work did, because
 * Perfetto makes every arrow lead from the slice that starts earlier to the one that starts later. It ends before the
 * call: if both ended in the same nanosecond, floating point could put the inner end after the outer one, and
 * Chromium's panel would then drop the slice.
 */
static uint64_t draw_release(struct sw_chrome *c, uint64_t seq, const struct sw_drawn *call)
{
	uint64_t ns = (call->end - call->start) / 8;
	ns = ns > RELEASE_NS ? RELEASE_NS : ns ? ns : 1;
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, call->tid, call->end - ns}, call->end - ns / 2,
		       SW_LABEL("released"), "sync");
	sw_event_number(&c->events, "correlation", seq);
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
		*released = draw_release(c, seq, call);
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
		bool just_now =
			w->told == c->told && (w->edge.kind == SW_EDGE_HOST_WAIT || w->edge.kind == SW_EDGE_CONTEXT);
		if (w->edge.to_seq == seq || just_now)
			draw_edge(c, w, seq, call, &released);
		else if (w->edge.to_seq > seq || c->told - w->told < EDGES)
			c->edges[kept++] = *w;
	}
	c->edge_n = kept;
}

/* ---- hazards ------------------------------------------------------------------------------------------------------
 */

static void draw_hazard(struct sw_chrome *c, const struct hazard *h)
{
	const struct sw_finding_info *info = sw_finding_info(h->id);
	const struct sw_drawn *later = call_of(c, h->later.seq);
	char name[64];
	if (!sw_window_shows(&c->window, h->later.t_ns, h->later.t_ns))
		return;
	snprintf(name, sizeof name, "SW%d %s", h->id, info ? info->kind : "");
	struct sw_place at = {PID_HOST, TID_HAZARDS, later ? later->start : h->later.t_ns};
	sw_event_instant(&c->events, at, sw_label_any(&c->labels, name), "hazard");
	sw_event_number(&c->events, "earlier_correlation", h->earlier.seq);
	sw_event_number(&c->events, "later_correlation", h->later.seq);
	sw_event_label(&c->events, "earlier_on", sw_chrome_stream(c, h->earlier.stream));
	sw_event_label(&c->events, "later_on", sw_chrome_stream(c, h->later.stream));
	if (h->later.ranged)
		sw_event_hex(&c->events, "address", h->later.address);
	sw_event_end(&c->events);
	if (later)
		sw_chrome_arrow_from_call(c, h->earlier.seq, later, "no order between these", "hazard");
}

void sw_chrome_hazards(struct sw_chrome *c, uint64_t seq)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->hazards.n; i++)
		if (c->hazards.at[i].later.seq == seq)
			draw_hazard(c, &c->hazards.at[i]);
		else
			c->hazards.at[kept++] = c->hazards.at[i];
	c->hazards.n = kept;
}

void sw_chrome_hazard(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		      const struct sw_access *later)
{
	struct sw_chrome *c = arg;
	struct hazard hazard = {finding->id, *earlier, *later};
	if (call_of(c, later->seq))
		draw_hazard(c, &hazard);
	else
		*sw_vec_push(&c->hazards) = hazard;
}

void sw_chrome_hazards_end(struct sw_chrome *c)
{
	for (size_t i = 0; i < c->hazards.n; i++)
		draw_hazard(c, &c->hazards.at[i]);
}
