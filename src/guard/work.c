/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorder's records mean to the guard.  A record that is seen before its call is kept until the call has
 * returned: only then is work in flight, and the driver has done with the pages on the host's side.
 */
#include "guard/guard.h"

#include <string.h>

#include "guard/uses.h"

#define CAPTURE_BEGAN 1u
/* Elements of a batch beyond these are not guarded. */
#define OPS 32u
/* Pointers of one launch into host buffers. */
#define POINTERS 16u

/* What a call under way is about. */
struct op {
	uint8_t kind;
	bool synchronous;
	struct sw_guard_at at;
	uint64_t handle;
	uint32_t uses;
	struct sw_guard_use use[SW_USES];
};

struct thread {
	uint32_t id;
	uint32_t n, pointers;
	bool kernels; /* counted in `starting` */
	bool waits;
	struct sw_guard_clock covered;
	struct op op[OPS];
	struct sw_guard_use pointer[POINTERS];
};
static __thread struct thread mine __attribute__((tls_model("initial-exec")));

static uint32_t threads;
static uint32_t captures;			  /* in progress: what is issued may not be executed */
static uint32_t starting;			  /* kernels whose launch has not returned */
static struct sw_guard_step last[SW_GUARD_LANES]; /* kernel of each lane */

void sw_work_forget(void)
{
	mine.n = mine.pointers = 0;
	mine.kernels = mine.waits = false;
	captures = starting = 0;
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
	op.uses = sw_uses_of(rec, op.use);
	if (rec->kind == SW_REC_LAUNCH) {
		op.uses = mine.pointers < SW_USES ? mine.pointers : SW_USES;
		memcpy(op.use, mine.pointer, op.uses * sizeof *op.use);
		mine.pointers = 0;
	}
	if (mine.n < OPS)
		mine.op[mine.n++] = op;
}

/* A record of an operation; NULL: it was lost, and with it what we know. */
static void published(const struct sw_rec *rec)
{
	if (rec && (rec->kind < SW_REC_LAUNCH || rec->kind == SW_REC_HOST_ACCESS || rec->kind == SW_REC_ANNOTATION ||
		    rec->kind == SW_REC_RANGE || rec->kind == SW_REC_HOST_SYNC || rec->flags & SW_RF_END))
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
	for (size_t i = 0; i < count && mine.pointers < POINTERS; i++) {
		const struct sw_buffer *b = words[i] > 0xffff ? sw_buffers_find_device(words[i]) : NULL;
		bool known = !b;
		for (uint32_t k = 0; b && k < mine.pointers; k++)
			known |= mine.pointer[k].at == b->address;
		if (!known)
			mine.pointer[mine.pointers++] = (struct sw_guard_use){b->address, b->bytes, true};
	}
	sw_guard_unlock(mask);
}

/* What the launch that comes next is given.  Which part of a buffer a kernel uses, and how, is for the analyser: all of
   it is protected against all.  The block may lie in the program's memory, so it is read without the lock. */
static void parameters(const void *block, size_t bytes)
{
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
	for (uint32_t i = 0; i < op->uses; i++) {
		const struct sw_guard_use *use = &op->use[i];
		const struct sw_buffer *b = sw_buffers_find(use->at);
		if (b && b->memory == SW_MEM_MANAGED && (op->kind == SW_REC_LAUNCH || kernels_in_flight()))
			continue;
		sw_pages_guard(step, use->at, use->bytes, use->writes);
	}
}

/* A synchronous copy that known host memory takes part in has been waited for, and all that came before it on its
 * stream. */
static void waited_for(const struct op *op)
{
	struct sw_guard_clock covered;
	bool host = false;
	for (uint32_t i = 0; i < op->uses; i++)
		host |= sw_buffers_find(op->use[i].at) != NULL;
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

/* The call of the records seen so far has returned. */
static void left(int status)
{
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
	mine.n = mine.pointers = 0;
	mine.kernels = mine.waits = false;
	sw_guard_unlock(mask);
}

const struct sw_companion_hooks sw_guard_hooks = {.published = published, .parameters = parameters, .left = left};
