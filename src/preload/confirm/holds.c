/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is put into the program's streams.  A hold is a wait for a word of host memory that is registered with CUDA: the
 * stream goes on when the word is written, whoever writes it (CUDA Driver API, "Stream Memory Operations").
 */
#include "preload/confirm/confirm.h"

#include "preload/platform/sys.h"

/* Larger overlaps are looked at as far as this. */
#define MOST_BYTES (4ull << 20)
#define PAGE	   4096u
#define MARK	   1u

enum snapshot { BEFORE, AFTER_LATER, AFTER_EARLIER };

struct sw_hold sw_hold;
static CUevent edge;
static uint32_t edges_told;
#define MOST_EDGES 10000u

static void failed(const char *what, CUresult status)
{
	sw_result("failed %s %d", what, (int)status);
}

/* Our own mapping rather than one of CUDA's: the thread that watches may read it after the context has ended. */
static bool make_memory(void)
{
	__typeof__(&cuMemHostRegister_v2) enlist = SW_CONFIRM_REAL(cuMemHostRegister_v2);
	const uint64_t bytes = sw_confirm_plan.buffer.api ? sw_confirm_plan.bytes : 0;
	int error;
	if (sw_hold.words)
		return true;
	sw_hold.room = ((bytes < MOST_BYTES ? bytes : MOST_BYTES) + PAGE - 1) / PAGE * PAGE;
	uint8_t *at = sw_sys_map(-1, 0, PAGE + 3 * sw_hold.room, &error);
	if (!at || !enlist)
		return false;
	const CUresult status =
		enlist(at, PAGE + 3 * sw_hold.room, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
	if (status != CUDA_SUCCESS) {
		failed("memory", status);
		sw_sys_unmap(at, PAGE + 3 * sw_hold.room);
		return false;
	}
	sw_hold.copies = at + PAGE;
	sw_hold.words = (struct sw_hold_words *)(void *)at;
	return true;
}

static CUdeviceptr device_address(const void *word)
{
	__typeof__(&cuMemHostGetDevicePointer_v2) ask = SW_CONFIRM_REAL(cuMemHostGetDevicePointer_v2);
	CUdeviceptr at = 0;
	if (!ask || ask(&at, sw_hold.words, 0) != CUDA_SUCCESS)
		return 0;
	return at + (CUdeviceptr)((const char *)word - (const char *)sw_hold.words);
}

static CUresult mark(CUstream stream, _Atomic uint32_t *word)
{
	__typeof__(&cuStreamWriteValue32_v2) put = SW_CONFIRM_REAL(cuStreamWriteValue32_v2);
	const CUdeviceptr at = device_address((const void *)word);
	return put && at ? put(stream, at, MARK, 0) : CUDA_ERROR_NOT_SUPPORTED;
}

static void snapshot(CUstream stream, enum snapshot which)
{
	__typeof__(&cuMemcpyAsync) copy = SW_CONFIRM_REAL(cuMemcpyAsync);
	if (!copy || !sw_hold.bytes || !sw_hold.address)
		return;
	const CUresult status = copy((CUdeviceptr)(uintptr_t)(sw_hold.copies + which * sw_hold.room),
				     (CUdeviceptr)sw_hold.address, sw_hold.bytes, stream);
	if (status == CUDA_SUCCESS)
		atomic_fetch_or(&sw_hold.snapped, 1u << which);
	else
		failed("snapshot", status);
}

void sw_hold_buffer(uint64_t address, uint64_t bytes)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	if (plan->offset >= bytes || plan->bytes > bytes - plan->offset)
		return;
	sw_hold.address = address + plan->offset;
	sw_hold.bytes = plan->bytes < MOST_BYTES ? plan->bytes : MOST_BYTES;
}

/* ---- holds ------------------------------------------------------------------------------------------------------- */

/* In a capture the wait becomes a node, and so do the marks (measured: "cuStreamWaitValue32 in a capture"). */
bool sw_hold_capture(CUstream stream)
{
	__typeof__(&cuStreamWaitValue32_v2) hold = SW_CONFIRM_REAL(cuStreamWaitValue32_v2);
	const CUdeviceptr at = sw_hold.words ? device_address(&sw_hold.words->release) : 0;
	const CUresult status =
		hold && at ? hold(stream, at, MARK, CU_STREAM_WAIT_VALUE_GEQ) : CUDA_ERROR_NOT_SUPPORTED;
	if (status != CUDA_SUCCESS)
		failed("hold", status);
	return status == CUDA_SUCCESS;
}

void sw_hold_mark(CUstream stream, bool before)
{
	const CUresult status = mark(stream, before ? &sw_hold.words->probe : &sw_hold.words->later);
	if (status != CUDA_SUCCESS)
		failed("mark", status);
}

/* Registering memory is nothing to do in a capture. */
void sw_hold_prepare(void)
{
	if (!make_memory() || !sw_watch_start())
		failed("hold", CUDA_ERROR_NOT_SUPPORTED);
}

