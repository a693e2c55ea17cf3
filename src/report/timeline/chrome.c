/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline as a Chrome trace: watches a judgement and writes as it goes, in memory that does not grow with the run.
 */
#include "report/timeline/chrome.h"
#include "reader/kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void chrome_name_timed(struct sw_chrome *c, uint32_t stream);
static void chrome_timed(struct sw_chrome *c, const struct sw_operation *op, const struct sw_work *work);

/*
 * Ranges of NVTX on tracks of their own.  What a thread pushes in one domain is nested, and lies on one track.  Started
 * ranges may overlap in part, which viewers do not draw: each goes to the first track that it fits on.
 */

/* Tracks that are looked through: what still overlaps goes without. */
#define MAX_TRACKS 1024u
/* Names are quoted again each time: a program may number its ranges. */
#define MAX_NAMES (1u << 20)

/* Adds a track for ranges of this thread and domain; index: the number of tracks that it has already. */
static struct nvtx_track *new_track(struct sw_chrome *c, const struct sw_nvtx_span *span, uint32_t index)
{
	const uint32_t tid = TID_NVTX + (uint32_t)c->nvtx.n;
	const char *thread =
		span->thread ? sw_names_format(&c->labels.names, "thread %u", span->thread) : "a thread without CUDA";
	const char *text = sw_names_format(&c->labels.names, "NVTX, %s%s%s%s", thread, span->domain[0] ? ", " : "",
					   span->domain, span->id ? ", started ranges" : "");
	if (index)
		text = sw_names_format(&c->labels.names, "%s (%u)", text, index + 1);
	sw_event_name(&c->events, "thread_name", PID_HOST, tid, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "thread_sort_index", PID_HOST, tid,
		      TID_THREAD + LANES * (span->thread > MAX_THREAD ? 0 : span->thread) + LANES - 1);
	*sw_vec_push(&c->nvtx) = (struct nvtx_track){
		.tid = tid, .thread = span->thread, .domain = span->domain_id, .started = span->id != 0};
	return &c->nvtx.at[c->nvtx.n - 1];
}

/* Spans are reported in the order of their ends. */
static struct nvtx_track *track_of(struct sw_chrome *c, const struct sw_nvtx_span *span)
{
	uint32_t alike = 0;
	for (size_t i = 0; i < c->nvtx.n; i++) {
		struct nvtx_track *t = &c->nvtx.at[i];
		if (t->thread != span->thread || t->domain != span->domain_id || t->started != (span->id != 0))
			continue;
		if (!t->started || span->start_ns >= t->end_ns)
			return t;
		alike++;
	}
	return c->nvtx.n < MAX_TRACKS ? new_track(c, span, alike) : NULL;
}

/* Call-back: draws an NVTX range that has ended. */
static void chrome_nvtx(void *arg, const struct sw_nvtx_span *span)
{
	struct sw_chrome *c = arg;
	const uint64_t end = span->end_ns > span->start_ns ? span->end_ns : span->start_ns;
	if (!sw_window_shows(&c->window, span->start_ns, end))
		return;
	struct nvtx_track *track = track_of(c, span);
	if (!track)
		return;
	track->end_ns = end;
	if (c->nvtx_names.bytes > MAX_NAMES)
		sw_arena_free(&c->nvtx_names);
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, track->tid, span->start_ns}, end,
		       sw_label_quote(&c->nvtx_names, span->name), "user_annotation");
	if (span->domain[0])
		sw_event_label(&c->events, "domain", sw_label_quote(&c->nvtx_names, span->domain));
	if (span->open)
		sw_event_text(&c->events, "state", "had not ended when the trace ends");
	sw_event_end(&c->events);
}

/* Frees the tracks of ranges. */
static void chrome_nvtx_free(struct sw_chrome *c)
{
	free(c->nvtx.at);
	sw_arena_free(&c->nvtx_names);
}

/* Tracks of the viewer: where a slice goes, what a track is called, how much work is pending. */

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

/* Names the track of a host thread; lane: not 0 for its track of nested calls. */
static void name_thread(struct sw_chrome *c, uint32_t thread, unsigned lane, uint32_t tid)
{
	const struct sw_trace_thread *info = sw_reader_thread(c->reader, thread);
	const char *name = info && info->name[0] ? info->name : info && info->main ? "main" : "";
	char *text = sw_format("thread %u%s%s%s%s%s", thread, name[0] ? " '" : "", name, name[0] ? "'" : "",
			       lane ? " (overlap)" : "", info ? "" : " (unknown)");
	sw_event_name(&c->events, "thread_name", PID_HOST, tid, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "thread_sort_index", PID_HOST, tid, tid);
	free(text);
}

