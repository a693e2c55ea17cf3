/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/intercept/contexts.h"

#include <errno.h>
#include <string.h>

#include "preload/intercept/driver.h"
#include "preload/intercept/hook_state.h"
#include "preload/platform/often.h"
#include "preload/recorder/counted.h"

/* CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are 1 and 2; 0 is one of the two. */
#define LAST_DEFAULT_STREAM 2

/* The context that the thread named last. */
static __thread struct {
	CUcontext handle;
	uint32_t epoch;
	uint8_t id;
} remembered;

#ifndef __clang__
#pragma GCC push_options
#pragma GCC optimize("Os") /* seldom, as preload/platform/seldom.h */
#endif

/* Writes the DEVICE record of one GPU, from what the driver says of it. */
static void device_describe(CUdevice device, __typeof__(&cuDeviceGetAttribute) attribute)
{
	__typeof__(&cuDeviceGetName) ask_name = SW_REAL(cuDeviceGetName);
	__typeof__(&cuDeviceTotalMem_v2) ask_memory = SW_REAL(cuDeviceTotalMem_v2);
	__typeof__(&cuDeviceGetUuid_v2) ask_uuid = SW_REAL(cuDeviceGetUuid_v2);
	char name[256] = "";
	int major = 0, minor = 0, processors = 0;
	size_t bytes = 0;
	CUuuid uuid = {{0}};
	struct sw_rec_device *r;
	size_t length;

	attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	attribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
	if (ask_name)
		ask_name(name, sizeof name - 1, device);
	if (ask_memory)
		ask_memory(&bytes, device);
	if (ask_uuid)
		ask_uuid(&uuid, device);
	length = strnlen(name, sizeof name - 1);
	r = sw_describe(SW_REC_DEVICE, sizeof *r + length, false);
	if (!r)
		return;
	r->ordinal = device;
	r->major = (uint32_t)major;
	r->minor = (uint32_t)minor;
	r->multiprocessors = (uint32_t)processors;
	r->memory_bytes = bytes;
	memcpy(r->uuid, uuid.bytes, sizeof r->uuid);
	r->name_bytes = (uint32_t)length;
	r->reserved = 0;
	memcpy(r + 1, name, length);
	sw_describe_done(r);
}

/* Describes all GPUs in the trace, once a process, at its first context: by then the driver is initialised and
   answers. */
static void devices_describe(struct sw_state *state)
{
	__typeof__(&cuDeviceGetCount) ask_count = SW_REAL(cuDeviceGetCount);
	__typeof__(&cuDeviceGetAttribute) attribute = SW_REAL(cuDeviceGetAttribute);
	int count = 0;

	if (__atomic_exchange_n(&state->devices_described, 1, __ATOMIC_RELAXED) || !ask_count || !attribute)
		return;
	if (ask_count(&count) != CUDA_SUCCESS)
		return;
	for (int i = 0; i < count; i++)
		device_describe(i, attribute);
}

/* The device of a context; -1: the driver does not say. */
static CUdevice ask_device(CUcontext context)
{
	__typeof__(&cuCtxGetDevice) ask = SW_REAL(cuCtxGetDevice);
	__typeof__(&cuCtxGetCurrent) ask_current = SW_REAL(cuCtxGetCurrent);
	CUcontext current = NULL;
	CUdevice device = -1;

	/* cuCtxGetDevice_v2 (13.0) takes the context, but older drivers have only the question about the current one.
	 */
#if CUDA_VERSION >= 13000
	__typeof__(&cuCtxGetDevice_v2) ask_of = SW_REAL(cuCtxGetDevice_v2);

	if (ask_of && ask_of(&device, context) == CUDA_SUCCESS)
		return device;
#endif
	if (!ask || !ask_current || ask_current(&current) != CUDA_SUCCESS || current != context)
		return -1;
	return ask(&device) == CUDA_SUCCESS ? device : -1;
}

/* CUdevice of a context that need not be current; -1 where the driver does not know. */
static int32_t context_device(CUcontext context)
{
	const int saved = errno;
	const CUdevice device = ask_device(context);

	errno = saved;
	return device;
}

/* Describes a context in the trace.  `again`: its id had another context before, so the record must keep its place
   among the others. */
static void context_describe(uint8_t id, const struct sw_state_context *context, bool again)
{
	struct sw_rec_context *r = sw_describe(SW_REC_CONTEXT, sizeof *r, again);

	if (!r)
		return;
	r->h.ctx = id;
	r->handle = (uint64_t)(uintptr_t)context->handle;
	r->device = context->device;
	r->flags = (context->primary ? SW_CTX_PRIMARY : 0) | (context->green ? SW_CTX_GREEN : 0);
	sw_describe_done(r);
}

