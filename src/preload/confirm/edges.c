/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edge of the advice: an event after each earlier call, a wait before each later one.  How long the later side
 * waits is the time between two events of its stream, one on each side of the wait, or the host's time in its own.
 */
#include "preload/confirm/confirm.h"

#include <string.h>

#include "preload/platform/lock.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"

#define MOST_EDGES 10000u
#define TIMED	   256u
/* CUDA Driver API, cuEventElapsedTime: "a resolution of around 0.5 microseconds". */
#define RESOLUTION_NS 500u

static struct sw_lock lock;
static _Atomic uint32_t edges_told;
static _Atomic uint64_t waited_ns;
static _Atomic uint32_t waits_timed;

/* One for each stream on which the earlier call is made: in a loop that is another one each time, and the later call
   waits for the last event of each. */
#define MOST_STREAMS 128u
struct stream_event {
	CUstream stream;
	CUevent event;
};
static struct stream_event events[MOST_STREAMS];
static uint32_t n_events;

/* Marks around waits of streams; the first n_read have been read. */
static struct {
	CUevent before, after;
} timed[TIMED];
static _Atomic uint32_t n_timed, n_read; /* change with the lock held */

static void failed(CUresult status)
{
	sw_result("failed edge %d", (int)status);
}

static void tell_edge(const char *what, uint64_t seq, uint32_t event)
{
	const uint32_t told = atomic_fetch_add(&edges_told, 1);
	if (told < MOST_EDGES)
		sw_result("%s %llu %u", what, (unsigned long long)seq, event);
	else if (told == MOST_EDGES)
		failed(CUDA_SUCCESS); /* what follows would be judged without its edges */
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* One place in the program that is both ends, on several threads: one of them at a time, or its wait comes before the
   event it is meant for. */
static _Atomic uint32_t turn;
static __thread bool has_turn __attribute__((tls_model("initial-exec")));

static void take_turn(void)
{
	const uint64_t until = sw_sys_monotonic() + sw_confirm_plan.bound_ns;
	const struct timespec t = {.tv_nsec = 1000000};
	uint32_t free = 0;
	while (!(has_turn = atomic_compare_exchange_strong(&turn, &free, 1)) && sw_sys_monotonic() < until) {
		sw_sys_wait((const uint32_t *)&turn, 1, &t);
		free = 0;
	}
}

void sw_edge_left(void)
{
	if (!has_turn)
		return;
	has_turn = false;
	atomic_store(&turn, 0);
	sw_sys_wake((const uint32_t *)&turn, 1);
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* The event of a stream, made where there is none yet; the lock is held.  NULL: too many streams. */
static struct stream_event *event_of(CUstream stream)
{
	for (uint32_t i = 0; i < n_events; i++)
		if (events[i].stream == stream)
			return &events[i];
	if (n_events == MOST_STREAMS)
		return NULL;
	events[n_events].stream = stream;
	return &events[n_events++];
}

static CUresult record_edge(CUstream stream, uint32_t *event)
{
	__typeof__(&cuEventCreate) make = SW_CONFIRM_REAL(cuEventCreate);
	__typeof__(&cuEventRecord) record = SW_CONFIRM_REAL(cuEventRecord);
	struct stream_event *of = make && record ? event_of(stream) : NULL;
	CUresult status = of ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	if (!status && !of->event)
		status = make(&of->event, CU_EVENT_DISABLE_TIMING);
	if (!status)
		status = record(of->event, stream);
	if (!status)
		*event = (uint32_t)(of - events);
	return status;
}

void sw_edge_after(CUstream stream, uint64_t seq)
{
	uint32_t event;
	const uint64_t mask = sw_lock_enter(&lock);
	const CUresult status = record_edge(stream, &event);
	if (status)
		failed(status);
	else
		tell_edge("after", seq, event);
	sw_lock_leave(&lock, mask);
}

/* What is waited for: the last event of each stream that had one. */
struct waits {
	uint32_t n;
	CUevent event[MOST_STREAMS];
};

static void take_waits(struct waits *out)
{
	const uint64_t mask = sw_lock_enter(&lock);
	out->n = n_events;
	for (uint32_t i = 0; i < n_events; i++)
		out->event[i] = events[i].event;
	sw_lock_leave(&lock, mask);
}

static void wait_on_host(const struct waits *waits, CUresult *status)
{
	__typeof__(&cuEventSynchronize) wait = SW_CONFIRM_REAL(cuEventSynchronize);
	const uint64_t from = sw_sys_monotonic();
	*status = wait ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	for (uint32_t i = 0; i < waits->n && !*status; i++)
		*status = waits->event[i] ? wait(waits->event[i]) : CUDA_SUCCESS;
	if (*status)
		return;
	atomic_fetch_add(&waited_ns, sw_sys_monotonic() - from);
	atomic_fetch_add(&waits_timed, 1);
}

static CUevent marked(CUstream stream)
{
	__typeof__(&cuEventCreate) make = SW_CONFIRM_REAL(cuEventCreate);
	__typeof__(&cuEventRecord) record = SW_CONFIRM_REAL(cuEventRecord);
	CUevent event = NULL;
	if (!make || !record || make(&event, CU_EVENT_DEFAULT) || record(event, stream))
		return NULL;
	return event;
}

/* Not timed where there is no room or an event is refused: the result says of how many waits it speaks. */
static void wait_on_stream(CUstream stream, const struct waits *waits, CUresult *status)
{
	__typeof__(&cuStreamWaitEvent) order = SW_CONFIRM_REAL(cuStreamWaitEvent);
	const CUevent before = atomic_load(&n_timed) < TIMED ? marked(stream) : NULL;
	*status = order ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	for (uint32_t i = 0; i < waits->n && !*status; i++)
		*status = waits->event[i] ? order(stream, waits->event[i], CU_EVENT_WAIT_DEFAULT) : CUDA_SUCCESS;
	const CUevent after = before && !*status ? marked(stream) : NULL;
	if (!after)
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	const uint32_t at = atomic_load(&n_timed);
	if (at < TIMED) {
		timed[at].before = before;
		timed[at].after = after;
		atomic_store(&n_timed, at + 1);
	}
	sw_lock_leave(&lock, mask);
}

void sw_edge_before(CUstream stream, bool host, bool both, uint64_t seq)
{
	struct waits waits;
	CUresult status;
	if (both && sw_confirm_plan.earlier.thread != sw_confirm_plan.later.thread)
		take_turn();
	take_waits(&waits);
	if (!waits.n)
		return; /* an event that was never recorded: the fix would not wait either */
	if (host)
		wait_on_host(&waits, &status);
	else
		wait_on_stream(stream, &waits, &status);
	if (status) {
		failed(status);
		return;
	}
	for (uint32_t i = 0; i < waits.n; i++)
		if (waits.event[i])
			tell_edge("before", seq, i);
}

/* The program has waited for something: which of the marks have been reached?  At the end the context may be gone. */
void sw_edges_read(void)
{
	__typeof__(&cuEventElapsedTime) elapsed = SW_CONFIRM_REAL(cuEventElapsedTime);
	__typeof__(&cuEventQuery) query = SW_CONFIRM_REAL(cuEventQuery);
	float ms = 0;
	if (!elapsed || !query || atomic_load(&n_read) == atomic_load(&n_timed))
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	for (uint32_t i = atomic_load(&n_read); i < atomic_load(&n_timed); i++) {
		const CUresult there = query(timed[i].after);
		if (there == CUDA_ERROR_NOT_READY)
			break;
		atomic_store(&n_read, i + 1);
		if (there || elapsed(&ms, timed[i].before, timed[i].after) || ms < 0)
			continue;
		atomic_fetch_add(&waited_ns, (uint64_t)((double)ms * 1e6) + RESOLUTION_NS);
		atomic_fetch_add(&waits_timed, 1);
	}
	sw_lock_leave(&lock, mask);
}

void sw_edges_end(void)
{
	if (atomic_load(&waits_timed))
		sw_result("waited %llu %u", (unsigned long long)atomic_load(&waited_ns), atomic_load(&waits_timed));
}

void sw_edges_context_gone(void)
{
	const uint64_t mask = sw_lock_enter(&lock);
	n_events = 0;
	memset(events, 0, sizeof events);
	atomic_store(&n_read, atomic_load(&n_timed));
	sw_lock_leave(&lock, mask);
}
