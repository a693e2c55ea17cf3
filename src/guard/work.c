/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorder's records mean to the guard.  A record that is seen before its call is kept until the call has
 * returned: only then is work in flight, and the driver has done with the pages on the host's side.
 */
#include "guard/guard.h"

#include <string.h>

#include "guard/uses.h"

#define CAPTURE_BEGAN 1u
/* Of one call: elements of a batch, and their uses of host memory or the pointers of a launch into it.  What is beyond
   these is counted.  (They lie in thread-local storage, which is taken from the stack of each thread.) */
#define OPS  48u
#define USES 112u
/* A kernel may use any part of a buffer, and protecting costs in proportion to the pages: of a longer one the start is
   guarded.  Copies take longer than protecting what they copy. */
#define LONGEST_OF_KERNEL (1ull << 30)

/* What a call under way is about. */
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

static bool runs_kernels(uint8_t kind)
{
	return kind == SW_REC_LAUNCH || kind == SW_REC_GRAPH_LAUNCH || kind == SW_REC_MEM_OP || kind == SW_REC_OTHER ||
	       kind == SW_REC_UNCLASSIFIED;
}

static bool is_host(enum sw_memory memory)
{
	return memory == SW_MEM_PINNED || memory == SW_MEM_REGISTERED || memory == SW_MEM_MANAGED;
}

/* ---- before the call --------------------------------------------------------------------------------------------- */

static struct sw_guard_at place_of(const struct sw_rec *rec)
{
	if (!mine.id)
		mine.id = ++threads;
	return (struct sw_guard_at){.stream = sw_use_stream(rec),
				    .thread = mine.id,
				    .ctx = rec->ctx,
				    .per_thread = rec->flags & SW_RF_PER_THREAD};
}

static void cover(const struct sw_rec *rec, const struct sw_guard_at *at)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)rec;
	switch (s->what) {
	case SW_SYNC_EVENT:
	case SW_SYNC_ELAPSED:
		sw_lanes_cover_event(&mine.covered, s->what == SW_SYNC_EVENT ? s->handle : s->handle2);
		break;
	case SW_SYNC_STREAM: {
		struct sw_guard_at stream = *at;
		stream.stream = s->handle;
		sw_lanes_cover_stream(&mine.covered, &stream);
		break;
	}
	default:
		sw_lanes_cover_context(&mine.covered, rec->ctx);
		break;
	}
	mine.waits = true;
}

static void freed(const struct sw_rec *rec)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)rec;
	const struct sw_buffer *b = sw_buffers_find(f->address);
	if (!b || b->address != f->address)
		return;
	sw_pages_release(b->address, b->address + b->bytes, false);
	sw_buffers_drop(f->address);
}

static void context_ends(const struct sw_rec *rec)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)rec;
	if (o->op == SW_CONTEXT_DESTROY || o->op == SW_CONTEXT_RESET)
		sw_pages_release_all();
}

/* Those of a copy or a set; there may be no room for them. */
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

static void begin(const struct sw_rec *rec)
{
	struct op op = {.kind = rec->kind,
			.synchronous = rec->flags & SW_RF_SYNCHRONOUS,
			.at = place_of(rec),
			.handle = sw_use_handle(rec)};
	if (rec->kind == SW_REC_SYNC || rec->kind == SW_REC_QUERY)
		cover(rec, &op.at);
	else if (rec->kind == SW_REC_FREE)
		freed(rec);
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
static void published(const struct sw_rec *rec)
{
	if (sw_guard_others)
		sw_guard_others->published(rec);
	if (rec && (rec->kind < SW_REC_LAUNCH || rec->kind == SW_REC_HOST_ACCESS || rec->kind == SW_REC_ANNOTATION ||
		    rec->kind == SW_REC_RANGE || rec->kind == SW_REC_LIBRARY || rec->kind == SW_REC_HOST_SYNC ||
		    rec->flags & SW_RF_END))
		return;
	uint64_t mask = sw_guard_lock();
	if (rec)
		begin(rec);
	else
		sw_pages_release_all();
	sw_guard_unlock(mask);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

#define CHUNK 64u

static void look(const uint64_t *words, size_t count)
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

/* What the launch that comes next is given.  Which part of a buffer a kernel uses, and how, is for the analyser: all of
   it is protected against all.  The block may lie in the program's memory, so it is read without the lock. */
static void parameters(const void *block, size_t bytes)
{
	if (sw_guard_others)
		sw_guard_others->parameters(block, bytes);
	uint64_t words[CHUNK];
	for (size_t at = 0; at + 8 <= bytes; at += sizeof words) {
		size_t part = bytes - at < sizeof words ? bytes - at : sizeof words;
		memcpy(words, (const char *)block + at, part);
		look(words, part / 8);
	}
}

/* ---- after the call ---------------------------------------------------------------------------------------------- */

static void guard(const struct op *op, struct sw_guard_step step)
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

/* A synchronous copy that known host memory takes part in has been waited for, and all that came before it on its
 * stream. */
static void waited_for(const struct op *op)
{
	struct sw_guard_clock covered;
	bool host = false;
	for (uint32_t i = op->first; i < op->first + op->uses; i++)
		host |= sw_buffers_find(mine.use[i].at) != NULL;
	if (!host)
		return;
	sw_lanes_cover_stream(&covered, &op->at);
	sw_lanes_known(&covered);
}

static void work(const struct op *op)
{
	if (captures)
		return;
	struct sw_guard_step step = sw_lanes_enqueue(&op->at);
	if (runs_kernels(op->kind) && step.tick)
		last[step.lane] = step;
	if (op->synchronous)
		waited_for(op);
	else
		guard(op, step);
}

static void captured(const struct op *op)
{
	if (op->handle == CAPTURE_BEGAN)
		captures++;
	else if (captures)
		captures--;
}

static void succeeded(const struct op *op)
{
	switch (op->kind) {
	case SW_REC_STREAM_CREATE:
		sw_lanes_stream_made(&op->at, op->handle & 1);
		break;
	case SW_REC_STREAM_DESTROY:
		sw_lanes_stream_gone(&op->at);
		break;
	case SW_REC_EVENT_RECORD:
		if (!captures)
			sw_lanes_record(op->handle, &op->at);
		break;
	case SW_REC_STREAM_WAIT:
		if (!captures)
			sw_lanes_wait(&op->at, op->handle);
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
		work(op);
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

/* The call of the records seen so far has returned. */
static void left(int status)
{
	if (sw_guard_others)
		sw_guard_others->left(status);
	if (!mine.n && !mine.kernels && !mine.waits)
		return;
	uint64_t mask = sw_guard_lock();
	for (uint32_t i = 0; i < mine.n; i++) {
		if (mine.op[i].kind == SW_REC_CAPTURE)
			captured(&mine.op[i]);
		else if (!status)
			succeeded(&mine.op[i]);
	}
	if (mine.waits && !status) {
		sw_lanes_known(&mine.covered);
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

const struct sw_companion_hooks sw_guard_hooks = {.published = published, .parameters = parameters, .left = left};
