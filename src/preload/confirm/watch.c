/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that ends a hold.  It makes no call of CUDA: one could wait for the very stream that is held, or for a
 * lock that a thread has which waits for it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "preload/confirm/confirm.h"
#include "preload/platform/lock.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"
#include "preload/savings/savings.h"

/* Which call of the plan a call is: by thread, entry point, call stack and count. */

/* Threads that make calls of the plan; calls of more are not counted, and not found. */
#define THREADS 64u

enum { EARLIER, LATER, BUFFER, CALLS };

struct counts {
	_Atomic uint32_t thread; /* 0: free */
	uint64_t calls[CALLS];	 /* by that thread alone */
};
static struct counts counted[THREADS];

struct visit {
	uint64_t ip, base;
	bool found;
};

/* For dl_iterate_phdr(): finds the loaded object that holds an address. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct visit *visit = arg;
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t from = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && visit->ip >= from && visit->ip < from + p->p_memsz) {
			visit->base = info->dlpi_addr;
			visit->found = true;
			return 1;
		}
	}
	return 0;
}

/* Offsets of return addresses, by thread: a frame of a framework is seen thousands of times.  An object that is
   replaced by another at the same address makes a stack that is not found. */
#define KNOWN 512u
static __thread struct {
	uint64_t ip, offset;
	bool found;
} known[KNOWN] __attribute__((tls_model("initial-exec")));

/* A return address as offset in its object, which is the same in each run.  False: it lies in no object. */
static bool offset_of(uint64_t ip, uint64_t *offset)
{
	const uint32_t at = (uint32_t)sw_hash_u64(ip) % KNOWN;
	if (known[at].ip != ip) {
		struct visit visit = {.ip = ip};
		dl_iterate_phdr(visit_object, &visit);
		known[at].ip = ip;
		known[at].offset = ip - visit.base;
		known[at].found = visit.found;
	}
	*offset = known[at].offset;
	return known[at].found;
}

/* A hash of the call stack's offsets in their objects, which are the same from run to run, unlike addresses. */
uint64_t sw_places_stack(void)
{
	const uint64_t *ips;
	const uint32_t n = sw_confirm_recorder->frames(&ips), depth = sw_confirm_recorder->options()->depth;
	uint64_t hash = SW_FNV_START, offset;
	for (uint32_t i = 0; i < n && i < depth; i++)
		if (offset_of(ips[i], &offset))
			hash = sw_plan_frame(hash, offset);
	return hash;
}

/* The thread's counters of calls of the plan; NULL: too many threads. */
static struct counts *counts_of(uint32_t thread)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t expected = 0;
		if (atomic_load(&counted[i].thread) == thread ||
		    atomic_compare_exchange_strong(&counted[i].thread, &expected, thread) || expected == thread)
			return &counted[i];
	}
	return NULL;
}

/* Is this the entry point of the plan's call? */
static bool may_be(const struct sw_plan_call *call, uint16_t api)
{
	return call->api && call->api == api;
}

/* Is this call, which is not made yet, the plan's earlier one: the n-th of its thread with this stack? */
bool sw_places_is_earlier(uint32_t id)
{
	const struct sw_plan_call *call = &sw_confirm_plan.earlier;
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	const struct counts *counts = thread == call->thread ? counts_of(thread) : NULL;
	return counts && call->api == id && counts->calls[EARLIER] + 1 == call->nth && call->stack == sw_places_stack();
}

/* Which calls of the plan this one may be, by its stack, as bits; *exact: those that it is.  Stacks are looked at only
   for entry points of the plan, as they cost more than the comparison. */
uint32_t sw_places_of_call(const struct sw_rec *rec, uint32_t *exact)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	const struct sw_plan_call *calls[CALLS] = {&plan->earlier, &plan->later, &plan->buffer};
	uint32_t places = 0;
	*exact = 0;
	if (!may_be(calls[EARLIER], rec->api) && !may_be(calls[LATER], rec->api) && !may_be(calls[BUFFER], rec->api))
		return 0;
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	const uint64_t stack = sw_places_stack();
	struct counts *counts = counts_of(thread);
	for (uint32_t i = 0; i < CALLS && counts; i++) {
		if (!may_be(calls[i], rec->api) || calls[i]->stack != stack)
			continue;
		places |= 1u << i;
		if (++counts->calls[i] == calls[i]->nth && thread == calls[i]->thread)
			*exact |= 1u << i;
	}
	return places;
}

