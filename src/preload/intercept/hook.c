/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/intercept/hook.h"

#include <errno.h>
#include <string.h>

#include "api/names.h"
#include "preload/intercept/contexts.h"
#include "preload/intercept/hook_enter.h"
#include "preload/intercept/hook_state.h"
#include "preload/recorder/window.h"

/* An API record says what the number of an entry point stands for; one for each number and process. */
__attribute__((cold)) void sw_hook_describe(uint16_t id, const char *driver, const char *runtime)
{
	const size_t driver_bytes = strlen(driver), runtime_bytes = strlen(runtime);
	struct sw_state *state = sw_state();
	struct sw_rec_api *r;

	if (__atomic_exchange_n(&state->described[id], 1, __ATOMIC_RELAXED))
		return;
	r = sw_describe(SW_REC_API, sizeof *r + driver_bytes + runtime_bytes, false);
	if (!r)
		return;
	r->id = id;
	r->driver_bytes = (uint8_t)driver_bytes;
	r->runtime_bytes = (uint8_t)runtime_bytes;
	r->reserved = 0;
	memcpy(r + 1, driver, driver_bytes);
	memcpy((char *)(r + 1) + driver_bytes, runtime, runtime_bytes);
	sw_describe_done(r);
}

/* Notes the driver's version in the trace's header, once. */
static void record_driver(void)
{
	__typeof__(&cuDriverGetVersion) ask = SW_REAL(cuDriverGetVersion);
	int version = 0;

	if (ask && ask(&version) == CUDA_SUCCESS)
		sw_record_driver((uint32_t)version, sw_driver_simulated());
}

_Static_assert(SW_STATE_DESCRIPTIONS <= SW_API_IDS, "each entry point is counted on its own");
_Static_assert(sizeof(struct sw_rec_event_record) == sizeof(struct sw_rec_stream_wait), "two words and flags");

/* Describes an entry point before its first record, and at the first of all the driver too. */
__attribute__((cold)) void sw_hook_first_use(uint16_t id)
{
	const int saved = errno;
	struct sw_state *state = sw_state();

	sw_driver_find_references();
	sw_objects_came = sw_driver_find_references;
	if (state->described[id])
		return;
	sw_hook_describe(id, sw_api_symbol(id), sw_api_runtime(id));
	sw_requesters_describe();
	if (!__atomic_exchange_n(&state->driver_told, 1, __ATOMIC_RELAXED))
		record_driver();
	errno = saved;
}

/* Calls of hot entry points outside of all windows end here, without a record; the others get one, marked where the
   runtime library made them. */
SW_OFTEN bool sw_hook_enter_other(struct sw_call *call, uint32_t what, void *frame)
{
	if (!sw_window_asks && (uint16_t)what < SW_ID_COUNT && sw_driver_hot((uint16_t)what) && sw_window_counts_out())
		return false;
	if (sw_requester_is_runtime(sw_arch_caller(frame)))
		what |= SW_CALL_WHAT(0, SW_RF_RUNTIME);
	return sw_call_enter_late(call, what, frame);
}

/* Begins a call and, at its first use, describes the entry point.  False: nothing is recorded. */
bool sw_hook_enter(struct sw_call *call, uint16_t id, uint16_t flags, void *frame)
{
	return sw_hook_enter_here(call, SW_CALL_WHAT(id, flags), frame);
}

/* As sw_hook_enter(); returns the driver's function, which the wrapper calls next. */
SW_OFTEN void *sw_hook_begin(struct sw_call *call, uint32_t what, void *frame)
{
	return sw_hook_begin_here(call, what, frame);
}

/* Begins and records a call about an event; such calls are frequent, so there is a short way to their record.  Returns
   the driver's function. */
SW_OFTEN void *sw_hook_event(struct sw_call *call, uint32_t what, void *frame, uint64_t a, uint64_t b, uint64_t more)
{
	void *real = sw_hook_begin_here(call, what, frame);
	const enum sw_rec_kind kind = (enum sw_rec_kind)(more >> 32);
	struct sw_rec_event_record *r;

	if (!call->writer)
		return real;
	sw_call_context(call, sw_context_of_stream(kind == SW_REC_EVENT_RECORD ? b : a));
	if (sw_call_write(call, kind, 3, a, b, (uint32_t)more))
		return real;
	r = sw_call_record(call, kind, sizeof *r);
	if (r) {
		r->event = a;
		r->stream = b;
		r->flags = (uint32_t)more;
	}
	sw_call_publish(call);
	return real;
}

/* A further record of the call in progress, with its context, flags and stack, for calls that do several things. */
void *sw_hook_extra(const struct sw_call *call, enum sw_rec_kind kind, size_t bytes)
{
	struct sw_rec *r = sw_describe(kind, bytes, true);

	if (!r)
		return NULL;
	memset(r + 1, 0, bytes - sizeof *r);
	r->api = call->api;
	r->ctx = call->ctx;
	r->flags = call->flags;
	r->stack = call->stack;
	return r;
}