/* Where a call's slice lies: slices of one track must not overlap in part, because a viewer drops one of them.  A
   nanosecond is rounding; more is a nested call, which goes to a track of its own. */
static struct sw_drawn chrome_place(struct sw_chrome *c, uint32_t thread, uint64_t start, uint64_t end)
{
	if (thread > MAX_THREAD)
		thread = 0; /* only a damaged trace has as many */
	while (c->threads.n <= thread)
		*sw_vec_push(&c->threads) = (struct thread){0};
	struct thread *t = &c->threads.at[thread];
	unsigned lane = 0;
	while (lane < LANES - 1 && start + 2 < t->end[lane])
		lane++;
	uint32_t tid = TID_THREAD + LANES * thread + lane;
	if (!t->named[lane])
		name_thread(c, thread, lane, tid);
	t->named[lane] = true;
	if (start < t->end[lane])
		start = t->end[lane];
	if (end <= start)
		end = start + 1;
	t->end[lane] = end;
	return (struct sw_drawn){tid, start, end};
}

/* The counter of work that is pending on a device. */
static struct counter *counter_of(struct sw_chrome *c, int device)
{
	while (c->counters.n <= (size_t)device)
		*sw_vec_push(&c->counters) = (struct counter){0};
	return &c->counters.at[device];
}

/* The device of the stream, 0 where it is not known. */
uint32_t sw_chrome_device(const struct sw_chrome *c, uint32_t stream)
{
	int device = c->judgement && stream < c->judgement->streams.n ? c->judgement->streams.at[stream].device : 0;
	return device > 0 && device < 1000 ? (uint32_t)device : 0;
}

/* Names the process that stands for a device in the viewer. */
static void name_device(struct sw_chrome *c, uint32_t device)
{
	const struct sw_trace_device *info = NULL, *at;
	for (size_t i = 0; (at = sw_reader_device(c->reader, i)); i++)
		if (at->ordinal == (int32_t)device)
			info = at;
	char *text = sw_format("GPU %u%s%s (times %s)", device, info ? " " : "", info ? info->name : "",
			       c->judgement->gpu.recorded ? MEASURED : ESTIMATED);
	sw_event_name(&c->events, "process_name", PID_DEVICE + device, 0, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "process_sort_index", PID_DEVICE + device, 0, PID_DEVICE + device);
	free(text);
}

/* The tracks of a stream. */
struct stream_track *sw_chrome_track(struct sw_chrome *c, uint32_t stream)
{
	while (c->streams.n <= stream)
		*sw_vec_push(&c->streams) = (struct stream_track){.drawn = false};
	return &c->streams.at[stream];
}

/* The name of a stream. */
struct sw_label sw_chrome_stream(struct sw_chrome *c, uint32_t stream)
{
	struct stream_track *track = sw_chrome_track(c, stream);
	if (!track->name.n)
		track->name = sw_label_any(&c->labels, sw_name_stream(&c->labels.names, stream));
	return track->name;
}

struct sw_label sw_chrome_variant(struct sw_chrome *c, struct sw_label name, const char *before, const char *after,
				  unsigned which)
{
	/* Labels of one name are one text: its address stands for it. */
	uint64_t *index = sw_map_put(&c->variant_of, (uint64_t)(uintptr_t)name.text << 2 | (which & 3));
	if (*index)
		return c->variants.at[*index - 1];
	/* Within its quotes. */
	char *text = sw_format("\"%s%.*s%s\"", before, (int)name.n - 2, name.text + 1, after);
	size_t n = strlen(text);
	char *kept = sw_arena_alloc(&c->labels.names.arena, n + 1);
	memcpy(kept, text, n + 1);
	free(text);
	*sw_vec_push(&c->variants) = (struct sw_label){kept, n};
	*index = c->variants.n;
	return c->variants.at[c->variants.n - 1];
}

