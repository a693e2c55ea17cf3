/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline as a Chrome trace: watches a judgement and writes as it goes, in memory that does not grow with the run. */
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "report/chrome_events.h"
#include "report/labels.h"
#include "report/lay.h"
#include "report/window.h"

/* Numbers of processes and threads.  Each host thread and each stream has room for its overflow. */
enum {
	PID_HOST = 1,
	PID_DEVICE = 100, /* + device */
	TID_HAZARDS = 1,
	TID_THREAD = 16,      /* + LANES * thread */
	TID_STREAM = 1 << 24, /* + stream */
	LANES = 4
};

enum {
	REMEMBERED = 1 << 16, /* calls to which an arrow can still be drawn */
	EDGES = 4096,         /* edges that wait for their call to be told */
	RELEASE_NS = 1000,    /* how long the end of a wait is drawn at most */
	COUNTER_NS = 1000     /* the counter is drawn at most so often */
};

#define TIMING "observed: enqueue to earliest known completion"

struct thread {
	uint64_t end[LANES]; /* of the last slice */
	bool named[LANES];
};

/* A call that never returned: drawn to the end of the run. */
struct open_call {
	struct sw_operation op;
	struct sw_rec rec;
	struct sw_record record;
};

struct hazard {
	int id;
	struct sw_access earlier, later;
};

struct counter {
	uint64_t value, ns, last_ns;
	bool changed, used;
};

struct stream_track {
	struct sw_label name; /* n 0: not asked for yet */
	bool drawn;
};

struct sw_chrome {
	struct sw_observer observer;
	struct sw_reader *reader;
	struct sw_events events;
	struct sw_labels labels;
	struct sw_window window;
	struct sw_lay lay;
	const struct sw_judgement *judgement;
	SW_VEC(struct thread) threads;
	SW_VEC(struct stream_track) streams;
	SW_VEC(struct counter) counters; /* pending work of each device */
	struct remembered {
		uint64_t seq;
		struct sw_drawn call;
	} *calls;
	struct waiting {
		struct sw_hb_edge edge;
		uint32_t from_stream;
		uint64_t told; /* operations told when it came */
	} *edges;
	size_t edge_n;
	uint64_t told, end_ns;
	SW_VEC(struct open_call) open;
	SW_VEC(struct hazard) hazards; /* whose later side has not been told yet */
};

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

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

/* Slices of one track must not overlap in part: a viewer drops one of them.  A nanosecond is rounding; more is a nested
   call, which goes to a track beside. */
