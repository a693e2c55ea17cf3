/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/intercept/hook.h"

#include <errno.h>
#include <string.h>

#include "api/names.h"
#include "preload/intercept/requesters.h"
#include "preload/recorder/call_begin.h"
#include "preload/intercept/hook_state.h"

void sw_hook_describe(uint16_t id, const char *driver, const char *runtime)
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

static void record_driver(void)
{
	__typeof__(&cuDriverGetVersion) ask = SW_REAL(cuDriverGetVersion);
	int version = 0;

	if (ask && ask(&version) == CUDA_SUCCESS)
		sw_record_driver((uint32_t)version, sw_driver_simulated());
}

_Static_assert(SW_STATE_DESCRIPTIONS <= SW_API_IDS, "each entry point is counted on its own");

/* First use of an entry point by a writer: perhaps that in this process. */
static __attribute__((noinline, cold)) void first_use(uint16_t id)
{
	const int saved = errno;
	struct sw_state *state = sw_state();

	if (state->described[id])
		return;
	sw_hook_describe(id, sw_api_symbol(id), sw_api_runtime(id));
	sw_requesters_describe();
	if (!__atomic_exchange_n(&state->driver_told, 1, __ATOMIC_RELAXED))
		record_driver();
	errno = saved;
}

static inline __attribute__((always_inline)) bool enter(struct sw_call *call, uint32_t what, void *frame)
{
	const uint16_t id = (uint16_t)what;
	uint64_t times;

	if (id >= SW_API_IDS)
		__builtin_unreachable();
	if (sw_requester_is_runtime(((void **)frame)[1]))
		what |= SW_CALL_WHAT(0, SW_RF_RUNTIME);
	if (sw_call_simple())
		times = sw_call_begin(call, what, frame);
	else if (sw_call_enter_late(call, what, frame))
		times = ((const struct sw_writer *)call->writer)->calls[id];
	else
		return false;
	/* Also where the writer's thread is not the first one that calls it. */
	if (__builtin_expect(times == 1, 0))
		first_use(id);
	return true;
}

bool sw_hook_enter(struct sw_call *call, uint16_t id, uint16_t flags, void *frame)
{
	return enter(call, SW_CALL_WHAT(id, flags), frame);
}

void *sw_hook_begin(struct sw_call *call, uint32_t what, void *frame)
{
	void *real = sw_driver_function((uint16_t)what);

	if (!real || !enter(call, what, frame))
		call->writer = NULL;
	return real;
}

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
