/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/merge_draw.h"

#include <stdlib.h>

#include "report/symbols/places.h"
#include "report/symbols/stack.h"

/* A stream, or a host thread, has rows for its work or waits, and rows for its hazards; what overlaps takes several. */
enum { LANES = 4, ROWS = 2 * LANES, TID_THREAD = 16, TID_STREAM = 1 << 24 };

enum what { WORK, WAIT, HAZARD };

struct slice {
	enum what what;
	bool stream; /* on the rows of a stream, else of a thread */
	bool later;  /* side of the hazard */
	uint32_t index;
	unsigned lane;
	int64_t start, end;
	const struct sw_own_call *call, *other;
	const struct sw_own_hazard *hazard;
};

struct row {
	int64_t end[ROWS];
	bool named[ROWS];
};

struct drawing {
	struct sw_kineto_merge *merge;
	SW_VEC(struct slice) slices;
	SW_VEC(struct row) streams;
	SW_VEC(struct row) threads;
	struct sw_map waits;   /* function and call stack -> finding: index of shown + 1 */
	struct sw_map hazards; /* id and both call stacks -> the same */
	struct sw_map earlier; /* hazard -> its earlier side that was drawn: index of slice + 1 */
};

/* ---- words ------------------------------------------------------------------------------------------------------- */

static struct sw_label label(struct drawing *d, const char *text)
{
	return sw_label_quote(&d->merge->report->names.arena, text);
}

static uint64_t wait_key(uint16_t api, uint32_t stack)
{
	return (uint64_t)api << 32 | stack;
}

static uint64_t hazard_key(int id, uint32_t earlier, uint32_t later)
{
	return (uint64_t)id << 52 ^ (uint64_t)earlier << 26 ^ later;
}

/* The report's finding for a pair of call sites. */
static void know_findings(struct drawing *d)
{
	const struct sw_report *report = d->merge->report;
	for (size_t i = 0; i < report->shown.n; i++) {
		const struct sw_finding *finding = report->shown.at[i].finding;
		const struct sw_access *const *access = finding->access;
		uint64_t *index =
			sw_finding_is_wait(finding->id)
				? sw_map_put(&d->waits, wait_key(access[0]->api, access[0]->stack))
				: sw_map_put(&d->hazards, hazard_key(finding->id, access[0]->stack, access[1]->stack));
		if (!*index)
			*index = i + 1;
	}
}

static const struct sw_shown_finding *finding_of(const struct drawing *d, const struct slice *s)
{
	uint64_t index = s->what == WAIT ? sw_map_get(&d->waits, wait_key(s->call->api, s->call->stack))
			 : s->hazard	 ? sw_map_get(&d->hazards, hazard_key(s->hazard->id, s->hazard->earlier_stack,
									      s->hazard->later_stack))
					 : 0;
	return index ? &d->merge->report->shown.at[index - 1] : NULL;
}

static const char *name_of(struct drawing *d, const struct sw_own_call *call)
{
	if (call->function)
		return sw_name_kernel_short(&d->merge->report->names, call->function);
	return d->merge->profile->names.at[call->name];
}

static struct sw_label title_of(struct drawing *d, const struct slice *s)
{
	struct sw_names *names = &d->merge->report->names;
	if (s->what == WORK)
		return label(d, name_of(d, s->call));
	if (s->what == WAIT)
		return label(d, sw_names_format(names, "waits in %s", name_of(d, s->call)));
	const struct sw_finding_info *info = sw_finding_info(s->hazard->id);
	return label(d, sw_names_format(names, "SW%03d %s, %s side", s->hazard->id, info ? info->kind : "",
					s->later ? "later" : "earlier"));
}

/* ---- what there is ----------------------------------------------------------------------------------------------- */

/* Where a call is seen: its work on a stream if the profile has it and `work` is asked for, else the call itself. */
static bool locate(const struct drawing *d, const struct sw_own_call *own, bool work, struct slice *s)
{
	if (!own || !own->match)
		return false;
	const struct sw_profile_call *call = &d->merge->profile->calls.at[own->match - 1];
	const struct sw_profile_work *done =
		work && own->stream && own->enqueues ? sw_profile_work_of(d->merge->profile, call) : NULL;
	s->call = own;
	s->stream = done != NULL;
	s->index = done ? own->stream : own->thread;
	s->start = done ? done->start : call->start;
	s->end = done ? done->end : call->end;
	/* Viewers drop times before zero, and slices without length. */
	return s->start > 0 && s->end > s->start;
}

