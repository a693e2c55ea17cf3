/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's records as the guard sees them.  A record that is seen before its call is kept until the call has
 * returned: only then is work in flight, and the driver has done with the pages on the host's side.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "guard/guard.h"
#include "syncwatch/format.h"

#define SW_USES 2u /* of one record, both sides of a copy; launches have as many as pointers */

/* Bytes from the first to the last that the work touches; whether they lie in host memory is not looked at. */
struct sw_guard_use {
	uint64_t at, bytes;
	bool writes;
};

/* A record says which host memory its work uses, and which handles order it. */

/* The bytes from the first to the last of a 2D or 3D copy's side; 0 bytes: an array, or a size that no memory has. */
static struct sw_guard_use box_use(const struct sw_rec_copy_nd *c, const struct sw_box *b, bool writes)
{
	uint64_t slice, rows, span;
	struct sw_guard_use use = {b->base, 0, writes};
	if (b->side == SW_SIDE_ARRAY || !c->width || __builtin_mul_overflow(b->pitch, b->slice_rows, &slice) ||
	    __builtin_mul_overflow(slice, c->depth ? c->depth - 1 : 0, &span) ||
	    __builtin_mul_overflow(b->pitch, c->height ? c->height - 1 : 0, &rows) ||
	    __builtin_add_overflow(span, rows, &span) || __builtin_add_overflow(span, c->width, &use.bytes))
		use.bytes = 0;
	return use;
}

/* Bytes from the first to the last that a memset writes. */
static uint64_t set_span(const struct sw_rec_set *s)
{
	return s->width + (s->height > 1 ? (s->height - 1) * s->pitch : 0);
}

/* Uses of a copy or a set; 0 for all other records. */
static uint32_t sw_uses_of(const struct sw_rec *rec, struct sw_guard_use use[SW_USES])
{
	const void *r = rec;
	switch ((enum sw_rec_kind)rec->kind) {
	case SW_REC_COPY: {
		const struct sw_rec_copy *c = r;
		uint32_t n = 0;
		if (c->src_side != SW_SIDE_ARRAY)
			use[n++] = (struct sw_guard_use){c->src, c->bytes, false};
		if (c->dst_side != SW_SIDE_ARRAY)
			use[n++] = (struct sw_guard_use){c->dst, c->bytes, true};
		return n;
	}
	case SW_REC_COPY_ND: {
		const struct sw_rec_copy_nd *c = r;
		use[0] = box_use(c, &c->src, false);
		use[1] = box_use(c, &c->dst, true);
		return 2;
	}
	case SW_REC_SET: {
		const struct sw_rec_set *s = r;
		use[0] = (struct sw_guard_use){s->dst, set_span(s), true};
		return 1;
	}
	default:
		return 0;
	}
}

/* The stream that the record works on; 0 where it names none. */
static uint64_t use_stream(const struct sw_rec *rec)
{
	const void *r = rec;
	switch ((enum sw_rec_kind)rec->kind) {
#define STREAM(kind, type)                                                                                             \
	case SW_REC_##kind:                                                                                            \
		return ((const struct type *)r)->stream;
		STREAM(LAUNCH, sw_rec_launch)
		STREAM(COPY, sw_rec_copy)
		STREAM(COPY_ND, sw_rec_copy_nd)
		STREAM(SET, sw_rec_set)
		STREAM(STREAM_CREATE, sw_rec_stream)
		STREAM(STREAM_DESTROY, sw_rec_stream)
		STREAM(EVENT_RECORD, sw_rec_event_record)
		STREAM(STREAM_WAIT, sw_rec_stream_wait)
		STREAM(HOST_FUNC, sw_rec_host_func)
		STREAM(GRAPH_LAUNCH, sw_rec_graph_launch)
		STREAM(MEM_OP, sw_rec_mem_op)
#undef STREAM
	default:
		return 0;
	}
}

