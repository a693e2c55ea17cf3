/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the recorder's records for `confirm`: calls of the plan, and calls that could wait for what is held. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "preload/confirm/confirm.h"
#include "preload/platform/lock.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"
#include "preload/savings/savings.h"

static bool allocations_held(void);
static void allocations_install(void);

/*
 * What is put into the program's streams.  A hold is a wait for a word of host memory that is registered with CUDA: the
 * stream continues when the word is written, by any thread or device (CUDA Driver API, "Stream Memory Operations").
 */

/* So many bytes of an overlap are compared. */
#define MOST_BYTES (4ull << 20)
#define PAGE	   4096u
#define MARK	   1u

enum snapshot { BEFORE, AFTER_LATER, AFTER_EARLIER };

struct sw_hold sw_hold;

/* Writes that a call of ours was refused; `what`: a key of SW_REFUSALS. */
static void report_failure(const char *what, CUresult status)
{
	sw_result("failed %s %d", what, (int)status);
}

/* Memory for the words and for copies of the bytes that both calls touch, registered with CUDA: our own mapping rather
   than one of CUDA's, so that the thread that watches may read it after the context has ended.  False: refused, and
   said so. */
static bool make_memory(void)
{
	__typeof__(&cuMemHostRegister_v2) enlist = SW_CONFIRM_REAL(cuMemHostRegister_v2);
	const uint64_t bytes = sw_confirm_plan.buffer.api && !sw_confirm_plan.later_access ? sw_confirm_plan.bytes : 0;
	int error = 0;
	if (sw_hold.words)
		return true;
	sw_hold.room = ((bytes < MOST_BYTES ? bytes : MOST_BYTES) + PAGE - 1) / PAGE * PAGE;
	uint8_t *at = sw_sys_map(-1, 0, PAGE + 3 * sw_hold.room, &error);
	if (!at || !enlist) {
		report_failure("memory", at ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_OUT_OF_MEMORY);
		return false;
	}
	const CUresult status =
		enlist(at, PAGE + 3 * sw_hold.room, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
	if (status != CUDA_SUCCESS) {
		report_failure("memory", status);
		sw_sys_unmap(at, PAGE + 3 * sw_hold.room);
		return false;
	}
	sw_hold.copies = at + PAGE;
	sw_hold.words = (struct sw_hold_words *)(void *)at;
	return true;
}

/* The address by which kernels see a word of the pinned page that hold and release are told by. */
CUdeviceptr sw_hold_device_address(const void *word)
{
	__typeof__(&cuMemHostGetDevicePointer_v2) ask = SW_CONFIRM_REAL(cuMemHostGetDevicePointer_v2);
	CUdeviceptr at = 0;
	const CUresult status = ask ? ask(&at, sw_hold.words, 0) : CUDA_ERROR_NOT_FOUND;
	if (status != CUDA_SUCCESS) {
		report_failure("address", status);
		return 0;
	}
	return at + (CUdeviceptr)((const char *)word - (const char *)sw_hold.words);
}

/* Enqueues a write of 1 to a word: when the host sees it, all work before it on the stream is done. */
static CUresult write_mark(CUstream stream, _Atomic uint32_t *word)
{
	__typeof__(&cuStreamWriteValue32_v2) put = SW_CONFIRM_REAL(cuStreamWriteValue32_v2);
	const CUdeviceptr at = sw_hold_device_address((const void *)word);
	return put && at ? put(stream, at, MARK, 0) : CUDA_ERROR_NOT_SUPPORTED;
}

/* Runs as a host function of the stream: copies the bytes that both calls of the plan touch. */
static void CUDA_CB take_snapshot(void *at)
{
	memcpy(at, (const void *)(uintptr_t)sw_hold.address, sw_hold.bytes);
}

/* Copies the bytes that both calls touch, in the order of the stream: by a host function where they are host memory,
   since a copy from host memory to host memory makes the host wait (measured: "h2h / h2h", HOST BLOCKED). */
static CUresult put_snapshot(CUstream stream, uint8_t *at)
{
	__typeof__(&cuMemcpyAsync) copy = SW_CONFIRM_REAL(cuMemcpyAsync);
	__typeof__(&cuLaunchHostFunc) call = SW_CONFIRM_REAL(cuLaunchHostFunc);
	if (sw_hold.on_host)
		return call ? call(stream, take_snapshot, at) : CUDA_ERROR_NOT_SUPPORTED;
	return copy ? copy((CUdeviceptr)(uintptr_t)at, (CUdeviceptr)sw_hold.address, sw_hold.bytes, stream)
		    : CUDA_ERROR_NOT_SUPPORTED;
}

/* Enqueues a copy of the bytes that both calls touch: before the later call, after it, or after the earlier one. */
static void snapshot_bytes(CUstream stream, enum snapshot which)
{
	if (!sw_hold.bytes || !sw_hold.address)
		return;
	const CUresult status = put_snapshot(stream, sw_hold.copies + which * sw_hold.room);
	if (status == CUDA_SUCCESS)
		atomic_fetch_or(&sw_hold.snapped, 1u << which);
	else
		report_failure("snapshot", status);
}

/* The allocation of the plan was made: now the bytes that both calls touch have an address. */
static void hold_buffer(uint64_t address, uint64_t bytes, bool on_host)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	if (plan->offset >= bytes || plan->bytes > bytes - plan->offset)
		return;
	sw_hold.on_host = on_host;
	sw_hold.address = address + plan->offset;
	if (!plan->later_access) /* the host's access is no work between two copies */
		sw_hold.bytes = plan->bytes < MOST_BYTES ? plan->bytes : MOST_BYTES;
}

