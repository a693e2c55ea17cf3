/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hazards: a slice on each side's own row, within the slice of its work, with an arrow from stream to stream; and one
 * on a row of the host, where the later call was made.  Instant events would vanish in Chromium's panel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "report/symbols/stack.h"
#include "report/timeline/chrome.h"
#include "report/words/fix_lines.h"
#include "report/words/wording.h"

/*
 * What is drawn at the end: the times of work as the replay of the run estimates them, on the streams' own rows,
 * and on them the hazards.  Names are kept until then, for as many operations as a replay holds.
 */

#define KNOWN_MOST (1u << 20)

void sw_chrome_remember_operation(struct sw_chrome *c, const struct sw_operation *op, struct sw_label call)
{
	if (c->known.n >= KNOWN_MOST)
		return;
	*sw_vec_push(&c->known) =
		(struct known){.seq = op->what.seq,
			       .call = call,
			       .work = op->enqueues ? sw_label_work(&c->labels, op) : (struct sw_label){0},
			       .stack = op->what.stack,
			       .function = op->what.function,
			       .ctx = op->record->rec->ctx,
			       .kind = op->what.kind};
	c->known_sorted = false;
}

/* For qsort(): by sequence number. */
static int by_seq(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The name and kind of an operation; NULL: no operation, or there were too many. */
static const struct known *chrome_known(struct sw_chrome *c, uint64_t seq)
{
	const struct known key = {.seq = seq};
	if (!c->known.n)
		return NULL;
	if (!c->known_sorted)
		qsort(c->known.at, c->known.n, sizeof *c->known.at, by_seq);
	c->known_sorted = true;
	return bsearch(&key, c->known.at, c->known.n, sizeof *c->known.at, by_seq);
}

/* Label of a call's place, "race.cu:33 in main", kept for each stack; n 0: unknown. */
static struct sw_label site_label(struct sw_chrome *c, uint32_t stack, uint32_t function)
{
	struct sw_names *names = &c->labels.names;
	uint64_t *index = sw_map_put(&c->sites, (uint64_t)function << 32 | stack);
	if (*index)
		return c->site_labels.at[*index - 1];
	const struct sw_frame *site = stack ? sw_stack_site(names, stack, function) : NULL;
	struct sw_label label = {0};
	if (site)
		label = sw_label_any(&c->labels, sw_place_full(names, site));
	*sw_vec_push(&c->site_labels) = label;
	*index = c->site_labels.n;
	return label;
}

/* ---- estimates ----------------------------------------------------------------------------------------------------
 */

void sw_chrome_work(void *arg, const struct sw_stretch *stretch)
{
	struct sw_chrome *c = arg;
	if (!stretch->timed)
		*sw_vec_push(&c->estimates) = (struct estimate){.seq = stretch->seq,
								.start = stretch->start_ns,
								.end = stretch->end_ns,
								.room = stretch->room_ns,
								.stream = stretch->lane};
}

/* For qsort(): by stream, then by call: work of a stream is done in the order of its calls. */
static int by_stream(const void *a, const void *b)
{
	const struct estimate *x = a, *y = b;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The category of the operation's slice. */
static const char *category_of(const struct known *known)
{
	switch (known->kind) {
	case SW_REC_LAUNCH:
		return "kernel";
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
		return "gpu_memcpy";
	case SW_REC_SET:
		return "gpu_memset";
	case SW_REC_HOST_FUNC:
		return "host_function";
	default:
		return "gpu_operation";
	}
}

/* The name of work whose time is estimated. */
static struct sw_label estimate_name(struct sw_chrome *c, struct sw_label name)
{
	return sw_chrome_variant(c, name, "", " (estimate)", 0);
}

/* The track for estimated work.  Measured and estimated work of one stream may overlap: then the estimates have a row
   of their own. */
static uint32_t estimate_tid(const struct sw_chrome *c, uint32_t stream)
{
	return (c->judgement->gpu.recorded ? TID_ESTIMATED : TID_STREAM) + stream;
}

/* Draws a piece of work at its estimated time. */
static void draw_estimate(struct sw_chrome *c, const struct estimate *e)
{
	const struct known *known = chrome_known(c, e->seq);
	struct sw_place at = {PID_DEVICE + sw_chrome_device(c, e->stream), estimate_tid(c, e->stream), e->start};
	if (!known || !known->work.n || !sw_window_shows(&c->window, e->start, e->end))
		return;
	struct stream_track *track = sw_chrome_track(c, e->stream);
	*(c->judgement->gpu.recorded ? &track->estimated : &track->drawn) = true;
	track->shown++;
	sw_event_slice(&c->events, at, e->end, estimate_name(c, known->work), category_of(known));
	sw_event_number(&c->events, "device", sw_chrome_device(c, e->stream));
	sw_event_number(&c->events, "context", known->ctx);
	sw_event_number(&c->events, "stream", e->stream);
	sw_event_number(&c->events, "correlation", e->seq);
	sw_event_text(&c->events, "timing", ESTIMATED);
	sw_chrome_put_site(c, "at", known->stack, known->function);
	sw_event_end(&c->events);
}

void sw_chrome_put_site(struct sw_chrome *c, const char *key, uint32_t stack, uint32_t function)
{
	struct sw_label site = site_label(c, stack, function);
	if (site.n)
		sw_event_label(&c->events, key, site);
}

/* Work for which the waits leave no time is drawn nevertheless. */
#define LEAST_DRAWN_NS 1000u

/* For qsort() and bsearch(): by sequence number. */
static int by_estimate(const void *a, const void *b)
{
	const struct estimate *x = a, *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The estimated time of the work of this call; NULL: none. */
static struct estimate *find_estimate(struct sw_chrome *c, uint64_t seq)
{
	const struct estimate key = {.seq = seq};
	return c->estimates.n ? bsearch(&key, c->estimates.at, c->estimates.n, sizeof key, by_estimate) : NULL;
}

/* Moves estimated work to an earlier start, as far as it may have begun earlier. */
static void move_estimate(struct estimate *e, uint64_t start)
{
	uint64_t earliest = e->start - e->room, to = start > earliest ? start : earliest;
	e->end -= e->start - to;
	e->room -= e->start - to;
	e->start = to;
}

/* Draws the earlier side of each hazard no later than the other, unless work that comes before it leaves no room. */
static void keep_order(struct sw_chrome *c)
{
	if (c->estimates.n)
		qsort(c->estimates.at, c->estimates.n, sizeof *c->estimates.at, by_estimate);
	for (size_t i = 0; i < c->hazards.n; i++) {
		struct estimate *earlier = find_estimate(c, c->hazards.at[i].side[0].seq);
		const struct estimate *later = find_estimate(c, c->hazards.at[i].side[1].seq);
		if (earlier && later && earlier->start > later->start)
			move_estimate(earlier, later->start);
	}
}

void sw_chrome_estimates(struct sw_chrome *c)
{
	keep_order(c);
	if (c->estimates.n)
		qsort(c->estimates.at, c->estimates.n, sizeof *c->estimates.at, by_stream);
	for (size_t i = 0; i < c->estimates.n; i++) {
		struct estimate *e = &c->estimates.at[i];
		const struct estimate *last = i ? e - 1 : NULL;
		/* Work of a stream is one after the other; rounding must not make two slices overlap. */
		if (last && last->stream == e->stream && e->start < last->end)
			e->start = last->end;
		if (e->end < e->start + LEAST_DRAWN_NS)
			e->end = e->start + LEAST_DRAWN_NS;
		draw_estimate(c, e);
	}
	for (size_t i = 0; i < c->estimates.n; i++)
		*sw_map_put(&c->estimate_of, c->estimates.at[i].seq) = i + 1;
}

/* Finds where the work of a call lies on its stream's own row: measured, or estimated and drawn.  False: it is not
   there. */
static bool chrome_ran(struct sw_chrome *c, const struct sw_access *access, struct sw_place *at, uint64_t *end)
{
	uint64_t index = sw_map_get(&c->estimate_of, access->seq);
	const struct known *known = chrome_known(c, access->seq);
	*at = (struct sw_place){PID_DEVICE + sw_chrome_device(c, access->stream), estimate_tid(c, access->stream), 0};
	if (index) {
		at->ns = c->estimates.at[index - 1].start;
		*end = c->estimates.at[index - 1].end;
		return known != NULL;
	}
	if (!known || !known->tid || !sw_judgement_times(c->judgement, access->seq, &at->ns, end))
		return false;
	at->tid = known->tid;
	return *end > at->ns;
}

/* Frees what is kept until the end of the timeline. */
void sw_chrome_estimates_free(struct sw_chrome *c)
{
	free(c->known.at);
	free(c->estimates.at);
	free(c->site_labels.at);
	free(c->variants.at);
	sw_map_free(&c->sites);
	sw_map_free(&c->estimate_of);
	sw_map_free(&c->variant_of);
}

/* The critical path of the run, as a process of its own: readers take all slices of the host for calls. */

/* Label of a piece of the critical path: "host code, between two calls", "in cudaMemcpy", "kernel scale(float *)". */
static struct sw_label name_of_path(struct sw_chrome *c, const struct sw_stretch *stretch)
{
	const struct known *known = chrome_known(c, stretch->seq);
	switch (stretch->kind) {
	case SW_STRETCH_HOST:
		return SW_LABEL("host code, between two calls");
	case SW_STRETCH_CALL:
		return known ? sw_chrome_variant(c, known->call, "in ", "", 2) : SW_LABEL("in a call");
	case SW_STRETCH_WORK:
		if (known && known->work.n)
			return stretch->timed ? known->work : sw_chrome_variant(c, known->work, "", " (estimate)", 0);
		break;
	case SW_STRETCH_LATENCY:
		return SW_LABEL("latency: until work starts, or its end is noticed");
	case SW_STRETCHES:
		break;
	}
	return sw_label_any(&c->labels, sw_replay_stretch(stretch->kind, stretch->work));
}

void sw_chrome_path(void *arg, const struct sw_stretch *stretch)
{
	struct sw_chrome *c = arg;
	const struct known *known = chrome_known(c, stretch->seq);
	struct sw_place at = {PID_PATH, TID_PATH, stretch->start_ns};
	if (!sw_window_shows(&c->window, stretch->start_ns, stretch->end_ns))
		return;
	if (!c->path_drawn) {
		c->path_drawn = true;
		sw_event_name(&c->events, "process_name", PID_PATH, 0,
			      sw_label_any(&c->labels, "critical path: what the run could not be shorter than"));
		sw_event_sort(&c->events, "process_sort_index", PID_PATH, 0, PID_PATH);
		sw_event_name(&c->events, "thread_name", PID_PATH, TID_PATH, sw_label_any(&c->labels, "critical path"));
	}
	sw_event_slice(&c->events, at, stretch->end_ns, name_of_path(c, stretch), "critical_path");
	/* Not "correlation": readers would take the slice for a call or for work. */
	sw_event_number(&c->events, "call", stretch->seq);
	if (known)
		sw_chrome_put_site(c, "at", known->stack, known->function);
	if (stretch->kind == SW_STRETCH_WORK) {
		sw_event_label(&c->events, "on", sw_chrome_stream(c, stretch->lane));
		sw_event_text(&c->events, "timing", stretch->timed ? MEASURED : "estimated between waits");
	}
	sw_event_end(&c->events);
}

/* Arrows between slices, from edges of the order. */

/* ---- arrows ------------------------------------------------------------------------------------------------------ */

/* The slice of a call that was drawn lately; NULL: not drawn, or too long ago. */
static const struct sw_drawn *call_of(const struct sw_chrome *c, uint64_t seq)
{
	const struct remembered *r = &c->calls[seq % REMEMBERED];
	return r->seq == seq && r->call.tid ? &r->call : NULL;
}

/* Draws an arrow from the end of a slice, but never to the same nanosecond: Perfetto then may take the end for the
   start. */
void sw_chrome_arrow(struct sw_chrome *c, uint32_t from_pid, const struct sw_drawn *from, struct sw_place to,
		     const char *name, const char *category)
{
	/* A slice may be said to end a nanosecond early (trace_out.c): the arrow begins before that. */
	const uint64_t last = from->end - (from->end - from->start > 2 ? 2 : 1);
	uint64_t ns = last < to.ns ? last : to.ns - 1;
	if (to.ns == 0 || ns < from->start)
		return;
	sw_event_flow(&c->events, (struct sw_place){from_pid, from->tid, ns}, to, name, category);
}

/* Draws an arrow from the slice of call `from_seq` to the begin of another slice. */
void sw_chrome_arrow_from_call(struct sw_chrome *c, uint64_t from_seq, const struct sw_drawn *to, const char *name,
			       const char *category)
{
	const struct sw_drawn *from = call_of(c, from_seq);
	if (from && to->tid)
		sw_chrome_arrow(c, PID_HOST, from, (struct sw_place){PID_HOST, to->tid, to->start}, name, category);
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* Call-back of the judge: keeps an order between two operations until the later one is drawn. */
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

/* Draws the end of a wait as a slice within the call's slice, and returns the time where the arrow that released it
   ends.  An arrow needs a slice that starts after the work did, because Perfetto makes every arrow lead from the slice
   that starts earlier to the one that starts later.  It ends before the call: if both ended in the same nanosecond,
   floating point could put the inner end after the outer one, and Chromium's panel would then drop the slice. */
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

/* Draws what released a wait of the host: an arrow from the work to the end of the wait.  *released: when that end is
   drawn, made at the first edge of the wait. */
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

/* Draws one order that ends at this call. */
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

/* Draws the edges that were reported for this call.  A wait's edges are reported just before its call and name the
   record of its end; other edges name the call itself. */
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

/* More than a viewer shows in a useful way; the others are counted. */
#define HAZARDS_MOST 10000u

/* Call-back of the judge: keeps a hazard, to draw it when all times are known. */
void sw_chrome_hazard(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		      const struct sw_access *later)
{
	struct sw_chrome *c = arg;
	if (c->hazards.n >= HAZARDS_MOST) {
		c->hazards_left++;
		return;
	}
	struct hazard *h = sw_vec_push(&c->hazards);
	h->finding = *finding;
	h->finding.accesses = 2;
	h->side[0] = *earlier;
	h->side[1] = *later;
}

/* The call stack of an access in one line. */
static struct sw_label stack_label(struct sw_chrome *c, const struct sw_access *access)
{
	struct sw_names *names = &c->labels.names;
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function);
	const char *text = "";
	for (size_t i = 0; i < view.n && i < 12; i++)
		text = sw_names_format(names, "%s%s%s", text, i ? " < " : "", sw_place_full(names, view.at[i].frame));
	return sw_label_any(&c->labels, *text ? text : "not recorded");
}

/* Adds to an event the buffer, as the report calls it, and the call that made it. */
static void put_allocation(struct sw_chrome *c, uint32_t index)
{
	if (index == 0 || index > c->judgement->allocations.n)
		return;
	const struct sw_allocation *info = &c->judgement->allocations.at[index - 1];
	sw_event_label(&c->events, "buffer",
		       sw_label_any(&c->labels, sw_name_allocation_whole(&c->labels.names, index)));
	if (!info->seq)
		return;
	sw_event_number(&c->events, "allocation_correlation", info->seq);
	sw_chrome_put_site(c, "allocated_at", info->stack, 0);
}

/* Writes what a viewer shows of a hazard; side: which one the slice is. */
static void put_args(struct sw_chrome *c, const struct hazard *h, const char *side)
{
	const struct sw_access *earlier = &h->side[0], *later = &h->side[1];
	struct sw_wording words;
	sw_wording_of(&c->labels.names, &h->finding, &words);
	sw_event_label(&c->events, "message", sw_label_any(&c->labels, words.message));
	sw_event_text(&c->events, "side", side);
	sw_event_number(&c->events, "earlier_correlation", earlier->seq);
	sw_event_number(&c->events, "later_correlation", later->seq);
	sw_event_label(&c->events, "earlier_on", sw_chrome_stream(c, earlier->stream));
	sw_event_label(&c->events, "later_on", sw_chrome_stream(c, later->stream));
	sw_chrome_put_site(c, "earlier_at", earlier->stack, earlier->function);
	sw_chrome_put_site(c, "later_at", later->stack, later->function);
	sw_event_label(&c->events, "earlier_stack", stack_label(c, earlier));
	sw_event_label(&c->events, "later_stack", stack_label(c, later));
	if (*words.missing_edge)
		sw_event_label(&c->events, "missing_edge", sw_label_any(&c->labels, words.missing_edge));
	if (*words.fix)
		sw_event_label(&c->events, "fix",
			       sw_label_any(&c->labels, sw_fix_text(&c->labels.names, &h->finding, words.fix)));
	if (later->ranged) {
		sw_event_hex(&c->events, "address", later->address);
		put_allocation(c, later->allocation);
	}
	sw_event_end(&c->events);
}

/* "SW101 race-read-after-write". */
static struct sw_label name_of_hazard(struct sw_chrome *c, const struct hazard *h)
{
	const struct sw_finding_info *info = sw_finding_info(h->finding.id);
	return sw_label_any(&c->labels,
			    sw_names_format(&c->labels.names, "SW%03d %s", h->finding.id, info ? info->kind : ""));
}

/* ---- on the streams ------------------------------------------------------------------------------------------------
 */

/* Finds room for one more hazard in the slice of a piece of work: they lie one after the other there, as none may
   overlap another.  False: there is none. */
static bool part_of(struct sw_chrome *c, const struct sw_access *access, struct sw_place *at, uint64_t *end)
{
	uint64_t whole_end, *used = sw_map_put(&c->hazard_parts, access->seq);
	const uint64_t parts = *used & UINT32_MAX, part = *used >> 32;
	if (!chrome_ran(c, access, at, &whole_end) || whole_end - at->ns < 2 * parts + 4)
		return false;
	const uint64_t start = at->ns + 1, length = (whole_end - at->ns - 2) / parts;
	*used += 1ull << 32;
	at->ns = start + part * length;
	/* A nanosecond apart, for readers that add in floating point. */
	*end = at->ns + (length > 1 ? length - 1 : 1);
	return sw_window_shows(&c->window, at->ns, *end);
}

/* Draws one side of a hazard within the slice of its work; false: that slice is not drawn. */
static bool draw_side(struct sw_chrome *c, const struct hazard *h, bool later, struct sw_place *at, uint64_t *end)
{
	if (!part_of(c, &h->side[later], at, end))
		return false;
	sw_event_slice(&c->events, *at, *end, name_of_hazard(c, h), "hazard");
	sw_event_number(&c->events, "correlation", h->side[later].seq);
	put_args(c, h, later ? "later" : "earlier");
	return true;
}

/* Draws both sides of a hazard, and the arrow between them. */
static void draw_sides(struct sw_chrome *c, const struct hazard *h)
{
	struct sw_place from, to;
	uint64_t from_end, to_end;
	const bool first = draw_side(c, h, false, &from, &from_end), second = draw_side(c, h, true, &to, &to_end);
	if (!first || !second)
		return;
	/* Nothing orders the two, and arrows run forward in time: the one that began first leads. */
	const bool turned = to.ns < from.ns;
	struct sw_drawn lead =
		turned ? (struct sw_drawn){to.tid, to.ns, to_end} : (struct sw_drawn){from.tid, from.ns, from_end};
	if (to.ns != from.ns)
		sw_chrome_arrow(c, turned ? to.pid : from.pid, &lead, turned ? from : to, "no order between these",
				"hazard");
}

/* ---- on the host ---------------------------------------------------------------------------------------------------
 */

/* Draws the hazard where the later call was made, on a track of the host. */
static void draw_call(struct sw_chrome *c, const struct hazard *h)
{
	uint64_t start = h->side[1].t_ns, end = start + h->side[1].dur_ns;
	if (!sw_window_shows(&c->window, start, end))
		return;
	start = start < c->hazard_end ? c->hazard_end : start;
	end = end <= start ? start + 1 : end;
	c->hazard_end = end;
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, TID_HAZARDS, start}, end, name_of_hazard(c, h),
		       "hazard");
	sw_event_number(&c->events, "call", h->side[1].seq);
	put_args(c, h, "later call");
}

/* For qsort(): by the time of the later call. */
static int by_time(const void *a, const void *b)
{
	const struct hazard *x = a, *y = b;
	if (x->side[1].t_ns != y->side[1].t_ns)
		return x->side[1].t_ns < y->side[1].t_ns ? -1 : 1;
	return x->side[1].seq < y->side[1].seq ? -1 : x->side[1].seq > y->side[1].seq;
}

void sw_chrome_hazards(struct sw_chrome *c)
{
	if (c->hazards.n)
		qsort(c->hazards.at, c->hazards.n, sizeof *c->hazards.at, by_time);
	for (size_t i = 0; i < c->hazards.n; i++) {
		struct hazard *h = &c->hazards.at[i];
		for (int k = 0; k < 2; k++) {
			h->finding.access[k] = &h->side[k];
			++*sw_map_put(&c->hazard_parts, h->side[k].seq);
		}
	}
	for (size_t i = 0; i < c->hazards.n; i++) {
		draw_sides(c, &c->hazards.at[i]);
		draw_call(c, &c->hazards.at[i]);
	}
	if (c->hazards_left) {
		struct sw_label name = sw_label_any(
			&c->labels, sw_names_format(&c->labels.names, "%zu more %s not drawn", c->hazards_left,
						    sw_plural(c->hazards_left, "hazard is", "hazards are")));
		sw_event_slice(&c->events, (struct sw_place){PID_HOST, TID_HAZARDS, c->hazard_end},
			       c->hazard_end + 1000, name, "hazard");
		sw_event_end(&c->events);
	}
	sw_map_free(&c->hazard_parts);
	free(c->hazards.at);
}