/* Event of a record or wait, flags of a new stream, what a capture does; else 0. */
static uint64_t use_handle(const struct sw_rec *rec)
{
	const void *r = rec;
	switch ((enum sw_rec_kind)rec->kind) {
	case SW_REC_EVENT_RECORD:
		return ((const struct sw_rec_event_record *)r)->event;
	case SW_REC_STREAM_WAIT:
		return ((const struct sw_rec_stream_wait *)r)->event;
	case SW_REC_STREAM_CREATE:
		return ((const struct sw_rec_stream *)r)->flags;
	case SW_REC_CAPTURE:
		return ((const struct sw_rec_capture *)r)->op;
	default:
		return 0;
	}
}

/*
 * Which work is known to be done: vector clocks of a fixed size, by the rules of doc/order.md as far as they are cheap.
 * What is left out (host functions, graphs' own events, more lanes than there is room for) leaves pages protected for
 * longer.
 */

#define EVENTS 512u /* remembered; a record that was pushed out covers nothing */

struct lane {
	uint64_t stream; /* handle; 0: the legacy or a per-thread stream */
	uint32_t thread; /* per-thread streams */
	uint8_t ctx;
	bool used, gone, legacy, nonblocking;
	struct sw_guard_clock knows;
};

static struct lane lanes[SW_GUARD_LANES];
static struct {
	uint64_t event;
	struct sw_guard_clock knows;
} events[EVENTS];
static struct sw_guard_clock host_knows;

/* `into` (what a lane or the host knows to be done, of each lane) gets what `from` knows. */
static void join_clock(struct sw_guard_clock *into, const struct sw_guard_clock *from)
{
	for (unsigned i = 0; i < SW_GUARD_LANES; i++)
		if (into->tick[i] < from->tick[i])
			into->tick[i] = from->tick[i];
}

/* The lane of a stream as it would be new: default streams by thread or context, others by handle. */
static struct lane lane_wanted(const struct sw_guard_at *at)
{
	bool own = at->stream == 2 || (!at->stream && at->per_thread);
	return (struct lane){.stream = at->stream > 2 ? at->stream : 0,
			     .thread = own ? at->thread : 0,
			     .ctx = at->stream > 2 ? 0 : at->ctx,
			     .legacy = at->stream <= 2 && !own};
}

/* Does the host know that all work of the lane is done? */
static bool is_idle(uint32_t i)
{
	return host_knows.tick[i] >= lanes[i].knows.tick[i];
}

/* Makes a lane in a free slot, or in that of a lane with nothing pending.  Ticks of a slot continue: old steps stay
   done.  NULL: all have work. */
static struct lane *make_lane(const struct lane *want)
{
	struct lane *found = NULL;
	for (uint32_t i = 0; i < SW_GUARD_LANES && !found; i++)
		if (!lanes[i].used || (lanes[i].gone && is_idle(i)))
			found = &lanes[i];
	for (uint32_t i = 0; i < SW_GUARD_LANES && !found; i++)
		if (is_idle(i) && !lanes[i].legacy)
			found = &lanes[i];
	if (!found)
		return NULL;
	struct sw_guard_clock knows = {0};
	knows.tick[found - lanes] = found->knows.tick[found - lanes];
	*found = *want;
	found->knows = knows;
	found->used = true;
	return found;
}

/* The lane of a stream, made at its first use; NULL: no room. */
static struct lane *lane_of(const struct sw_guard_at *at)
{
	struct lane want = lane_wanted(at);
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++) {
		struct lane *l = &lanes[i];
		if (l->used && !l->gone && l->stream == want.stream && l->thread == want.thread &&
		    l->legacy == want.legacy && (want.stream || l->ctx == want.ctx))
			return l;
	}
	struct lane *l = make_lane(&want);
	if (l)
		l->ctx = at->ctx;
	return l;
}

/* The legacy stream waits for all blocking streams of its context, and they for it. */
static void legacy_rules(struct lane *l)
{
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++) {
		struct lane *other = &lanes[i];
		if (!other->used || other == l || other->ctx != l->ctx || other->nonblocking || l->nonblocking)
			continue;
		if (l->legacy || other->legacy)
			join_clock(&l->knows, &other->knows);
	}
}