/* Edges of the plan that begin, and that end, at this call: a bit each. */
static void places_edges(const struct sw_rec *rec, uint64_t *after, uint64_t *before)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	uint64_t stack = 0;
	*after = *before = 0;
	for (uint32_t i = 0; i < plan->edges; i++) {
		const struct sw_plan_edge *edge = &plan->edge[i];
		if (edge->after_api != rec->api && edge->before_api != rec->api)
			continue;
		stack = stack ? stack : sw_places_stack();
		*after |= (uint64_t)(edge->after_api == rec->api && edge->after_stack == stack) << i;
		*before |= (uint64_t)(edge->before_api == rec->api && edge->before_stack == stack) << i;
	}
}

/*
 * The edges of the advice: an event after each earlier call, a wait before each later one, for several findings in one
 * run.  How long the later side waits is the time between two events of its stream, one before all of its waits and one
 * after those of a finding, or the host's time in its own.
 */

#define MOST_EDGES 10000u
#define TIMED	   1024u
/* CUDA Driver API, cuEventElapsedTime: "a resolution of around 0.5 microseconds". */
#define RESOLUTION_NS 500u

/* The call that the thread is in. */
struct call {
	uint64_t after; /* edges that begin with it */
	CUstream stream;
	uint64_t seq;
	bool waits; /* for work, perhaps */
	bool has_turn;
};
static __thread struct call mine __attribute__((tls_model("initial-exec")));

/* One for each stream on which the earlier call is made: in a loop that is another one each time, and the later call
   waits for the last event of each. */
#define MOST_STREAMS 128u
struct stream_event {
	CUstream stream;
	CUevent event;
};

static struct fix {
	struct stream_event events[MOST_STREAMS];
	uint32_t n;
	uint64_t waited_ns;
	uint32_t timed;
} fixes[SW_PLAN_EDGES];

/* Marks around waits of streams; the first n_read have been read. */
static struct {
	CUevent before, after;
	uint32_t fix;
} marks[TIMED];
static _Atomic uint32_t n_marks, n_read;

static struct sw_lock lock; /* of all above but `mine` */
static _Atomic uint32_t edges_written;

static void report_failure(CUresult status)
{
	sw_result("failed edge %d", (int)status);
}