/* Title of a stream's row: "stream 1 'upload' (2 of 8 without a time are not drawn)". */
static struct sw_label name_of_track(struct sw_chrome *c, uint32_t stream)
{
	const struct stream_track *track = sw_chrome_track(c, stream);
	const char *name = sw_name_stream(&c->labels.names, stream);
	if (!track->shown || track->shown >= track->untimed || c->window.around || c->window.whole.from ||
	    c->window.whole.to != UINT64_MAX)
		return sw_label_any(&c->labels, name);
	return sw_label_any(&c->labels, sw_names_format(&c->labels.names,
							"%s (%" PRIu64 " of %" PRIu64 " without a time are not drawn)",
							name, track->untimed - track->shown, track->untimed));
}

/* Names the rows of all streams that were drawn, at the end, when all is known that a stream was ever called. */
static void chrome_name_streams(struct sw_chrome *c)
{
	for (uint32_t i = 0; i < c->streams.n; i++) {
		uint32_t device = sw_chrome_device(c, i), tid = TID_STREAM + i;
		if (!c->streams.at[i].drawn && !c->streams.at[i].inferred && !c->streams.at[i].estimated)
			continue;
		if (!counter_of(c, (int)device)->used)
			name_device(c, device);
		counter_of(c, (int)device)->used = true;
		chrome_name_timed(c, i);
		if (!c->streams.at[i].drawn)
			continue;
		sw_event_name(&c->events, "thread_name", PID_DEVICE + device, tid, name_of_track(c, i));
		sw_event_sort(&c->events, "thread_sort_index", PID_DEVICE + device, tid, tid);
	}
}

/* ---- counter ----------------------------------------------------------------------------------------------------- */

/* Writes a counter's value at its last change. */
static void counter_write(struct sw_chrome *c, uint32_t device, struct counter *counter)
{
	if (counter->changed && sw_window_shows(&c->window, counter->ns, counter->ns))
		sw_event_counter(&c->events, PID_DEVICE + device, counter->ns, "pending work", counter->value);
	counter->last_ns = counter->ns;
	counter->changed = false;
}

/* Changes the pending work of the stream's device: so much more, so much fewer. */
static void chrome_count(struct sw_chrome *c, uint32_t stream, uint64_t ns, uint64_t more, uint64_t fewer)
{
	uint32_t device = sw_chrome_device(c, stream);
	struct counter *counter = counter_of(c, (int)device);
	if (ns < counter->last_ns)
		ns = counter->last_ns; /* threads are reported in the order of their calls, not of the clock */
	if (counter->changed && ns >= counter->ns + COUNTER_NS)
		counter_write(c, device, counter);
	if (!counter->changed)
		counter->ns = ns;
	counter->changed = true;
	counter->value += more;
	counter->value -= fewer < counter->value ? fewer : counter->value;
}

/* Writes the last values of all counters. */
static void chrome_count_end(struct sw_chrome *c)
{
	for (size_t i = 0; i < c->counters.n; i++)
		counter_write(c, (uint32_t)i, &c->counters.at[i]);
}

/* ---- device slices ----------------------------------------------------------------------------------------------- */

static const char *const categories[] = {
	[SW_WORK_KERNEL] = "kernel",	  [SW_WORK_COPY] = "gpu_memcpy",     [SW_WORK_SET] = "gpu_memset",
	[SW_WORK_HOST] = "host_function", [SW_WORK_OTHER] = "gpu_operation",
};

/* The category of a slice, as PyTorch's profiler has them. */
static const char *chrome_category(const struct sw_work *work)
{
	return categories[work->kind];
}

/* Writes the facts that all slices of work have, up to the first one about its time. */
static void chrome_work_args(struct sw_chrome *c, uint32_t stream, const struct sw_work *work)
{
	struct sw_events *e = &c->events;
	sw_event_number(e, "device", sw_chrome_device(c, stream));
	sw_event_number(e, "context", work->ctx);
	sw_event_number(e, "stream", stream);
	sw_event_number(e, "correlation", work->seq);
	if (work->kind == SW_WORK_KERNEL) {
		sw_event_triple(e, "grid", work->grid);
		sw_event_triple(e, "block", work->block);
		sw_event_number(e, "shared memory", work->shared_bytes);
	}
	if (work->kind == SW_WORK_COPY || work->kind == SW_WORK_SET)
		sw_event_number(e, "bytes", work->bytes);
}