/* The plan's later call came first, on another thread, so it is the one that is held, and the roles change.  The bytes
   of both are not compared then, as that is for the order of the trace only. */
static void hold_swap(void)
{
	sw_hold.bytes = 0;
	sw_result("swapped");
}

/* ---- holds ------------------------------------------------------------------------------------------------------- */

/* In a capture the wait becomes a node, and so do the marks (measured: "cuStreamWaitValue32 in a capture"). */
static bool hold_capture(CUstream stream)
{
	__typeof__(&cuStreamWaitValue32_v2) hold = SW_CONFIRM_REAL(cuStreamWaitValue32_v2);
	const CUdeviceptr at = sw_hold.words ? sw_hold_device_address(&sw_hold.words->release) : 0;
	const CUresult status =
		hold && at ? hold(stream, at, MARK, CU_STREAM_WAIT_VALUE_GEQ) : CUDA_ERROR_NOT_SUPPORTED;
	if (status != CUDA_SUCCESS)
		report_failure("hold", status);
	return status == CUDA_SUCCESS;
}

/* Enqueues a mark, i.e. a write to a word that the host looks at: `before` the later call's work, or after it. */
static void hold_mark(CUstream stream, bool before)
{
	const CUresult status = write_mark(stream, before ? &sw_hold.words->probe : &sw_hold.words->later);
	if (status != CUDA_SUCCESS)
		report_failure("mark", status);
}

/* Prepares a hold (a stream made to wait) that will be nodes of a graph: the memory must be there before any capture,
   as it cannot be registered in one. */
static void hold_prepare(void)
{
	if (make_memory())
		sw_watch_start();
}

/* Ends a hold whose wait is in a graph that shows nothing, since nothing else would end it. */
static void hold_give_up(void)
{
	if (sw_hold.words)
		atomic_store(&sw_hold.words->release, MARK);
}

/* A graph with the nodes of the hold is launched on the stream: the hold begins. */
void sw_hold_launch(uint64_t seq, CUstream stream)
{
	sw_dependents_begin(stream);
	sw_result("earlier %llu %llu", (unsigned long long)seq, (unsigned long long)sw_result_us());
	if (sw_confirm_plan.captured || sw_confirm_plan.nodes & SW_PLAN_NODE_LATER) {
		sw_result("later %llu %llu held", (unsigned long long)seq, (unsigned long long)sw_result_us());
		atomic_store(&sw_hold.submitted, true);
	}
	atomic_store(&sw_hold.deadline, sw_sys_monotonic() + sw_confirm_plan.bound_ns);
	atomic_store(&sw_hold.state, SW_HOLD_HELD);
	sw_sys_wake((const uint32_t *)&sw_hold.state, 1);
}

