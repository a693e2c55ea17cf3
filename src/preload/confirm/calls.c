/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder's records mean here: calls of the plan, and calls that could wait for what is held. */
#include "preload/confirm/confirm.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "preload/platform/lock.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"
#include "preload/savings/savings.h"

enum owner { UNKNOWN, OURS, OTHERS };

/* Of the call that the thread is in. */
struct call {
	uint32_t places, exact;
	CUstream stream;
	uint64_t seq;
	bool held;    /* the earlier call, with its stream held */
	bool watched; /* the later one */
};
static __thread struct call mine __attribute__((tls_model("initial-exec")));

static struct sw_lock lock;
static _Atomic uint32_t owner;
static pid_t process;		  /* a fork child has no thread that would end a hold */
static _Atomic uint32_t captures; /* in progress: what is issued may not be executed */
static _Atomic bool swapped;	  /* of the later call's stream: it came first */

/* One hold a run. */
enum { UNTRIED, BEGINNING, BEGUN };
static _Atomic uint32_t tried; /* a futex */
#define BEGIN_NS 1000000000ull

bool sw_calls_try(void)
{
	uint32_t expected = UNTRIED;
	return atomic_compare_exchange_strong(&tried, &expected, BEGINNING);
}

bool sw_calls_tried(void)
{
	return atomic_load(&tried) != UNTRIED;
}

void sw_calls_begun(void)
{
	atomic_store(&tried, BEGUN);
	sw_sys_wake((const uint32_t *)&tried, INT_MAX);
}

/* Another thread is about to hold its stream: what this one does next comes after that. */
static void await_hold(void)
{
	const uint64_t until = sw_sys_monotonic() + BEGIN_NS;
	const struct timespec t = {.tv_nsec = 1000000};
	while (atomic_load(&tried) == BEGINNING && sw_sys_monotonic() < until)
		sw_sys_wait((const uint32_t *)&tried, BEGINNING, &t);
}

/* Does this process follow the plan?  The first one that calls CUDA does. */
static bool is_ours(void)
{
	uint32_t now = atomic_load(&owner);
	if (now != UNKNOWN)
		return now == OURS && process == getpid();
	const uint64_t mask = sw_lock_enter(&lock);
	process = atomic_load(&owner) == UNKNOWN ? getpid() : process;
	if (atomic_load(&owner) == UNKNOWN)
		atomic_store(&owner, sw_result_claim() ? OURS : OTHERS);
	sw_lock_leave(&lock, mask);
	return atomic_load(&owner) == OURS;
}

/* Other frees have a number of bytes where these have their stream. */
static bool frees_in_order(const struct sw_rec *rec)
{
	return rec->api == SW_ID_cuMemFreeAsync || rec->api == SW_ID_cuMemFreeAsync_ptsz;
}

static CUstream stream_of(const struct sw_rec *rec)
{
	const void *r = rec;
	uint64_t stream = 0;
	switch ((enum sw_rec_kind)rec->kind) {
#define STREAM(kind, type)                                                                                             \
	case SW_REC_##kind:                                                                                            \
		stream = ((const struct type *)r)->stream;                                                             \
		break;
		STREAM(LAUNCH, sw_rec_launch)
		STREAM(COPY, sw_rec_copy)
		STREAM(COPY_ND, sw_rec_copy_nd)
		STREAM(SET, sw_rec_set)
		STREAM(EVENT_RECORD, sw_rec_event_record)
		STREAM(STREAM_WAIT, sw_rec_stream_wait)
		STREAM(HOST_FUNC, sw_rec_host_func)
		STREAM(GRAPH_LAUNCH, sw_rec_graph_launch)
		STREAM(MEM_OP, sw_rec_mem_op)
		STREAM(ALLOC, sw_rec_alloc)
#undef STREAM
	case SW_REC_FREE:
		stream = frees_in_order(rec) ? ((const struct sw_rec_free *)r)->stream : 0;
		break;
	default:
		break;
	}
	if (!stream)
		return rec->flags & SW_RF_PER_THREAD ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	return (CUstream)(uintptr_t)stream;
}

static void context_ends(const struct sw_rec *rec)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)rec;
	if (o->op == SW_CONTEXT_DESTROY || o->op == SW_CONTEXT_RESET)
		sw_hold_context_gone();
}