/* Writes the facts of work whose time on the device is not known. */
static void work_args(struct sw_chrome *c, uint32_t stream, const struct sw_work *work, const struct sw_laid *laid)
{
	struct sw_events *e = &c->events;
	chrome_work_args(c, stream, work);
	sw_event_text(e, "timing", TIMING);
	sw_chrome_put_site(c, "at", work->stack, work->function);
	sw_event_number(e, "enqueued_ns", work->enqueued);
	if (laid->known_ns)
		sw_event_number(e, "known_done_ns", laid->known_ns);
	else
		sw_event_text(e, "completion", "not observed");
	if (laid->parts > 1) {
		sw_event_number(e, "part", laid->part);
		sw_event_number(e, "of_work_covered_by_one_observation", laid->parts);
	}
	sw_event_end(e);
}

/* Call-back: draws work of which only is known when it was enqueued and when it was seen done. */
static void draw_work(void *arg, uint32_t stream, const struct sw_work *work, const struct sw_laid *laid)
{
	struct sw_chrome *c = arg;
	/* When it ran is not known: only that it was given to the stream, and the first moment when it was done. */
	struct sw_drawn drawn = {TID_INFERRED + stream, laid->start, laid->end};
	uint32_t pid = PID_DEVICE + sw_chrome_device(c, stream);
	if (!sw_window_shows(&c->window, laid->start, laid->end))
		return;
	sw_chrome_track(c, stream)->inferred = true;
	struct sw_place at = {pid, drawn.tid, laid->start};
	sw_event_slice(&c->events, at, laid->end, sw_chrome_variant(c, work->name, "queued: ", "", 1), "queued");
	work_args(c, stream, work, laid);
	if (work->call.tid)
		sw_chrome_arrow(c, PID_HOST, &work->call, at, "launch", "ac2g");
	if (work->released_tid)
		sw_chrome_arrow(c, pid, &drawn, (struct sw_place){PID_HOST, work->released_tid, work->released_ns},
				"releases host", "sync");
}

/* Fills in the kind, name and sizes of the work that a call enqueued. */
static void describe_work(struct sw_chrome *c, const struct sw_operation *op, struct sw_work *work)
{
	const void *rec = op->record->rec;
	const struct sw_rec_launch *launch = rec;
	work->name = sw_label_work(&c->labels, op);
	work->kind = SW_WORK_OTHER;
	switch (op->what.kind) {
	case SW_REC_LAUNCH:
		work->kind = SW_WORK_KERNEL;
		for (int i = 0; i < 3; i++) {
			work->grid[i] = launch->grid[i];
			work->block[i] = launch->block[i];
		}
		work->shared_bytes = launch->shared_bytes;
		break;
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
		work->kind = SW_WORK_COPY;
		work->bytes = sw_record_bytes(rec);
		break;
	case SW_REC_SET:
		work->kind = SW_WORK_SET;
		work->bytes = sw_record_bytes(rec);
		break;
	case SW_REC_HOST_FUNC:
		work->kind = SW_WORK_HOST;
		break;
	default:
		break;
	}
}

/* The earliest time at which the work of a call is drawn: it may start at once, but a nanosecond or two later there is
   room for the arrow that leads to it. */
static uint64_t room_for_arrow(const struct sw_drawn *call)
{
	return call->end - call->start > 2 ? call->start + 2 : call->end;
}

/* Draws the work of a call now if its time is known, else keeps it until it was seen done. */
static void enqueue_work(struct sw_chrome *c, const struct sw_operation *op, const struct sw_drawn *call)
{
	struct sw_work work = {.seq = op->what.seq,
			       .enqueued = op->what.t_ns,
			       .not_before = call->tid ? room_for_arrow(call) : op->what.t_ns,
			       .call = *call,
			       .stack = op->what.stack,
			       .function = op->what.function,
			       .ctx = op->record->rec->ctx};
	describe_work(c, op, &work);
	if (op->gpu_end_ns) {
		chrome_timed(c, op, &work);
		return;
	}
	chrome_count(c, op->what.stream, op->what.t_ns, 1, 0);
	sw_slice_layout_push(&c->lay, op->what.stream, &work);
}

/* Call-back of the judge: the host knows at t_ns that the work of call `seq` on the stream is done. */
static void on_completed(void *arg, uint64_t seq, uint32_t stream, uint64_t t_ns)
{
	struct sw_chrome *c = arg;
	size_t done = sw_slice_layout_done(&c->lay, stream, seq, t_ns);
	if (done)
		chrome_count(c, stream, t_ns, 0, done);
}

/* Bounds work by the recorded run of a host function: earlier work is complete when it starts, and the function itself
   when it ends. */
