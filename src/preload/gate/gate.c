/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-gate.so: calls that the program itself forbids in a block (syncwatch_forbid_begin() of syncwatch.h, and
 * `with syncwatch.forbid(...)` of the Python module), found when they return.
 *
 * syncwatch.h loads it when a block begins for the first time; until then no call takes longer for it.  What a call is
 * comes from its record; the driver is asked what memory a copy uses, inside a block only.  Blocks belong to their
 * threads.  The kinds are those of detect/gate.h, but for device-wait, which only the judge can know.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/ids.h"
#include "preload/platform/clock.h"
#include "preload/recorder/companion.h"
#include "syncwatch/format.h"
#include "syncwatch/syncwatch.h"

#define EXPORT	      __attribute__((visibility("default")))
#define MOST_BLOCKS   16    /* of a thread, one in the other */
#define FIRST_USE_NS  30000 /* a first launch that takes longer has loaded code (detect/kernels/first_uses.c) */
#define POINTER_TYPE  2	    /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
#define POINTER_OWNED 8	    /* CU_POINTER_ATTRIBUTE_IS_MANAGED */

enum { WAIT = 1, ALLOC = 2, FREE = 4, PIN = 8, LOAD = 16, PAGEABLE = 32, ANY = 63 };

/* The most telling kind of a call first. */
static const struct {
	uint32_t kind;
	const char *name;
} kinds[] = {{LOAD, "load"}, {PIN, "pin"}, {ALLOC, "alloc"}, {FREE, "free"}, {PAGEABLE, "pageable"}, {WAIT, "wait"}};
#define N_KINDS (sizeof kinds / sizeof *kinds)

static const char *const names[] = {
#define SW_CU_SYMBOL(symbol, ...)      [SW_ID_##symbol] = #symbol,
#define SW_CU_PASS_SYMBOL(symbol, ...) [SW_ID_##symbol] = #symbol,
#define SW_CU_WAY(symbol, ...)	       [SW_ID_##symbol] = #symbol,
#include "api/cuda.def"
};

struct block {
	uint32_t kinds;
	uint32_t functions; /* known when it began */
	bool paused;	    /* it began outside of all windows: hot calls were not looked at */
	unsigned long long calls, found;
	struct syncwatch_forbidden first;
	syncwatch_forbidden_function *tell;
	void *arg;
};
struct thread {
	int depth;
	bool telling;
	struct block block[MOST_BLOCKS];
	/* The call in progress. */
	bool pending;
	uint32_t is;	   /* kinds */
	uint32_t function; /* of a launch, 0: of no other call */
	uint16_t api;
	uint64_t ticks;
};

/* A pointer only: an object that is loaded late has little room in the static block. */
static __thread struct thread *mine __attribute__((tls_model("initial-exec")));

bool sw_clock_is_tsc; /* as the recorder's own */

static const struct sw_companion *recorder;
static const struct sw_companion_hooks *others;

/* ---- what a call is ---------------------------------------------------------------------------------------------- */

enum place { UNKNOWN, DEVICE, PINNED, PAGED };

typedef int pointer_attribute(void *data, int attribute, uint64_t pointer);

/* Which kind of memory a copy uses, by the record or else by the driver. */
static enum place place_of(uint64_t address, unsigned side)
{
	unsigned type = 0, managed = 0;
	pointer_attribute *ask;

	if (side == SW_SIDE_DEVICE || side == SW_SIDE_ARRAY)
		return DEVICE;
	ask = (pointer_attribute *)(uintptr_t)recorder->driver(SW_ID_cuPointerGetAttribute);
	if (!ask)
		return UNKNOWN;
	if (ask(&type, POINTER_TYPE, address))
		return PAGED;
	if (!ask(&managed, POINTER_OWNED, address) && managed)
		return DEVICE;
	return type == 1 ? PINNED : DEVICE;
}

/* Which forbidden kinds a copy is of: one that the host waits for, one of pageable memory. */
static uint32_t copy_is(const struct sw_rec *r, enum place dst, enum place src)
{
	const bool synchronous = r->flags & SW_RF_SYNCHRONOUS;
	const bool host = dst >= PINNED || src >= PINNED;
	uint32_t is = dst == PAGED || src == PAGED ? PAGEABLE : 0;

	/* An asynchronous copy to pageable memory returns when it is done on every driver that was measured. */
	if ((synchronous && host) || dst == PAGED)
		is |= WAIT;
	return is;
}