/* Writes that an event was recorded, or waited for, at this call. */
static void write_edge(const char *what, uint64_t seq, uint32_t fix, uint32_t event)
{
	const uint32_t written = atomic_fetch_add(&edges_written, 1);
	if (written < MOST_EDGES)
		sw_result("%s %llu %u %u", what, (unsigned long long)seq, fix, event);
	else if (written == MOST_EDGES)
		report_failure(CUDA_SUCCESS); /* what follows would be judged without its edges */
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static _Atomic uint32_t turn;

/* Lets one thread at a time through a call that is both the earlier and the later side of an edge: else its wait could
   come before the event it is meant for.  Gives up after the bound. */
static void take_turn(void)
{
	const uint64_t until = sw_sys_monotonic() + sw_confirm_plan.bound_ns;
	const struct timespec t = {.tv_nsec = 1000000};
	uint32_t free = 0;
	while (!(mine.has_turn = atomic_compare_exchange_strong(&turn, &free, 1)) && sw_sys_monotonic() < until) {
		sw_sys_wait((const uint32_t *)&turn, 1, &t);
		free = 0;
	}
}

/* Lets the next thread order its calls by events, which take turns. */
static void end_turn(void)
{
	atomic_store(&turn, 0);
	sw_sys_wake((const uint32_t *)&turn, 1);
}

/* ---- after ------------------------------------------------------------------------------------------------------- */

/* The event of a stream, made where there is none yet; the lock is held.  NULL: too many streams. */
static struct stream_event *event_of(struct fix *fix, CUstream stream)
{
	for (uint32_t i = 0; i < fix->n; i++)
		if (fix->events[i].stream == stream)
			return &fix->events[i];
	if (fix->n == MOST_STREAMS)
		return NULL;
	fix->events[fix->n].stream = stream;
	return &fix->events[fix->n++];
}

/* Records an event after the earlier call of a fix, on its stream. */
static void put_event(uint32_t number, CUstream stream, uint64_t seq)
{
	__typeof__(&cuEventCreate) make = SW_CONFIRM_REAL(cuEventCreate);
	__typeof__(&cuEventRecord) record = SW_CONFIRM_REAL(cuEventRecord);
	struct fix *fix = &fixes[number];
	struct stream_event *of = make && record ? event_of(fix, stream) : NULL;
	CUresult status = of ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	if (!status && !of->event)
		status = make(&of->event, CU_EVENT_DISABLE_TIMING);
	if (!status)
		status = record(of->event, stream);
	if (status)
		report_failure(status);
	else
		write_edge("after", seq, number, (uint32_t)(of - fix->events));
}

/* ---- before ------------------------------------------------------------------------------------------------------ */

/* Events that a call waits for: the last one of each stream that had one. */
struct waits {
	uint32_t fix, n;
	CUevent event[MOST_STREAMS];
};

/* Copies the events of a fix that a later call has to wait for. */
static void take_waits(struct waits *out, uint32_t fix)
{
	const uint64_t mask = sw_lock_enter(&lock);
	out->fix = fix;
	out->n = fixes[fix].n;
	for (uint32_t i = 0; i < out->n; i++)
		out->event[i] = fixes[fix].events[i].event;
	sw_lock_leave(&lock, mask);
}

/* Makes the host wait for the events, and times that. */
static CUresult wait_on_host(const struct waits *waits)
{
	__typeof__(&cuEventSynchronize) wait = SW_CONFIRM_REAL(cuEventSynchronize);
	const uint64_t from = sw_sys_monotonic();
	CUresult status = wait ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	for (uint32_t i = 0; i < waits->n && !status; i++)
		status = waits->event[i] ? wait(waits->event[i]) : CUDA_SUCCESS;
	if (status)
		return status;
	const uint64_t mask = sw_lock_enter(&lock);
	fixes[waits->fix].waited_ns += sw_sys_monotonic() - from;
	fixes[waits->fix].timed++;
	sw_lock_leave(&lock, mask);
	return status;
}

/* A new event with a time stamp, recorded on the stream; NULL: no room, or refused. */
static CUevent record_event(CUstream stream)
{
	__typeof__(&cuEventCreate) make = SW_CONFIRM_REAL(cuEventCreate);
	__typeof__(&cuEventRecord) record = SW_CONFIRM_REAL(cuEventRecord);
	CUevent event = NULL;
	if (atomic_load(&n_marks) == TIMED || !make || !record || make(&event, CU_EVENT_DEFAULT) ||
	    record(event, stream))
		return NULL;
	return event;
}

/* Makes the stream wait for the events; `before`: an event with time stamp in front of the waits, NULL: they are not
   timed.  Not timed either where there is no room or an event is refused: the result has the number of waits. */
static CUresult wait_on_stream(CUstream stream, const struct waits *waits, CUevent before)
{
	__typeof__(&cuStreamWaitEvent) order = SW_CONFIRM_REAL(cuStreamWaitEvent);
	CUresult status = order ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	for (uint32_t i = 0; i < waits->n && !status; i++)
		status = waits->event[i] ? order(stream, waits->event[i], CU_EVENT_WAIT_DEFAULT) : CUDA_SUCCESS;
	const CUevent after = before && !status ? record_event(stream) : NULL;
	if (!after)
		return status;
	const uint64_t mask = sw_lock_enter(&lock);
	const uint32_t at = atomic_load(&n_marks);
	if (at < TIMED) {
		marks[at].before = before;
		marks[at].after = after;
		marks[at].fix = waits->fix;
		atomic_store(&n_marks, at + 1);
	}
	sw_lock_leave(&lock, mask);
	return status;
}

/* Makes the later call of an edge wait for the events of the earlier ones.  One that was never recorded makes
   nothing wait, and the fix would not either. */
static void put_waits(const struct sw_plan_edge *edge, CUstream stream, CUevent before, uint64_t seq)
{
	struct waits waits;
	take_waits(&waits, edge->fix);
	if (!waits.n)
		return;
	const CUresult status = edge->host ? wait_on_host(&waits) : wait_on_stream(stream, &waits, before);
	if (status) {
		report_failure(status);
		return;
	}
	for (uint32_t i = 0; i < waits.n; i++)
		if (waits.event[i])
			write_edge("before", seq, edge->fix, i);
}

/* Before a call: puts the waits of all edges that end at it (`edges`: a bit each), once for each fix. */
static void put_all_waits(uint64_t edges, CUstream stream, uint64_t seq)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	uint64_t done = 0;
	bool streams = false;
	for (uint32_t i = 0; i < plan->edges; i++)
		streams |= (edges >> i & 1) && !plan->edge[i].host && fixes[plan->edge[i].fix].n;
	const CUevent before = streams ? record_event(stream) : NULL;
	for (uint32_t i = 0; i < plan->edges; i++) {
		const struct sw_plan_edge *edge = &plan->edge[i];
		if (!(edges >> i & 1) || done >> edge->fix & 1)
			continue;
		done |= 1ull << edge->fix;
		put_waits(edge, stream, before, seq);
	}
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Does one of these edges go from one thread to another? */
static bool crosses_threads(uint64_t edges)
{
	bool any = false;
	for (uint32_t i = 0; i < sw_confirm_plan.edges; i++)
		any |= (edges >> i & 1) && sw_confirm_plan.edge[i].threads;
	return any;
}

/* An edge of the plan orders two calls by an event, as the fix of the race would: before the later one a wait is put,
   which shows whether the fix helps. */
void sw_edges_record(const struct sw_rec *rec, CUstream stream, bool capturing)
{
	uint64_t after, before;
	mine.waits |= (rec->flags & SW_RF_BEGIN) != 0;
	places_edges(rec, &after, &before);
	if (capturing || !(after | before))
		return;
	mine.after = after;
	mine.stream = stream;
	mine.seq = sw_rec_seq(rec);
	if (crosses_threads(after & before))
		take_turn();
	if (before)
		put_all_waits(before, stream, mine.seq);
}

/* The program has waited for something: which of the marks have been reached?  At the end the context may be gone. */
static void read_marks(void)
{
	__typeof__(&cuEventElapsedTime) elapsed = SW_CONFIRM_REAL(cuEventElapsedTime);
	__typeof__(&cuEventQuery) query = SW_CONFIRM_REAL(cuEventQuery);
	float ms = 0;
	if (!elapsed || !query || atomic_load(&n_read) == atomic_load(&n_marks))
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = atomic_load(&n_read); i < atomic_load(&n_marks); i++) {
		const CUresult there = query(marks[i].after);
		if (there == CUDA_ERROR_NOT_READY)
			break;
		atomic_store(&n_read, i + 1);
		if (there || elapsed(&ms, marks[i].before, marks[i].after) || ms < 0)
			continue;
		fixes[marks[i].fix].waited_ns += (uint64_t)((double)ms * 1e6) + RESOLUTION_NS;
		fixes[marks[i].fix].timed++;
	}
	sw_lock_leave(&lock, mask);
}

