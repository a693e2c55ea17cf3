/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of the advice: an event after each earlier call, a wait before each later one, for several findings in one
 * run.  How long the later side waits is the time between two events of its stream, one before all of its waits and one
 * after those of a finding, or the host's time in its own.
 */
#include "preload/confirm/confirm.h"

#include <string.h>

#include "preload/platform/lock.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"

#define MOST_EDGES 10000u
#define TIMED	   1024u
/* CUDA Driver API, cuEventElapsedTime: "a resolution of around 0.5 microseconds". */
#define RESOLUTION_NS 500u

/* Of the call that the thread is in. */
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

static void failed(CUresult status)
{
	sw_result("failed edge %d", (int)status);
}

static void write_edge(const char *what, uint64_t seq, uint32_t fix, uint32_t event)
{
	const uint32_t written = atomic_fetch_add(&edges_written, 1);
	if (written < MOST_EDGES)
		sw_result("%s %llu %u %u", what, (unsigned long long)seq, fix, event);
	else if (written == MOST_EDGES)
		failed(CUDA_SUCCESS); /* what follows would be judged without its edges */
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static _Atomic uint32_t turn;

/* One place in the program that is both ends, on several threads: one of them at a time, or its wait comes before the
   event it is meant for. */
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
		failed(status);
	else
		write_edge("after", seq, number, (uint32_t)(of - fix->events));
}

/* ---- before ------------------------------------------------------------------------------------------------------ */

/* What is waited for: the last event of each stream that had one. */
struct waits {
	uint32_t fix, n;
	CUevent event[MOST_STREAMS];
};

static void take_waits(struct waits *out, uint32_t fix)
{
	const uint64_t mask = sw_lock_enter(&lock);
	out->fix = fix;
	out->n = fixes[fix].n;
	for (uint32_t i = 0; i < out->n; i++)
		out->event[i] = fixes[fix].events[i].event;
	sw_lock_leave(&lock, mask);
}

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

static CUevent marked(CUstream stream)
{
	__typeof__(&cuEventCreate) make = SW_CONFIRM_REAL(cuEventCreate);
	__typeof__(&cuEventRecord) record = SW_CONFIRM_REAL(cuEventRecord);
	CUevent event = NULL;
	if (atomic_load(&n_marks) == TIMED || !make || !record || make(&event, CU_EVENT_DEFAULT) ||
	    record(event, stream))
		return NULL;
	return event;
}

/* Not timed where there is no room or an event is refused: the result has the number of waits. */
static CUresult wait_on_stream(CUstream stream, const struct waits *waits, CUevent before)
{
	__typeof__(&cuStreamWaitEvent) order = SW_CONFIRM_REAL(cuStreamWaitEvent);
	CUresult status = order ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	for (uint32_t i = 0; i < waits->n && !status; i++)
		status = waits->event[i] ? order(stream, waits->event[i], CU_EVENT_WAIT_DEFAULT) : CUDA_SUCCESS;
	const CUevent after = before && !status ? marked(stream) : NULL;
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

/* An event that was never recorded makes nothing wait, and the fix would not either. */
static void put_waits(const struct sw_plan_edge *edge, CUstream stream, CUevent before, uint64_t seq)
{
	struct waits waits;
	take_waits(&waits, edge->fix);
	if (!waits.n)
		return;
	const CUresult status = edge->host ? wait_on_host(&waits) : wait_on_stream(stream, &waits, before);
	if (status) {
		failed(status);
		return;
	}
	for (uint32_t i = 0; i < waits.n; i++)
		if (waits.event[i])
			write_edge("before", seq, edge->fix, i);
}

static void put_all_waits(uint64_t edges, CUstream stream, uint64_t seq)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	uint64_t done = 0;
	bool streams = false;
	for (uint32_t i = 0; i < plan->edges; i++)
		streams |= (edges >> i & 1) && !plan->edge[i].host && fixes[plan->edge[i].fix].n;
	const CUevent before = streams ? marked(stream) : NULL;
	for (uint32_t i = 0; i < plan->edges; i++) {
		const struct sw_plan_edge *edge = &plan->edge[i];
		if (!(edges >> i & 1) || done >> edge->fix & 1)
			continue;
		done |= 1ull << edge->fix;
		put_waits(edge, stream, before, seq);
	}
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool crosses_threads(uint64_t edges)
{
	bool any = false;
	for (uint32_t i = 0; i < sw_confirm_plan.edges; i++)
		any |= (edges >> i & 1) && sw_confirm_plan.edge[i].threads;
	return any;
}

void sw_edges_record(const struct sw_rec *rec, CUstream stream, bool capturing)
{
	uint64_t after, before;
	mine.waits |= (rec->flags & SW_RF_BEGIN) != 0;
	sw_places_edges(rec, &after, &before);
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

void sw_edges_end(void)
{
	for (uint32_t i = 0; i < SW_PLAN_EDGES; i++)
		if (fixes[i].timed)
			sw_result("waited %u %llu %u", i, (unsigned long long)fixes[i].waited_ns, fixes[i].timed);
}

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