/* The graph with the nodes is launched. */
void sw_hold_launch(uint64_t seq)
{
	sw_result("earlier %llu %llu", (unsigned long long)seq, (unsigned long long)sw_result_us());
	sw_result("later %llu %llu held", (unsigned long long)seq, (unsigned long long)sw_result_us());
	atomic_store(&sw_hold.submitted, true);
	atomic_store(&sw_hold.deadline, sw_sys_monotonic() + sw_confirm_plan.bound_ns);
	atomic_store(&sw_hold.state, SW_HOLD_HELD);
	sw_sys_wake((const uint32_t *)&sw_hold.state, 1);
}

void sw_hold_begin(CUstream stream, uint64_t seq)
{
	__typeof__(&cuStreamWaitValue32_v2) hold = SW_CONFIRM_REAL(cuStreamWaitValue32_v2);
	const uint64_t bound = sw_confirm_plan.bound_ns;
	if (!hold || !make_memory() || !sw_watch_start()) {
		failed("hold", CUDA_ERROR_NOT_SUPPORTED);
		return;
	}
	const CUdeviceptr at = device_address(&sw_hold.words->release);
	sw_result("earlier %llu %llu", (unsigned long long)seq, (unsigned long long)sw_result_us());
	/* The clock runs before the stream is held: there is no moment at which nobody would release it. */
	atomic_store(&sw_hold.deadline, sw_sys_monotonic() + bound);
	atomic_store(&sw_hold.state, SW_HOLD_HELD);
	const CUresult status = at ? hold(stream, at, MARK, CU_STREAM_WAIT_VALUE_GEQ) : CUDA_ERROR_NOT_SUPPORTED;
	if (status != CUDA_SUCCESS) {
		failed("hold", status);
		sw_watch_release(SW_RELEASE_EXIT);
	}
	sw_sys_wake((const uint32_t *)&sw_hold.state, 1);
}

void sw_hold_earlier_left(CUstream stream)
{
	sw_result("left %llu", (unsigned long long)sw_result_us());
	snapshot(stream, AFTER_EARLIER);
	const CUresult status = mark(stream, &sw_hold.words->earlier);
	if (status != CUDA_SUCCESS)
		failed("mark", status);
	atomic_store(&sw_hold.marked, status == CUDA_SUCCESS);
}

void sw_hold_later(CUstream stream, bool host, uint64_t seq)
{
	const bool held = atomic_load(&sw_hold.state) == SW_HOLD_HELD;
	sw_result("later %llu %llu %s", (unsigned long long)seq, (unsigned long long)sw_result_us(),
		  held ? "held" : "free");
	if (!held || host)
		return;
	snapshot(stream, BEFORE);
	const CUresult status = mark(stream, &sw_hold.words->probe);
	if (status != CUDA_SUCCESS)
		failed("mark", status);
}

void sw_hold_later_left(CUstream stream, bool host)
{
	if (host) {
		atomic_store(&sw_hold.words->probe, MARK);
		atomic_store(&sw_hold.words->later, MARK);
	} else {
		snapshot(stream, AFTER_LATER);
		const CUresult status = mark(stream, &sw_hold.words->later);
		if (status != CUDA_SUCCESS)
			failed("mark", status);
	}
	/* It has its time from now on. */
	if (atomic_load(&sw_hold.state) == SW_HOLD_HELD)
		atomic_store(&sw_hold.deadline, sw_sys_monotonic() + sw_confirm_plan.bound_ns);
	atomic_store(&sw_hold.submitted, true);
}

void sw_hold_context_gone(void)
{
	sw_watch_release(SW_RELEASE_HOST);
	sw_hold.bytes = 0;
	edge = NULL;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

static void tell_edge(const char *what, uint64_t seq)
{
	if (edges_told++ < MOST_EDGES)
		sw_result("%s %llu", what, (unsigned long long)seq);
}

void sw_edge_after(CUstream stream, uint64_t seq)
{
	__typeof__(&cuEventCreate) make = SW_CONFIRM_REAL(cuEventCreate);
	__typeof__(&cuEventRecord) record = SW_CONFIRM_REAL(cuEventRecord);
	CUresult status = make && record ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	if (!status && !edge)
		status = make(&edge, CU_EVENT_DISABLE_TIMING);
	if (!status)
		status = record(edge, stream);
	if (status)
		failed("edge", status);
	else
		tell_edge("after", seq);
}

void sw_edge_before(CUstream stream, bool host, uint64_t seq)
{
	__typeof__(&cuEventSynchronize) wait = SW_CONFIRM_REAL(cuEventSynchronize);
	__typeof__(&cuStreamWaitEvent) order = SW_CONFIRM_REAL(cuStreamWaitEvent);
	if (!edge)
		return; /* an event that was never recorded: the fix would not wait either */
	const CUresult status = !wait || !order ? CUDA_ERROR_NOT_SUPPORTED
				: host		? wait(edge)
						: order(stream, edge, CU_EVENT_WAIT_DEFAULT);
	if (status)
		failed("edge", status);
	else
		tell_edge("before", seq);
}
