/* SPDX-License-Identifier: Apache-2.0 */
/* Passes each call to the schedule (src/schedule knows nothing of records). */
#include "detect/waits/schedule_feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/device_times.h"
#include "detect/waits/waits.h"
#include "reader/kinds.h"

/* The time of a call that only puts work on a stream: a launch 3.3 us, an asynchronous copy 1.5 us (measured on H200).
 */
#define ENQUEUE_OWN_NS 4000u
/* A loop of queries repeats within this time (reason: SW403). */
#define POLL_GAP_NS 50000u

/* A loop of queries for one handle that is not over. */
struct sw_polling {
	uint64_t handle, since_ns, last_ns;
};

struct sw_schedule_feed {
	SW_VEC(struct sw_polling) polling; /* by sw_model_thread() */
};

/* The state of the feed: the loops of queries that threads are in. */
struct sw_schedule_feed *sw_schedule_feed_new(void)
{
	return sw_calloc(1, sizeof(struct sw_schedule_feed));
}

void sw_schedule_feed_free(struct sw_schedule_feed *feed)
{
	free(feed->polling.at);
	free(feed);
}

/* The place in the program that a call came from, as the schedule knows it: what a finding's calls share. */
static uint64_t timing_site(const struct sw_access *call)
{
	uint64_t hash = sw_hash_u64((uint64_t)call->api << 32 | call->stack);
	return sw_hash_u64(hash ^ ((uint64_t)call->kind << 32 | call->function));
}

/* The record's body; the caller knows its kind. */
static const void *rec_of(const struct sw_record *r)
{
	return r->rec;
}

/* Tells the schedule of the stream: its device, and whether the legacy default stream orders it. */
static void add_queue(struct sw_model *m, uint32_t stream)
{
	static const enum sw_queue_kind kinds[] = {
		[SW_LANE_HOST] = SW_QUEUE_FREE,		  [SW_LANE_BLOCKING] = SW_QUEUE_BLOCKING,
		[SW_LANE_NONBLOCKING] = SW_QUEUE_FREE,	  [SW_LANE_LEGACY] = SW_QUEUE_LEGACY,
		[SW_LANE_PER_THREAD] = SW_QUEUE_BLOCKING, [SW_LANE_CALLBACK] = SW_QUEUE_FREE,
	};
	const struct sw_stream_info *info = &m->j->streams.at[stream];
	sw_schedule_queue(m->schedule, stream, kinds[info->kind], info->ctx, info->device);
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

/*
 * What part of the device a kernel fills.  A multiprocessor holds 2048 threads (1536 on some), half of them when each
 * uses 64 registers, which is what is taken here, and some 100 KB of shared memory (CUDA programming guide, "Technical
 * Specifications per Compute Capability").
 */
#define THREADS_EACH 1024u
#define SHARED_EACH  98304u

/* How much of its device a launch fills, in quarters rounded up, 1 to 4; 4 also if the device is not known. */
static uint32_t device_quarters(struct sw_model *m, const struct sw_rec_launch *l, int device)
{
	const struct sw_trace_device *d;
	uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2],
		 parts = THREADS_EACH / (threads ? threads : 1);
	if (l->shared_bytes && parts > SHARED_EACH / l->shared_bytes)
		parts = SHARED_EACH / l->shared_bytes;
	for (size_t i = 0; (d = sw_reader_device(m->reader, i)); i++) {
		uint64_t room = (uint64_t)d->multiprocessors * (parts ? parts : 1);
		if (d->ordinal == device && blocks < room)
			return (uint32_t)(4 * blocks / room) + 1;
	}
	return 4;
}

/* A number, not 0, that work of one kind and size shares; `more` tells apart what kind and size do not. */
static uint64_t likeness_of(const struct sw_schedule_work *work, uint64_t more)
{
	return sw_hash_u64(more ^ sw_hash_u64((uint64_t)work->kind << 56 ^ work->bytes)) | 1;
}

