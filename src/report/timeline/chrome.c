/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline as a Chrome trace: watches a judgement and writes as it goes, in memory that does not grow with the run.
 */
#include "report/timeline/chrome.h"

#include <stdlib.h>

/* ---- device slices ----------------------------------------------------------------------------------------------- */

static const char *const categories[] = {
	[SW_WORK_KERNEL] = "kernel",	  [SW_WORK_COPY] = "gpu_memcpy",     [SW_WORK_SET] = "gpu_memset",
	[SW_WORK_HOST] = "host_function", [SW_WORK_OTHER] = "gpu_operation",
};

const char *sw_chrome_category(const struct sw_work *work)
{
	return categories[work->kind];
}

void sw_chrome_work_args(struct sw_chrome *c, uint32_t stream, const struct sw_work *work)
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

static void work_args(struct sw_chrome *c, uint32_t stream, const struct sw_work *work, const struct sw_laid *laid)
{
	struct sw_events *e = &c->events;
	sw_chrome_work_args(c, stream, work);
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

static void describe_work(struct sw_chrome *c, const struct sw_operation *op, struct sw_work *work)
{
	const void *rec = op->record->rec;
	const struct sw_rec_launch *launch = rec;
	const struct sw_rec_copy_nd *box = rec;
	const struct sw_rec_set *set = rec;
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
		work->kind = SW_WORK_COPY;
		work->bytes = ((const struct sw_rec_copy *)rec)->bytes;
		break;
	case SW_REC_COPY_ND:
		work->kind = SW_WORK_COPY;
		work->bytes = box->width * box->height * box->depth;
		break;
	case SW_REC_SET:
		work->kind = SW_WORK_SET;
		work->bytes = set->width * set->height;
		break;
	case SW_REC_HOST_FUNC:
		work->kind = SW_WORK_HOST;
		break;
	default:
		break;
	}
}

/* Work may start at once; a nanosecond or two later there is room for the arrow that leads to it. */
static uint64_t room_for_arrow(const struct sw_drawn *call)
{
	return call->end - call->start > 2 ? call->start + 2 : call->end;
}

static void enqueue(struct sw_chrome *c, const struct sw_operation *op, const struct sw_drawn *call)
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
		sw_chrome_timed(c, op, &work);
		return;
	}
	sw_chrome_count(c, op->what.stream, op->what.t_ns, 1, 0);
	sw_slice_layout_push(&c->lay, op->what.stream, &work);
}

static void on_completed(void *arg, uint64_t seq, uint32_t stream, uint64_t t_ns)
{
	struct sw_chrome *c = arg;
	size_t done = sw_slice_layout_done(&c->lay, stream, seq, t_ns);
	if (done)
		sw_chrome_count(c, stream, t_ns, 0, done);
}

/* A host function's run is recorded: earlier work is complete when it starts, and the function itself when it ends. */
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

static struct sw_label call_label(struct sw_chrome *c, const struct sw_operation *op)
{
	if (op->what.kind == SW_REC_HOST_FUNC_RUN)
		return SW_LABEL("host function");
	return sw_label_call(&c->labels, op->record->rec);
}

static struct sw_drawn draw_call(struct sw_chrome *c, const struct sw_operation *op, bool in_flight)
{
	uint64_t start = op->what.t_ns, end = in_flight ? c->end_ns : start + op->what.dur_ns;
	struct sw_drawn none = {0, start, end};
	if (!sw_window_shows(&c->window, start, end))
		return none;
	struct sw_label name = call_label(c, op);
	struct sw_drawn drawn = sw_chrome_place(c, op->what.thread, start, end);
	const char *category = op->what.kind == SW_REC_HOST_FUNC_RUN ? "host_function"
			       : sw_label_is_runtime(name)	     ? "cuda_runtime"
								     : "cuda_driver";
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, drawn.tid, drawn.start}, drawn.end, name, category);
	sw_event_number(&c->events, "correlation", op->what.seq);
	/* Not "stream": HTA would take the call for work of that stream. */
	if (op->what.stream)
		sw_event_label(&c->events, "on", sw_chrome_stream(c, op->what.stream));
	sw_chrome_put_site(c, "at", op->what.stack, op->what.function);
	if (op->blocks)
		sw_event_text(&c->events, "waited", "yes");
	if (op->record->failed)
		sw_event_number(&c->events, "error", op->record->rec->status);
	if (in_flight)
		sw_event_text(&c->events, "state", "had not returned when the trace ends");
	sw_event_end(&c->events);
	return drawn;
}

static void draw_operation(struct sw_chrome *c, const struct sw_operation *op, bool in_flight)
{
	struct sw_drawn call = draw_call(c, op, in_flight);
	c->calls[op->what.seq % REMEMBERED] = (struct remembered){
		op->what.seq, call, op->enqueues ? sw_label_work(&c->labels, op) : (struct sw_label){0}};
	sw_chrome_know(c, op, call_label(c, op));
	if (op->enqueues)
		enqueue(c, op, &call);
	if (op->what.kind == SW_REC_HOST_FUNC_RUN && !in_flight)
		host_func_ran(c, op, &call);
	if (c->edge_n)
		sw_chrome_edges(c, op->what.seq, &call);
	c->reported++;
}

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

static void on_begin(void *arg, const struct sw_judgement *so_far)
{
	struct sw_chrome *c = arg;
	c->judgement = so_far;
	sw_labels_judgement(&c->labels, so_far);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

bool sw_chrome_can_gzip(void)
{
	return sw_trace_out_can_gzip();
}

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
					   .nvtx = sw_chrome_nvtx,
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

const struct sw_observer *sw_chrome_observer(struct sw_chrome *chrome)
{
	return &chrome->observer;
}

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
		open->record.rec = &open->rec;
		open->op.record = &open->record;
		draw_operation(c, &open->op, true);
	}
	sw_slice_layout_finish(&c->lay, c->end_ns);
	sw_chrome_estimates(c);
	sw_chrome_hazards(c);
	sw_chrome_count_end(c);
	name_host(c);
	sw_chrome_name_streams(c);
	sw_events_array_end(&c->events);
	if (!c->events.perfetto && !c->events.part)
		write_devices(c);
	sw_events_end(&c->events);
	sw_slice_layout_free(&c->lay);
	sw_window_free(&c->window);
	sw_labels_free(&c->labels);
	sw_chrome_nvtx_free(c);
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