/* Which forbidden kinds an allocation is of. */
static uint32_t alloc_is(const struct sw_rec_alloc *a)
{
	switch (a->memory) {
	case SW_MEM_DEVICE:
	case SW_MEM_MANAGED:
	case SW_MEM_ARRAY:
	case SW_MEM_MAPPED:
		return ALLOC;
	case SW_MEM_PINNED:
	case SW_MEM_REGISTERED:
		return PIN;
	default: /* stream-ordered memory is made for loops */
		return 0;
	}
}

/* Which forbidden kinds a free is of; most wait for the device. */
static uint32_t free_is(const struct sw_rec_free *f)
{
	switch (f->memory) {
	case SW_MEM_ASYNC:
		return 0;
	case SW_MEM_MAPPED:
		return FREE;
	case SW_MEM_PINNED:
	case SW_MEM_REGISTERED:
		return PIN | WAIT;
	default:
		return FREE | WAIT;
	}
}

/* Which forbidden kinds a call is, by its record; 0: none. */
static uint32_t kinds_of(const struct sw_rec *r)
{
	const struct sw_rec_copy *copy = (const void *)r;
	const struct sw_rec_copy_nd *box = (const void *)r;
	const struct sw_rec_set *set = (const void *)r;

	switch (r->kind) {
	case SW_REC_SYNC:
		return ((const struct sw_rec_sync *)(const void *)r)->what == SW_SYNC_ELAPSED ? 0 : WAIT;
	case SW_REC_COPY:
		return copy_is(r, place_of(copy->dst, copy->dst_side), place_of(copy->src, copy->src_side));
	case SW_REC_COPY_ND:
		return copy_is(r, place_of(box->dst.base, box->dst.side), place_of(box->src.base, box->src.side));
	case SW_REC_SET:
		return r->flags & SW_RF_SYNCHRONOUS && place_of(set->dst, SW_SIDE_UNIFIED) >= PINNED ? WAIT : 0;
	case SW_REC_ALLOC:
		return alloc_is((const void *)r);
	case SW_REC_FREE:
		return free_is((const void *)r);
	case SW_REC_CODE_LOAD:
		return LOAD;
	default:
		return 0;
	}
}

/* ---- hooks of the recorder --------------------------------------------------------------------------------------- */

/* The id of a launch's kernel, by which a first use is seen; 0 for a short record, which repeats an earlier launch. */
static uint32_t function_of(const struct sw_rec *r)
{
	const struct sw_rec_launch *launch = (const void *)r;

	return r->kind == SW_REC_LAUNCH && r->words * 8u >= sizeof *launch ? launch->function : 0;
}

/* The recorder's hook: keeps the kinds of the call that is about to be made in a block. */
static void record_published(const struct sw_rec *r)
{
	struct thread *t = mine;

	if (others)
		others->published(r);
	if (!t || !t->depth || t->telling || !r || r->flags & SW_RF_END)
		return;
	sw_clock_is_tsc = recorder->header()->flags & SW_FILE_TSC;
	t->is = (t->pending ? t->is : 0) | kinds_of(r);
	t->function = function_of(r);
	t->api = r->api;
	t->ticks = r->ticks;
	t->pending = true;
}

/* The recorder's hook for parameters of launches, which the gate does not need: passes them on. */
static void launch_parameters(const void *block, size_t bytes)
{
	if (others)
		others->parameters(block, bytes);
}

/* Nanoseconds since a time stamp of the trace. */
static unsigned long long passed_ns(uint64_t since)
{
	const struct sw_file_header *header = recorder->header();
	const uint64_t rate = header && header->ticks_per_second ? header->ticks_per_second : 1000000000;
	const uint64_t now = sw_clock_ticks();

	return now > since ? (unsigned long long)((unsigned __int128)(now - since) * 1000000000 / rate) : 0;
}