static struct sw_drawn place(struct sw_chrome *c, uint32_t thread, uint64_t start, uint64_t end)
{
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

static struct counter *counter_of(struct sw_chrome *c, int device)
{
	while (c->counters.n <= (size_t)device)
		*sw_vec_push(&c->counters) = (struct counter){0};
	return &c->counters.at[device];
}

static uint32_t device_of(const struct sw_chrome *c, uint32_t stream)
{
	int device = c->judgement && stream < c->judgement->streams.n ? c->judgement->streams.at[stream].device : 0;
	return device > 0 && device < 1000 ? (uint32_t)device : 0;
}

static void name_device(struct sw_chrome *c, uint32_t device)
{
	const struct sw_trace_device *info = NULL, *at;
	for (size_t i = 0; (at = sw_reader_device(c->reader, i)); i++)
		if (at->ordinal == (int32_t)device)
			info = at;
	char *text = sw_format("GPU %u%s%s (timing " TIMING ")", device, info ? " " : "", info ? info->name : "");
	sw_event_name(&c->events, "process_name", PID_DEVICE + device, 0, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "process_sort_index", PID_DEVICE + device, 0, PID_DEVICE + device);
	free(text);
}

static struct stream_track *track_of(struct sw_chrome *c, uint32_t stream)
{
	while (c->streams.n <= stream)
		*sw_vec_push(&c->streams) = (struct stream_track){{NULL, 0}, false};
	return &c->streams.at[stream];
}

static struct sw_label stream_label(struct sw_chrome *c, uint32_t stream)
{
	struct stream_track *track = track_of(c, stream);
	if (!track->name.n)
		track->name = sw_label_any(&c->labels, sw_name_stream(&c->labels.names, stream));
	return track->name;
}

/* At the end, when all is known that a stream was ever called. */
static void name_streams(struct sw_chrome *c)
{
	for (uint32_t i = 0; i < c->streams.n; i++) {
		uint32_t device = device_of(c, i), tid = TID_STREAM + i;
		if (!c->streams.at[i].drawn)
			continue;
		if (!counter_of(c, (int)device)->used)
			name_device(c, device);
		counter_of(c, (int)device)->used = true;
		sw_event_name(&c->events, "thread_name", PID_DEVICE + device, tid,
			      sw_label_any(&c->labels, sw_name_stream(&c->labels.names, i)));
		sw_event_sort(&c->events, "thread_sort_index", PID_DEVICE + device, tid, tid);
	}
}

/* ---- counter ----------------------------------------------------------------------------------------------------- */

static void counter_write(struct sw_chrome *c, uint32_t device, struct counter *counter)
{
	if (counter->changed && sw_window_shows(&c->window, counter->ns, counter->ns))
		sw_event_counter(&c->events, PID_DEVICE + device, counter->ns, "pending work", counter->value);
	counter->last_ns = counter->ns;
	counter->changed = false;
}

static void count(struct sw_chrome *c, uint32_t stream, uint64_t ns, uint64_t more, uint64_t fewer)
{
	uint32_t device = device_of(c, stream);
	struct counter *counter = counter_of(c, (int)device);
	if (ns < counter->last_ns)
		ns = counter->last_ns; /* threads are told in the order of their calls, not of the clock */
	if (counter->changed && ns >= counter->ns + COUNTER_NS)
		counter_write(c, device, counter);
	if (!counter->changed)
		counter->ns = ns;
	counter->changed = true;
	counter->value += more;
	counter->value -= fewer < counter->value ? fewer : counter->value;
}

/* ---- arrows ------------------------------------------------------------------------------------------------------ */

static const struct sw_drawn *call_of(const struct sw_chrome *c, uint64_t seq)
{
	const struct remembered *r = &c->calls[seq % REMEMBERED];
	return r->seq == seq && r->call.tid ? &r->call : NULL;
}

/* From the end of one slice to the start of another; earlier within the first where the clock would have it run back.
   Never at the same nanosecond: Perfetto then may take the end for the start. */
static void arrow(struct sw_chrome *c, uint32_t from_pid, const struct sw_drawn *from, struct sw_place to, const char *name,
		  const char *category)
{
	uint64_t ns = from->end < to.ns ? from->end - 1 : to.ns - 1;
	if (to.ns == 0 || ns < from->start)
		return;
	sw_event_flow(&c->events, (struct sw_place){from_pid, from->tid, ns}, to, name, category);
}

static void arrow_between_calls(struct sw_chrome *c, uint64_t from_seq, const struct sw_drawn *to, const char *name,
				const char *category)
{
	const struct sw_drawn *from = call_of(c, from_seq);
	if (from && to->tid)
		arrow(c, PID_HOST, from, (struct sw_place){PID_HOST, to->tid, to->start}, name, category);
}

/* ---- device slices ----------------------------------------------------------------------------------------------- */

static const char *const categories[] = {
	[SW_WORK_KERNEL] = "kernel",        [SW_WORK_COPY] = "gpu_memcpy",     [SW_WORK_SET] = "gpu_memset",
	[SW_WORK_HOST] = "host_function", [SW_WORK_OTHER] = "gpu_operation",
};

static void work_args(struct sw_chrome *c, uint32_t stream, const struct sw_work *work, const struct sw_laid *laid)
{
	struct sw_events *e = &c->events;
	sw_event_number(e, "device", device_of(c, stream));
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
	sw_event_text(e, "timing", TIMING);
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
	struct sw_drawn drawn = {TID_STREAM + stream, laid->start, laid->end};
	uint32_t pid = PID_DEVICE + device_of(c, stream);
	if (!sw_window_shows(&c->window, laid->start, laid->end))
		return;
	track_of(c, stream)->drawn = true;
	struct sw_place at = {pid, drawn.tid, laid->start};
	sw_event_slice(&c->events, at, laid->end, work->name, categories[work->kind]);
	work_args(c, stream, work, laid);
	if (work->call.tid)
		arrow(c, PID_HOST, &work->call, at, "launch", "ac2g");
	if (work->released_tid)
		arrow(c, pid, &drawn, (struct sw_place){PID_HOST, work->released_tid, work->released_ns}, "releases host",
		      "sync");
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
			       .ctx = op->record->rec->ctx};
	describe_work(c, op, &work);
	count(c, op->what.stream, op->what.t_ns, 1, 0);
	sw_lay_push(&c->lay, op->what.stream, &work);
}

