/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/kineto.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/counted.h"
#include "report/groups.h"
#include "report/kineto/profile.h"
#include "report/symbols/stack.h"
#include "reader/kinds.h"

/* The number of the name that Kineto gives the call, by the record alone: the function of the runtime where there was
   one; 0: the profile has no such name. */
static uint32_t name_of_call(struct sw_own_calls *own, const struct sw_access *what)
{
	const uint16_t runtime = what->flags & SW_RF_RUNTIME;
	uint64_t *name = sw_map_put(&own->name_of, (uint64_t)what->api << 16 | runtime);
	if (!*name) {
		uint32_t found = sw_profile_name(own->profile, sw_name_api(&own->names, what->api, runtime, 0));
		*name = found ? found : UINT64_MAX;
	}
	return *name == UINT64_MAX ? 0 : (uint32_t)*name;
}

/* Call-back of the judge: keeps a call as the profile would have it. */
static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_own_calls *own = arg;
	const struct sw_access *what = &op->what;
	uint32_t name = what->api && sw_kind_has(what->kind, SW_KIND_REPORTED) ? name_of_call(own, what) : 0;
	const bool in_flight = (op->record->rec->flags & SW_RF_PENDING) && !what->dur_ns;
	if (!name || in_flight) {
		own->waits_left_out += op->blocks;
		return;
	}
	*sw_vec_push(&own->calls) = (struct sw_own_call){.seq = what->seq,
							 .start = what->t_ns,
							 .end = what->t_ns + what->dur_ns,
							 .name = name - 1,
							 .thread = what->thread,
							 .stream = what->stream,
							 .stack = what->stack,
							 .function = what->function,
							 .api = what->api,
							 .waited = op->blocks,
							 .enqueues = op->enqueues};
}

/* Call-back of the judge: keeps a hazard; of too many the last ones. */
static void on_hazard(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		      const struct sw_access *later)
{
	struct sw_own_calls *own = arg;
	struct sw_own_hazard hazard = {.id = finding->id,
				       .earlier = earlier->seq,
				       .later = later->seq,
				       .earlier_stack = earlier->stack,
				       .later_stack = later->stack};
	if (own->hazards.n < SW_OWN_HAZARDS)
		*sw_vec_push(&own->hazards) = hazard;
	else
		own->hazards.at[own->hazards_seen % SW_OWN_HAZARDS] = hazard;
	own->hazards_seen++;
}

/* Prepares to gather the trace's calls and hazards. */
static void own_calls_init(struct sw_own_calls *own, const struct sw_reader *reader, const struct sw_profile *profile)
{
	*own = (struct sw_own_calls){.profile = profile, .reader = reader};
	own->observer =
		(struct sw_observer){.arg = own, .operation = on_operation, .hazard = on_hazard, .every_hazard = true};
	sw_names_init(&own->names, reader, NULL);
}