static void add_calls(struct drawing *d)
{
	const struct sw_own_calls *own = d->merge->own;
	d->merge->drawn.waits_outside = own->waits_left_out;
	for (size_t i = 0; i < own->calls.n; i++) {
		const struct sw_own_call *call = &own->calls.at[i];
		struct slice work = {.what = WORK}, wait = {.what = WAIT};
		if (locate(d, call, true, &work) && work.stream)
			*sw_vec_push(&d->slices) = work;
		if (call->waited && locate(d, call, false, &wait))
			*sw_vec_push(&d->slices) = wait;
		else
			d->merge->drawn.waits_outside += call->waited;
	}
}

static void add_hazards(struct drawing *d)
{
	const struct sw_own_calls *own = d->merge->own;
	d->merge->drawn.hazards_outside = own->hazards_seen;
	for (size_t i = 0; i < own->hazards.n; i++) {
		struct slice a = {.what = HAZARD, .hazard = &own->hazards.at[i]}, b = a;
		if (!locate(d, sw_own_call_at(own, a.hazard->earlier), true, &a) ||
		    !locate(d, sw_own_call_at(own, b.hazard->later), true, &b))
			continue;
		b.later = true;
		a.other = b.call;
		b.other = a.call;
		*sw_vec_push(&d->slices) = a;
		*sw_vec_push(&d->slices) = b;
		d->merge->drawn.hazards_outside--;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->call->seq < y->call->seq ? -1 : x->call->seq > y->call->seq;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static struct row *row_of(struct drawing *d, const struct slice *s)
{
	static const struct row empty = {
		.end = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}};
	while ((s->stream ? d->streams.n : d->threads.n) <= s->index)
		if (s->stream)
			*sw_vec_push(&d->streams) = empty;
		else
			*sw_vec_push(&d->threads) = empty;
	return s->stream ? &d->streams.at[s->index] : &d->threads.at[s->index];
}

static struct sw_place place_of(const struct drawing *d, const struct slice *s)
{
	uint32_t tid = (s->stream ? TID_STREAM : TID_THREAD) + s->index * ROWS + s->lane;
	return (struct sw_place){d->merge->pid, tid, (uint64_t)s->start};
}

static void name_row(struct drawing *d, const struct slice *s)
{
	struct sw_names *names = &d->merge->report->names;
	const char *what = s->what == HAZARD ? ": hazards" : s->stream ? "" : ": waits";
	const char *made = s->stream ? sw_name_stream_site(names, s->index) : "";
	const struct sw_trace_thread *thread = s->stream ? NULL : sw_reader_thread(d->merge->own->reader, s->index);
	const char *text = s->stream ? sw_names_format(names, "%s%s%s%s%s", sw_name_stream(names, s->index),
						       *made ? ", created at " : "", made, "", what)
				     : sw_names_format(names, "host thread %u%s", thread ? thread->tid : 0, what);
	struct sw_place at = place_of(d, s);
	sw_event_name(&d->merge->events, "thread_name", at.pid, at.tid, label(d, text));
	sw_event_sort(&d->merge->events, "thread_sort_index", at.pid, at.tid, at.tid);
}

/* The first row of its kind on which nothing lies then; false: there is none. */
static bool find_lane(struct drawing *d, struct slice *s)
{
	struct row *row = row_of(d, s);
	unsigned first = s->what == HAZARD ? LANES : 0;
	for (unsigned lane = first; lane < first + LANES; lane++)
		if (row->end[lane] <= s->start) {
			s->lane = lane;
			row->end[lane] = s->end;
			if (!row->named[lane])
				name_row(d, s);
			row->named[lane] = true;
			return true;
		}
	d->merge->drawn.crowded++;
	return false;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

static void put_site(struct drawing *d, const char *key, const struct sw_own_call *call)
{
	struct sw_names *names = &d->merge->report->names;
	const struct sw_frame *frame = sw_stack_site(names, call->stack, call->function);
	if (frame)
		sw_event_label(&d->merge->events, key, label(d, sw_place_full(names, frame)));
}

static void put_finding(struct drawing *d, const struct sw_shown_finding *shown)
{
	struct sw_events *e = &d->merge->events;
	if (!shown)
		return;
	const struct sw_wording words = sw_report_words(d->merge->report, shown);
	sw_event_label(e, "message", label(d, words.message));
	if (*words.fix)
		sw_event_label(e, "fix", label(d, words.fix));
	if (*words.cost)
		sw_event_label(e, "cost of all such calls", label(d, words.cost));
}

static void draw_slice(struct drawing *d, const struct slice *s)
{
	static const char *const categories[] = {
		[WORK] = "syncwatch_work", [WAIT] = "syncwatch_wait", [HAZARD] = "syncwatch_hazard"};
	struct sw_events *e = &d->merge->events;
	struct sw_names *names = &d->merge->report->names;
	sw_event_slice(e, place_of(d, s), (uint64_t)s->end, title_of(d, s), categories[s->what]);
	sw_event_number(e, "sequence", s->call->seq);
	sw_event_number(e, "profile correlation", d->merge->profile->calls.at[s->call->match - 1].correlation);
	if (s->what == HAZARD)
		sw_event_label(e, "operation", label(d, name_of(d, s->call)));
	put_site(d, "called at", s->call);
	if (s->what == WAIT && s->call->stream)
		sw_event_label(e, "waits for", label(d, sw_name_stream(names, s->call->stream)));
	if (s->what == HAZARD) {
		sw_event_label(e, "other side", label(d, name_of(d, s->other)));
		put_site(d, "other side called at", s->other);
	}
	put_finding(d, finding_of(d, s));
	sw_event_end(e);
}

/* Arrows lead forwards in time: from whichever side ran first, as it happened. */
static void draw_arrow(struct drawing *d, const struct slice *a, const struct slice *b)
{
	const struct slice *first = a->start <= b->start ? a : b, *second = first == a ? b : a;
	struct sw_place from = place_of(d, first), to = place_of(d, second);
	if (to.ns <= from.ns)
		to.ns = from.ns + 1;
	sw_event_flow(&d->merge->events, from, to, "no order between these", "syncwatch_hazard");
	d->merge->drawn.hazards++;
}

static void draw_slices(struct drawing *d)
{
	struct sw_kineto_drawn *drawn = &d->merge->drawn;
	for (size_t i = 0; i < d->slices.n; i++) {
		struct slice *s = &d->slices.at[i];
		if (!find_lane(d, s)) {
			s->call = NULL; /* no arrow leads there */
			continue;
		}
		draw_slice(d, s);
		drawn->work += s->what == WORK;
		drawn->waits += s->what == WAIT;
	}
	for (size_t i = 0; i < d->slices.n; i++) {
		const struct slice *s = &d->slices.at[i];
		if (s->what != HAZARD || !s->call)
			continue;
		uint64_t *other = sw_map_put(&d->earlier, (uint64_t)(uintptr_t)s->hazard);
		if (*other)
			draw_arrow(d, &d->slices.at[*other - 1], s);
		else
			*other = i + 1;
	}
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void draw_process(struct drawing *d)
{
	struct sw_kineto_merge *m = d->merge;
	struct sw_names *names = &m->report->names;
	const char *text =
		sw_names_format(names, "syncwatch: streams, hazards, waits of %s", sw_reader_path(m->own->reader));
	sw_event_name(&m->events, "process_name", m->pid, 0, label(d, text));
	text = sw_names_format(names, "%llu of %llu calls joined, clocks to %.1f us",
			       (unsigned long long)m->join->matched, (unsigned long long)m->join->calls,
			       (double)m->join->error_ns / 1e3);
	sw_event_name(&m->events, "process_labels", m->pid, 0, label(d, text));
}

void sw_kineto_draw(struct sw_kineto_merge *merge)
{
	struct drawing d = {.merge = merge};
	draw_process(&d);
	know_findings(&d);
	add_calls(&d);
	add_hazards(&d);
	if (d.slices.n)
		qsort(d.slices.at, d.slices.n, sizeof *d.slices.at, by_start);
	draw_slices(&d);
	sw_map_free(&d.waits);
	sw_map_free(&d.hazards);
	sw_map_free(&d.earlier);
	free(d.slices.at);
	free(d.streams.at);
	free(d.threads.at);
}