static void on_completed(void *arg, uint64_t seq, uint32_t stream, uint64_t t_ns)
{
	struct sw_chrome *c = arg;
	size_t news = sw_lay_done(&c->lay, stream, seq, t_ns);
	if (news)
		count(c, stream, t_ns, 0, news);
}

/* A host function's run is seen: what was before it is done when it starts, and it is done when it ends. */
static void host_func_ran(struct sw_chrome *c, const struct sw_operation *op, const struct sw_drawn *call)
{
	const struct sw_rec_host_func *run = (const struct sw_rec_host_func *)(const void *)op->record->rec;
	for (uint32_t stream = 0; run->enqueued && stream < c->lay.streams.n; stream++) {
		struct sw_work *work = sw_lay_find(&c->lay, stream, run->enqueued);
		if (!work || work->seq != run->enqueued)
			continue;
		if (work->not_before < op->what.t_ns)
			work->not_before = op->what.t_ns;
		on_completed(c, run->enqueued - 1, stream, op->what.t_ns);
		on_completed(c, run->enqueued, stream, op->what.t_ns + op->what.dur_ns);
	}
	if (run->enqueued)
		arrow_between_calls(c, run->enqueued, call, "runs", "callback");
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

static void on_edge(void *arg, const struct sw_hb_edge *edge, uint32_t from_stream, uint32_t to_stream)
{
	struct sw_chrome *c = arg;
	(void)to_stream;
	/* The launch arrow stands for ENQUEUE; a host function's run is drawn when it is told. */
	if (edge->kind == SW_EDGE_ENQUEUE || edge->kind == SW_EDGE_CALLBACK)
		return;
	if (c->edge_n == EDGES) {
		c->edge_n -= EDGES / 2;
		memmove(c->edges, c->edges + EDGES / 2, c->edge_n * sizeof *c->edges);
	}
	c->edges[c->edge_n++] = (struct waiting){*edge, from_stream, c->told};
}

/*
 * The end of a wait, as a slice within the call's slice: an arrow needs a slice that starts after the work did, because
 * Perfetto makes every arrow lead from the slice that starts earlier to the one that starts later.
 */
static uint64_t draw_release(struct sw_chrome *c, uint64_t seq, const struct sw_drawn *call)
{
	uint64_t ns = (call->end - call->start) / 8;
	ns = ns > RELEASE_NS ? RELEASE_NS : ns ? ns : 1;
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, call->tid, call->end - ns}, call->end, SW_LABEL("released"),
		       "sync");
	sw_event_number(&c->events, "correlation", seq);
	sw_event_end(&c->events);
	return call->end - ns;
}

static void draw_wait(struct sw_chrome *c, const struct waiting *w, uint64_t seq, const struct sw_drawn *call,
		      uint64_t *released)
{
	uint64_t from = w->edge.from_seq;
	struct sw_work *work = sw_lay_find(&c->lay, w->from_stream, from);
	if (work && call->tid && !work->released_tid && call->end - call->start > 2) {
		if (!*released)
			*released = draw_release(c, seq, call);
		work->released_tid = call->tid;
		work->released_ns = *released;
	}
	if (!work || work->seq != from)
		arrow_between_calls(c, from, call, "event", "event");
}

static void draw_edge(struct sw_chrome *c, const struct waiting *w, uint64_t seq, const struct sw_drawn *call,
		      uint64_t *released)
{
	static const char *const names[] = {[SW_EDGE_EVENT] = "event",
					    [SW_EDGE_LEGACY] = "legacy default stream",
					    [SW_EDGE_CONTEXT] = "context"};
	static const char *const kinds[] = {
		[SW_EDGE_EVENT] = "event", [SW_EDGE_LEGACY] = "legacy", [SW_EDGE_CONTEXT] = "context"};
	if (w->edge.from_seq == seq)
		return; /* a synchronous copy waits for itself */
	if (w->edge.kind == SW_EDGE_HOST_WAIT)
		draw_wait(c, w, seq, call, released);
	else
		arrow_between_calls(c, w->edge.from_seq, call, names[w->edge.kind], kinds[w->edge.kind]);
}