/* For qsort(): by thread, then by time. */
static int by_thread_and_time(const void *a, const void *b)
{
	const struct sw_own_call *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Sorts the calls by thread and time, and notes where each is. */
static void own_calls_sort(struct sw_own_calls *own)
{
	if (own->calls.n)
		qsort(own->calls.at, own->calls.n, sizeof *own->calls.at, by_thread_and_time);
	for (size_t i = 0; i < own->calls.n; i++)
		*sw_map_put(&own->call_of, own->calls.at[i].seq) = i + 1;
}

/* The call with this sequence number; NULL: unknown. */
static struct sw_own_call *own_call_at(const struct sw_own_calls *own, uint64_t seq)
{
	uint64_t index = sw_map_get(&own->call_of, seq);
	return index ? &own->calls.at[index - 1] : NULL;
}

/* Frees what was gathered. */
static void own_calls_free(struct sw_own_calls *own)
{
	sw_names_free(&own->names);
	sw_map_free(&own->name_of);
	sw_map_free(&own->call_of);
	free(own->calls.at);
	free(own->hazards.at);
}

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

/* The text as a label: a quoted string of JSON. */
static struct sw_label quoted_label(struct drawing *d, const char *text)
{
	return sw_label_quote(&d->merge->report->names.arena, text);
}

/* Key of the finding of a wait: function and call stack. */
static uint64_t wait_key(uint16_t api, uint32_t stack)
{
	return (uint64_t)api << 32 | stack;
}

/* Key of the finding of a hazard: its id and both call stacks. */
static uint64_t hazard_key(int id, uint32_t earlier, uint32_t later)
{
	return (uint64_t)id << 52 ^ (uint64_t)earlier << 26 ^ later;
}

/* Notes the report's findings by their call sites. */
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

/* The report's finding for a slice; NULL: none is shown. */
static const struct sw_shown_finding *finding_of(const struct drawing *d, const struct slice *s)
{
	uint64_t index = s->what == WAIT ? sw_map_get(&d->waits, wait_key(s->call->api, s->call->stack))
			 : s->hazard	 ? sw_map_get(&d->hazards, hazard_key(s->hazard->id, s->hazard->earlier_stack,
									      s->hazard->later_stack))
					 : 0;
	return index ? &d->merge->report->shown.at[index - 1] : NULL;
}

/* The name of a call's work: the kernel, else the function. */
static const char *name_of_draw(struct drawing *d, const struct sw_own_call *call)
{
	if (call->function)
		return sw_name_kernel_short(&d->merge->report->names, call->function);
	return d->merge->profile->names.at[call->name];
}

/* The title of a slice. */
static struct sw_label title_of(struct drawing *d, const struct slice *s)
{
	struct sw_names *names = &d->merge->report->names;
	if (s->what == WORK)
		return quoted_label(d, name_of_draw(d, s->call));
	if (s->what == WAIT)
		return quoted_label(d, sw_names_format(names, "waits in %s", name_of_draw(d, s->call)));
	const struct sw_finding_info *info = sw_finding_info(s->hazard->id);
	return quoted_label(d, sw_names_format(names, "SW%03d %s, %s side", s->hazard->id, info ? info->kind : "",
					       s->later ? "later" : "earlier"));
}

/* ---- what there is ----------------------------------------------------------------------------------------------- */

/* Finds where a call is seen: its work on a stream if the profile has it and `work` is asked for, else the call itself.
   False: the profile has neither. */
static bool locate_slice(const struct drawing *d, const struct sw_own_call *own, bool work, struct slice *s)
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

/* Adds slices for the work and the waits of calls that the profile has. */
static void add_calls(struct drawing *d)
{
	const struct sw_own_calls *own = d->merge->own;
	d->merge->drawn.waits_outside = own->waits_left_out;
	for (size_t i = 0; i < own->calls.n; i++) {
		const struct sw_own_call *call = &own->calls.at[i];
		struct slice work = {.what = WORK}, wait = {.what = WAIT};
		if (locate_slice(d, call, true, &work) && work.stream)
			*sw_vec_push(&d->slices) = work;
		if (call->waited && locate_slice(d, call, false, &wait))
			*sw_vec_push(&d->slices) = wait;
		else
			d->merge->drawn.waits_outside += call->waited;
	}
}

/* Adds slices for both sides of hazards of which the profile has both calls. */
static void add_hazards(struct drawing *d)
{
	const struct sw_own_calls *own = d->merge->own;
	d->merge->drawn.hazards_outside = own->hazards_seen;
	for (size_t i = 0; i < own->hazards.n; i++) {
		struct slice a = {.what = HAZARD, .hazard = &own->hazards.at[i]}, b = a;
		if (!locate_slice(d, own_call_at(own, a.hazard->earlier), true, &a) ||
		    !locate_slice(d, own_call_at(own, b.hazard->later), true, &b))
			continue;
		b.later = true;
		a.other = b.call;
		b.other = a.call;
		*sw_vec_push(&d->slices) = a;
		*sw_vec_push(&d->slices) = b;
		d->merge->drawn.hazards_outside--;
	}
}

/* For qsort(): by start. */
static int by_start(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->call->seq < y->call->seq ? -1 : x->call->seq > y->call->seq;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The rows of the slice's stream or thread. */
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

/* Where the slice lies in the viewer. */
static struct sw_place place_of(const struct drawing *d, const struct slice *s)
{
	uint32_t tid = (s->stream ? TID_STREAM : TID_THREAD) + s->index * ROWS + s->lane;
	return (struct sw_place){d->merge->pid, tid, (uint64_t)s->start};
}

/* Names the row of a slice, at its first one. */
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
	sw_event_name(&d->merge->events, "thread_name", at.pid, at.tid, quoted_label(d, text));
	sw_event_sort(&d->merge->events, "thread_sort_index", at.pid, at.tid, at.tid);
}

/* Finds the first row of its kind on which nothing lies at the time of the slice; false: there is none. */
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

/* Writes the place in the program that the call was made at. */
static void put_site(struct drawing *d, const char *key, const struct sw_own_call *call)
{
	struct sw_names *names = &d->merge->report->names;
	const struct sw_frame *frame = sw_stack_site(names, call->stack, call->function);
	if (frame)
		sw_event_label(&d->merge->events, key, quoted_label(d, sw_place_full(names, frame)));
}

/* Writes the sentence and the advice of a finding; nothing for NULL. */
static void put_finding(struct drawing *d, const struct sw_shown_finding *shown)
{
	struct sw_events *e = &d->merge->events;
	if (!shown)
		return;
	const struct sw_wording words = sw_report_words(d->merge->report, shown);
	sw_event_label(e, "message", quoted_label(d, words.message));
	struct sw_group_fix fix;
	sw_group_fix(d->merge->report, sw_report_group_of(d->merge->report, shown), &fix);
	if (*fix.text)
		sw_event_label(e, "fix", quoted_label(d, fix.text));
	if (*words.cost)
		sw_event_label(e, "cost of all such calls", quoted_label(d, words.cost));
}

/* Writes a slice with its facts. */
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
		sw_event_label(e, "operation", quoted_label(d, name_of_draw(d, s->call)));
	put_site(d, "called at", s->call);
	if (s->what == WAIT && s->call->stream)
		sw_event_label(e, "waits for", quoted_label(d, sw_name_stream(names, s->call->stream)));
	if (s->what == HAZARD) {
		sw_event_label(e, "other side", quoted_label(d, name_of_draw(d, s->other)));
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

/* Writes all slices, then the arrows between the sides of hazards. */
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

/* Names the process that stands for syncwatch in the viewer, and says how well the two traces were joined. */
static void draw_process(struct drawing *d)
{
	struct sw_kineto_merge *m = d->merge;
	struct sw_names *names = &m->report->names;
	const char *text =
		sw_names_format(names, "syncwatch: streams, hazards, waits of %s", sw_reader_path(m->own->reader));
	sw_event_name(&m->events, "process_name", m->pid, 0, quoted_label(d, text));
	text = sw_names_format(names, "%llu of %llu %s joined, clocks to %.1f us", (unsigned long long)m->join->matched,
			       (unsigned long long)m->join->calls, sw_plural(m->join->calls, "call", "calls"),
			       (double)m->join->error_ns / 1e3);
	sw_event_name(&m->events, "process_labels", m->pid, 0, quoted_label(d, text));
}

/* Writes all that is added to the profile. */
static void kineto_draw(struct sw_kineto_merge *merge)
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

struct sw_kineto {
	struct sw_profile profile;
	struct sw_own_calls own;
	struct sw_join join;
	bool observed;
	char *error_text;
};

int sw_kineto_open(const char *path, struct sw_kineto **out, struct sw_error *error)
{
	struct sw_kineto *k = sw_calloc(1, sizeof *k);
	int rc = sw_profile_read(path, &k->profile, error);
	if (rc)
		sw_kineto_free(k);
	else
		*out = k;
	return rc;
}

/* Frees the profile and what was gathered; NULL is allowed. */
void sw_kineto_free(struct sw_kineto *k)
{
	if (!k)
		return;
	if (k->observed)
		own_calls_free(&k->own);
	sw_profile_free(&k->profile);
	free(k->error_text);
	free(k);
}

/* The call-backs to judge with. */
const struct sw_observer *sw_kineto_observer(struct sw_kineto *k, const struct sw_reader *reader)
{
	own_calls_init(&k->own, reader, &k->profile);
	k->observed = true;
	return &k->own.observer;
}

int sw_kineto_join(struct sw_kineto *k, struct sw_error *error)
{
	own_calls_sort(&k->own);
	return sw_join(&k->profile, &k->own, &k->join, error);
}

const char *sw_kineto_said(const struct sw_kineto *k)
{
	return k->error_text ? k->error_text : "";
}

/* Says what could not be drawn, ", 3 hazards and 7 waits are of calls ...", or ""; malloc'ed. */
static char *left_out(const struct sw_kineto_drawn *drawn)
{
	char *outside =
		drawn->hazards_outside || drawn->waits_outside
			? sw_format("; %" PRIu64 " %s and %" PRIu64 " %s are of calls that the profile does not hold",
				    drawn->hazards_outside, sw_plural(drawn->hazards_outside, "hazard", "hazards"),
				    drawn->waits_outside, sw_plural(drawn->waits_outside, "wait", "waits"))
			: sw_strdup("");
	char *all = drawn->crowded ? sw_format("%s; %" PRIu64 " %s left out, too many at once", outside, drawn->crowded,
					       sw_plural(drawn->crowded, "slice", "slices"))
				   : sw_strdup(outside);
	free(outside);
	return all;
}

/* Makes the message on how many calls were joined, and what was added. */
static void say_result(struct sw_kineto *k, const struct sw_kineto_drawn *drawn)
{
	char *rest = left_out(drawn);
	free(k->error_text);
	k->error_text =
		sw_format("%" PRIu64 " of %" PRIu64 " %s of CUDA joined, clocks agree to %.1f us; added %" PRIu64
			  " %s of work, %" PRIu64 " %s, %" PRIu64 " %s%s",
			  k->join.matched, k->join.calls, sw_plural(k->join.calls, "call", "calls"),
			  (double)k->join.error_ns / 1e3, drawn->work, sw_plural(drawn->work, "piece", "pieces"),
			  drawn->hazards, sw_plural(drawn->hazards, "hazard", "hazards"), drawn->waits,
			  sw_plural(drawn->waits, "wait", "waits"), rest);
	free(rest);
}

/* Copies the profile's own text up to an offset. */
static void copy_text(struct sw_json_scan *scan, struct sw_trace_out *out, uint64_t until)
{
	char bytes[1 << 14];
	uint64_t at;
	while ((at = sw_json_scan_offset(scan)) < until) {
		size_t most = until - at < sizeof bytes ? (size_t)(until - at) : sizeof bytes;
		size_t n = sw_json_scan_bytes(scan, bytes, most);
		if (!n)
			return;
		sw_trace_out_bytes(out, bytes, n);
	}
}

int sw_kineto_write(struct sw_kineto *k, struct sw_report *report, FILE *out, bool gzip, struct sw_error *error)
{
	struct sw_kineto_merge merge = {.profile = &k->profile,
					.own = &k->own,
					.join = &k->join,
					.report = report,
					.pid = k->profile.highest_pid < INT32_MAX ? (uint32_t)k->profile.highest_pid + 1
										  : INT32_MAX};
	struct sw_json_scan *scan;
	int rc = sw_json_scan_open(k->profile.path, &scan, error);
	if (rc)
		return rc;
	sw_trace_out_open(&merge.events.out, out, gzip);
	copy_text(scan, &merge.events.out, k->profile.end_of_events);
	if (sw_json_scan_offset(scan) == k->profile.end_of_events && sw_json_scan_peek(scan) == ']') {
		merge.events.any = k->profile.any_events;
		kineto_draw(&merge);
		copy_text(scan, &merge.events.out, UINT64_MAX);
		rc = sw_json_scan_error(scan, error);
		say_result(k, &merge.drawn);
	} else {
		rc = sw_fail(error, SW_E_FORMAT, "%s was changed while it was read", k->profile.path);
	}
	sw_trace_out_close(&merge.events.out);
	sw_json_scan_close(scan);
	return rc;
}