/* A stream was made: does it wait for the legacy stream? */
static void lanes_stream_made(const struct sw_guard_at *at, bool nonblocking)
{
	struct lane *l = lane_of(at);
	if (l)
		l->nonblocking = nonblocking;
}

/* A stream was destroyed: its slot is free once its work is done. */
static void lanes_stream_gone(const struct sw_guard_at *at)
{
	struct lane want = lane_wanted(at);
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++)
		if (want.stream && lanes[i].used && lanes[i].stream == want.stream)
			lanes[i].gone = true;
}

/* Work is enqueued on a stream.  Returns its step: the stream's lane, and its number there. */
static struct sw_guard_step lanes_enqueue(const struct sw_guard_at *at)
{
	struct lane *l = lane_of(at);
	if (!l)
		return (struct sw_guard_step){0};
	uint32_t i = (uint32_t)(l - lanes);
	legacy_rules(l);
	return (struct sw_guard_step){i, ++l->knows.tick[i]};
}

/* An event is recorded: it stands for all that comes before it on the stream. */
static void lanes_record(uint64_t event, const struct sw_guard_at *at)
{
	struct lane *l = lane_of(at);
	uint32_t slot = (uint32_t)((event * 0x9e3779b97f4a7c15ull) >> 55) % EVENTS;
	events[slot].event = event;
	if (l) {
		legacy_rules(l);
		events[slot].knows = l->knows;
	} else {
		memset(&events[slot].knows, 0, sizeof events[slot].knows);
	}
}

/* The steps of all lanes that a wait for the event covers if it begins now. */
static void lanes_cover_event(struct sw_guard_clock *out, uint64_t event)
{
	uint32_t slot = (uint32_t)((event * 0x9e3779b97f4a7c15ull) >> 55) % EVENTS;
	if (events[slot].event == event)
		*out = events[slot].knows;
	else
		memset(out, 0, sizeof *out);
}

/* A stream waits for an event: its later work comes after what the event stands for. */
static void lanes_wait(const struct sw_guard_at *at, uint64_t event)
{
	struct sw_guard_clock covered;
	struct lane *l = lane_of(at);
	lanes_cover_event(&covered, event);
	if (l)
		join_clock(&l->knows, &covered);
}

/* The steps that a wait for the stream covers if it begins now. */
static void lanes_cover_stream(struct sw_guard_clock *out, const struct sw_guard_at *at)
{
	struct lane *l = lane_of(at);
	memset(out, 0, sizeof *out);
	if (l) {
		legacy_rules(l);
		*out = l->knows;
	}
}

/* The steps that a wait for all work of a context covers. */
static void lanes_cover_context(struct sw_guard_clock *out, uint8_t ctx)
{
	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++)
		if (lanes[i].used && lanes[i].ctx == ctx)
			join_clock(out, &lanes[i].knows);
}

/* Notes that the host knows these steps to be done. */
static void lanes_known(const struct sw_guard_clock *covered)
{
	join_clock(&host_knows, covered);
}

/* Does the host know, by a wait, that this step of a stream is complete? */
bool sw_lanes_done(struct sw_guard_step step)
{
	return host_knows.tick[step.lane] >= step.tick;
}

#define CAPTURE_BEGAN 1u
/* Bounds of one call: elements of a batch, and their uses of host memory or the pointers of a launch into it.  Uses
   beyond the bounds are counted.  (They lie in thread-local storage, which is taken from the stack of each thread.) */
#define OPS  48u
#define USES 112u
/* A kernel may use any part of a buffer, and protecting costs in proportion to the pages: of a longer one the start is
   guarded.  Copies take longer than protecting what they copy. */
#define LONGEST_OF_KERNEL (1ull << 30)

/* One element of the call under way. */
struct op {
	uint8_t kind;
	bool synchronous;
	struct sw_guard_at at;
	uint64_t handle;
	uint32_t first, uses; /* in the thread's */
};

struct thread {
	uint32_t id;
	uint32_t n, uses, pointers; /* pointers of the launch to come: after the uses */
	bool kernels;		    /* counted in `starting` */
	bool waits;
	struct sw_guard_clock covered;
	struct op op[OPS];
	struct sw_guard_use use[USES];
};
static __thread struct thread mine __attribute__((tls_model("initial-exec")));

