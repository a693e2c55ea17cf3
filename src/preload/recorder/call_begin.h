/* SPDX-License-Identifier: Apache-2.0 */
/* The first half of sw_call_enter(), for the path of every call: see recorder.h for what it promises. */
#ifndef SW_PRELOAD_RECORDER_CALL_BEGIN_H
#define SW_PRELOAD_RECORDER_CALL_BEGIN_H

#include <stdatomic.h>

#include "preload/platform/clock.h"
#include "preload/platform/often.h"
#include "preload/recorder/companion.h"
#include "preload/recorder/process.h"
#include "preload/stacks/stack.h"
#include "preload/recorder/writer.h"

/* The compiler must keep `busy` around the changes that it protects; the only other reader is a signal handler of the
   same thread, so no fence is needed. */
static inline void sw_thread_busy(struct sw_thread *t, uint8_t value)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = value;
	atomic_signal_fence(memory_order_seq_cst);
}

/* Is nothing due before a call of this thread is recorded? */
static inline bool sw_call_simple(void)
{
	return __builtin_expect(sw_process_on() && !sw_thread.guard && sw_thread.writer, 1);
}

/* An entry point and flags of its records, as they stand in a header. */
#define SW_CALL_WHAT(api, flags) ((uint32_t)(api) | (uint32_t)(flags) << 16)

/* sw_call_enter() without its checks, for a thread whose writer is in place.  Returns how often it made this call. */
static inline __attribute__((always_inline)) uint64_t sw_call_begin(struct sw_call *call, uint32_t what, void *frame)
{
	const uint16_t api = (uint16_t)what;
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = t->writer;
	t->guard = frame;
	t->guard_return = ((void **)frame)[1];
	sw_thread_busy(t, 1);
	call->rec = NULL;
	call->seq = 0;
	call->what = what;
	call->ctx = t->ctx;
	call->writer = w;
	const uint64_t times = ++w->calls[api < SW_API_IDS ? api : 0];
	t->calls++;
	call->stack = sw_stack_capture(w, frame);
	sw_companion_stacks *join = __atomic_load_n(&sw_companion_join, __ATOMIC_ACQUIRE);
	if (__builtin_expect(join != NULL, 0))
		call->stack = join(call->writer, call->stack);
	call->t0 = sw_clock_ticks();
	sw_thread_busy(&sw_thread, 0);
	return times;
}

/* sw_call_enter() where something is due. */
bool sw_call_enter_late(struct sw_call *call, uint32_t what, void *frame);

#endif