/* The way of a copy over the bus, as the schedule calls it. */
static enum sw_work_kind copy_kind(const struct sw_wait *w)
{
	static const enum sw_work_kind kinds[] = {[SW_MOVES_OTHER] = SW_DOES_OTHER,
						  [SW_MOVES_UP] = SW_DOES_UPLOAD,
						  [SW_MOVES_DOWN] = SW_DOES_DOWNLOAD,
						  [SW_MOVES_WITHIN] = SW_DOES_MOVE};
	return kinds[w->moves];
}

/* May the value be an address?  Memory of a program lies here; other values of 64 bits seldom do. */
static bool may_be_address(uint64_t value)
{
	return value >> 32 && !(value >> 47);
}

/* Hashes the words of a parameter, but not those that may be addresses: they differ although the work is alike. */
static uint64_t hash_number(uint64_t hash, const uint8_t *from, uint32_t bytes)
{
	for (uint64_t word; bytes; from += sizeof word) {
		const uint32_t n = bytes < sizeof word ? bytes : (uint32_t)sizeof word;
		word = 0;
		memcpy(&word, from, n);
		if (n < sizeof word || !may_be_address(word))
			hash = sw_hash_u64(hash ^ word);
		bytes -= n;
	}
	return hash;
}

/* Hashes the numbers among the parameters of a launch: a kernel that is told to do less takes less time. */
static uint64_t hash_numbers(const struct sw_model *m, const struct sw_record *r, uint32_t function)
{
	const struct sw_trace_function *f = sw_reader_function(m->reader, function);
	uint64_t hash = SW_FNV_START;
	if (!r->params)
		return hash;
	if (!f || !f->params)
		return hash_number(hash, r->params, r->param_bytes);
	for (uint32_t i = 0; i < f->params; i++)
		if (f->param[i].offset <= r->param_bytes && f->param[i].bytes <= r->param_bytes - f->param[i].offset)
			hash = hash_number(hash, (const uint8_t *)r->params + f->param[i].offset, f->param[i].bytes);
	return hash;
}

/* Fills in what the schedule needs of a launch.  Launches are alike, and take as long as each other, if one line of the
   program makes them with the same numbers: elsewhere the kernel may do more or less. */
static void describe_launch(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			    struct sw_schedule_work *work)
{
	const struct sw_rec_launch *l = rec_of(r);
	uint64_t shape = sw_hash_u64((uint64_t)l->function << 32 | l->grid[0]);
	shape = sw_hash_u64(shape ^ ((uint64_t)l->grid[1] << 32 | l->grid[2]));
	work->kind = SW_DOES_KERNEL;
	work->quarters = device_quarters(m, l, w->what.device);
	shape = sw_hash_u64(shape ^ ((uint64_t)l->block[0] << 32 | (uint32_t)l->block[1] << 16 | l->block[2]));
	work->like = likeness_of(work, shape ^ hash_numbers(m, r, l->function) ^ (uint64_t)w->what.stack << 32);
}

/* Fills in the kind and size of the work that a call enqueues, and a number that work of the same kind and size shares:
   the schedule learns its duration. */
static void describe_work(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			  struct sw_schedule_work *work)
{
	switch (r->rec->kind) {
	case SW_REC_LAUNCH:
		describe_launch(m, r, w, work);
		return;
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
		work->bytes = sw_record_bytes(r->rec);
		break;
	case SW_REC_SET:
		work->kind = SW_DOES_SET;
		work->bytes = sw_record_bytes(r->rec);
		work->like = likeness_of(work, 0);
		return;
	case SW_REC_GRAPH_LAUNCH:
		work->kind = SW_DOES_GRAPH;
		work->like = likeness_of(work, ((const struct sw_rec_graph_launch *)rec_of(r))->exec);
		return;
	case SW_REC_HOST_FUNC:
		work->kind = SW_DOES_HOST;
		return;
	default:
		work->kind = SW_DOES_OTHER;
		return;
	}
	work->kind = copy_kind(w);
	work->staged = w->staged;
	work->like = likeness_of(work, w->staged);
}

/* Passes the work that a call put on its stream to the schedule, with the time it took on the device if that was
   recorded. */