static void host_func_ran(struct sw_chrome *c, const struct sw_operation *op, const struct sw_drawn *call)
{
	const struct sw_rec_host_func *run = (const struct sw_rec_host_func *)(const void *)op->record->rec;
	for (uint32_t stream = 0; run->enqueued && stream < c->lay.streams.n; stream++) {
		struct sw_work *work = sw_slice_layout_find(&c->lay, stream, run->enqueued);
		if (!work || work->seq != run->enqueued)
			continue;
		if (work->not_before < op->what.t_ns)
			work->not_before = op->what.t_ns;
		on_completed(c, run->enqueued - 1, stream, op->what.t_ns);
		on_completed(c, run->enqueued, stream, op->what.t_ns + op->what.dur_ns);
	}
	if (run->enqueued)
		sw_chrome_arrow_from_call(c, run->enqueued, call, "runs", "callback");
}

/* ---- host slices ------------------------------------------------------------------------------------------------- */

/* The name of a call's slice. */
static struct sw_label call_label(struct sw_chrome *c, const struct sw_operation *op)
{
	if (op->what.kind == SW_REC_HOST_FUNC_RUN)
		return SW_LABEL("host function");
	return sw_label_call(&c->labels, op->record->rec);
}

/* Draws the slice of a call on its thread; in_flight: it never returned. */
static struct sw_drawn draw_call(struct sw_chrome *c, const struct sw_operation *op, bool in_flight)
{
	uint64_t start = op->what.t_ns, end = in_flight ? c->end_ns : start + op->what.dur_ns;
	struct sw_drawn none = {0, start, end};
	if (!sw_window_shows(&c->window, start, end))
		return none;
	struct sw_label name = call_label(c, op);
	struct sw_drawn drawn = chrome_place(c, op->what.thread, start, end);
	const char *category = op->what.kind == SW_REC_HOST_FUNC_RUN ? "host_function"
			       : sw_label_is_runtime(name)	     ? "cuda_runtime"
								     : "cuda_driver";
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, drawn.tid, drawn.start}, drawn.end, name, category);
	sw_event_number(&c->events, "correlation", op->what.seq);
	/* Not "stream": HTA would take the call for work of that stream. */
	if (op->what.stream)
		sw_event_label(&c->events, "on", sw_chrome_stream(c, op->what.stream));
	sw_chrome_put_site(c, "at", op->what.stack, op->what.function);
	if (op->record->calls > 1)
		sw_event_number(&c->events, "calls", op->record->calls);
	if (op->blocks)
		sw_event_text(&c->events, "waited", "yes");
	if (op->record->failed)
		sw_event_number(&c->events, "error", op->record->rec->status);
	if (in_flight)
		sw_event_text(&c->events, "state", "had not returned when the trace ends");
	sw_event_end(&c->events);
	return drawn;
}

/* Draws the slice of a call, then all that leads from it: the work that it put on a stream, edges that came for it, and
   what hazards and estimates need at the end.  in_flight: it had not returned when the trace ended. */
static void draw_operation(struct sw_chrome *c, const struct sw_operation *op, bool in_flight)
{
	struct sw_drawn call = draw_call(c, op, in_flight);
	c->calls[op->what.seq % REMEMBERED] = (struct remembered){
		op->what.seq, call, op->enqueues ? sw_label_work(&c->labels, op) : (struct sw_label){0}};
	sw_chrome_remember_operation(c, op, call_label(c, op));
	if (op->enqueues) {
		enqueue_work(c, op, &call);
		sw_chrome_track(c, op->what.stream)->untimed += !op->gpu_end_ns;
	}
	if (op->what.kind == SW_REC_HOST_FUNC_RUN && !in_flight)
		host_func_ran(c, op, &call);
	if (c->edge_n)
		sw_chrome_edges(c, op->what.seq, &call);
	c->reported++;
}

/* Call-back of the judge: a call; one that had not returned yet is drawn at the end. */
static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_chrome *c = arg;
	uint64_t end = op->what.t_ns + op->what.dur_ns;
	if (end > c->end_ns)
		c->end_ns = end;
	if (!(op->record->rec->flags & SW_RF_PENDING) || op->what.dur_ns) {
		draw_operation(c, op, false);
		return;
	}
	struct open_call *open = sw_vec_push(&c->open);
	*open = (struct open_call){*op, *op->record->rec, *op->record};
	open->op.enqueues = false; /* the work that it enqueued is unknown */
}