/* Holds the stream just before the plan's earlier call: it waits for the word that ends the hold. */
static void hold_begin(CUstream stream, uint64_t seq)
{
	__typeof__(&cuStreamWaitValue32_v2) hold = SW_CONFIRM_REAL(cuStreamWaitValue32_v2);
	const uint64_t bound = sw_confirm_plan.bound_ns;
	if (!make_memory() || !sw_watch_start())
		return;
	const CUdeviceptr at = sw_hold_device_address(&sw_hold.words->release);
	sw_result("earlier %llu %llu", (unsigned long long)seq, (unsigned long long)sw_result_us());
	/* The clock runs before the stream is held: there is no moment at which nothing would release it. */
	atomic_store(&sw_hold.deadline, sw_sys_monotonic() + bound);
	atomic_store(&sw_hold.state, SW_HOLD_HELD);
	const CUresult status =
		hold && at ? hold(stream, at, MARK, CU_STREAM_WAIT_VALUE_GEQ) : CUDA_ERROR_NOT_SUPPORTED;
	if (status != CUDA_SUCCESS) {
		report_failure("hold", status);
		sw_watch_release(SW_RELEASE_EXIT);
	}
	sw_sys_wake((const uint32_t *)&sw_hold.state, 1);
}

/* The plan's earlier call has returned, its work is enqueued behind the hold: a snapshot of the bytes and a mark follow
   it. */
static void hold_earlier_left(CUstream stream)
{
	sw_result("left %llu", (unsigned long long)sw_result_us());
	snapshot_bytes(stream, AFTER_EARLIER);
	const CUresult status = write_mark(stream, &sw_hold.words->earlier);
	if (status != CUDA_SUCCESS)
		report_failure("mark", status);
	atomic_store(&sw_hold.marked, status == CUDA_SUCCESS);
}

/* Just before the plan's later call: writes whether the hold still stands, and marks what its stream had to do before.
   `host`: the call does its work before it returns, on no stream. */
static void hold_later(CUstream stream, bool host, uint64_t seq)
{
	const bool held = atomic_load(&sw_hold.state) == SW_HOLD_HELD;
	sw_result("later %llu %llu %s", (unsigned long long)seq, (unsigned long long)sw_result_us(),
		  held ? "held" : "free");
	if (!held || host)
		return;
	snapshot_bytes(stream, BEFORE);
	const CUresult status = write_mark(stream, &sw_hold.words->probe);
	if (status != CUDA_SUCCESS)
		report_failure("mark", status);
}

/* The plan's later call has returned: marks the end of its work, and gives it the full bound to get done. */
static void hold_later_left(CUstream stream, bool host)
{
	if (host) {
		atomic_store(&sw_hold.words->probe, MARK);
		atomic_store(&sw_hold.words->later, MARK);
	} else {
		snapshot_bytes(stream, AFTER_LATER);
		const CUresult status = write_mark(stream, &sw_hold.words->later);
		if (status != CUDA_SUCCESS)
			report_failure("mark", status);
	}
	/* The later call's time begins now. */
	if (atomic_load(&sw_hold.state) == SW_HOLD_HELD)
		atomic_store(&sw_hold.deadline, sw_sys_monotonic() + sw_confirm_plan.bound_ns);
	atomic_store(&sw_hold.submitted, true);
}

/* The context ends: nothing of ours in it can be used any more. */
static void hold_context_gone(void)
{
	sw_watch_release(SW_RELEASE_HOST);
	sw_hold.bytes = 0;
	/* Nothing waits for them yet, and they are not registered any more. */
	if (atomic_load(&sw_hold.state) == SW_HOLD_NONE)
		sw_hold.words = NULL;
	sw_edges_context_gone();
}

enum owner { UNKNOWN, OURS, OTHERS };

/* The call that the thread is in. */
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