static void feed_work(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w)
{
	struct sw_schedule_work work = {.seq = r->seq, .queue = w->what.stream};
	const struct sw_rec_graph_launch *g = rec_of(r);
	bool graph = r->rec->kind == SW_REC_GRAPH_LAUNCH;
	add_queue(m, w->what.stream);
	describe_work(m, r, w, &work);
	/* The first launch of a kernel waits for the device and holds back what comes later on any stream ("first
	   launch of a kernel, on nb2 (lazy load)", measured on H200 with driver 580; CUDA programming guide, "Lazy
	   Loading"). */
	if (w->id == SW_FINDING_MODULE_LOAD)
		sw_schedule_barrier(m->schedule, w->what.stream);
	/* Launches of one executable graph run one after the other (CUDA driver API, cuGraphLaunch). */
	if (graph)
		sw_schedule_wait(m->schedule, w->what.stream, g->exec);
	const struct sw_time *seen = sw_times_find(m->times, r->seq);
	sw_schedule_work(m->schedule, &work);
	if (seen && !m->options->estimate_all)
		sw_schedule_times(m->schedule, r->seq, seen->start, seen->end);
	if (graph)
		sw_schedule_record(m->schedule, w->what.stream, g->exec);
}

/* ---- events and waits -------------------------------------------------------------------------------------------- */

/* Does the stream capture a graph now, so that nothing runs? */
static bool in_capture(struct sw_model *m, const struct sw_record *r, uint64_t stream)
{
	struct sw_hb_at at = sw_model_at(m, r, stream);
	return sw_model_captured(m, &at);
}

/* Passes the record of an event, or a stream's wait for one, to the schedule. */
static void feed_event(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w)
{
	const struct sw_rec_event_record *e = rec_of(r);
	const struct sw_rec_stream_wait *s = rec_of(r);
	bool record = r->rec->kind == SW_REC_EVENT_RECORD;
	if (!w->what.stream || in_capture(m, r, record ? e->stream : s->stream))
		return;
	add_queue(m, w->what.stream);
	if (record)
		sw_schedule_record(m->schedule, w->what.stream, e->event);
	else
		sw_schedule_wait(m->schedule, w->what.stream, s->event);
}

/* Tells the schedule until when a synchronisation waits. */
static void feed_sync(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w, uint64_t seq)
{
	const struct sw_rec_sync *s = rec_of(r);
	switch ((enum sw_sync_what)s->what) {
	case SW_SYNC_ELAPSED:
		sw_schedule_until(m->schedule, seq, SW_UNTIL_EVENT, s->handle2);
		sw_schedule_until(m->schedule, seq, SW_UNTIL_EVENT, s->handle);
		break;
	case SW_SYNC_EVENT:
		sw_schedule_until(m->schedule, seq, SW_UNTIL_EVENT, s->handle);
		break;
	case SW_SYNC_STREAM:
		if (w->what.stream) {
			add_queue(m, w->what.stream);
			sw_schedule_until(m->schedule, seq, SW_UNTIL_QUEUE, w->what.stream);
		}
		break;
	case SW_SYNC_CONTEXT:
		sw_schedule_until(m->schedule, seq, SW_UNTIL_CONTEXT, r->rec->ctx);
		break;
	}
}

/* Tells the schedule that a call waits although no document says so: of a call with two records (begin and end) where
   that is known, of one with a single record where it took long while something was pending. */
