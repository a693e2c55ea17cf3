/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: in-order queues.  CUDA C++ Programming Guide, "Default Stream" and "Implicit Synchronization": work on the
 * legacy default stream waits for all blocking streams of the context, and they for it; non-blocking streams take no
 * part.
 */
#include "simcuda/sim.h"

#include <stdlib.h>

/* Is the stream's last operation done? */
static bool is_idle(const struct sw_sim_op *op)
{
	return !op || op->done;
}

/* A new stream; its context's end destroys it. */
struct sw_sim_stream *sw_sim_stream_new(struct sw_sim_ctx *ctx, unsigned flags, int priority)
{
	struct sw_sim_stream *s = sw_calloc(1, sizeof *s);
	s->flags = flags;
	s->priority = priority;
	s->id = ++sw_sim.next_id;
	sw_sim_object_add(s, SW_SIM_STREAM, ctx);
	return s;
}

/* Frees a stream; its work goes on. */
void sw_sim_stream_end(struct sw_sim_stream *s)
{
	sw_sim_op_put(s->tail);
	free(s);
}

/* Destroyed streams stay while they have work: the legacy stream and waits for the context still cover it
   (measured on H200, driver 580.159.04, CUDA 13.0: "cudaStreamDestroy pending" returns at once). */
static void prune_streams(struct sw_sim_ctx *ctx)
{
	size_t kept = 0;
	for (size_t i = 0; i < ctx->streams.n; i++) {
		struct sw_sim_stream *s = ctx->streams.at[i];
		if (s->destroyed && is_idle(s->tail))
			sw_sim_stream_end(s);
		else
			ctx->streams.at[kept++] = s;
	}
	ctx->streams.n = kept;
}

/* This thread's own default stream in a context, made at its first use and remembered by thread. */
static struct sw_sim_stream *per_thread_stream(struct sw_sim_ctx *ctx)
{
	static __thread struct sw_sim_stream *last;
	static __thread struct sw_sim_ctx *last_ctx;
	static __thread unsigned last_generation;
	uint64_t thread = sw_sim_thread();
	if (last_ctx == ctx && last_generation == ctx->generation)
		return last;
	struct sw_sim_stream *s = NULL;
	for (size_t i = 0; i < ctx->streams.n; i++)
		if (ctx->streams.at[i]->per_thread && ctx->streams.at[i]->thread == thread)
			s = ctx->streams.at[i];
	if (!s) {
		s = sw_sim_stream_new(ctx, CU_STREAM_DEFAULT, 0);
		s->per_thread = true;
		s->thread = thread;
		*sw_vec_push(&ctx->streams) = s;
	}
	last = s;
	last_ctx = ctx;
	last_generation = ctx->generation;
	return s;
}

/* The stream of a handle; NULL, 1 and 2 mean default streams, as in CUDA. */
CUresult sw_sim_stream_find(CUstream handle, struct sw_sim_stream **out)
{
	struct sw_sim_ctx *ctx = sw_sim_ctx_current();
	if (!handle)
		handle = sw_sim_default_stream;
	if (handle == CU_STREAM_LEGACY)
		*out = ctx->legacy;
	else if (handle == CU_STREAM_PER_THREAD)
		*out = per_thread_stream(ctx);
	else if (!(*out = sw_sim_object_get(handle, SW_SIM_STREAM)) || (*out)->legacy || (*out)->per_thread)
		return CUDA_ERROR_INVALID_HANDLE; /* a default stream may have the place of one that was destroyed */
	return CUDA_SUCCESS;
}

/* The operation waits for all streams of the context, or for the blocking ones. */
static void after_all(struct sw_sim_op *op, struct sw_sim_ctx *ctx, bool blocking_only)
{
	for (size_t i = 0; i < ctx->streams.n; i++)
		if (!blocking_only || !(ctx->streams.at[i]->flags & CU_STREAM_NON_BLOCKING))
			sw_sim_op_after(op, ctx->streams.at[i]->tail);
}

/* An operation that comes after all that the stream has, and with default streams after what CUDA orders before them:
   the legacy one waits for all blocking streams, and they for it. */
struct sw_sim_op *sw_sim_stream_begin(struct sw_sim_stream *s, struct sw_sim_work *work)
{
	struct sw_sim_ctx *ctx = s->object.ctx;
	struct sw_sim_op *op = sw_sim_op_new(work);
	sw_sim_op_after(op, s->tail);
	sw_sim_op_after(op, ctx->barrier);
	if (s->legacy)
		after_all(op, ctx, true);
	else if (!(s->flags & CU_STREAM_NON_BLOCKING))
		sw_sim_op_after(op, ctx->legacy->tail);
	return op;
}

void sw_sim_stream_advance(struct sw_sim_stream *s, struct sw_sim_op *op)
{
	sw_sim_op_set(&s->tail, op);
}

