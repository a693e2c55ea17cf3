/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all streams of the program had to do at one moment, and the order of later work after it.  A stream of ours
 * waits for an event of each stream that had work; an event there stands for all of them, and for all earlier fences.
 */
#include "preload/savings/savings.h"

#include "preload/platform/lock.h"
#include "preload/recorder/writer.h"

#define STREAMS 64u

struct known {
	CUstream stream;
	uint32_t thread; /* of a per-thread stream, else 0 */
	CUevent event;
	bool dirty, gone; /* it has work that no fence has seen */
};

static struct sw_lock lock;
static struct known known[STREAMS];
static uint32_t n_known;
static bool broken; /* more streams than there is room for, or a refusal: there are no fences any more */
static CUstream join;
static struct sw_fence latest; /* all later work comes after it; no event: nothing does */
static uint64_t number;
/* As long as there is no work after it, it stands for what a new one would. */
static struct sw_fence last;
static bool worked;
static CUcontext home;

/* A stream that was given work; `thread`: of a per-thread default stream, else 0. */
static struct known *find_stream(CUstream stream, uint32_t thread)
{
	for (uint32_t i = 0; i < n_known; i++)
		if (known[i].stream == stream && known[i].thread == thread)
			return &known[i];
	return NULL;
}

/* An event without time, which costs less; NULL: there is none. */
static CUevent new_event(void)
{
	__typeof__(&cuEventCreate) make = SW_SAVINGS_REAL(cuEventCreate);
	CUevent event = NULL;
	return make && make(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS ? event : NULL;
}

/* Makes all later work of the stream wait for the event. */
static bool order_stream(CUstream stream, CUevent event)
{
	__typeof__(&cuStreamWaitEvent) wait = SW_SAVINGS_REAL(cuStreamWaitEvent);
	return wait && wait(stream, event, CU_EVENT_WAIT_DEFAULT) == CUDA_SUCCESS;
}

/* Is the context current in which our events and stream were made?  Fences work there only. */
static bool at_home(void)
{
	__typeof__(&cuCtxGetCurrent) ask = SW_SAVINGS_REAL(cuCtxGetCurrent);
	CUcontext now = NULL;
	if (!ask || ask(&now) != CUDA_SUCCESS || !now)
		return false;
	home = home ? home : now;
	return home == now;
}

/* Before a stream gets work: it becomes known, and marked as having more than the last fence covers. */
void sw_fences_work(CUstream any)
{
	/* One stream has two names. */
	const CUstream stream = any == CU_STREAM_LEGACY ? NULL : any;
	const uint32_t thread = stream == CU_STREAM_PER_THREAD ? sw_confirm_recorder->thread()->number : 0;
	const uint64_t mask = sw_lock_enter(&lock);
	struct known *k = find_stream(stream, thread);
	worked = true;
	if (!k && n_known < STREAMS) {
		k = &known[n_known++];
		*k = (struct known){.stream = stream, .thread = thread};
		broken |= latest.event && !order_stream(stream, latest.event);
	}
	if (k) {
		k->dirty = true;
		k->gone = false;
	}
	broken |= !k;
	sw_lock_leave(&lock, mask);
}

/* A stream is destroyed: its work cannot be waited for any more, so with work left no fence can be had from now on. */
void sw_fences_stream_gone(CUstream stream)
{
	const uint64_t mask = sw_lock_enter(&lock);
	struct known *k = find_stream(stream, 0);
	/* The stream's work may continue, and is not seen any more. */
	if (k && k->dirty)
		broken = true;
	if (k)
		*k = known[--n_known];
	sw_lock_leave(&lock, mask);
}

/* From now on no fence can be had: what it would have to order is not known any more. */
void sw_fences_break(void)
{
	broken = true;
}

/* Makes our stream wait for all work of the program's streams.  False: refused, or another thread's per-thread stream
   has work, which cannot be named here. */
static bool join_all(void)
{
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	for (uint32_t i = 0; i < n_known; i++) {
		struct known *k = &known[i];
		if (!k->dirty)
			continue;
		k->event = k->event ? k->event : new_event();
		if ((k->thread && k->thread != thread) || !k->event || !record ||
		    record(k->event, k->stream) != CUDA_SUCCESS || !order_stream(join, k->event))
			return false;
		k->dirty = false;
	}
	return true;
}

/* Puts a fence where there was never another stream: an event on it is enough, its own order is all that there is. */
static bool put_alone(struct sw_fence *fence)
{
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	fence->stream = known[0].stream;
	return record(fence->event, fence->stream) == CUDA_SUCCESS;
}

/* Puts a fence by joining all streams in one of ours. */
static bool put_joined(struct sw_fence *fence)
{
	__typeof__(&cuStreamCreate) make = SW_SAVINGS_REAL(cuStreamCreate);
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	if (!join && (!make || make(&join, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS))
		return false;
	return join_all() && record(fence->event, join) == CUDA_SUCCESS;
}

/* Puts a new fence: an event that stands for all work so far. */
static bool renew_fence(struct sw_fence *fence)
{
	fence->event = fence->event ? fence->event : new_event();
	fence->alone = !join && n_known == 1 && !known[0].thread;
	if (!fence->event || !(fence->alone ? put_alone(fence) : put_joined(fence)))
		return false;
	fence->number = ++number;
	last = *fence;
	worked = false;
	return true;
}

/* Puts a fence, an event after all work so far; the last fence serves again if no stream had work since. */
bool sw_fence_put(struct sw_fence *fence)
{
	const uint64_t mask = sw_lock_enter(&lock);
	bool good = !broken && at_home() && SW_SAVINGS_REAL(cuEventRecord);
	if (good && !worked && last.event)
		*fence = last;
	else
		good = good && renew_fence(fence);
	broken |= !good;
	sw_lock_leave(&lock, mask);
	return good;
}

/* Is all work before the fence complete? */
bool sw_fence_passed(const struct sw_fence *fence)
{
	__typeof__(&cuEventQuery) ask = SW_SAVINGS_REAL(cuEventQuery);
	return ask && ask(fence->event) == CUDA_SUCCESS;
}

/* Lets every known stream wait for the fence; streams that come later wait when they get work. */
bool sw_fence_order(const struct sw_fence *fence)
{
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	const uint64_t mask = sw_lock_enter(&lock);
	bool good = !broken && at_home();
	for (uint32_t i = 0; good && i < n_known; i++) {
		const struct known *k = &known[i];
		if (!fence->alone || k->stream != fence->stream)
			good = (!k->thread || k->thread == thread) && order_stream(k->stream, fence->event);
	}
	if (good && fence->number > latest.number)
		latest = *fence;
	broken |= !good;
	sw_lock_leave(&lock, mask);
	return good;
}