static uint32_t threads;
static uint32_t captures;			  /* in progress: what is issued may not be executed */
static uint32_t starting;			  /* kernels whose launch has not returned */
static struct sw_guard_step last[SW_GUARD_LANES]; /* kernel of each lane */

/* In a fork child, where no kernel is in flight: forgets the call under way and all counts. */
void sw_work_forget(void)
{
	mine.n = mine.uses = mine.pointers = 0;
	mine.kernels = mine.waits = false;
	captures = starting = 0;
	sw_pages_forget_unguarded();
}

/*
 * A kernel that faults on managed memory is served by the driver with the rights of the *process's* mapping: a page
 * that is protected here would be an illegal address there.  So managed memory is protected only while no kernel can
 * run.
 */
static bool kernels_in_flight(void)
{
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++)
		if (last[i].tick && !sw_lanes_done(last[i]))
			return true;
	return starting != 0;
}

/* May work of this kind run kernels, or is that unknown? */
static bool runs_kernels(uint8_t kind)
{
	return kind == SW_REC_LAUNCH || kind == SW_REC_GRAPH_LAUNCH || kind == SW_REC_MEM_OP || kind == SW_REC_OTHER ||
	       kind == SW_REC_UNCLASSIFIED;
}

/* Is it memory that the host can touch? */
static bool is_host(enum sw_memory memory)
{
	return memory == SW_MEM_PINNED || memory == SW_MEM_REGISTERED || memory == SW_MEM_MANAGED;
}

/* ---- before the call --------------------------------------------------------------------------------------------- */

/* Where the record's work is enqueued. */
static struct sw_guard_at place_of(const struct sw_rec *rec)
{
	if (!mine.id)
		mine.id = ++threads;
	return (struct sw_guard_at){.stream = use_stream(rec),
				    .thread = mine.id,
				    .ctx = rec->ctx,
				    .per_thread = rec->flags & SW_RF_PER_THREAD};
}

/* Notes which steps the wait or query of this call covers; they are done when it has returned. */
static void cover_sync(const struct sw_rec *rec, const struct sw_guard_at *at)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)rec;
	switch (s->what) {
	case SW_SYNC_EVENT:
	case SW_SYNC_ELAPSED:
		lanes_cover_event(&mine.covered, s->what == SW_SYNC_EVENT ? s->handle : s->handle2);
		break;
	case SW_SYNC_STREAM: {
		struct sw_guard_at stream = *at;
		stream.stream = s->handle;
		lanes_cover_stream(&mine.covered, &stream);
		break;
	}
	default:
		lanes_cover_context(&mine.covered, rec->ctx);
		break;
	}
	mine.waits = true;
}

/* Host memory is about to be freed: its pages are released first. */
static void take_free(const struct sw_rec *rec)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)rec;
	const struct sw_buffer *b = sw_buffers_find(f->address);
	if (!b || b->address != f->address)
		return;
	sw_pages_release(b->address, b->address + b->bytes, false);
	sw_buffers_drop(f->address);
}

/* Work of a context that is destroyed or reset is gone: all pages are released, those that work of other contexts
   guards, too.  A use too early may be missed there; none is invented. */
static void context_ends(const struct sw_rec *rec)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)rec;
	if (o->op == SW_CONTEXT_DESTROY || o->op == SW_CONTEXT_RESET)
		sw_pages_release_all();
}

/* Takes those uses of a copy or set that lie in known host buffers; those for which there is no room are counted.
   Returns how many. */
static uint32_t uses_of(const struct sw_rec *rec)
{
	struct sw_guard_use use[SW_USES];
	uint32_t uses = sw_uses_of(rec, use), kept = 0;
	for (uint32_t i = 0; i < uses; i++) {
		if (!sw_buffers_find(use[i].at))
			continue;
		if (mine.uses + kept < USES)
			mine.use[mine.uses + kept++] = use[i];
		else
			sw_pages_unguarded();
	}
	return kept;
}

