/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/intercept/hook.h"

#include <errno.h>
#include <string.h>

#include "api/names.h"
#include "preload/intercept/contexts.h"
#include "preload/intercept/hook_enter.h"
#include "preload/intercept/hook_state.h"
#include "preload/recorder/window.h"

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
_Static_assert(sizeof(struct sw_rec_event_record) == sizeof(struct sw_rec_stream_wait), "two words and flags");

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

/* Which calls are hot: the others create, destroy or describe what a window refers to. */

#define IS(text, word)		(__builtin_strcmp(text, word) == 0)
#define HOT_PASS(...)		0
#define HOT_LAUNCH(...)		1
#define HOT_COPY(...)		1
#define HOT_SET(...)		1
#define HOT_SYNC(...)		1
#define HOT_QUERY(...)		1
#define HOT_HOST(...)		1
#define HOT_MEMOP(...)		1
#define HOT_ALLOC(...)		0
#define HOT_FREE(...)		0
#define HOT_STREAM(...)		0
#define HOT_CAPTURE(...)	0
#define HOT_CONFIG(...)		0
#define HOT_POOL(...)		0
#define HOT_EXTERNAL(...)	0
#define HOT_OBJECT(...)		0
#define HOT_EVENT(record, fill) (IS(record, "EVENT_RECORD") || IS(record, "STREAM_WAIT"))
#define HOT_GRAPH(record, fill) IS(record, "GRAPH_LAUNCH")
/* Questions about a kernel: they may load it, but so may its first launch. */
#define HOT_CODE(record, fill) IS(record, "CODE_TOUCH")
/* Which context is current is asked for, not remembered. */
#define HOT_CONTEXT(record, fill) (__builtin_strncmp(fill, "(CURRENT", sizeof "(CURRENT" - 1) == 0)

bool sw_calls_hot(uint16_t id)
{
	static const uint8_t hot[SW_ID_COUNT] = {
#define SW_CU_SYMBOL(symbol, name, runtime, since, cls, thread, form, where, record, fill, sig)                        \
	[SW_ID_##symbol] = HOT_##cls(#record, #fill),
#include "api/cuda.def"
	};
	return id < SW_ID_COUNT && hot[id];
}

SW_OFTEN bool sw_hook_enter_other(struct sw_call *call, uint32_t what, void *frame)
{
	if (sw_process_state() == SW_STATE_PAUSED && sw_window_leaves_out((uint16_t)what))
		return false;
	if (sw_requester_is_runtime(((void **)frame)[1]))
		what |= SW_CALL_WHAT(0, SW_RF_RUNTIME);
	return sw_call_enter_late(call, what, frame);
}

bool sw_hook_enter(struct sw_call *call, uint16_t id, uint16_t flags, void *frame)
{
	return sw_hook_enter_here(call, SW_CALL_WHAT(id, flags), frame);
}

SW_OFTEN void *sw_hook_begin(struct sw_call *call, uint32_t what, void *frame)
{
	return sw_hook_begin_here(call, what, frame);
}

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