/* Of one capture: 1 the wait is in it, 2 the marks are.  Only a graph with both shows anything. */
#define PUT_IN_APART 8u
static _Atomic uint32_t put_in;

static void capture_ended(void)
{
	uint32_t part = 1;
	if (atomic_load(&captures))
		return;
	if (atomic_compare_exchange_strong(&put_in, &part, PUT_IN_APART))
		sw_hold_give_up();
	else if (part == 2)
		atomic_store(&put_in, PUT_IN_APART);
}

static void captured(const struct sw_rec *rec)
{
	const struct sw_rec_capture *c = (const struct sw_rec_capture *)(const void *)rec;
	if (c->op != SW_CAPTURE_END)
		atomic_fetch_add(&captures, 1);
	else if (atomic_load(&captures))
		atomic_fetch_sub(&captures, 1);
	capture_ended();
}

/* ---- a call of the plan ------------------------------------------------------------------------------------------ */

static void buffer_made(const struct sw_rec *rec)
{
	const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)rec;
	if (rec->kind == SW_REC_ALLOC && !rec->status)
		sw_hold_buffer(a->address, a->bytes, a->memory == SW_MEM_PINNED || a->memory == SW_MEM_REGISTERED);
}

/* All captures of the place, whichever is meant: a graph that is updated must have the nodes of its update.  After the
   first hold they let everything through. */
static void capture_before(void)
{
	if (!atomic_load(&captures) || !sw_hold.words)
		return;
	if (mine.places & SW_PLACE_EARLIER && sw_hold_capture(mine.stream))
		atomic_fetch_or(&put_in, 1);
	else if (mine.places & SW_PLACE_LATER)
		sw_hold_mark(mine.stream, true);
}

static void capture_left(const struct call *call)
{
	if (!(call->places & SW_PLACE_LATER) || !atomic_load(&captures) || !sw_hold.words)
		return;
	sw_hold_mark(call->stream, false);
	atomic_fetch_or(&put_in, 2);
}

/* Once the program has a context: to register memory takes longer than much of what is between the two calls. */
static void prepare(const struct sw_rec *rec)
{
	const bool makes =
		rec->kind == SW_REC_ALLOC || rec->kind == SW_REC_STREAM_CREATE || rec->kind == SW_REC_EVENT_CREATE;
	if (!makes || rec->status || rec->flags & SW_RF_PENDING || sw_hold.words || atomic_load(&captures))
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	if (!sw_hold.words)
		sw_hold_prepare();
	sw_lock_leave(&lock, mask);
}

/* The hold begins when the graph is launched. */
static void capture_launched(const struct sw_rec *rec)
{
	if (rec->kind != SW_REC_GRAPH_LAUNCH || atomic_load(&put_in) != 3 || !sw_calls_try())
		return;
	sw_hold_launch(sw_rec_seq(rec), stream_of(rec));
	sw_calls_begun();
}

/* Calls of two threads come in either order, and what is shown of one is shown of the other.  What the host does itself
   cannot be held. */
static bool may_swap(void)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	return plan->earlier.thread != plan->later.thread && !plan->later_host && !plan->later_access &&
	       !sw_allocations_held();
}

static void hold_first(const struct sw_rec *rec)
{
	/* A record that is written after its call is too late to hold it. */
	if (!(rec->flags & SW_RF_PENDING) || atomic_load(&captures)) {
		sw_result(atomic_load(&captures) ? "captured" : "late");
		return;
	}
	if (!(mine.exact & SW_PLACE_EARLIER)) {
		atomic_store(&swapped, true);
		sw_hold_swap();
	}
	sw_dependents_begin(mine.stream);
	sw_hold_begin(mine.stream, mine.seq);
	mine.held = atomic_load(&sw_hold.state) == SW_HOLD_HELD;
}