/* True for one thread of the process: it makes the hold.  There is one hold in a run. */
bool sw_calls_try(void)
{
	uint32_t expected = UNTRIED;
	return atomic_compare_exchange_strong(&tried, &expected, BEGINNING);
}

/* Has a thread begun to make the hold? */
bool sw_calls_tried(void)
{
	return atomic_load(&tried) != UNTRIED;
}

/* The hold is there, or could not be made: wakes the threads that wait for that. */
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

/* Is this a free in stream order?  Such records have their stream where other frees have a number of bytes. */
static bool frees_in_order(const struct sw_rec *rec)
{
	return rec->api == SW_ID_cuMemFreeAsync || rec->api == SW_ID_cuMemFreeAsync_ptsz;
}

/* The stream that a record's call works on; 0 becomes the default stream that the entry point means. */
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

/* If this call destroys or resets a context, ends the hold first. */
static void context_ends(const struct sw_rec *rec)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)rec;
	if (o->op == SW_CONTEXT_DESTROY || o->op == SW_CONTEXT_RESET)
		hold_context_gone();
}

/* Bits of one capture: 1 the wait is in it, 2 the marks are.  Only a graph with both shows anything. */
#define PUT_IN_APART 8u
static _Atomic uint32_t put_in;

/* No capture is in progress any more: the hold is given up if only one of the wait and the marks is in a graph. */
static void capture_ended(void)
{
	uint32_t part = 1;
	if (atomic_load(&captures))
		return;
	if (atomic_compare_exchange_strong(&put_in, &part, PUT_IN_APART))
		hold_give_up();
	else if (part == 2)
		atomic_store(&put_in, PUT_IN_APART);
}

/* Counts captures in progress. */
static void take_capture(const struct sw_rec *rec)
{
	const struct sw_rec_capture *c = (const struct sw_rec_capture *)(const void *)rec;
	if (c->op != SW_CAPTURE_END)
		atomic_fetch_add(&captures, 1);
	else if (atomic_load(&captures))
		atomic_fetch_sub(&captures, 1);
	capture_ended();
}

/* ---- a call of the plan ------------------------------------------------------------------------------------------ */

/* The plan's allocation was made: from now on the bytes to compare have an address. */
static void buffer_made(const struct sw_rec *rec)
{
	const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)rec;
	if (rec->kind == SW_REC_ALLOC && !rec->status)
		hold_buffer(a->address, a->bytes, a->memory == SW_MEM_PINNED || a->memory == SW_MEM_REGISTERED);
}

/* Puts the wait, or the first mark, into a capture, before a call of the plan.  All captures of the place, whichever is
   meant: a graph that is updated must have the nodes of its update.  After the first hold they let everything
   through. */
static void capture_before(void)
{
	if (!atomic_load(&captures) || !sw_hold.words)
		return;
	if (mine.places & SW_PLACE_EARLIER && hold_capture(mine.stream))
		atomic_fetch_or(&put_in, 1);
	else if (mine.places & SW_PLACE_LATER)
		hold_mark(mine.stream, true);
}

/* After the plan's later call in a capture: puts the mark that tells its end into the graph. */
static void capture_left(const struct call *call)
{
	if (!(call->places & SW_PLACE_LATER) || !atomic_load(&captures) || !sw_hold.words)
		return;
	hold_mark(call->stream, false);
	atomic_fetch_or(&put_in, 2);
}

/* Registers our memory as soon as the program has a context: that takes longer than much of what lies between the two
   calls. */
static void prepare_hold(const struct sw_rec *rec)
{
	const bool makes =
		rec->kind == SW_REC_ALLOC || rec->kind == SW_REC_STREAM_CREATE || rec->kind == SW_REC_EVENT_CREATE;
	if (!makes || rec->status || rec->flags & SW_RF_PENDING || sw_hold.words || atomic_load(&captures))
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	if (!sw_hold.words)
		hold_prepare();
	sw_lock_leave(&lock, mask);
}

/* Begins the hold when the graph that the captured calls made is launched. */
static void capture_launched(const struct sw_rec *rec)
{
	if (rec->kind != SW_REC_GRAPH_LAUNCH || atomic_load(&put_in) != 3 || !sw_calls_try())
		return;
	sw_hold_launch(sw_rec_seq(rec), stream_of(rec));
	sw_calls_begun();
}

