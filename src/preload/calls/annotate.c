/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations that the program makes: the other end of syncwatch/syncwatch.h. */
#include "preload/platform/seldom.h"

#include "syncwatch/syncwatch.h"

#include <string.h>

#include "preload/intercept/contexts.h"
#include "preload/intercept/hook.h"
#include "preload/intercept/hook_state.h"
#include "preload/pools/pools.h"
#include "preload/recorder/companion.h"
#include "preload/recorder/trace.h"
#include "preload/recorder/window.h"
#include "preload/calls/custom.h"

#define MAX_NAME 1024u

_Static_assert((int)SYNCWATCH_READS == SW_NOTE_READS && (int)SYNCWATCH_AFTER == SW_NOTE_AFTER,
	       "the header passes what the trace holds");
_Static_assert(SW_POOL_BUFFER_END == SW_STATE_ANNOTATIONS, "each has a description");

static const char *const functions[] = {
	[SW_NOTE_READS] = "syncwatch_reads",
	[SW_NOTE_WRITES] = "syncwatch_writes",
	[SW_NOTE_BLOCK_BEGIN] = "syncwatch_block_begin",
	[SW_NOTE_BLOCK_END] = "syncwatch_block_end",
	[SW_NOTE_IGNORE] = "syncwatch_ignore",
	[SW_NOTE_JUDGE] = "syncwatch_judge",
	[SW_NOTE_BEFORE] = "syncwatch_happens_before",
	[SW_NOTE_AFTER] = "syncwatch_happens_after",
	[SW_NOTE_TENSOR_BEGIN] = "PyTorch's allocator",
	[SW_NOTE_TENSOR_END] = "PyTorch's allocator",
	[SW_POOL_ARRAY_BEGIN] = "CuPy's pool",
	[SW_POOL_ARRAY_END] = "CuPy's pool",
	[SW_POOL_BUFFER_BEGIN] = "RMM",
	[SW_POOL_BUFFER_END] = "RMM",
};

/* Is this annotation recorded only while a window is open?  True for those about the launch that follows, about order
   (a pause orders all threads) and about blocks of a pool; ignored memory and names hold for the whole trace. */
static bool only_in_windows(unsigned op)
{
	return op != SW_NOTE_IGNORE && op != SW_NOTE_JUDGE && op <= SW_POOL_BUFFER_END;
}

/* Writes the NAME record of a stream or buffer. */
static void write_name(enum sw_name_of of, uint64_t handle, const char *name, size_t bytes)
{
	const uint8_t ctx = of == SW_NAME_STREAM ? sw_context_of_stream(handle) : sw_context_here();
	struct sw_rec_name *r = sw_describe(SW_REC_NAME, sizeof *r + bytes, true);

	if (!r)
		return;
	r->h.ctx = ctx;
	r->of = of;
	r->name_bytes = (uint32_t)bytes;
	r->handle = handle;
	r->bytes = 0;
	memcpy(r + 1, name, bytes);
	sw_describe_done(r);
}

/* Records the name that the program gives a stream or buffer, as a call of its own so that it has a stack. */
static void record_name(enum sw_name_of of, uint64_t handle, const char *name, void *frame)
{
	const size_t bytes = name ? strnlen(name, MAX_NAME) : 0;
	struct sw_call call;

	if (!bytes || !sw_call_enter(&call, SW_ID_NONE, 0, frame))
		return;
	write_name(of, handle, name, bytes);
	sw_call_leave(&call, 0);
}

/* Records an annotation as if it were a call of an entry point, whose id lies after those of CUDA; `op`: enum of the
   trace, `flags` bit 0: the stream is that of a per-thread default. */
static void record_annotation(unsigned op, const void *address, size_t bytes, void *stream, unsigned flags, void *frame)
{
	const uint16_t id = (uint16_t)(SW_ID_COUNT + SW_STATE_UNKNOWN + op - 1);
	const bool host = stream == SYNCWATCH_HOST, array = op >= SW_POOL_ARRAY_BEGIN;
	struct sw_rec_annotation *r;
	struct sw_call call;

	if (!sw_call_enter(&call, id, flags & 1 ? SW_RF_PER_THREAD : 0, frame))
		return;
	sw_hook_describe(id, functions[op], functions[op]);
	sw_call_context(&call, host ? sw_context_here() : sw_context_of_stream(SW_WORD(stream)));
	r = sw_call_record(&call, SW_REC_ANNOTATION, sizeof *r);
	if (r) {
		r->op = array ? (op - SW_POOL_ARRAY_BEGIN) % 2 + SW_NOTE_TENSOR_BEGIN : op;
		r->address = SW_WORD(address);
		r->bytes = bytes;
		r->stream = host ? 0 : SW_WORD(stream);
		r->flags = (host ? SW_NOTE_ON_HOST : 0) | (array ? SW_NOTE_ONE_STREAM : 0);
	}
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
}

/* cuProfilerStart() and Stop(): with --capture profiler a window opens or closes. */
static CUresult call_profiler(const struct sw_site *site, bool on)
{
	CUresult (*real)(void) = (__typeof__(real))site->real;
	const CUresult status = real();

	if (status == CUDA_SUCCESS)
		sw_window_profiler(on);
	return status;
}

CUresult sw_custom_profiler_start(const struct sw_site *site)
{
	return call_profiler(site, true);
}

CUresult sw_custom_profiler_stop(const struct sw_site *site)
{
	return call_profiler(site, false);
}

__attribute__((visibility("default"))) syncwatch_function syncwatch_annotate;

/* The program begins a block in which it forbids CUDA calls (syncwatch_gate): loads the companion that finds them.
   Here, on the program's own call, the loader's lock may be taken. */
static const struct syncwatch_gate *open_gate(void)
{
	const struct syncwatch_gate *(*start)(const struct sw_companion *) =
		(__typeof__(start))sw_companion_symbol("libsyncwatch-gate.so", "syncwatch_gate_start");

	return start ? start(syncwatch_companion(SW_COMPANION_VERSION)) : NULL;
}

/* The one function that <syncwatch.h> calls, found by dlsym() or a weak symbol; `op` says which of its macros it
   was. */
void syncwatch_annotate(unsigned op, const void *address, size_t bytes, void *stream, unsigned flags, const char *name)
{
	if (op == SYNCWATCH_GATE && bytes == sizeof(void *)) {
		memcpy((void *)(uintptr_t)address, &(const void *){open_gate()}, bytes);
		return;
	}
	if (op == SYNCWATCH_RECORD) {
		const bool open = sw_window_order((enum sw_window_order)flags);
		if (bytes == sizeof open)
			memcpy((void *)(uintptr_t)address, &open, bytes);
		return;
	}
	/* A program that never calls CUDA leaves no trace. */
	if (!sw_recording() || (sw_window_paused() && only_in_windows(op)))
		return;
	if (op == SYNCWATCH_NAME_STREAM)
		record_name(SW_NAME_STREAM, SW_WORD(stream), name, __builtin_frame_address(0));
	else if (op == SYNCWATCH_NAME_BUFFER)
		record_name(SW_NAME_BUFFER, SW_WORD(address), name, __builtin_frame_address(0));
	else if (op >= SYNCWATCH_READS && op <= SW_POOL_BUFFER_END)
		record_annotation(op, address, bytes, stream, flags, __builtin_frame_address(0));
}