/* After the call returned: puts the events behind its work, one for each fix, and lets the next thread have its
   turn. */
void sw_edges_left(int status, bool capturing)
{
	const struct call call = mine;
	mine = (struct call){0};
	if (!capturing && call.waits)
		read_marks();
	if (!capturing && !status && call.after) {
		const uint64_t mask = sw_lock_enter(&lock);
		uint64_t done = 0;
		for (uint32_t i = 0; i < sw_confirm_plan.edges; i++) {
			const uint32_t fix = sw_confirm_plan.edge[i].fix;
			if ((call.after >> i & 1) && !(done >> fix & 1))
				put_event(fix, call.stream, call.seq);
			done |= (call.after >> i & 1) << fix;
		}
		sw_lock_leave(&lock, mask);
	}
	if (call.has_turn)
		end_turn();
}

/* Writes how long the waits took that the plan's fixes put. */
void sw_edges_end(void)
{
	for (uint32_t i = 0; i < SW_PLAN_EDGES; i++)
		if (fixes[i].timed)
			sw_result("waited %u %llu %u", i, (unsigned long long)fixes[i].waited_ns, fixes[i].timed);
}

/* Forgets all events of the plan's edges: they went with their context. */
void sw_edges_context_gone(void)
{
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = 0; i < SW_PLAN_EDGES; i++) {
		memset(fixes[i].events, 0, sizeof fixes[i].events);
		fixes[i].n = 0;
	}
	atomic_store(&n_read, atomic_load(&n_marks));
	sw_lock_leave(&lock, mask);
}