static void feed_wait(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w)
{
	bool two = r->rec->flags & SW_RF_BEGIN;
	if (w->enqueues) {
		if (w->tokens || w->staged)
			sw_schedule_until(m->schedule, r->seq, SW_UNTIL_OWN, 0);
	} else if (w->tokens || (!two && w->pending && r->dur_ns > w->own_ns)) {
		sw_schedule_until(m->schedule, r->seq, SW_UNTIL_DEVICE, (uint64_t)(uint32_t)w->what.device);
	}
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Tells the schedule that a call began at t_ns: its place in the program and how long its own work takes. */
static void enter_work(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w, uint64_t t_ns)
{
	struct sw_schedule_call call = {.seq = r->seq,
					.t_ns = t_ns,
					.site = timing_site(&w->what),
					.own_ns = w->own_ns ? w->own_ns / SW_OWN_MARGIN : ENQUEUE_OWN_NS,
					.thread = sw_model_thread(m, r->thread)};
	sw_schedule_enter(m->schedule, &call);
}

/* The loop of queries that this thread may be in. */
static struct sw_polling *polling_of(struct sw_model *m, uint32_t thread)
{
	const uint32_t number = sw_model_thread(m, thread);
	while (m->feed->polling.n <= number)
		*sw_vec_push(&m->feed->polling) = (struct sw_polling){0};
	return &m->feed->polling.at[number];
}

/* Passes a loop of queries as one wait, from the first that was not successful to the one that was. */
static void feed_query(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w)
{
	const struct sw_rec_sync *q = rec_of(r);
	struct sw_polling *polling = polling_of(m, r->thread);
	bool again = polling->handle == q->handle && r->t_ns - polling->last_ns < POLL_GAP_NS;
	if (r->rec->status == SW_NOT_READY) {
		/* Counted polls are all as close as that, or none is. */
		const uint64_t end = r->t_ns + r->dur_ns, each = r->inside_ns / r->calls;
		const bool apart = r->calls > 1 && (r->dur_ns - r->inside_ns) / (r->calls - 1) > POLL_GAP_NS;
		if (!again || apart)
			*polling = (struct sw_polling){q->handle, apart ? end - each : r->t_ns, 0};
		polling->last_ns = end;
		return;
	}
	uint64_t since = again ? polling->since_ns : r->t_ns;
	polling->handle = 0;
	enter_work(m, r, w, since);
	feed_sync(m, r, w, r->seq);
	sw_schedule_leave(m->schedule, r->seq, r->t_ns + r->dur_ns - since);
}

void sw_timing_call(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w)
{
	if (r->rec->kind == SW_REC_HOST_FUNC_RUN || r->rec->kind == SW_REC_ANNOTATION)
		return;
	if (r->rec->kind == SW_REC_QUERY) {
		feed_query(m, r, w);
		return;
	}
	polling_of(m, r->thread)->handle = 0;
	enter_work(m, r, w, r->t_ns);
	if (w->enqueues)
		feed_work(m, r, w);
	else if (r->rec->kind == SW_REC_EVENT_RECORD || r->rec->kind == SW_REC_STREAM_WAIT)
		feed_event(m, r, w);
	if (r->rec->kind == SW_REC_SYNC)
		feed_sync(m, r, w, r->seq);
	else
		feed_wait(m, r, w);
	if (!(r->rec->flags & SW_RF_BEGIN))
		sw_schedule_leave(m->schedule, r->seq, r->dur_ns);
}

void sw_timing_return(struct sw_model *m, const struct sw_record *begin, uint64_t dur_ns)
{
	const struct sw_rec_host_func *f = rec_of(begin);
	if (begin->rec->kind == SW_REC_HOST_FUNC_RUN)
		sw_schedule_times(m->schedule, f->enqueued, begin->t_ns, begin->t_ns + dur_ns);
	else
		sw_schedule_leave(m->schedule, begin->seq, dur_ns);
}

/* The gain of each finding's fix: one change of the schedule each. */

/* The costliest findings count.  Together they take some ten replays; on its own each takes four, so of a long run
   fewer are replayed: less than 0.1 s, at up to 5 ns a node and replay. */
#define MOST_REPLAYED 64u
#define LEAST_ALONE   4u
#define MOST_REPLAYS  15000000u

/* The change of the calls at the place when its advice is followed. */
static const struct {
	int id;
	enum sw_what_if_kind kind;
	bool only_idle;
} changes[] = {
	{SW_FINDING_SYNC_COPY, SW_IF_PINNED, false},	  {SW_FINDING_PAGEABLE_ASYNC_COPY, SW_IF_PINNED, false},
	{SW_FINDING_SYNC_MEMSET, SW_IF_NO_WAIT, false},	  {SW_FINDING_LEGACY_SERIALISATION, SW_IF_NO_LEGACY, false},
	{SW_FINDING_DEVICE_ALLOC, SW_IF_NO_CALL, false},  {SW_FINDING_DEVICE_FREE, SW_IF_NO_CALL, false},
	{SW_FINDING_HOST_PIN, SW_IF_NO_CALL, false},	  {SW_FINDING_MODULE_LOAD, SW_IF_NO_CALL, false},
	{SW_FINDING_DEVICE_CONFIG, SW_IF_NO_CALL, false}, {SW_FINDING_OVER_WIDE_SYNC, SW_IF_LESS, false},
	{SW_FINDING_REDUNDANT_SYNC, SW_IF_NO_CALL, true},
};

/* Pinning costs 0.3 to 0.7 ms a MiB ("cudaHostAlloc 64MiB", "cudaHostRegister 1MiB", measured on H200); the advice may
   need two buffers. */
#define PIN_LEAST_NS_PER_MIB 300000u
#define PIN_MOST_NS_PER_MIB  1400000u

struct asked {
	size_t finding;
	uint64_t ns;
};

/* For qsort(): the costliest findings first, equal ones in their order. */
static int compare_cost(const void *x, const void *y)
{
	const struct asked *a = x, *b = y;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return a->finding < b->finding ? -1 : a->finding > b->finding;
}

/* ---- the change -------------------------------------------------------------------------------------------------- */

/* Fills in the part of a too wide wait that was needed.  `keep`: room for SW_MAX_NEEDS. */
static void keep_needs(const struct sw_finding *f, struct sw_what_if *change, struct sw_keep *keep)
{
	const struct sw_finding_details *more = sw_finding_details(f);
	change->keep = keep;
	change->keeps = more->needs;
	for (uint32_t i = 0; i < more->needs; i++)
		keep[i] = (struct sw_keep){.queue = more->need[i].stream,
					   .to = more->need[i].to ? more->need[i].to : SW_KEEP_HOST,
					   .seq = more->need[i].whole ? 0 : more->need[i].work.seq};
}

/* May the host need the wait for something that the recorder cannot see?  The guard alone sees what the host does with
   memory, and only while work uses the memory: whether the program needs a wait after which it can read a result, or
   refill a buffer, is not known. */
static bool host_may_need(const struct sw_finding *f)
{
	switch (f->id) {
	case SW_FINDING_SYNC_COPY:
		return sw_finding_details(f)->to_host;
	case SW_FINDING_PAGEABLE_ASYNC_COPY:
		/* Code that calls the asynchronous form waits somewhere else. */
		return sw_finding_details(f)->to_host && f->fix == SW_FIX_VALUE;
	default:
		return f->id == SW_FINDING_OVER_WIDE_SYNC;
	}
}

/* The change to the run that following the finding's advice would make; false: none that can be replayed. */
static bool change_of(const struct sw_finding *f, struct sw_what_if *change)
{
	for (size_t i = 0; f->fix && i < sizeof changes / sizeof *changes; i++) {
		if (changes[i].id != f->id)
			continue;
		*change = (struct sw_what_if){.kind = changes[i].kind,
					      .only_idle = changes[i].only_idle,
					      .needed = host_may_need(f) ? SW_NEEDED_MAYBE : SW_NEEDED_NOT,
					      .site = timing_site(f->access[0])};
		if (f->fix == SW_FIX_VALUE)
			change->kind = SW_IF_NO_WAIT;
		return true;
	}
	return false;
}

/* Do the two findings have one advice ("allocate once"), for the call that allocates and for the one that releases? */
static bool are_partners(const struct sw_finding *a, const struct sw_finding *b)
{
	return (sw_finding_details(a)->maker.seq &&
		timing_site(&sw_finding_details(a)->maker) == timing_site(b->access[0])) ||
	       (sw_finding_details(b)->maker.seq &&
		timing_site(&sw_finding_details(b)->maker) == timing_site(a->access[0]));
}

/* ---- what the change itself costs, once -------------------------------------------------------------------------- */

struct price {
	uint64_t least, most;
};

/* The host time, at least and at most, that the change itself costs the program once, such as pinning a buffer. */
static struct price price_of(const struct sw_finding *f)
{
	uint64_t one = f->cost->calls ? f->cost->total_ns / f->cost->calls : 0;
	switch (f->id) {
	case SW_FINDING_SYNC_COPY:
	case SW_FINDING_PAGEABLE_ASYNC_COPY:
		if (f->fix == SW_FIX_VALUE)
			return (struct price){0};
		return (struct price){(sw_finding_details(f)->unpinned >> 10) * PIN_LEAST_NS_PER_MIB >> 10,
				      (sw_finding_details(f)->unpinned >> 10) * PIN_MOST_NS_PER_MIB >> 10};
	case SW_FINDING_HOST_PIN:
		/* One call stays; what releases, may have waited. */
		return (struct price){sw_finding_details(f)->maker.seq ? 0 : one, one};
	case SW_FINDING_DEVICE_ALLOC:
	case SW_FINDING_DEVICE_FREE:
		return (struct price){0, one};
	case SW_FINDING_MODULE_LOAD:
		/* Code is loaded earlier instead. */
		return (struct price){0, f->cost->total_ns};
	case SW_FINDING_DEVICE_CONFIG:
		return (struct price){0, f->cost->parts.driver_ns};
	default:
		return (struct price){0};
	}
}

/* Does the change save no more than its calls took?  A wait that goes away does not; other changes let work overlap
   that did not. */
static bool bounded_by_cost(const struct sw_finding *f)
{
	return f->id != SW_FINDING_LEGACY_SERIALISATION && f->id != SW_FINDING_MODULE_LOAD;
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* Findings whose advice is followed together. */
struct set {
	int id; /* of sets of several findings, 0: of all; unused for single ones */
	SW_VEC(struct sw_what_if) changes;
	struct price price;
	uint64_t most_ns; /* the host time of its calls, where they save no more than that */
};

struct trial {
	struct asked *asked;
	size_t n, alone; /* findings; of them, the first so many have a set of their own */
	struct sw_what_if change[MOST_REPLAYED];
	struct sw_keep keep[MOST_REPLAYED][SW_MAX_NEEDS];
	struct set set[MOST_REPLAYED + SW_JUDGED_IDS + 1];
	struct sw_what_ifs tried[MOST_REPLAYED + SW_JUDGED_IDS + 1];
	struct sw_gain gain[MOST_REPLAYED + SW_JUDGED_IDS + 1];
	size_t sets;
};

/* Finding `index` in the order of cost. */
static const struct sw_finding *asked_finding(const struct sw_model *m, const struct trial *t, size_t index)
{
	return &m->j->findings.at[t->asked[index].finding];
}

/* Chooses the findings to replay the run for: the costliest, and of long runs fewer on their own, since each replay
   passes all nodes of the schedule. */
static void choose_findings(struct sw_model *m, struct trial *t)
{
	struct sw_judgement *j = m->j;
	struct sw_what_if ignored;
	uint64_t most = MOST_REPLAYS / ((j->schedule.timed == j->schedule.operations ? 4 : 20) * j->schedule.nodes + 1);
	t->asked = sw_calloc(j->findings.n + 1, sizeof *t->asked);
	for (size_t i = 0; i < j->findings.n; i++)
		if (change_of(&j->findings.at[i], &ignored))
			t->asked[t->n++] = (struct asked){i, j->findings.at[i].cost->total_ns};
	qsort(t->asked, t->n, sizeof *t->asked, compare_cost);
	t->n = t->n < MOST_REPLAYED ? t->n : MOST_REPLAYED;
	t->alone = t->n;
	if (t->alone > most)
		t->alone = most < LEAST_ALONE ? (t->n < LEAST_ALONE ? t->n : LEAST_ALONE) : most;
}

/* Adds the change of one finding to a set of changes that are made together. */
static void add_change(struct sw_model *m, struct trial *t, struct set *set, size_t index)
{
	const struct sw_finding *f = asked_finding(m, t, index);
	struct price price = price_of(f);
	*sw_vec_push(&set->changes) = t->change[index];
	set->price.least += price.least;
	set->price.most += price.most;
	if (set->most_ns != UINT64_MAX)
		set->most_ns = bounded_by_cost(f) ? set->most_ns + f->cost->total_ns : UINT64_MAX;
}

/* Makes the sets of changes to replay: each finding alone (with its partner), all findings of one kind, and all
   together. */
static void compose_changes(struct sw_model *m, struct trial *t)
{
	for (size_t i = 0; i < t->n; i++) {
		change_of(asked_finding(m, t, i), &t->change[i]);
		keep_needs(asked_finding(m, t, i), &t->change[i], t->keep[i]);
	}
	for (size_t i = 0; i < t->alone; i++) {
		struct set *set = &t->set[t->sets++];
		add_change(m, t, set, i);
		for (size_t k = 0; k < t->n; k++)
			if (k != i && are_partners(asked_finding(m, t, i), asked_finding(m, t, k)))
				add_change(m, t, set, k);
	}
	for (size_t k = 0; k <= sizeof changes / sizeof *changes; k++) {
		bool all = k == sizeof changes / sizeof *changes;
		struct set *set = &t->set[t->sets];
		set->id = all ? 0 : changes[k].id;
		for (size_t i = 0; i < t->n; i++)
			if (all || asked_finding(m, t, i)->id == set->id)
				add_change(m, t, set, i);
		t->sets += set->changes.n > 0;
	}
}

/* ---- what comes of it -------------------------------------------------------------------------------------------- */

/* a - b, at least 0. */
static uint64_t less_or_zero(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Bounds the gain by the time that the calls took, then subtracts what the change itself costs. */
static void subtract_price(struct sw_gain *gain, const struct set *set)
{
	gain->low_ns = less_or_zero(least_of(gain->low_ns, set->most_ns), set->price.most);
	gain->sure_ns = less_or_zero(least_of(gain->sure_ns, set->most_ns), set->price.least);
	gain->high_ns = less_or_zero(least_of(gain->high_ns, set->most_ns), set->price.least);
}

/* Writes the gain into the cost of a finding or of the run. */
static void fill_cost(struct sw_cost *cost, const struct sw_gain *gain, bool reliable)
{
	cost->recoverable_low_ns = gain->known ? gain->low_ns : 0;
	cost->recoverable_high_ns = gain->known ? gain->high_ns : 0;
	cost->recoverable_sure_ns = gain->known ? gain->sure_ns : 0;
	cost->replayed = gain->known;
	cost->timed = gain->timed;
	cost->vague = gain->known && gain->vague;
	cost->nothing = gain->nothing;
	cost->reliable = reliable;
}

/* Replays the run with each set of changes, and writes what each would save into the findings and the summary. */
static void try_all(struct sw_model *m)
{
	struct sw_judgement *j = m->j;
	struct trial *t = sw_calloc(1, sizeof *t);
	choose_findings(m, t);
	compose_changes(m, t);
	for (size_t i = 0; i < t->sets; i++)
		t->tried[i] = (struct sw_what_ifs){t->set[i].changes.at, t->set[i].changes.n};
	if (t->sets)
		sw_schedule_try(m->schedule, t->tried, t->gain, t->sets);
	for (size_t i = 0; i < t->sets; i++) {
		struct sw_gain *gain = &t->gain[i];
		sw_gain_widen(gain);
		subtract_price(gain, &t->set[i]);
		if (i < t->alone)
			fill_cost(sw_collect_own_cost(&m->collect, &j->findings.at[t->asked[i].finding]), gain,
				  j->schedule.reliable);
		else if (gain->known)
			j->together[j->togethers++] =
				(struct sw_together){t->set[i].id, t->set[i].changes.n, gain->low_ns,
						     t->set[i].id ? gain->high_ns : gain->sure_ns, gain->vague};
		free(t->set[i].changes.at);
	}
	free(t->asked);
	free(t);
}

void sw_gains_judge(struct sw_model *m)
{
	if (!m->schedule)
		return;
	sw_schedule_finish(m->schedule);
	m->j->schedule = sw_schedule_facts(m->schedule);
	m->j->sums = sw_schedule_sums(m->schedule);
	try_all(m);
	if (m->observer->work)
		sw_schedule_each_work(m->schedule, m->observer->work, m->observer->arg);
	if (m->observer->path)
		sw_schedule_path(m->schedule, m->observer->path, m->observer->arg);
}
