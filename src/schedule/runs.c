/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of nodes that a replay passes in one step.  Where a thread makes calls and a queue does their work, and nothing
 * else concerns either, the end of the last call is that of the call before the run and the time that its calls take;
 * the end of the last work is the later of two sums, one from that call and one from the work before the run.  Maxima
 * of sums of whole numbers: each replay ends at the same nanosecond as node by node.
 *
 * A run ends at what a change concerns, at an edge, at work that keeps out of the way of other queues', and at nodes
 * whose own end something else asks for.
 */
#include <stdlib.h>
#include <string.h>

#include "schedule/nodes.h"

/* The critical path of each window: from the node that ended last backwards, each time to what its start waited for. */

/* The last to end of the nodes that this one waits for. */
static uint32_t last_of_path(const struct sw_window *w, uint32_t node)
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

/* How many nodes are looked through for the work that held another: a search, not a limit of the hardware. */
#define MOST_LOOKED_BACK 4096u

/* The work that delayed this piece (SW_NF_HELD, at this place of w->order) without an edge, as both need one engine:
   the last of its kind that ended before it began.  One that ended within the clock's error of that begin is taken at
   once; SW_NONE: none is near enough. */
static uint32_t holder_of(const struct sw_window *w, uint32_t node, size_t place)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	uint32_t best = SW_NONE;
	for (size_t i = place; i-- > 0 && place - i < MOST_LOOKED_BACK;) {
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

/* The node before this one on the critical path; SW_NONE: the path begins here.  *body: the path leads from that node's
   end, else from its begin. */
static uint32_t step_back(const struct sw_window *w, uint32_t node, size_t place, bool *body)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	uint32_t from;
	*body = true;
	switch ((enum sw_node_kind)n->kind) {
	case SW_NODE_CALL:
		return n->flags & SW_NF_LAG ? last_of_path(w, node) : n->prev;
	case SW_NODE_RETURN:
		return n->flags & SW_NF_LAG ? last_of_path(w, node) : n->prev;
	case SW_NODE_WORK:
	case SW_NODE_MARK:
		if (n->flags & SW_NF_LAG) {
			from = n->flags & SW_NF_HELD ? holder_of(w, node, place) : SW_NONE;
			return from != SW_NONE ? from : last_of_path(w, node);
		}
		*body = false;
		return n->call;
	}
	return SW_NONE;
}

/* Marks the nodes of the critical path: from the node that ended last back to what each waited for. */
static void mark_path(struct sw_window *w)
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
		node = step_back(w, node, place, &body);
	}
}

typedef void stretch_fn(void *arg, const struct sw_stretch *stretch);

/* Reports a piece of the critical path from one moment to another, unless it is empty. */
static void report_stretch(stretch_fn *stretch, void *arg, enum sw_stretch_kind kind, const struct sw_schedule_node *n,
			   uint64_t from, uint64_t to)
{
	struct sw_stretch reported = {.kind = kind,
				      .work = (enum sw_work_kind)n->does,
				      .seq = n->seq,
				      .start_ns = from,
				      .end_ns = to,
				      .lane = n->lane,
				      .timed = n->flags & SW_NF_TIMED};
	if (to > from)
		stretch(arg, &reported);
}

/* Reports the pieces of a node of the critical path; *at: until where the path was reported. */
static void report_node(const struct sw_schedule_node *n, uint64_t *at, stretch_fn *stretch, void *arg)
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
}

/* Reports the critical path of each window, first to last. */
static void report_path(struct sw_schedule *s, stretch_fn *stretch, void *arg)
{
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		uint64_t at = w->start;
		mark_path(w);
		for (size_t k = 0; k < w->nodes.n; k++)
			if (w->nodes.at[w->order[k]].flags & SW_NF_PATH)
				report_node(&w->nodes.at[w->order[k]], &at, stretch, arg);
	}
}

/* Reports the pieces of the run's critical path, first to last. */
void sw_schedule_path(struct sw_schedule *s, stretch_fn *stretch, void *arg)
{
	sw_read_times(s, 0);
	report_path(s, stretch, arg);
}

/* A copy takes no longer than the slowest bus needs: 5 GB/s from pinned memory is PCIe 3 x8 shared by two devices, 1.2
   GB/s from pageable memory half of what is assumed of staging, and both begin within some microseconds. */