/* Before a call: keeps what its work will use, as one element of the call under way. */
static void begin_op(const struct sw_rec *rec)
{
	struct op op = {.kind = rec->kind,
			.synchronous = rec->flags & SW_RF_SYNCHRONOUS,
			.at = place_of(rec),
			.handle = use_handle(rec)};
	if (rec->kind == SW_REC_SYNC || rec->kind == SW_REC_QUERY)
		cover_sync(rec, &op.at);
	else if (rec->kind == SW_REC_FREE)
		take_free(rec);
	else if (rec->kind == SW_REC_CONTEXT_OP)
		context_ends(rec);
	else if (rec->kind == SW_REC_ALLOC && !rec->status) {
		const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)rec;
		if (is_host((enum sw_memory)a->memory))
			sw_buffers_add(a);
	}
	if (runs_kernels(rec->kind)) {
		sw_pages_release_managed();
		starting += !mine.kernels;
		mine.kernels = true;
	}
	op.first = mine.uses;
	if (rec->kind == SW_REC_LAUNCH)
		op.uses = mine.pointers;
	else
		op.uses = uses_of(rec);
	if (mine.n < OPS) {
		mine.op[mine.n++] = op;
		mine.uses += op.uses;
	} else {
		for (uint32_t i = 0; i < op.uses; i++)
			if (sw_buffers_find(mine.use[op.first + i].at))
				sw_pages_unguarded();
	}
	mine.pointers = 0;
}