/* Counts a forbidden call in a block and tells the program. */
static void add_found(struct block *b, const struct thread *t, uint32_t is, unsigned long long ns)
{
	struct syncwatch_forbidden call = {.ns = ns};
	size_t k = 0;

	while (!(is & kinds[k].kind))
		k++;
	call.kind = kinds[k].name;
	call.api = t->api < SW_ID_COUNT && names[t->api] ? names[t->api] : "";
	if (!b->found++)
		b->first = call;
	if (b->tell)
		b->tell(b->arg, &call);
}

/* The recorder's hook: the call has returned; counts it in each block of the thread that forbids it. */
static void call_left(int status)
{
	struct thread *t = mine;
	const int error = errno;

	if (others)
		others->left(status);
	if (!t || !t->pending || t->telling)
		return;
	const unsigned long long ns = passed_ns(t->ticks);
	t->pending = false;
	t->telling = true;
	for (int i = 0; i < t->depth; i++) {
		struct block *b = &t->block[i];
		uint32_t is = t->is;

		b->calls++;
		if (t->function > b->functions) {
			b->functions = t->function;
			is |= ns >= FIRST_USE_NS ? LOAD : 0;
		}
		if (!status && is & b->kinds)
			add_found(b, t, is & b->kinds, ns);
	}
	t->telling = false;
	errno = error;
}

static const struct sw_companion_hooks hooks = {
	.published = record_published, .parameters = launch_parameters, .left = call_left};

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* A list such as "wait,alloc" as bits; 0: a word is none of the kinds. */
static uint32_t parse_kinds(const char *text)
{
	uint32_t all = 0;

	for (const char *at = text;; at++) {
		const size_t bytes = strcspn(at, ",");
		uint32_t kind = bytes == 3 && !strncmp(at, "any", 3) ? ANY : 0;

		for (size_t k = 0; k < N_KINDS; k++)
			if (strlen(kinds[k].name) == bytes && !strncmp(at, kinds[k].name, bytes))
				kind = kinds[k].kind;
		if (!kind)
			return 0;
		all |= kind;
		at += bytes;
		if (!*at)
			return all;
	}
}

/* syncwatch_forbid_begin(): returns a number for end_block(), or a negative error. */
static int begin_block(const char *text, syncwatch_forbidden_function *tell, void *arg)
{
	const uint32_t wanted = parse_kinds(text);

	if (!wanted)
		return SYNCWATCH_UNKNOWN_KIND;
	if (!mine)
		mine = calloc(1, sizeof *mine);
	if (!mine || mine->depth == MOST_BLOCKS)
		return SYNCWATCH_NOT_CHECKED;
	mine->block[mine->depth++] = (struct block){.kinds = wanted,
						    .functions = recorder->functions(),
						    .paused = recorder->windows.paused(),
						    .tell = tell,
						    .arg = arg};
	return mine->depth;
}

/* syncwatch_forbid_end(): returns how many forbidden calls were made, or that they could not be seen. */
static long end_block(int token, struct syncwatch_forbidden *first, unsigned long long *calls)
{
	struct block block;

	if (!mine || token < 1 || token > mine->depth)
		return SYNCWATCH_NOT_CHECKED;
	block = mine->block[token - 1];
	mine->depth = token - 1; /* those inside of it have ended, too */
	if (!mine->depth && !mine->telling) {
		free(mine);
		mine = NULL;
	}
	if (first)
		*first = block.first;
	if (calls)
		*calls = block.calls;
	/* Calls that the recorder could not take, or left out, were not looked at. */
	if (!block.found && (block.paused || recorder->windows.paused()))
		return SYNCWATCH_NOT_CHECKED;
	return recorder->recording() || !recorder->header() ? (long)block.found : SYNCWATCH_NOT_CHECKED;
}

static const struct syncwatch_gate gate = {begin_block, end_block};
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

/* Called by the recorder whenever the program asks for the gate; it hooks itself into calls once. */
EXPORT const struct syncwatch_gate *syncwatch_gate_start(const struct sw_companion *companion);

/* The program asked for its gate: from the first time on it sees each record, and passes all on to companions that came
   before. */
const struct syncwatch_gate *syncwatch_gate_start(const struct sw_companion *companion)
{
	if (!companion)
		return NULL;
	pthread_mutex_lock(&starting);
	if (!recorder) {
		recorder = companion;
		companion->hook(&hooks, &others);
	}
	pthread_mutex_unlock(&starting);
	return &gate;
}