#define LONGEST_BASE_NS		  30000u
#define LONGEST_PINNED_NS_PER_MIB 200000u
#define LONGEST_STAGED_NS_PER_MIB 800000u
#define LONGEST_MOVE_NS_PER_MIB	  6000u

/* How long the work plausibly takes at most (ns), for copies and sets by their size. */
static uint64_t longest_time(const struct sw_schedule_node *n)
{
	uint64_t per_mib;
	switch ((enum sw_work_kind)n->does) {
	case SW_DOES_UPLOAD:
	case SW_DOES_DOWNLOAD:
		per_mib = n->flags & SW_NF_STAGED ? LONGEST_STAGED_NS_PER_MIB : LONGEST_PINNED_NS_PER_MIB;
		break;
	case SW_DOES_MOVE:
	case SW_DOES_SET:
		per_mib = LONGEST_MOVE_NS_PER_MIB;
		break;
	default:
		return UINT64_MAX;
	}
	return LONGEST_BASE_NS + (uint64_t)((double)n->own * (double)per_mib / 1024);
}

/* Reports a piece of work; one whose estimated time is longer than plausible is placed at the end of that time. */
static void report_work(stretch_fn *work, void *arg, const struct sw_schedule_node *n)
{
	struct sw_stretch reported = {.kind = SW_STRETCH_WORK,
				      .work = (enum sw_work_kind)n->does,
				      .seq = n->seq,
				      .start_ns = n->start,
				      .end_ns = n->end,
				      .lane = n->lane,
				      .timed = n->flags & SW_NF_TIMED};
	if (!reported.timed && n->end - n->start > longest_time(n)) {
		reported.room_ns = n->end - n->start - longest_time(n);
		reported.start_ns += reported.room_ns;
	}
	work(arg, &reported);
}

void sw_schedule_each_work(struct sw_schedule *s, stretch_fn *work, void *arg)
{
	sw_read_times(s, 0);
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		for (size_t k = 0; k < w->nodes.n; k++)
			if (w->nodes.at[w->order[k]].kind == SW_NODE_WORK)
				report_work(work, arg, &w->nodes.at[w->order[k]]);
	}
}

/* Sums of a run: blocked time, overlap, and how well the replay reproduces the run. */

/* ---- overlap ----------------------------------------------------------------------------------------------------- */

enum { BUSY, COPY, KERNEL, BLOCKED, SPANS };

struct span {
	uint64_t start, end;
	uint32_t what; /* bits */
};
typedef SW_VEC(struct span) span_vec;

