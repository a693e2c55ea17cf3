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
static CUevent latest; /* all later work comes after it; NULL: nothing does */
static CUcontext home;

static struct known *find(CUstream stream, uint32_t thread)
{
	for (uint32_t i = 0; i < n_known; i++)
		if (known[i].stream == stream && known[i].thread == thread)
			return &known[i];
	return NULL;
}

static CUevent new_event(void)
{
	__typeof__(&cuEventCreate) make = SW_SAVINGS_REAL(cuEventCreate);
	CUevent event = NULL;
	return make && make(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS ? event : NULL;
}

static bool order(CUstream stream, CUevent event)
{
	__typeof__(&cuStreamWaitEvent) wait = SW_SAVINGS_REAL(cuStreamWaitEvent);
	return wait && wait(stream, event, CU_EVENT_WAIT_DEFAULT) == CUDA_SUCCESS;
}

static bool at_home(void)
{
	__typeof__(&cuCtxGetCurrent) ask = SW_SAVINGS_REAL(cuCtxGetCurrent);
	CUcontext now = NULL;
	if (!ask || ask(&now) != CUDA_SUCCESS || !now)
		return false;
	home = home ? home : now;
	return home == now;
}

void sw_fences_work(CUstream stream)
{
	const uint32_t thread = stream == CU_STREAM_PER_THREAD ? sw_confirm_recorder->thread()->number : 0;
	const uint64_t mask = sw_lock_enter(&lock);
	struct known *k = find(stream, thread);
	if (!k && n_known < STREAMS) {
		k = &known[n_known++];
		*k = (struct known){.stream = stream, .thread = thread};
		broken |= latest && !order(stream, latest);
	}
	if (k) {
		k->dirty = true;
		k->gone = false;
	}
	broken |= !k;
	sw_lock_leave(&lock, mask);
}

void sw_fences_stream_gone(CUstream stream)
{
	const uint64_t mask = sw_lock_enter(&lock);
	struct known *k = find(stream, 0);
	/* Its work may go on, and is not seen any more. */
	if (k && k->dirty)
		broken = true;
	if (k)
		*k = known[--n_known];
	sw_lock_leave(&lock, mask);
}

void sw_fences_break(void)
{
	broken = true;
}

/* Streams of other threads cannot be named here. */
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
		    record(k->event, k->stream) != CUDA_SUCCESS || !order(join, k->event))
			return false;
		k->dirty = false;
	}
	return true;
}

bool sw_fence_put(CUevent *fence)
{
	__typeof__(&cuStreamCreate) make = SW_SAVINGS_REAL(cuStreamCreate);
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	const uint64_t mask = sw_lock_enter(&lock);
	bool good = !broken && at_home() && make && record;
	if (good && !join)
		good = make(&join, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
	if (good && !*fence)
		*fence = new_event();
	good = good && *fence && join_all() && record(*fence, join) == CUDA_SUCCESS;
	broken |= !good;
	sw_lock_leave(&lock, mask);
	return good;
}

bool sw_fence_passed(CUevent fence)
{
	__typeof__(&cuEventQuery) ask = SW_SAVINGS_REAL(cuEventQuery);
	return ask && ask(fence) == CUDA_SUCCESS;
}

bool sw_fence_order(CUevent fence)
{
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	const uint64_t mask = sw_lock_enter(&lock);
	bool good = !broken && at_home();
	for (uint32_t i = 0; good && i < n_known; i++)
		good = (!known[i].thread || known[i].thread == thread) && order(known[i].stream, fence);
	latest = good ? fence : latest;
	broken |= !good;
	sw_lock_leave(&lock, mask);
	return good;
}