/* Puts work at the end of the stream and lets it run. */
struct sw_sim_op *sw_sim_stream_enqueue(struct sw_sim_stream *s, struct sw_sim_work *work)
{
	struct sw_sim_op *op = sw_sim_stream_begin(s, work);
	sw_sim_stream_advance(s, op);
	sw_sim_op_submit(op);
	sw_sim_op_put(op); /* the stream holds it */
	return op;
}

/* Puts work on a stream, or makes a node of it where the stream is captured; then *op is NULL. */
CUresult sw_sim_submit(struct sw_sim_stream *s, struct sw_sim_work *work, struct sw_sim_op **op)
{
	if (op)
		*op = NULL;
	if (s->capture)
		return sw_sim_capture_add(s, work);
	CUresult result = s->legacy ? sw_sim_capture_legacy(s->object.ctx) : CUDA_SUCCESS;
	if (result) {
		sw_sim_work_put(work);
		return result;
	}
	struct sw_sim_op *made = sw_sim_stream_enqueue(s, work);
	if (op)
		*op = made;
	return CUDA_SUCCESS;
}

/* cuStreamQuery(): is all done that a wait for the stream would cover? */
static bool stream_idle(struct sw_sim_stream *s)
{
	bool all = is_idle(s->tail);
	if (s->legacy)
		for (size_t i = 0; all && i < s->object.ctx->streams.n; i++)
			if (!(s->object.ctx->streams.at[i]->flags & CU_STREAM_NON_BLOCKING))
				all = is_idle(s->object.ctx->streams.at[i]->tail);
	return all;
}

/* Submits a marker, i.e. an operation without work, and waits until what it comes after is done. */
static void wait_marker(struct sw_sim_op *marker)
{
	sw_sim_op_submit(marker);
	sw_sim_op_wait(marker);
	sw_sim_op_put(marker);
}

/* Waits for a stream's work; a wait for the legacy stream covers the blocking streams, too ("cudaStreamSynchronize
   legacy" of the measured table). */
static void stream_wait(struct sw_sim_stream *s)
{
	if (s->legacy)
		wait_marker(sw_sim_stream_begin(s, NULL));
	else
		sw_sim_op_wait(s->tail);
}

/* The operation comes after all work of the context. */
static void after_context(struct sw_sim_op *op, struct sw_sim_ctx *ctx)
{
	after_all(op, ctx, false);
	sw_sim_op_after(op, ctx->legacy->tail);
	sw_sim_op_after(op, ctx->barrier);
}

/* Waits for all work of a context, by a marker behind the end of each of its streams. */
void sw_sim_ctx_wait(struct sw_sim_ctx *ctx)
{
	struct sw_sim_op *marker = sw_sim_op_new(NULL);
	after_context(marker, ctx);
	wait_marker(marker);
	prune_streams(ctx);
}

struct whole_device {
	struct sw_sim_device *device;
	struct sw_sim_op *marker;
};

/* For sw_sim_object_each(): work of each active context of the device. */
static void after_if_there(void *object, void *arg)
{
	struct sw_sim_ctx *ctx = object;
	const struct whole_device *whole = arg;
	if (ctx->device == whole->device && ctx->active)
		after_context(whole->marker, ctx);
}

/* Waits for all work of all contexts of a device. */
void sw_sim_device_wait(struct sw_sim_device *d)
{
	struct whole_device whole = {d, sw_sim_op_new(NULL)};
	sw_sim_object_each(SW_SIM_CTX, NULL, after_if_there, &whole);
	wait_marker(whole.marker);
}

/* Code is loaded: all work of the context that comes later waits for all that is there, as was measured on an H200. */
void sw_sim_ctx_barrier(struct sw_sim_ctx *ctx)
{
	struct sw_sim_op *barrier = sw_sim_op_new(NULL);
	after_context(barrier, ctx);
	sw_sim_op_set(&ctx->barrier, barrier);
	sw_sim_op_submit(barrier);
	sw_sim_op_put(barrier);
}

/* ---- the API ---- */

/* Priorities are clamped to the range that cuCtxGetStreamPriorityRange() says; they have no effect. */
CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out || flags & ~1u)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_ctx *ctx = sw_sim_ctx_current();
	prune_streams(ctx);
	struct sw_sim_stream *s = sw_sim_stream_new(ctx, flags, priority > 0 ? 0 : priority < -5 ? -5 : priority);
	*sw_vec_push(&ctx->streams) = s;
	*out = (CUstream)s;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
	return cuStreamCreateWithPriority(out, flags, 0);
}