/* For qsort(): by start. */
static int by_start(const void *x, const void *y)
{
	const struct span *a = x, *b = y;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Does the work count as a copy between host and device, or as a kernel?  Bits of BUSY, COPY, KERNEL. */
static uint32_t what_of(const struct sw_schedule_node *n)
{
	bool copy = n->does == SW_DOES_UPLOAD || n->does == SW_DOES_DOWNLOAD;
	bool kernel = n->does == SW_DOES_KERNEL || n->does == SW_DOES_GRAPH;
	return 1u << BUSY | (copy ? 1u << COPY : 0) | (kernel ? 1u << KERNEL : 0);
}

/* Lists the times in which a device worked or a host thread was held in a wait, by start. */
static void collect_spans(const struct sw_window *w, span_vec *spans, struct sw_schedule_sums *sums)
{
	for (uint32_t i = 0; i < w->nodes.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[i];
		if (sw_node_on_device(n) && n->end > n->start)
			*sw_vec_push(spans) = (struct span){n->start, n->end, what_of(n)};
		if (n->kind != SW_NODE_RETURN || !(n->flags & SW_NF_HELD))
			continue;
		uint64_t from = w->nodes.at[n->prev].start;
		sums->blocked_ns += sw_less(sw_earlier(sw_sources_end(w, i), n->end), from);
		*sw_vec_push(spans) = (struct span){from, n->end, 1u << BLOCKED};
	}
	if (spans->n)
		qsort(spans->at, spans->n, sizeof *spans->at, by_start);
}

/* Adds the time between two starts to the sums: each of the four (busy, copy, kernel, blocked) is on up to its moment
   in `until`. */
static void pass_time(struct sw_schedule_sums *sums, const uint64_t until[SPANS], uint64_t from, uint64_t to)
{
	uint64_t on[SPANS];
	for (int i = 0; i < SPANS; i++)
		on[i] = sw_less(sw_earlier(until[i], to), from);
	sums->busy_ns += on[BUSY];
	sums->idle_ns += to - from - on[BUSY];
	sums->idle_blocked_ns += sw_less(on[BLOCKED], on[BUSY]);
	sums->copy_ns += on[COPY];
	sums->kernel_ns += on[KERNEL];
	sums->overlap_ns += sw_earlier(on[COPY], on[KERNEL]);
}

/* Adds how long copies, kernels and the host were busy, and overlapped, in a window. */
static void sum_window(const struct sw_window *w, struct sw_schedule_sums *sums)
{
	span_vec spans = {0};
	uint64_t until[SPANS] = {0}, now = w->start, copy = sums->copy_ns, kernel = sums->kernel_ns;
	collect_spans(w, &spans, sums);
	for (size_t i = 0; i < spans.n; i++) {
		if (spans.at[i].start > now) {
			pass_time(sums, until, now, spans.at[i].start);
			now = spans.at[i].start;
		}
		for (int k = 0; k < SPANS; k++)
			if (spans.at[i].what >> k & 1)
				until[k] = sw_later(until[k], spans.at[i].end);
	}
	if (w->end > now)
		pass_time(sums, until, now, w->end);
	sums->overlap_possible_ns += sw_earlier(sums->copy_ns - copy, sums->kernel_ns - kernel);
	free(spans.at);
}

/* Adds a piece of the critical path to the sums. */
static void add_piece(void *arg, const struct sw_stretch *stretch)
{
	struct sw_schedule_sums *sums = arg;
	sums->path_ns[stretch->kind] += stretch->end_ns - stretch->start_ns;
	if (stretch->kind == SW_STRETCH_WORK)
		sums->path_work_ns[stretch->work] += stretch->end_ns - stretch->start_ns;
}

/* Widens intervals by n further values. */
static void widen_interval(uint64_t *low, uint64_t *high, const uint64_t *value, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		low[i] = sw_earlier(low[i], value[i]);
		high[i] = sw_later(high[i], value[i]);
	}
}

/* Widens the intervals of the critical path's parts by another reading of what the waits say. */
static void widen_path(struct sw_schedule *s, uint32_t reading, struct sw_schedule_sums *sums)
{
	struct sw_schedule_sums other = {0};
	sw_read_times(s, reading);
	report_path(s, add_piece, &other);
	widen_interval(sums->path_low_ns, sums->path_high_ns, other.path_ns, SW_STRETCHES);
	widen_interval(sums->path_work_low_ns, sums->path_work_high_ns, other.path_work_ns, SW_DOES_OTHER + 1);
}

/* Has all work of the run times of the device? */
static bool is_timed(const struct sw_schedule *s)
{
	for (uint32_t i = 0; i < s->windows; i++)
		for (size_t k = 0; k < s->window[i].works.n; k++)
			if (!(s->window[i].nodes.at[s->window[i].works.at[k]].flags & SW_NF_TIMED))
				return false;
	return true;
}

