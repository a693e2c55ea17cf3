/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is put into the program's streams.  A hold is a wait for a word of host memory that is registered with CUDA: the
 * stream continues when the word is written, by any thread or device (CUDA Driver API, "Stream Memory Operations").
 */
#include "preload/confirm/confirm.h"

#include <string.h>

#include "preload/platform/sys.h"

/* So many bytes of an overlap are compared. */
#define MOST_BYTES (4ull << 20)
#define PAGE	   4096u
#define MARK	   1u

enum snapshot { BEFORE, AFTER_LATER, AFTER_EARLIER };

struct sw_hold sw_hold;

static void failed(const char *what, CUresult status)
{
	sw_result("failed %s %d", what, (int)status);
}

/* Our own mapping rather than one of CUDA's: the thread that watches may read it after the context has ended. */
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
		failed("memory", at ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_OUT_OF_MEMORY);
		return false;
	}
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

CUdeviceptr sw_hold_device_address(const void *word)
{
	__typeof__(&cuMemHostGetDevicePointer_v2) ask = SW_CONFIRM_REAL(cuMemHostGetDevicePointer_v2);
	CUdeviceptr at = 0;
	const CUresult status = ask ? ask(&at, sw_hold.words, 0) : CUDA_ERROR_NOT_FOUND;
	if (status != CUDA_SUCCESS) {
		failed("address", status);
		return 0;
	}
	return at + (CUdeviceptr)((const char *)word - (const char *)sw_hold.words);
}

static CUresult mark(CUstream stream, _Atomic uint32_t *word)
{
	__typeof__(&cuStreamWriteValue32_v2) put = SW_CONFIRM_REAL(cuStreamWriteValue32_v2);
	const CUdeviceptr at = sw_hold_device_address((const void *)word);
	return put && at ? put(stream, at, MARK, 0) : CUDA_ERROR_NOT_SUPPORTED;
}

static void CUDA_CB take_snapshot(void *at)
{
	memcpy(at, (const void *)(uintptr_t)sw_hold.address, sw_hold.bytes);
}

/* A copy from host memory to host memory makes the host wait for the stream (measured: "h2h / h2h", HOST BLOCKED). */
static CUresult put_snapshot(CUstream stream, uint8_t *at)
{
	__typeof__(&cuMemcpyAsync) copy = SW_CONFIRM_REAL(cuMemcpyAsync);
	__typeof__(&cuLaunchHostFunc) call = SW_CONFIRM_REAL(cuLaunchHostFunc);
	if (sw_hold.on_host)
		return call ? call(stream, take_snapshot, at) : CUDA_ERROR_NOT_SUPPORTED;
	return copy ? copy((CUdeviceptr)(uintptr_t)at, (CUdeviceptr)sw_hold.address, sw_hold.bytes, stream)
		    : CUDA_ERROR_NOT_SUPPORTED;
}

static void snapshot(CUstream stream, enum snapshot which)
{
	if (!sw_hold.bytes || !sw_hold.address)
		return;
	const CUresult status = put_snapshot(stream, sw_hold.copies + which * sw_hold.room);
	if (status == CUDA_SUCCESS)
		atomic_fetch_or(&sw_hold.snapped, 1u << which);
	else
		failed("snapshot", status);
}

void sw_hold_buffer(uint64_t address, uint64_t bytes, bool on_host)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	if (plan->offset >= bytes || plan->bytes > bytes - plan->offset)
		return;
	sw_hold.on_host = on_host;
	sw_hold.address = address + plan->offset;
	if (!plan->later_access) /* the host's access is no work between two copies */
		sw_hold.bytes = plan->bytes < MOST_BYTES ? plan->bytes : MOST_BYTES;
}

/* The bytes of the later side are compared for the order of the trace only. */
void sw_hold_swap(void)
{
	sw_hold.bytes = 0;
	sw_result("swapped");
}

/* ---- holds ------------------------------------------------------------------------------------------------------- */

/* In a capture the wait becomes a node, and so do the marks (measured: "cuStreamWaitValue32 in a capture"). */
bool sw_hold_capture(CUstream stream)
{
	__typeof__(&cuStreamWaitValue32_v2) hold = SW_CONFIRM_REAL(cuStreamWaitValue32_v2);
	const CUdeviceptr at = sw_hold.words ? sw_hold_device_address(&sw_hold.words->release) : 0;
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
	if (make_memory())
		sw_watch_start();
}

/* The wait is in a graph that shows nothing: nothing would end it. */
void sw_hold_give_up(void)
{
	if (sw_hold.words)
		atomic_store(&sw_hold.words->release, MARK);
}

/* The graph with the nodes is launched. */
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

void sw_hold_begin(CUstream stream, uint64_t seq)
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
	/* Nothing waits for them yet, and they are not registered any more. */
	if (atomic_load(&sw_hold.state) == SW_HOLD_NONE)
		sw_hold.words = NULL;
	sw_edges_context_gone();
}