/* Call-back of the judge: it begins. */
static void on_begin(void *arg, const struct sw_judgement *so_far)
{
	struct sw_chrome *c = arg;
	c->judgement = so_far;
	sw_labels_judgement(&c->labels, so_far);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* Can this build compress timelines? */
bool sw_chrome_can_gzip(void)
{
	return sw_trace_out_can_gzip();
}

/* Begins a timeline into this file; options NULL: all of the run. */
struct sw_chrome *sw_chrome_new(FILE *out, struct sw_reader *reader, const struct sw_chrome_options *options)
{
	static const struct sw_chrome_options all = {0};
	struct sw_chrome *c = sw_calloc(1, sizeof *c);
	options = options ? options : &all;
	c->reader = reader;
	c->observer = (struct sw_observer){.arg = c,
					   .operation = on_operation,
					   .completed = on_completed,
					   .edge = sw_chrome_edge,
					   .hazard = sw_chrome_hazard,
					   .nvtx = chrome_nvtx,
					   .begin = on_begin,
					   .work = sw_chrome_work,
					   .path = sw_chrome_path};
	c->calls = sw_calloc(REMEMBERED, sizeof *c->calls);
	c->timed = sw_calloc(REMEMBERED, sizeof *c->timed);
	c->edges = sw_calloc(EDGES, sizeof *c->edges);
	c->lay = (struct sw_slice_layout){.draw = draw_work, .arg = c};
	sw_window_init(&c->window, options);
	sw_labels_init(&c->labels, reader);
	sw_trace_out_open(&c->events.out, out, options->gzip);
	c->events.part = options->part;
	sw_events_begin(&c->events, sw_reader_header(reader)->start_realtime_ns, options->perfetto);
	return c;
}

/* The call-backs to judge with. */
const struct sw_observer *sw_chrome_observer(struct sw_chrome *chrome)
{
	return &chrome->observer;
}

/* Names the process of the host and its track of hazards. */
static void name_host(struct sw_chrome *c)
{
	const struct sw_trace_process *process = sw_reader_process(c->reader);
	char *text = sw_format("%s (process %u)", process && process->exe ? process->exe : "host",
			       process ? process->pid : sw_reader_header(c->reader)->pid);
	sw_event_name(&c->events, "process_name", PID_HOST, 0, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "process_sort_index", PID_HOST, 0, PID_HOST);
	sw_event_name(&c->events, "thread_name", PID_HOST, TID_HAZARDS, sw_label_any(&c->labels, "hazards"));
	sw_event_sort(&c->events, "thread_sort_index", PID_HOST, TID_HAZARDS, TID_HAZARDS);
	free(text);
}

/* Writes the devices' properties, which PyTorch's tools read. */
static void write_devices(struct sw_chrome *c)
{
	struct sw_trace_out *out = &c->events.out;
	const struct sw_trace_device *d;
	sw_trace_out_text(out, ",\n\"deviceProperties\":[");
	for (size_t i = 0; (d = sw_reader_device(c->reader, i)); i++) {
		char *numbers =
			sw_format(",\"totalGlobalMem\":%llu,\"computeMajor\":%u,\"computeMinor\":%u,\"numSms\":%u}",
				  (unsigned long long)d->memory_bytes, d->major, d->minor, d->multiprocessors);
		sw_trace_out_text(out, i ? ",{\"id\":" : "{\"id\":");
		sw_trace_out_number(out, d->ordinal > 0 ? (uint64_t)d->ordinal : 0);
		sw_trace_out_text(out, ",\"name\":");
		sw_trace_out_label(out, sw_label_any(&c->labels, d->name));
		sw_trace_out_text(out, numbers);
		free(numbers);
	}
	sw_trace_out_text(out, "]");
}

void sw_chrome_finish(struct sw_chrome *c)
{
	for (size_t i = 0; i < c->open.n; i++) {
		struct open_call *open = &c->open.at[i];
		/* The judge's record is gone, and the copies have moved while the list grew. */
		open->record.rec = &open->rec;
		open->op.record = &open->record;
		draw_operation(c, &open->op, true);
	}
	sw_slice_layout_finish(&c->lay, c->end_ns);
	sw_chrome_estimates(c);
	sw_chrome_hazards(c);
	chrome_count_end(c);
	name_host(c);
	chrome_name_streams(c);
	sw_events_array_end(&c->events);
	/* A key of the JSON object around the events, which neither Perfetto's format nor a part of a file has. */
	if (!c->events.perfetto && !c->events.part)
		write_devices(c);
	sw_events_end(&c->events);
	sw_slice_layout_free(&c->lay);
	sw_window_free(&c->window);
	sw_labels_free(&c->labels);
	chrome_nvtx_free(c);
	sw_chrome_estimates_free(c);
	free(c->threads.at);
	free(c->streams.at);
	free(c->counters.at);
	free(c->open.at);
	free(c->calls);
	free(c->timed);
	free(c->edges);
	free(c);
}

/*
 * Slices of the devices that were measured (--gpu-timeline).  Work of one stream can overlap (programmatic dependent
 * launch, a clock that is a few nanoseconds off); slices of one track must not, so what overlaps goes to a second
 * track.
 */

/* The first track of the stream that is free from `start` on, 0: its own; OVERLAPS + 1: none. */
static uint32_t lane_of(struct stream_track *track, uint64_t start, uint64_t end)
{
	uint32_t lane = 0;
	while (lane <= OVERLAPS && lane < track->lanes && track->end[lane] > start)
		lane++;
	if (lane > OVERLAPS)
		return lane;
	if (lane >= track->lanes)
		track->lanes = (uint8_t)(lane + 1);
	track->end[lane] = end;
	return lane;
}

/* The number of a stream's track. */
static uint32_t tid_of(uint32_t stream, uint32_t lane)
{
	return lane ? TID_OVERLAP + OVERLAPS * stream + lane - 1 : TID_STREAM + stream;
}

/* Draws work whose time on the device was recorded. */
static void chrome_timed(struct sw_chrome *c, const struct sw_operation *op, const struct sw_work *work)
{
	const uint32_t stream = op->what.stream, pid = PID_DEVICE + sw_chrome_device(c, stream);
	const uint64_t start = op->gpu_start_ns, end = op->gpu_end_ns > start ? op->gpu_end_ns : start + 1;
	struct stream_track *track = sw_chrome_track(c, stream);
	if (end > c->end_ns)
		c->end_ns = end;
	if (!sw_window_shows(&c->window, start, end))
		return;
	uint32_t lane = lane_of(track, start, end);
	if (lane > OVERLAPS)
		return; /* more at a time on one stream than a device runs: its clock is not to be trusted */
	track->drawn = true;
	struct sw_place at = {pid, tid_of(stream, lane), start};
	sw_event_slice(&c->events, at, end, work->name, chrome_category(work));
	chrome_work_args(c, stream, work);
	sw_event_text(&c->events, "timing", MEASURED);
	sw_event_number(&c->events, "enqueued_ns", work->enqueued);
	sw_chrome_put_site(c, "at", work->stack, work->function);
	sw_event_end(&c->events);
	if (c->known.n && c->known.at[c->known.n - 1].seq == work->seq)
		c->known.at[c->known.n - 1].tid = at.tid;
	c->timed[work->seq % REMEMBERED] = (struct timed){work->seq, pid, {at.tid, start, end}};
	if (work->call.tid)
		sw_chrome_arrow(c, PID_HOST, &work->call, at, "launch", "ac2g");
}

const struct timed *sw_chrome_timed_find(const struct sw_chrome *c, uint64_t seq)
{
	const struct timed *t = &c->timed[seq % REMEMBERED];
	return t->seq == seq && t->slice.tid ? t : NULL;
}

/* Names a track of a stream next to its own. */
static void name_track(struct sw_chrome *c, uint32_t stream, uint32_t tid, const char *what)
{
	char text[320];
	uint32_t pid = PID_DEVICE + sw_chrome_device(c, stream);
	snprintf(text, sizeof text, "%.280s (%s)", sw_name_stream(&c->labels.names, stream), what);
	sw_event_name(&c->events, "thread_name", pid, tid, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "thread_sort_index", pid, tid, TID_STREAM + stream);
}

/* Names the tracks of a stream for overlaps, queued work and estimates. */
static void chrome_name_timed(struct sw_chrome *c, uint32_t stream)
{
	const struct stream_track *track = sw_chrome_track(c, stream);
	for (uint32_t lane = 1; lane < track->lanes; lane++)
		name_track(c, stream, tid_of(stream, lane), "overlap");
	if (track->inferred)
		name_track(c, stream, TID_INFERRED + stream, "queued, start not known");
	if (track->estimated)
		name_track(c, stream, TID_ESTIMATED + stream, "not measured: estimates");
}