/* Sums over the run: blocked and idle time, overlap, the parts of the critical path. */
struct sw_schedule_sums sw_schedule_sums(struct sw_schedule *s)
{
	struct sw_schedule_sums sums = {0};
	sw_read_times(s, 0);
	for (uint32_t i = 0; i < s->windows; i++)
		sum_window(&s->window[i], &sums);
	sw_schedule_path(s, add_piece, &sums);
	memcpy(sums.path_low_ns, sums.path_ns, sizeof sums.path_ns);
	memcpy(sums.path_high_ns, sums.path_ns, sizeof sums.path_ns);
	memcpy(sums.path_work_low_ns, sums.path_work_ns, sizeof sums.path_work_ns);
	memcpy(sums.path_work_high_ns, sums.path_work_ns, sizeof sums.path_work_ns);
	for (uint32_t reading = 1; reading < SW_READINGS && !is_timed(s); reading++)
		widen_path(s, reading, &sums);
	return sums;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

/* Work that began long after all that it had to wait for. */
#define UNEXPLAINED_NS 100000u

/* A replay without changes that differs from the run by more than 5 % is not reliable. */
#define MOST_RESIDUAL_PERMILLE 50u

/* Sums the delays of work that began long after all that it had to wait for. */
static uint64_t unexplained_time(const struct sw_window *w)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < w->nodes.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[i];
		if (n->kind != SW_NODE_WORK || !(n->flags & SW_NF_TIMED))
			continue;
		const struct sw_schedule_node *call = &w->nodes.at[n->call];
		uint64_t in_call =
			(call->flags & SW_NF_HAS_RETURN ? w->nodes.at[call->return_node].end : call->end) - call->start;
		int64_t delay = n->flags & SW_NF_LAG ? n->lag : n->lead - (int64_t)in_call;
		if (delay > (int64_t)UNEXPLAINED_NS)
			sum += (uint64_t)delay;
	}
	return sum;
}

/* How much of the run the schedule has, and how well a replay without changes reproduces it. */
struct sw_schedule_facts sw_schedule_facts(struct sw_schedule *s)
{
	struct sw_schedule_facts f = {.windows = s->windows, .run_ns = s->last_ns - s->first_ns};
	sw_read_times(s, 0);
	for (uint32_t i = 0; i < s->windows; i++) {
		const struct sw_window *w = &s->window[i];
		f.nodes += w->nodes.n;
		f.operations += w->works.n;
		f.kept_ns += w->end - w->start;
		f.replayed_ns += s->length[i];
		f.unexplained_ns += unexplained_time(w);
		f.dropped_edges += w->dropped;
		for (size_t k = 0; k < w->works.n; k++) {
			uint8_t flags = w->nodes.at[w->works.at[k]].flags;
			f.timed += flags & SW_NF_TIMED ? 1 : 0;
			f.bracketed += (flags & (SW_NF_TIMED | SW_NF_BRACKET)) == SW_NF_BRACKET;
		}
	}
	uint64_t off = f.replayed_ns > f.kept_ns ? f.replayed_ns - f.kept_ns : f.kept_ns - f.replayed_ns;
	if (f.kept_ns)
		f.residual_permille = (uint32_t)sw_earlier(1000, (off + f.unexplained_ns) * 1000 / f.kept_ns);
	f.reliable =
		f.kept_ns && f.residual_permille <= MOST_RESIDUAL_PERMILLE && (f.timed + f.bracketed || !f.operations);
	return f;
}

/* Earlier than any sum: there is no work in the run yet. */
#define NO_WORK (INT64_MIN / 2)

struct runs {
	const struct sw_schedule *s;
	struct sw_window *w;
	struct sw_ordered *o;
	const struct sw_changed_places *places;
	uint32_t *last_host, *last_work; /* by thread, by queue: the node that was added last */
	bool *asked;			 /* by node: its own end is needed */
	/* Returns from waits that may become narrower: queues may get their gates there (replay.c). */
	uint32_t gates, last_gate; /* so far; the node of the highest number */
	uint32_t *passed;	   /* by queue: of these, the ones that its work was held by already */
	struct sw_run run;	   /* being made; host SW_NONE: none */
};

/* Is it the begin or the end of a call, not work? */
static bool is_host(const struct sw_schedule_node *n)
{
	return n->kind == SW_NODE_CALL || n->kind == SW_NODE_RETURN;
}

/* The last node, so far, of the node's thread or queue. */
static uint32_t *last_of_run(const struct runs *r, const struct sw_schedule_node *n)
{
	return is_host(n) ? &r->last_host[n->lane] : &r->last_work[n->lane];
}

/* Where in ordered.taken the list of a place begins: the pieces of work whose ends it waits for. */
static uint32_t taken_from(const struct runs *r, uint32_t place)
{
	return place ? r->o->taken_end[place - 1] : 0;
}

/* ---- nodes whose own end is needed ------------------------------------------------------------------------------- */

/* Notes that the own end of this node is needed.  The end of what came last on a thread or queue is at hand anyway,
   also in a run. */