/* May the later call be held if it comes first?  Calls of two threads come in either order, and what is shown of one is
   shown of the other.  What the host does itself cannot be held. */
static bool may_swap(void)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	return plan->earlier.thread != plan->later.thread && !plan->later_host && !plan->later_access &&
	       !allocations_held();
}

/* This call of the plan comes first: holds its stream, if that is possible. */
static void hold_first(const struct sw_rec *rec)
{
	/* A record that is written after its call is too late to hold it. */
	if (!(rec->flags & SW_RF_PENDING) || atomic_load(&captures)) {
		sw_result(atomic_load(&captures) ? "captured" : "late");
		return;
	}
	if (!(mine.exact & SW_PLACE_EARLIER)) {
		atomic_store(&swapped, true);
		hold_swap();
	}
	sw_dependents_begin(mine.stream);
	hold_begin(mine.stream, mine.seq);
	mine.held = atomic_load(&sw_hold.state) == SW_HOLD_HELD;
}

/* Before a call of the plan: the first of the two is held, the other one is watched. */
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
			hold_later(mine.stream, sw_confirm_plan.later_host, mine.seq);
	}
}

/* ---- an allocation ----------------------------------------------------------------------------------------------- */

/* Before an allocation in stream order: holds its stream if it is the earlier call of the plan.  True: it is held. */
static bool calls_allocates(uint32_t id, CUstream stream)
{
	const int saved = errno;
	bool held = false;
	if (sw_confirm_recorder->inside() && !atomic_load(&captures) && sw_places_is_earlier(id) && sw_calls_try()) {
		sw_dependents_begin(stream);
		hold_begin(stream, 0);
		sw_calls_begun();
		held = atomic_load(&sw_hold.state) == SW_HOLD_HELD;
	}
	errno = saved;
	return held;
}

/* The held allocation has returned. */
static void calls_allocated(CUstream stream, CUresult status)
{
	const int saved = errno;
	if (status) {
		sw_result("failed call %d", (int)status);
		sw_watch_release(SW_RELEASE_EXIT);
	} else {
		hold_earlier_left(stream);
	}
	errno = saved;
}

/* ---- nodes of a graph -------------------------------------------------------------------------------------------- */

/* A call of a plan whose sides are graph nodes: notes the node.  The hold is put in when the graph is launched. */
static void nodes_before(const struct sw_rec *rec)
{
	sw_nodes_added(rec, mine.exact);
	if (sw_confirm_plan.nodes & SW_PLAN_NODE_LATER || !(mine.exact & SW_PLACE_LATER) || atomic_load(&captures))
		return;
	await_hold();
	mine.watched = true;
	hold_later(mine.stream, sw_confirm_plan.later_host, mine.seq);
}

/* Once: puts the functions between wrappers and driver that this plan needs. */
static void install_hooks(void)
{
	static _Atomic bool installed;
	if (atomic_exchange(&installed, true))
		return;
	if (sw_confirm_plan.nodes)
		sw_nodes_install();
	else
		allocations_install();
}

/* ---- all others, while a stream is held -------------------------------------------------------------------------- */

/* Any other call while a stream is held: if it would wait for the held work, the hold ends, unless the later call has
   been made or another thread will make it. */
static void release_if_blocked(const struct sw_rec *rec)
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
	hold_later(NULL, true, sw_rec_seq(rec));
	hold_later_left(NULL, true);
}

/* Each record of the recorder, before its call where the record is pending: takes what the plan's mode needs of it. */
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
		take_capture(rec);
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
	install_hooks();
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
	prepare_hold(rec);
	if (sw_confirm_plan.captured)
		capture_launched(rec);
	if (!mine.watched && !mine.held && atomic_load(&sw_hold.state) == SW_HOLD_HELD)
		release_if_blocked(rec);
	if (rec->kind == SW_REC_CONTEXT_OP)
		context_ends(rec);
}