/* A record of an operation; NULL: it was lost, and with it what we know. */
static void take_record(const struct sw_rec *rec)
{
	if (sw_guard_others)
		sw_guard_others->published(rec);
	if (rec && (rec->kind < SW_REC_LAUNCH || rec->kind == SW_REC_HOST_ACCESS || rec->kind == SW_REC_ANNOTATION ||
		    rec->kind == SW_REC_RANGE || rec->kind == SW_REC_LIBRARY || rec->kind == SW_REC_HOST_SYNC ||
		    rec->flags & SW_RF_END))
		return;
	uint64_t mask = sw_guard_lock();
	if (rec)
		begin_op(rec);
	else
		sw_pages_release_all();
	sw_guard_unlock(mask);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

#define CHUNK 64u

/* Notes each host buffer to which one of a launch's parameter words points. */
static void look_for_pointers(const uint64_t *words, size_t count)
{
	uint64_t mask = sw_guard_lock();
	for (size_t i = 0; i < count; i++) {
		const struct sw_buffer *b = words[i] > 0xffff ? sw_buffers_find_device(words[i]) : NULL;
		struct sw_guard_use *pointer = &mine.use[mine.uses];
		bool known = !b;
		for (uint32_t k = 0; b && k < mine.pointers; k++)
			known |= pointer[k].at == b->address;
		if (!known && mine.uses + mine.pointers < USES)
			pointer[mine.pointers++] = (struct sw_guard_use){b->address, b->bytes, true};
		else if (!known)
			sw_pages_unguarded();
	}
	sw_guard_unlock(mask);
}

/* Takes the parameters of the next launch.  Which part of a buffer a kernel uses, and how, is for the analyser: all of
   it is protected against all.  The block may lie in the program's memory, so it is read without the lock. */
static void take_args(const void *block, size_t bytes)
{
	if (sw_guard_others)
		sw_guard_others->parameters(block, bytes);
	uint64_t words[CHUNK];
	for (size_t at = 0; at + 8 <= bytes; at += sizeof words) {
		size_t part = bytes - at < sizeof words ? bytes - at : sizeof words;
		memcpy(words, (const char *)block + at, part);
		look_for_pointers(words, part / 8);
	}
}

/* ---- after the call ---------------------------------------------------------------------------------------------- */

/* Protects what work uses that was just enqueued as `step`. */
static void guard_uses(const struct op *op, struct sw_guard_step step)
{
	for (uint32_t i = op->first; i < op->first + op->uses; i++) {
		const struct sw_guard_use *use = &mine.use[i];
		const struct sw_buffer *b = sw_buffers_find(use->at);
		uint64_t bytes = use->bytes;
		if (b && b->memory == SW_MEM_MANAGED && (op->kind == SW_REC_LAUNCH || kernels_in_flight())) {
			sw_pages_unguarded();
			continue;
		}
		if (op->kind == SW_REC_LAUNCH && bytes > LONGEST_OF_KERNEL) {
			bytes = LONGEST_OF_KERNEL;
			sw_pages_unguarded();
		}
		sw_pages_guard(step, use->at, bytes, use->writes);
	}
}

/* After a synchronous copy or set: if known host memory took part, it has been waited for, and all that came before it
   on its stream. */
static void waited_for(const struct op *op)
{
	struct sw_guard_clock covered;
	bool host = false;
	for (uint32_t i = op->first; i < op->first + op->uses; i++)
		host |= sw_buffers_find(mine.use[i].at) != NULL;
	if (!host)
		return;
	lanes_cover_stream(&covered, &op->at);
	lanes_known(&covered);
}

/* The call has enqueued its work: takes its step, and protects its memory if the call did not wait. */
static void start_work(const struct op *op)
{
	if (captures)
		return;
	struct sw_guard_step step = lanes_enqueue(&op->at);
	if (runs_kernels(op->kind) && step.tick)
		last[step.lane] = step;
	if (op->synchronous)
		waited_for(op);
	else
		guard_uses(op, step);
}

/* A capture has begun or ended. */
static void end_capture(const struct op *op)
{
	if (op->handle == CAPTURE_BEGAN)
		captures++;
	else if (captures)
		captures--;
}

/* One element of a call that succeeded takes effect. */
static void op_succeeded(const struct op *op)
{
	switch (op->kind) {
	case SW_REC_STREAM_CREATE:
		lanes_stream_made(&op->at, op->handle & 1);
		break;
	case SW_REC_STREAM_DESTROY:
		lanes_stream_gone(&op->at);
		break;
	case SW_REC_EVENT_RECORD:
		if (!captures)
			lanes_record(op->handle, &op->at);
		break;
	case SW_REC_STREAM_WAIT:
		if (!captures)
			lanes_wait(&op->at, op->handle);
		break;
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
	case SW_REC_SET:
	case SW_REC_LAUNCH:
	case SW_REC_GRAPH_LAUNCH:
	case SW_REC_MEM_OP:
	case SW_REC_HOST_FUNC:
	case SW_REC_OTHER:
	case SW_REC_UNCLASSIFIED:
		start_work(op);
		break;
	default:
		break;
	}
}

/* Puts into the trace how many uses were not guarded: without the lock, since recording takes locks of its own. */
static void record_unguarded(uint64_t uses)
{
	struct sw_rec_host_access *r = sw_guard_recorder->describe(SW_REC_HOST_ACCESS, sizeof *r, true);
	if (!r)
		return;
	r->address = r->instruction = 0;
	r->bytes = uses;
	r->flags = SW_HOST_UNGUARDED;
	r->reserved = 0;
	sw_guard_recorder->described(r);
}

/* When a call of CUDA returned: enters the work that it enqueued, and what its wait covered is done. */
static void call_left(int status)
{
	if (sw_guard_others)
		sw_guard_others->left(status);
	if (!mine.n && !mine.kernels && !mine.waits)
		return;
	uint64_t mask = sw_guard_lock();
	for (uint32_t i = 0; i < mine.n; i++) {
		if (mine.op[i].kind == SW_REC_CAPTURE)
			end_capture(&mine.op[i]);
		else if (!status)
			op_succeeded(&mine.op[i]);
	}
	if (mine.waits && !status) {
		lanes_known(&mine.covered);
		sw_pages_settle();
	}
	starting -= mine.kernels && starting;
	uint64_t untold = sw_pages_unguarded_new(mine.waits);
	mine.n = mine.uses = mine.pointers = 0;
	mine.kernels = mine.waits = false;
	sw_guard_unlock(mask);
	if (untold)
		record_unguarded(untold);
}

const struct sw_companion_hooks sw_guard_hooks = {.published = take_record, .parameters = take_args, .left = call_left};