static void ask_for(struct runs *r, uint32_t node)
{
	if (node != SW_NONE && *last_of_run(r, &r->w->nodes.at[node]) != node)
		r->asked[node] = true;
}

/* Notes the nodes whose own ends this step waits for: no run may hide them. */
static void ask_for_needs(struct runs *r, const struct sw_step *step)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[step->node];
	ask_for(r, n->kind == SW_NODE_CALL ? step->before : n->prev);
	for (uint32_t e = n->edges; e < sw_edges_end(r->w, step->node); e++)
		if (sw_edge_why(r->w->edges.at[e]) != SW_WHY_NOT)
			ask_for(r, sw_edge_node(r->w->edges.at[e]));
	if (is_host(n))
		return;
	ask_for(r, n->call);
	for (uint32_t i = taken_from(r, step->place); i < r->o->taken_end[step->place]; i++)
		ask_for(r, r->o->taken.at[i]);
	if (r->places && r->places->kept && r->places->kept[r->w->nodes.at[n->call].call])
		r->asked[step->node] = true;
}

/* Finds the nodes whose own end something asks for: a run of nodes must end there. */
static void find_asked(struct runs *r)
{
	for (size_t i = 0; i < r->o->single.n; i++) {
		const struct sw_step *step = &r->o->single.at[i];
		ask_for_needs(r, step);
		*last_of_run(r, &r->w->nodes.at[step->node]) = step->node;
	}
}

/* ---- nodes that may be in a run ---------------------------------------------------------------------------------- */

/* Does the node wait for anything but its thread's or queue's node before it? */
static bool has_edges(const struct sw_window *w, uint32_t node)
{
	for (uint32_t e = w->nodes.at[node].edges; e < sw_edges_end(w, node); e++)
		if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
			return true;
	return false;
}

/* Does a set of changes concern the place of the call? */
static bool is_changed(const struct runs *r, const struct sw_schedule_node *call)
{
	return r->places && r->places->row[call->call];
}

/* Counts a return from a wait that may become narrower: queues may be held there instead (replay.c). */
static void note_gate(struct runs *r, uint32_t node)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[node];
	if (n->kind != SW_NODE_RETURN || !r->passed || !is_changed(r, &r->w->nodes.at[n->prev]))
		return;
	r->gates++;
	r->last_gate = r->last_gate == SW_NONE || node > r->last_gate ? node : r->last_gate;
}

/* May a gate, at a wait that becomes narrower, hold this work, i.e. is there one since the queue's last work that was
   checked? */
static bool passes_gate(struct runs *r, uint32_t node)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[node];
	if (!r->passed || r->passed[n->lane] == r->gates)
		return false;
	if (node > r->last_gate)
		r->passed[n->lane] = r->gates;
	return true;
}

/* Can the node be part of a run: does it wait only for its thread, its queue and its call, and does no change concern
   it? */
static bool fits_run(struct runs *r, const struct sw_step *step)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[step->node];
	bool plain = n->lead >= 0 && n->end >= n->start && !has_edges(r->w, step->node);
	if (n->kind == SW_NODE_RETURN)
		return false;
	if (n->kind == SW_NODE_CALL)
		return plain && step->before != SW_NONE && !is_changed(r, n);
	/* Asked in any case: this is the queue's next work. */
	bool gate = passes_gate(r, step->node);
	const struct sw_schedule_node *call = &r->w->nodes.at[n->call];
	return plain && !gate && n->prev != SW_NONE && n->lag >= 0 && !is_changed(r, call) &&
	       call->end >= call->start && taken_from(r, step->place) == r->o->taken_end[step->place];
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* The last call of the run so far. */
static uint32_t host_now(const struct sw_run *run)
{
	return run->last_call != SW_NONE ? run->last_call : run->host;
}

/* Does the node continue the run: the next call of its thread, or work of its last call on its queue? */
static bool joins_run(const struct runs *r, const struct sw_step *step)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[step->node];
	const struct sw_run *run = &r->run;
	if (n->kind == SW_NODE_CALL)
		return step->before == host_now(run);
	return n->call == host_now(run) && (run->work == SW_NONE || n->prev == run->last_work);
}