#ifndef __clang__
#pragma GCC pop_options
#endif

/* The id of a context by its handle, the newest first; 0: it has none yet. */
static uint8_t context_search(const struct sw_state *state, CUcontext context)
{
	for (uint32_t i = state->contexts; i > 0; i--) {
		if (state->context[i].handle == context)
			return (uint8_t)i;
	}
	return 0;
}

/* An id for a new context: an unused one while there are any, then that of an ended context, in turn so that an id
   rests for as long as possible; 0: all are in use.  Under the lock. */
static uint8_t context_slot(struct sw_state *state)
{
	if (state->contexts + 1 < SW_STATE_CONTEXTS)
		return (uint8_t)(state->contexts + 1);
	for (uint32_t i = 1; i < SW_STATE_CONTEXTS; i++) {
		const uint32_t id = (state->context_again + i) % SW_STATE_CONTEXTS;

		if (id && !state->context[id].handle) {
			state->context_again = id;
			return (uint8_t)id;
		}
	}
	return 0;
}

/* Gives a context an id and describes it in the trace; another thread may have done so meanwhile. */
static uint8_t context_add(struct sw_state *state, const struct sw_state_context *found)
{
	const int saved = errno;
	uint64_t mask;
	uint8_t id, fresh = 0;
	bool again = false;

	devices_describe(state);
	errno = saved;
	mask = sw_state_lock(state);
	id = context_search(state, found->handle);
	if (!id)
		id = fresh = context_slot(state);
	if (fresh) {
		again = fresh <= state->contexts;
		state->context[fresh] = *found;
		if (!again)
			__atomic_store_n(&state->contexts, fresh, __ATOMIC_RELEASE);
	}
	sw_state_unlock(state, mask);
	if (fresh)
		context_describe(id, found, again);
	if (!id)
		sw_notice("more than 255 contexts at once: work in later ones is recorded without its context");
	return id;
}

/* The id of a context in the trace, given at its first use; 0: none, or no ids are left.  Each thread remembers its
   last one, as the epoch says whether that is still true. */
uint8_t sw_context_of(CUcontext context)
{
	struct sw_state *state;
	uint32_t epoch;
	uint8_t id;

	if (!context)
		return 0;
	state = sw_state();
	epoch = __atomic_load_n(&state->epoch, __ATOMIC_ACQUIRE);
	if (remembered.handle == context && remembered.epoch == epoch && remembered.id <= state->contexts)
		return remembered.id;
	id = context_search(state, context);
	/* The context's creation was not recorded: a primary context, which cudart selects through private tables. */
	if (!id)
		id = context_add(state, &(struct sw_state_context){
						.handle = context, .primary = true, .device = context_device(context)});
	remembered.handle = context;
	remembered.epoch = epoch;
	remembered.id = id;
	return id;
}

/* Gives a context that the program created an id. */
uint8_t sw_context_made(CUcontext context)
{
	return context_add(sw_state(),
			   &(struct sw_state_context){.handle = context, .device = context_device(context)});
}

/* Gives the primary context of a device an id. */
uint8_t sw_context_made_primary(CUcontext context, CUdevice device)
{
	return context_add(sw_state(),
			   &(struct sw_state_context){.handle = context, .primary = true, .device = device});
}

/* The id of the context that belongs to a green context (a part of the device's processors). */
uint8_t sw_context_of_green(CUgreenCtx green)
{
	__typeof__(&cuCtxFromGreenCtx) ask = SW_REAL(cuCtxFromGreenCtx);
	CUcontext context = NULL;
	uint8_t id;

	if (!green || !ask || ask(&context, green) != CUDA_SUCCESS || !context)
		return sw_context_here();
	id = context_search(sw_state(), context);
	return id ? id
		  : context_add(sw_state(), &(struct sw_state_context){.handle = context,
								       .green = green,
								       .device = context_device(context)});
}

/* The id of the device's primary context, 0: it was not seen.  The newest comes first, as it may have been reset and
   made again. */
uint8_t sw_context_of_primary(CUdevice device)
{
	const struct sw_state *state = sw_state();

	for (uint32_t i = state->contexts; i > 0; i--) {
		if (state->context[i].handle && state->context[i].primary && state->context[i].device == device)
			return (uint8_t)i;
	}
	return 0;
}

/* The driver's answer for this thread; NULL: no context is current. */
CUcontext sw_context_current(void)
{
	__typeof__(&cuCtxGetCurrent) ask = SW_REAL(cuCtxGetCurrent);
	CUcontext context = NULL;

	return ask && ask(&context) == CUDA_SUCCESS ? context : NULL;
}