#define STACK_BYTES (64u << 10)
#define LOOK_NS	    50000
/* After a hold: what is still to come has so long, then it is not waited for. */
#define AFTER_NS  2000000000ull
#define FINISH_NS 1000000000ull

static _Atomic bool started;
static bool done_written;

static const char *const why_text[] = {
#define WHY(name, text) [SW_RELEASE_##name] = text,
	SW_RELEASES(WHY)
#undef WHY
};

/* For the watching thread: 50 us. */
static void pause_a_little(void)
{
	static const uint32_t never = 0;
	const struct timespec t = {.tv_nsec = LOOK_NS};
	sw_sys_wait(&never, 0, &t);
}

/* Ends the hold by a store to memory that the device sees, without a call of CUDA, and writes what had happened until
   then. */
void sw_watch_release(enum sw_release why)
{
	struct sw_hold_words *words = sw_hold.words;
	uint32_t held = SW_HOLD_HELD;
	/* Before the release: what is done now did not wait for what is held. */
	const uint32_t probe = words ? atomic_load(&words->probe) : 0, later = words ? atomic_load(&words->later) : 0;
	if (!words || !atomic_compare_exchange_strong(&sw_hold.state, &held, SW_HOLD_OVER))
		return;
	done_written = later || why == SW_RELEASE_DONE;
	atomic_store(&sw_hold.deadline, sw_sys_monotonic() + AFTER_NS);
	atomic_store_explicit(&words->release, 1, memory_order_release);
	sw_sys_wake((const uint32_t *)&sw_hold.state, INT_MAX);
	sw_result("released %llu %s %u %u", (unsigned long long)sw_result_us(), why_text[why], probe, later);
}

/* Waits until the hold has ended, which its bound in time ends at the latest. */
void sw_watch_wait(void)
{
	const struct timespec t = {.tv_nsec = 10000000};
	while (atomic_load(&sw_hold.state) == SW_HOLD_HELD)
		sw_sys_wait((const uint32_t *)&sw_hold.state, SW_HOLD_HELD, &t);
}

/* How many bytes differ. */
static uint64_t count_differing(const uint8_t *a, const uint8_t *b, uint64_t bytes)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < bytes; i++)
		n += a[i] != b[i];
	return n;
}

/* How many bytes both calls changed. */
static uint64_t differing_twice(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint64_t bytes)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < bytes; i++)
		n += a[i] != b[i] && b[i] != c[i];
	return n;
}

/* Writes which of the common bytes each call changed, if there are all three copies. */
static void compare_copies(void)
{
	const uint8_t *before = sw_hold.copies, *later = before + sw_hold.room, *earlier = later + sw_hold.room;
	const uint64_t n = sw_hold.bytes;
	if (!n || atomic_load(&sw_hold.snapped) != 7)
		return;
	sw_result("bytes %llu %llu %llu %llu %llu", (unsigned long long)n,
		  (unsigned long long)count_differing(before, later, n),
		  (unsigned long long)count_differing(later, earlier, n),
		  (unsigned long long)count_differing(before, earlier, n),
		  (unsigned long long)differing_twice(before, later, earlier, n));
}