/* Begins a run with this node. */
static void start_run(struct runs *r, const struct sw_step *step)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[step->node];
	r->run = (struct sw_run){.host = n->kind == SW_NODE_CALL ? step->before : n->call,
				 .work = SW_NONE,
				 .last_call = SW_NONE,
				 .last_work = SW_NONE,
				 .work_after_host = NO_WORK};
}

/* Adds a node to the run, a row of steps that are replayed at once: its times to the sums. */
static void extend_run(struct runs *r, uint32_t node)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[node];
	struct sw_run *run = &r->run;
	int64_t took = (int64_t)(n->end - n->start);
	if (n->kind == SW_NODE_CALL) {
		run->last_call = node;
		run->calls += n->lead + took;
		return;
	}
	const struct sw_schedule_node *call = &r->w->nodes.at[n->call];
	int64_t after_call = run->calls - (int64_t)(call->end - call->start) + n->lead;
	int64_t after_work = run->work_after_host + n->lag;
	if (run->work == SW_NONE)
		run->work = n->prev;
	run->last_work = node;
	run->work_after_host = (after_call > after_work ? after_call : after_work) + took;
	run->work_after_work += n->lag + took;
}

/* Ends the run that is being made, if any, and adds it as one step. */
static void finish_run(struct runs *r)
{
	if (r->run.host == SW_NONE)
		return;
	*sw_vec_push(&r->o->steps) = (struct sw_step){SW_NONE, (uint32_t)r->o->runs.n, 0};
	*sw_vec_push(&r->o->runs) = r->run;
	r->run.host = SW_NONE;
}

/* Adds a node to the steps of the replay: to a run where it fits, else by itself. */
static void add_step(struct runs *r, const struct sw_step *step)
{
	note_gate(r, step->node);
	if (!fits_run(r, step)) {
		finish_run(r);
		*sw_vec_push(&r->o->steps) = *step;
		return;
	}
	if (r->run.host != SW_NONE && !joins_run(r, step))
		finish_run(r);
	if (r->run.host == SW_NONE)
		start_run(r, step);
	extend_run(r, step->node);
	if (r->asked[step->node])
		finish_run(r);
}

/* An array of n times SW_NONE; the caller frees it. */
static uint32_t *none_of(size_t n)
{
	uint32_t *at = sw_alloc((n + 1) * sizeof *at);
	for (size_t i = 0; i < n; i++)
		at[i] = SW_NONE;
	return at;
}

/* Joins the steps of a window's replay that always come one after the other into runs, which are replayed at once:
   makes ordered.steps and ordered.runs of ordered.single. */
static void runs_make(const struct sw_schedule *s, struct sw_window *w, const struct sw_changed_places *places)
{
	struct runs r = {.s = s, .w = w, .o = &w->ordered, .places = places, .last_gate = SW_NONE};
	r.run.host = SW_NONE;
	r.last_host = none_of(s->threads.n);
	r.last_work = none_of(s->queues.n);
	r.asked = sw_calloc(w->nodes.n + 1, sizeof *r.asked);
	r.passed = places && places->kept ? sw_calloc(s->queues.n + 1, sizeof *r.passed) : NULL;
	r.o->steps.n = r.o->runs.n = 0;
	find_asked(&r);
	for (size_t i = 0; i < r.o->single.n; i++)
		add_step(&r, &r.o->single.at[i]);
	finish_run(&r);
	free(r.last_host);
	free(r.last_work);
	free(r.asked);
	free(r.passed);
}

/*
 * The nodes that a replay passes.  Many calls enqueue nothing, wait for nothing and take the same time whatever changes
 * (cudaFuncGetAttributes, cudaGetFuncBySymbol): the next call on their thread begins later by the time that they and
 * the gap before them take.  These are sums of whole numbers, so each replay ends at the same nanosecond as with them.
 *
 * Work and what waits for work is passed by time.  A call is passed only when something needs it: a thread may be
 * hundreds of launches ahead of the device, and work that follows on its launch joins it in a run (above).
 */

enum { NEEDED = 1, FOLLOWED = 2, ADDED = 4, AFTER_TURN = 8 };

/* Notes that the node's own begin and end are needed: it is passed by itself. */
static void mark_needed(struct sw_window *w, uint32_t node)
{
	w->ordered.needed[node] |= NEEDED;
}