/* The handle ends at once, pending work goes on. */
CUresult cuStreamDestroy_v2(CUstream handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s = sw_sim_object_get(handle, SW_SIM_STREAM);
	if (!s || s->legacy || s->per_thread)
		return CUDA_ERROR_INVALID_HANDLE;
	sw_sim_capture_forget(s);
	sw_sim_object_remove(s);
	s->destroyed = true;
	prune_streams(s->object.ctx);
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle)
{
	return cuStreamDestroy_v2(handle);
}

/* The stream, unless a capture forbids to wait for it. */
static CUresult find_to_wait(CUstream handle, struct sw_sim_stream **out)
{
	CUresult result = sw_sim_stream_find(handle, out);
	if (!result && (*out)->capture)
		result = sw_sim_capture_spoil((*out)->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (!result && (*out)->legacy)
		result = sw_sim_capture_legacy((*out)->object.ctx);
	return result;
}

CUresult cuStreamSynchronize(CUstream handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = find_to_wait(handle, &s);
	if (!result)
		stream_wait(s);
	return result;
}

CUresult cuStreamQuery(CUstream handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = find_to_wait(handle, &s);
	if (!result && !stream_idle(s))
		result = CUDA_ERROR_NOT_READY;
	return result;
}

/* Makes the stream wait for the event's latest record, or in a capture for the nodes that it stands for. */
CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	struct sw_sim_event *event = sw_sim_object_get(event_handle, SW_SIM_EVENT);
	CUresult result = sw_sim_stream_find(handle, &s);
	if (result || !event)
		return CUDA_ERROR_INVALID_HANDLE;
	/* cuda.h, CU_EVENT_WAIT_EXTERNAL: "When using stream capture, create an event wait node instead of the default
	   behavior." */
	if (s->capture && flags & CU_EVENT_WAIT_EXTERNAL) {
		struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_WAIT_EVENT, 0);
		work->event = event;
		return sw_sim_submit(s, work, NULL);
	}
	if (s->capture || event->capture_id)
		return sw_sim_capture_wait(s, event);
	if (event->shared)
		return sw_sim_submit(s, sw_sim_ipc_wait(event), NULL);
	if (!event->op) /* "Waits for nothing when the event was never recorded": cuStreamWaitEvent's documentation */
		return CUDA_SUCCESS;
	struct sw_sim_op *op = sw_sim_stream_begin(s, NULL);
	sw_sim_op_after(op, event->op);
	sw_sim_stream_advance(s, op);
	sw_sim_op_submit(op);
	sw_sim_op_put(op);
	return CUDA_SUCCESS;
}

/* Enqueues a host function or callback. */
static CUresult host_function(CUstream handle, struct sw_sim_host host)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (result)
		return result;
	if (!host.function && !host.callback)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_HOST, 0);
	work->host = host;
	return sw_sim_submit(s, work, NULL);
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *arg)
{
	return host_function(handle, (struct sw_sim_host){.function = function, .arg = arg});
}

/* Since 13.1: the mode says how a thread of the driver's waits. */
CUresult cuLaunchHostFunc_v2(CUstream handle, CUhostFn function, void *arg, unsigned mode);
CUresult cuLaunchHostFunc_v2(CUstream handle, CUhostFn function, void *arg, unsigned mode)
{
	return mode > 1 ? CUDA_ERROR_INVALID_VALUE : cuLaunchHostFunc(handle, function, arg);
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *arg, unsigned flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	return host_function(handle, (struct sw_sim_host){.callback = callback, .stream = handle, .arg = arg});
}

/* Where managed memory is attached has no effect here; the call is checked and takes its place in the stream. */
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t bytes, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	(void)bytes;
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (result)
		return result;
	if (sw_sim_memory_of(address) != SW_SIM_MANAGED || !flags || flags & ~7u)
		return CUDA_ERROR_INVALID_VALUE;
	return sw_sim_submit(s, sw_sim_work_new(CU_GRAPH_NODE_TYPE_EMPTY, 1000), NULL);
}

/* Getters: one question each about a stream. */
#define GETTER(name, type, value)                                                                                      \
	CUresult name(CUstream handle, type *out)                                                                      \
	{                                                                                                              \
		SW_SIM_ENTER(SW_SIM_NEEDS_CTX);                                                                        \
		struct sw_sim_stream *s;                                                                               \
		CUresult result = sw_sim_stream_find(handle, &s);                                                      \
		if (!result && !out)                                                                                   \
			result = CUDA_ERROR_INVALID_VALUE;                                                             \
		if (!result)                                                                                           \
			*out = (value);                                                                                \
		return result;                                                                                         \
	}
GETTER(cuStreamGetFlags, unsigned, s->flags)
GETTER(cuStreamGetPriority, int, s->priority)
GETTER(cuStreamGetId, unsigned long long, s->id)
GETTER(cuStreamGetDevice, CUdevice, s->object.ctx->device->index)
GETTER(cuStreamGetCtx, CUcontext, (CUcontext)s->object.ctx)