/* The hold has ended: waits for the marks of both calls, for a bounded time, and compares the copies. */
static void look_after(uint64_t now)
{
	struct sw_hold_words *words = sw_hold.words;
	const bool submitted = atomic_load(&sw_hold.submitted);
	if (!done_written && submitted && atomic_load(&words->later)) {
		done_written = true;
		sw_result("done %llu", (unsigned long long)sw_result_us());
	}
	const bool marked = atomic_load(&sw_hold.marked) && atomic_load(&words->earlier);
	const bool all = done_written && (marked || sw_confirm_plan.captured || sw_confirm_plan.nodes);
	if (!all && now < atomic_load(&sw_hold.deadline))
		return;
	if (all)
		compare_copies();
	atomic_store(&sw_hold.ended, 1);
	sw_sys_wake((const uint32_t *)&sw_hold.ended, INT_MAX);
}

/* Ends the hold if the later call's work is done or the time is over. */
static void look_at_hold(void)
{
	const uint64_t now = sw_sys_monotonic();
	if (atomic_load(&sw_hold.state) == SW_HOLD_OVER)
		look_after(now);
	else if (atomic_load(&sw_hold.words->later))
		sw_watch_release(SW_RELEASE_DONE);
	else if (now >= atomic_load(&sw_hold.deadline))
		sw_watch_release(SW_RELEASE_BOUND);
}

/* The body of the thread that ends the hold, i.e. lets the stream that was made to wait go on. */
static void *watch_hold(void *unused)
{
	prctl(PR_SET_NAME, "syncwatch-hold");
	while (!atomic_load(&sw_hold.ended)) {
		if (atomic_load(&sw_hold.state) == SW_HOLD_NONE)
			sw_sys_wait((const uint32_t *)&sw_hold.state, SW_HOLD_NONE, NULL);
		else
			look_at_hold();
		pause_a_little();
	}
	return unused;
}

/* Starts the thread that releases the hold in time, whatever the program does.  False: there is none, so nothing may be
   held. */
bool sw_watch_start(void)
{
	bool expected = false;
	if (!atomic_compare_exchange_strong(&started, &expected, true))
		return true;
	const int error = sw_sys_thread(watch_hold, STACK_BYTES);
	if (error == 0)
		return true;
	sw_result("failed thread %d", error);
	atomic_store(&started, false);
	return false;
}

/* Waits a short time for the remaining results. */
static void watch_finish(void)
{
	const uint64_t until = sw_sys_monotonic() + FINISH_NS;
	const struct timespec t = {.tv_nsec = 10000000};
	sw_watch_release(SW_RELEASE_EXIT);
	if (!atomic_load(&started) || atomic_load(&sw_hold.state) != SW_HOLD_OVER)
		return;
	while (!atomic_load(&sw_hold.ended) && sw_sys_monotonic() < until)
		sw_sys_wait((const uint32_t *)&sw_hold.ended, 0, &t);
}

/* How the object finds the recorder and its plan. */

const struct sw_companion *sw_confirm_recorder;
struct sw_hold_plan sw_confirm_plan;
const struct sw_companion_hooks *sw_confirm_others;
static pid_t owner;

/* Writes the results that are known at the end; not in a fork child. */
static void at_exit(void)
{
	if (getpid() != owner)
		return;
	if (sw_confirm_plan.mode == SW_PLAN_EXPLORE)
		sw_explore_end();
	else if (sw_confirm_plan.mode == SW_PLAN_CHANGE)
		sw_savings_end();
	else
		watch_finish();
	sw_edges_end();
	sw_result("end");
}

/* Joins the recorder, if there is a plan; it is preloaded before us, and is there whichever constructor runs first. */
static __attribute__((constructor)) void attach(void)
{
	const char *path = getenv(SW_PLAN_VARIABLE);
	const struct sw_companion *(*find)(uint32_t) =
		(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");
	sw_confirm_recorder = find ? find(SW_COMPANION_VERSION) : NULL;
	if (!path || !sw_confirm_recorder || !sw_plan_read(path, &sw_confirm_plan))
		return;
	owner = getpid();
	sw_confirm_recorder->hook(&sw_confirm_hooks, &sw_confirm_others);
	atexit(at_exit);
}