/* Marks the calls on whose time others depend; calls that overlap the one before on their thread count as such. */
static void find_needed(struct sw_window *w)
{
	w->ordered.needed = sw_calloc(w->nodes.n + 1, 1);
	for (size_t i = 0; i < w->others.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[w->others.at[i]];
		mark_needed(w, n->kind == SW_NODE_RETURN ? n->prev : n->call);
		for (uint32_t e = n->edges; e < sw_edges_end(w, w->others.at[i]); e++)
			mark_needed(w, sw_edge_node(w->edges.at[e]));
	}
	for (size_t i = 0; i < w->ordered.calls; i++) {
		uint32_t node = w->ordered.call[i];
		const struct sw_schedule_node *n = &w->nodes.at[node];
		if (n->prev == SW_NONE || n->start < w->nodes.at[n->prev].end || n->end < n->start)
			mark_needed(w, node);
		if (n->prev == SW_NONE)
			continue;
		w->ordered.needed[n->prev] |= FOLLOWED;
		if (n->start < w->nodes.at[n->prev].end)
			mark_needed(w, n->prev);
	}
}

/* Marks the calls of threads that take turns: they are not the same in all readings. */
static void need_turns(struct sw_window *w)
{
	for (size_t i = 0; i < w->ordered.gap.n; i++) {
		uint32_t node = w->ordered.gap.at[i], edge = w->edges.at[w->nodes.at[node].edges];
		if (sw_edge_why(edge) == SW_WHY_NOT)
			continue;
		mark_needed(w, node);
		mark_needed(w, sw_edge_node(edge));
		w->ordered.needed[node] |= AFTER_TURN;
	}
}

/* Is the call one that replays pass over: nothing needs it, and nothing changes at its place? */
static bool passes_over(const struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	return (w->ordered.needed[call] & (NEEDED | FOLLOWED)) == FOLLOWED &&
	       !(places && places->row[w->nodes.at[call].call]);
}

/* The node before a call in the replay.  Where calls before it are passed over, that is the node before them, which
   add_call() kept in `step_before`. */
static uint32_t before_of(const struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	uint32_t prev = w->nodes.at[call].prev;
	if (prev == SW_NONE || w->nodes.at[prev].kind != SW_NODE_CALL || !passes_over(w, places, prev))
		return prev;
	return w->nodes.at[prev].step_before;
}

/* Adds a call to the nodes of the replay, with the time since the node before it; or passes over it. */
static void add_call(struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	struct sw_schedule_node *n = &w->nodes.at[call];
	uint32_t before = before_of(w, places, call);
	if (passes_over(w, places, call)) {
		n->step_before = before;
		return;
	}
	*sw_vec_push(&w->ordered.single) = (struct sw_step){call, before, 0};
	if (before == SW_NONE)
		return;
	uint64_t since = n->flags & SW_NF_LAG ? w->nodes.at[n->prev].end : n->start;
	n->lead = (int64_t)(since - w->nodes.at[before].end);
}

/* The call that must be added before this one and is not yet; SW_NONE: none.  That is the call before it on its thread,
   or for a call that took a turn, the call whose turn was before.  Waits are added when their time comes. */
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

/* Notes that the call must be added before others.  Marked as added at once: damaged times may make circles. */
static void pull_call(struct sw_ordered *o, uint32_t call)
{
	o->needed[call] |= ADDED; /* it will be: damaged times may make circles */
	*sw_vec_push(&o->pulled) = call;
}

/* Adds a call to the nodes that are replayed, and before it the calls that it comes after, the first one first. */
static void pull_calls(struct sw_window *w, const struct sw_changed_places *places, uint32_t call)
{
	struct sw_ordered *o = &w->ordered;
	if (o->needed[call] & ADDED)
		return;
	pull_call(o, call);
	while (o->pulled.n) {
		uint32_t last = o->pulled.at[o->pulled.n - 1], before = missing_call(w, last);
		if (before != SW_NONE) {
			pull_call(o, before);
		} else {
			o->pulled.n--;
			add_call(w, places, last);
		}
	}
}

/* Adds a return, work or mark to the nodes of the replay, after the call that it belongs to. */
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
	runs_make(s, w, places);
}