/* The guard gets the call as it was changed. */
static bool told_otherwise(const struct sw_rec *rec)
{
	return rec && sw_confirm_plan.mode == SW_PLAN_CHANGE && sw_confirm_plan.changes.guard && is_ours() &&
	       sw_host_uses_tell(rec, sw_confirm_others);
}

/* The recorder's hook: passes the record on to the guard, then looks at it. */
static void record_published(const struct sw_rec *rec)
{
	const int saved = errno;
	if (sw_confirm_others && !told_otherwise(rec))
		sw_confirm_others->published(rec);
	on_record(rec);
	errno = saved;
}

/* Passes the end of a call to the mode of the plan, where that holds no call of a finding.  False: it does. */
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

/* The recorder's hook: the call of the records since the last one has returned. */
static void call_left(int status)
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
		hold_earlier_left(call.stream);
	} else if (call.watched && atomic_load(&sw_hold.state) != SW_HOLD_NONE) {
		hold_later_left(call.stream, sw_confirm_plan.later_host);
	}
	errno = saved;
}

/* The recorder's hook: the parameter block of the launch that comes next. */
static void launch_parameters(const void *block, size_t bytes)
{
	if (sw_confirm_others)
		sw_confirm_others->parameters(block, bytes);
	if (sw_confirm_plan.mode == SW_PLAN_CHANGE) {
		sw_unpinned_parameters(block, bytes);
		sw_own_stream_parameters(block, bytes);
	}
}

const struct sw_companion_hooks sw_confirm_hooks = {
	.published = record_published, .parameters = launch_parameters, .left = call_left};

/*
 * An allocation in stream order as the earlier side: its record is written when it has been made, so the hold is put in
 * by the function that the recorder calls instead of the driver's.
 */

static void *real[SW_ID_COUNT];
#define REAL(symbol) ((__typeof__(&symbol))real[SW_ID_##symbol])

#define ALLOCATES(symbol, stream_, parameters, arguments)                                                              \
	static CUresult CUDAAPI held_##symbol parameters                                                               \
	{                                                                                                              \
		const bool held = calls_allocates(SW_ID_##symbol, stream_);                                            \
		const CUresult status = REAL(symbol) arguments;                                                        \
		if (held)                                                                                              \
			calls_allocated(stream_, status);                                                              \
		return status;                                                                                         \
	}
/* Stream 0 of the variants for per-thread default streams. */
#define OWN(stream)    ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define COMMON(stream) ((stream) ? (stream) : CU_STREAM_LEGACY)
ALLOCATES(cuMemAllocAsync, COMMON(stream), (CUdeviceptr * out, size_t bytes, CUstream stream), (out, bytes, stream))
ALLOCATES(cuMemAllocAsync_ptsz, OWN(stream), (CUdeviceptr * out, size_t bytes, CUstream stream), (out, bytes, stream))
ALLOCATES(cuMemAllocFromPoolAsync, COMMON(stream),
	  (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream), (out, bytes, pool, stream))
ALLOCATES(cuMemAllocFromPoolAsync_ptsz, OWN(stream),
	  (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream), (out, bytes, pool, stream))

/* Is the earlier call of the plan an allocation, so that our function stands before the driver's? */
static bool allocations_held(void)
{
	return real[sw_confirm_plan.earlier.api] != NULL;
}

/* Puts our function between the wrapper and the driver, for the allocation that is the plan's earlier call. */
static void allocations_install(void)
{
	static const struct {
		uint32_t id;
		void *function;
	} replaced[] = {
#define REPLACED(symbol) {SW_ID_##symbol, (void *)held_##symbol}
		REPLACED(cuMemAllocAsync),
		REPLACED(cuMemAllocAsync_ptsz),
		REPLACED(cuMemAllocFromPoolAsync),
		REPLACED(cuMemAllocFromPoolAsync_ptsz),
	};
	for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
		if (sw_confirm_plan.earlier.api != replaced[i].id)
			continue;
		/* Known before ours can be called. */
		real[replaced[i].id] = sw_confirm_recorder->driver(replaced[i].id);
		if (real[replaced[i].id])
			sw_confirm_recorder->replace(replaced[i].id, replaced[i].function);
	}
}
