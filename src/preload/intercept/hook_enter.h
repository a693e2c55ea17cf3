/* SPDX-License-Identifier: Apache-2.0 */
/* sw_hook_enter() for functions that begin and record a call in one step: those of the calls that programs make most.
 */
#ifndef SW_PRELOAD_INTERCEPT_HOOK_ENTER_H
#define SW_PRELOAD_INTERCEPT_HOOK_ENTER_H

#include "base/arch.h"
#include "preload/intercept/hook.h"
#include "preload/intercept/requesters.h"
#include "preload/recorder/call_record.h"

/* sw_hook_enter_here() where something is due, or the call is outside of all windows. */
bool sw_hook_enter_other(struct sw_call *call, uint32_t what, void *frame);

/* First use of an entry point by a writer: perhaps that in this process. */
void sw_hook_first_use(uint16_t id);

static inline __attribute__((always_inline)) bool sw_hook_enter_here(struct sw_call *call, uint32_t what, void *frame)
{
	const uint16_t id = (uint16_t)what;
	uint64_t times;

	if (id >= SW_API_IDS)
		__builtin_unreachable();
	if (sw_call_simple()) {
		if (sw_requester_is_runtime(sw_arch_caller(frame)))
			what |= SW_CALL_WHAT(0, SW_RF_RUNTIME);
		times = sw_call_begin(call, what, frame);
	} else if (sw_hook_enter_other(call, what, frame)) {
		times = ((const struct sw_writer *)call->writer)->calls[id];
	} else {
		return false;
	}
	/* Also where the writer's thread is not the first one that calls it. */
	if (__builtin_expect(times == 1, 0))
		sw_hook_first_use(id);
	return true;
}

/* The driver's function, NULL: there is none.  call->writer is NULL where nothing is to be recorded. */
static inline __attribute__((always_inline)) void *sw_hook_begin_here(struct sw_call *call, uint32_t what, void *frame)
{
	void *real = sw_driver_function((uint16_t)what);

	if (__builtin_expect(!real, 0) || !sw_hook_enter_here(call, what, frame))
		call->writer = NULL;
	return real;
}

#endif