static void hold_before(const struct sw_rec *rec)
{
	const uint32_t either = SW_PLACE_EARLIER | SW_PLACE_LATER;
	if (mine.exact & (may_swap() ? either : SW_PLACE_EARLIER) && sw_calls_try()) {
		hold_first(rec);
		sw_calls_begun();
		return;
	}
	await_hold();
	if (mine.exact & (atomic_load(&swapped) ? SW_PLACE_EARLIER : SW_PLACE_LATER)) {
		mine.watched = true;
		if (!atomic_load(&captures))
			sw_hold_later(mine.stream, sw_confirm_plan.later_host, mine.seq);
	}
}

/* ---- an allocation ----------------------------------------------------------------------------------------------- */

bool sw_calls_allocates(uint32_t id, CUstream stream)
{
	const int saved = errno;
	bool held = false;
	if (sw_confirm_recorder->inside() && !atomic_load(&captures) && sw_places_is_earlier(id) && sw_calls_try()) {
		sw_dependents_begin(stream);
		sw_hold_begin(stream, 0);
		sw_calls_begun();
		held = atomic_load(&sw_hold.state) == SW_HOLD_HELD;
	}
	errno = saved;
	return held;
}

void sw_calls_allocated(CUstream stream, CUresult status)
{
	const int saved = errno;
	if (status) {
		sw_result("failed call %d", (int)status);
		sw_watch_release(SW_RELEASE_EXIT);
	} else {
		sw_hold_earlier_left(stream);
	}
	errno = saved;
}

/* ---- nodes of a graph -------------------------------------------------------------------------------------------- */

/* The hold is put in when the graph is launched; here the places are found. */
static void nodes_before(const struct sw_rec *rec)
{
	sw_nodes_added(rec, mine.exact);
	if (sw_confirm_plan.nodes & SW_PLAN_NODE_LATER || !(mine.exact & SW_PLACE_LATER) || atomic_load(&captures))
		return;
	await_hold();
	mine.watched = true;
	sw_hold_later(mine.stream, sw_confirm_plan.later_host, mine.seq);
}

static void install(void)
{
	static _Atomic bool installed;
	if (atomic_exchange(&installed, true))
		return;
	if (sw_confirm_plan.nodes)
		sw_nodes_install();
	else
		sw_allocations_install();
}

/* ---- all others, while a stream is held -------------------------------------------------------------------------- */