/* The id of the thread's current context.  The driver is asked each time: cudart also changes it by private tables. */
uint8_t sw_context_here(void)
{
	return sw_context_of(sw_context_current());
}

/* sw_context_of_stream() where the table's first slot has not the stream: a default stream, which belongs to the
   current context, or one that is searched for. */
static __attribute__((noinline)) uint8_t context_of_other(uint64_t stream)
{
	const uint64_t id = stream > LAST_DEFAULT_STREAM ? sw_table_get(&sw_state()->by_stream, stream) : 0;

	return id ? (uint8_t)id : sw_context_here();
}

/* The id of the stream's context: streams are in a table from their creation on; one that was created unseen counts as
   of the current context. */
SW_OFTEN uint8_t sw_context_of_stream(uint64_t stream)
{
	const struct sw_state *state = __atomic_load_n(&sw_state_published, __ATOMIC_ACQUIRE);
	const uint64_t id = stream > LAST_DEFAULT_STREAM && state ? sw_table_probe(&state->by_stream, stream) : 0;

	return __builtin_expect(id != 0, 1) ? (uint8_t)id : context_of_other(stream);
}

/* Notes the stream's context.  The default streams have none of their own. */
void sw_context_stream_made(uint64_t stream, uint8_t id)
{
	struct sw_state *state = sw_state();
	uint64_t mask;

	if (!id || stream <= LAST_DEFAULT_STREAM)
		return;
	mask = sw_state_lock(state);
	sw_table_put(&state->by_stream, stream, id);
	sw_state_unlock(state, mask);
}

/* Forgets a stream that is destroyed, as its handle may be given to a stream of another context; returns its context's
   id. */
uint8_t sw_context_stream_gone(uint64_t stream)
{
	struct sw_state *state = sw_state();
	uint64_t mask;
	const uint8_t id = sw_context_of_stream(stream);

	mask = sw_state_lock(state);
	sw_table_delete(&state->by_stream, stream);
	sw_state_unlock(state, mask);
	return id;
}

#include "preload/platform/seldom.h" /* from here on */

/* For sw_table_sweep(): does the stream belong to the context that has ended? */
static bool stream_of_context(uint64_t stream, uint64_t id, uint64_t ended)
{
	(void)stream;
	return id == ended;
}

/* Forgets a context that was destroyed, with its streams: from now on the driver may use the handle for another one. */
static void context_end(uint8_t id)
{
	struct sw_state *state = sw_state();
	uint64_t mask;

	if (!id)
		return;
	mask = sw_state_lock(state);
	state->context[id].handle = NULL;
	sw_table_sweep(&state->by_stream, stream_of_context, id);
	__atomic_fetch_add(&state->epoch, 1, __ATOMIC_RELEASE);
	sw_state_unlock(state, mask);
}

/* Does the device's primary context still exist?  One ends when its last user releases it. */
static bool primary_active(CUdevice device)
{
	__typeof__(&cuDevicePrimaryCtxGetState) ask = SW_REAL(cuDevicePrimaryCtxGetState);
	unsigned int flags;
	int active = 0;

	return ask && ask(device, &flags, &active) == CUDA_SUCCESS && active;
}

/* The id of a context by the green context that it came from; 0: none. */
static uint8_t green_search(const struct sw_state *state, uint64_t green)
{
	for (uint32_t i = state->contexts; i > 0; i--) {
		if (state->context[i].handle && (uint64_t)(uintptr_t)state->context[i].green == green)
			return (uint8_t)i;
	}
	return 0;
}

/* After a call that made or ended a context: ends the ids of those that are gone, since a handle or device may get
   another context later. */
void sw_context_changed(enum sw_context_op op, uint64_t handle)
{
	const struct sw_state *state = sw_state();
	uint8_t id;

	/* Kernels go with their context. */
	if (op == SW_CONTEXT_DESTROY || op == SW_CONTEXT_RESET || op == SW_CONTEXT_RELEASE)
		sw_counted_unloaded();
	switch (op) {
	case SW_CONTEXT_DESTROY:
		id = context_search(state, (CUcontext)(uintptr_t)handle);
		context_end(id ? id : green_search(state, handle));
		break;
	case SW_CONTEXT_RESET:
		context_end(sw_context_of_primary((CUdevice)handle));
		break;
	case SW_CONTEXT_RELEASE:
		/* cuCtxDetach passes a context, cuDevicePrimaryCtxRelease a device's ordinal. */
		if (handle < SW_STATE_CONTEXTS && !primary_active((CUdevice)handle))
			context_end(sw_context_of_primary((CUdevice)handle));
		break;
	case SW_CONTEXT_CREATE:
	case SW_CONTEXT_CURRENT:
	case SW_CONTEXT_RETAIN:
		break;
	}
}