/* A wait's edges are told just before its call and name the record of its end; the others name the call itself. */
static void draw_edges(struct sw_chrome *c, const struct sw_operation *op, const struct sw_drawn *call)
{
	size_t kept = 0;
	uint64_t released = 0;
	for (size_t i = 0; i < c->edge_n; i++) {
		const struct waiting *w = &c->edges[i];
		bool just_now = w->told == c->told && (w->edge.kind == SW_EDGE_HOST_WAIT || w->edge.kind == SW_EDGE_CONTEXT);
		if (w->edge.to_seq == op->what.seq || just_now)
			draw_edge(c, w, op->what.seq, call, &released);
		else if (w->edge.to_seq > op->what.seq || c->told - w->told < EDGES)
			c->edges[kept++] = *w;
	}
	c->edge_n = kept;
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
	struct sw_drawn drawn = place(c, op->what.thread, start, end);
	const char *category = op->what.kind == SW_REC_HOST_FUNC_RUN ? "host_function"
			       : sw_label_is_runtime(name)           ? "cuda_runtime"
								     : "cuda_driver";
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, drawn.tid, drawn.start}, drawn.end, name, category);
	sw_event_number(&c->events, "correlation", op->what.seq);
	/* Not "stream": HTA would take the call for work of that stream. */
	if (op->what.stream)
		sw_event_label(&c->events, "on", stream_label(c, op->what.stream));
	if (op->blocks)
		sw_event_text(&c->events, "waited", "yes");
	if (op->record->failed)
		sw_event_number(&c->events, "error", op->record->rec->status);
	if (in_flight)
		sw_event_text(&c->events, "state", "had not returned when the trace ends");
	sw_event_end(&c->events);
	return drawn;
}

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
	sw_event_label(&c->events, "earlier_on", stream_label(c, h->earlier.stream));
	sw_event_label(&c->events, "later_on", stream_label(c, h->later.stream));
	if (h->later.ranged)
		sw_event_hex(&c->events, "address", h->later.address);
	sw_event_end(&c->events);
	if (later)
		arrow_between_calls(c, h->earlier.seq, later, "no order between these", "hazard");
}

static void draw_hazards(struct sw_chrome *c, uint64_t seq)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->hazards.n; i++)
		if (c->hazards.at[i].later.seq == seq)
			draw_hazard(c, &c->hazards.at[i]);
		else
			c->hazards.at[kept++] = c->hazards.at[i];
	c->hazards.n = kept;
}

static void on_hazard(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		      const struct sw_access *later)
{
	struct sw_chrome *c = arg;
	struct hazard hazard = {finding->id, *earlier, *later};
	if (call_of(c, later->seq))
		draw_hazard(c, &hazard);
	else
		*sw_vec_push(&c->hazards) = hazard;
}

static void draw_operation(struct sw_chrome *c, const struct sw_operation *op, bool in_flight)
{
	struct sw_drawn call = draw_call(c, op, in_flight);
	c->calls[op->what.seq % REMEMBERED] = (struct remembered){op->what.seq, call};
	if (op->enqueues)
		enqueue(c, op, &call);
	if (op->what.kind == SW_REC_HOST_FUNC_RUN && !in_flight)
		host_func_ran(c, op, &call);
	if (c->edge_n)
		draw_edges(c, op, &call);
	if (c->hazards.n)
		draw_hazards(c, op->what.seq);
	c->told++;
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
	open->op.enqueues = false; /* nothing of what it enqueued is known */
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
					   .edge = on_edge,
					   .hazard = on_hazard,
					   .begin = on_begin};
	c->calls = sw_calloc(REMEMBERED, sizeof *c->calls);
	c->edges = sw_calloc(EDGES, sizeof *c->edges);
	c->lay = (struct sw_lay){.draw = draw_work, .arg = c};
	sw_window_init(&c->window, options);
	sw_labels_init(&c->labels, reader);
	sw_trace_out_open(&c->events.out, out, options->gzip);
	sw_events_begin(&c->events, sw_reader_header(reader)->start_realtime_ns);
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
		char *numbers = sw_format(",\"totalGlobalMem\":%llu,\"computeMajor\":%u,\"computeMinor\":%u,\"numSms\":%u}",
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
	for (size_t i = 0; i < c->hazards.n; i++)
		draw_hazard(c, &c->hazards.at[i]);
	sw_lay_finish(&c->lay, c->end_ns);
	for (size_t i = 0; i < c->counters.n; i++)
		counter_write(c, (uint32_t)i, &c->counters.at[i]);
	name_host(c);
	name_streams(c);
	sw_events_array_end(&c->events);
	write_devices(c);
	sw_events_end(&c->events);
	sw_lay_free(&c->lay);
	sw_window_free(&c->window);
	sw_labels_free(&c->labels);
	free(c->threads.at);
	free(c->streams.at);
	free(c->counters.at);
	free(c->open.at);
	free(c->hazards.at);
	free(c->calls);
	free(c->edges);
	free(c);
}