static void others(const struct sw_rec *rec)
{
	const bool synchronous = rec->flags & SW_RF_BEGIN || rec->kind != SW_REC_SYNC;
	const uint64_t mask = sw_lock_enter(&lock);
	sw_dependents_record(rec, mine.stream);
	const bool blocks = synchronous && sw_dependents_blocks(rec, mine.stream);
	sw_lock_leave(&lock, mask);
	if (!blocks)
		return;
	/* The later call has been made, and may still be on its way.  Or another thread will make it: this one waits as
	   it would for a slow device. */
	if (atomic_load(&sw_hold.submitted))
		sw_watch_wait();
	else if (sw_confirm_recorder->thread()->number ==
		 (atomic_load(&swapped) ? sw_confirm_plan.earlier : sw_confirm_plan.later).thread)
		sw_watch_release(SW_RELEASE_HOST);
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

/* The guard saw the host touch bytes that unfinished work uses: the work that is held, if they are those of the plan.
 */
static void host_access(const struct sw_rec *rec)
{
	const struct sw_rec_host_access *a = (const struct sw_rec_host_access *)(const void *)rec;
	const uint64_t low = sw_hold.address, high = low + sw_confirm_plan.bytes;
	if (sw_confirm_plan.later_access)
		await_hold();
	if (!sw_confirm_plan.later_access || a->flags & SW_HOST_UNGUARDED || !low || a->address >= high ||
	    a->address + a->bytes <= low || atomic_load(&sw_hold.state) != SW_HOLD_HELD)
		return;
	sw_hold_later(NULL, true, sw_rec_seq(rec));
	sw_hold_later_left(NULL, true);
}

static void on_record(const struct sw_rec *rec)
{
	uint32_t exact;
	if (!rec || rec->kind < SW_REC_LAUNCH || rec->flags & SW_RF_END || !is_ours())
		return;
	if (rec->kind == SW_REC_HOST_ACCESS) {
		if (sw_confirm_plan.mode == SW_PLAN_CHANGE)
			sw_host_uses_seen(rec);
		else
			host_access(rec);
		return;
	}
	if (rec->kind == SW_REC_CAPTURE)
		captured(rec);
	if (sw_confirm_plan.mode == SW_PLAN_EXPLORE) {
		if (!atomic_load(&captures))
			sw_explore_before(rec, stream_of(rec));
		return;
	}
	if (sw_confirm_plan.mode == SW_PLAN_CHANGE) {
		sw_savings_record(rec, stream_of(rec), atomic_load(&captures));
		return;
	}
	if (sw_confirm_plan.mode == SW_PLAN_EDGE) {
		sw_edges_record(rec, stream_of(rec), atomic_load(&captures));
		if (rec->kind == SW_REC_CONTEXT_OP)
			context_ends(rec);
		return;
	}
	install();
	const uint32_t places = sw_places_of_call(rec, &exact);
	mine.stream = stream_of(rec);
	if (places & SW_PLACE_BUFFER && exact & SW_PLACE_BUFFER)
		buffer_made(rec);
	if (places & (SW_PLACE_EARLIER | SW_PLACE_LATER)) {
		mine.places = places;
		mine.exact = exact;
		mine.seq = sw_rec_seq(rec);
		if (sw_confirm_plan.captured)
			capture_before();
		else if (sw_confirm_plan.nodes)
			nodes_before(rec);
		else
			hold_before(rec);
	}
	if (sw_confirm_plan.nodes)
		sw_nodes_changed(rec);
	prepare(rec);
	if (sw_confirm_plan.captured)
		capture_launched(rec);
	if (!mine.watched && !mine.held && atomic_load(&sw_hold.state) == SW_HOLD_HELD)
		others(rec);
	if (rec->kind == SW_REC_CONTEXT_OP)
		context_ends(rec);
}

/* The guard gets the call as it was changed. */
static bool told_otherwise(const struct sw_rec *rec)
{
	return rec && sw_confirm_plan.mode == SW_PLAN_CHANGE && sw_confirm_plan.changes.guard && is_ours() &&
	       sw_host_uses_tell(rec, sw_confirm_others);
}

static void published(const struct sw_rec *rec)
{
	const int saved = errno;
	if (sw_confirm_others && !told_otherwise(rec))
		sw_confirm_others->published(rec);
	on_record(rec);
	errno = saved;
}

/* Of the modes that hold no call of a finding. */
static bool left_other_mode(int status)
{
	const int saved = errno;
	if (sw_confirm_plan.mode == SW_PLAN_EXPLORE)
		sw_explore_left(status);
	else if (sw_confirm_plan.mode == SW_PLAN_CHANGE)
		sw_savings_left(status);
	else if (sw_confirm_plan.mode == SW_PLAN_EDGE)
		sw_edges_left(status, atomic_load(&captures));
	else
		return false;
	errno = saved;
	return true;
}

static void left(int status)
{
	if (sw_confirm_others)
		sw_confirm_others->left(status);
	if (left_other_mode(status))
		return;
	const struct call call = mine;
	mine = (struct call){0};
	if (!call.places)
		return;
	/* Work that was refused proves nothing. */
	if (status && call.held) {
		sw_result("failed call %d", status);
		sw_watch_release(SW_RELEASE_EXIT);
	}
	if (!status && sw_confirm_plan.captured)
		capture_left(&call);
	if (!status && sw_confirm_plan.nodes && atomic_load(&captures))
		sw_nodes_captured(call.stream, call.exact);
	if (status || sw_confirm_plan.captured || atomic_load(&captures))
		return;
	const int saved = errno;
	if (call.held) {
		sw_hold_earlier_left(call.stream);
	} else if (call.watched && atomic_load(&sw_hold.state) != SW_HOLD_NONE) {
		sw_hold_later_left(call.stream, sw_confirm_plan.later_host);
	}
	errno = saved;
}

static void parameters(const void *block, size_t bytes)
{
	if (sw_confirm_others)
		sw_confirm_others->parameters(block, bytes);
	if (sw_confirm_plan.mode == SW_PLAN_CHANGE) {
		sw_unpinned_parameters(block, bytes);
		sw_own_stream_parameters(block, bytes);
	}
}

const struct sw_companion_hooks sw_confirm_hooks = {.published = published, .parameters = parameters, .left = left};
