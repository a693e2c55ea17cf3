/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: one primary a device, others by cuCtxCreate; a stack of current ones a thread. */
#include "simcuda/memory/array.h"
#include "simcuda/sim.h"

#include <stdlib.h>

static __thread struct sw_sim_ctx *stack[SW_SIM_STACK_DEPTH];
static __thread unsigned depth; /* stack[depth] is the current one; stack[0] what remains below */

CUresult sw_sim_start(void);

/* The thread's current context; NULL: none, or one that was destroyed or released. */
struct sw_sim_ctx *sw_sim_ctx_current(void)
{
	struct sw_sim_ctx *ctx = stack[depth];
	return ctx && sw_sim_object_get(ctx, SW_SIM_CTX) && ctx->active ? ctx : NULL;
}

struct sw_sim_device *sw_sim_device_at(CUdevice ordinal)
{
	return ordinal >= 0 && ordinal < sw_sim.devices ? &sw_sim.device[ordinal] : NULL;
}

/* Begins a context on a device: a legacy stream, and the limits that a fresh context of an H200 has.  A primary context
   is begun again after each reset; `generation` tells the times apart. */
static void context_new(struct sw_sim_ctx *ctx, struct sw_sim_device *d)
{
	ctx->device = d;
	ctx->active = true;
	ctx->id = ++sw_sim.next_id;
	ctx->generation++;
	ctx->limits[CU_LIMIT_STACK_SIZE] = 1024;
	ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1u << 20;
	ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8u << 20;
	ctx->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
	ctx->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
	ctx->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
	sw_sim_object_add(ctx, SW_SIM_CTX, NULL);
	ctx->legacy = sw_sim_stream_new(ctx, CU_STREAM_DEFAULT, 0);
	ctx->legacy->legacy = true;
}

/* For sw_sim_object_each(): an event of a context that ends. */
static void end_event(void *object, void *arg)
{
	(void)arg;
	sw_sim_object_remove(object);
	sw_sim_event_end(object);
}

/* Ends all that belongs to a context (events, streams, modules, memory), all of whose work is done. */
static void context_clear(struct sw_sim_ctx *ctx)
{
	ctx->active = false;
	sw_sim_object_each(SW_SIM_EVENT, ctx, end_event, NULL);
	for (size_t i = 0; i < ctx->streams.n; i++) {
		sw_sim_capture_forget(ctx->streams.at[i]);
		sw_sim_object_remove(ctx->streams.at[i]);
		sw_sim_stream_end(ctx->streams.at[i]);
	}
	ctx->streams.n = 0;
	sw_sim_object_remove(ctx->legacy);
	sw_sim_stream_end(ctx->legacy);
	ctx->legacy = NULL;
	sw_sim_op_set(&ctx->barrier, NULL);
	sw_sim_module_clear(ctx);
	sw_sim_texture_clear(ctx);
	sw_sim_array_clear(ctx);
	sw_sim_alloc_clear(ctx);
	ctx->peers = 0;
}

/* Waits for all work of the context, then clears it; another thread may have done so meanwhile. */
static void end_context(struct sw_sim_ctx *ctx)
{
	sw_sim_ctx_wait(ctx);
	if (ctx->active)
		context_clear(ctx);
}

/* ---- the API ---- */

/* The only call that needs nothing before it. */
CUresult cuInit(unsigned flags)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : sw_sim_start();
}

/* The first retain makes the primary context active; its handle is the same each time. */
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_device *d = sw_sim_device_at(device);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!d->primary->active)
		context_new(d->primary, d);
	d->primary->retained++;
	*out = (CUcontext)d->primary;
	return CUDA_SUCCESS;
}

/* The last release ends the primary context. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_device *d = sw_sim_device_at(device);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!d->primary->active || !d->primary->retained)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!--d->primary->retained)
		end_context(d->primary);
	return CUDA_SUCCESS;
}

/* Ends the primary context whoever retains it. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_device *d = sw_sim_device_at(device);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (d->primary->active)
		end_context(d->primary);
	d->primary->retained = 0;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_device *d = sw_sim_device_at(device);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = d->primary->flags;
	*active = d->primary->active;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_device *d = sw_sim_device_at(device);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	d->primary->flags = flags;
	return CUDA_SUCCESS;
}

/* A context of its own, which becomes the current one of this thread, above the one that was. */
CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_device *d = sw_sim_device_at(device);
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!out || depth + 1 >= SW_SIM_STACK_DEPTH)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_ctx *ctx = sw_calloc(1, sizeof *ctx);
	context_new(ctx, d);
	ctx->flags = flags;
	stack[++depth] = ctx;
	*out = (CUcontext)ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int count, unsigned flags, CUdevice device)
{
	if (affinity && count)
		return sw_sim_unsupported("execution affinity (cuCtxCreate)");
	return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
	if (params && (params->numExecAffinityParams || params->cigParams))
		return sw_sim_unsupported("context creation parameters (cuCtxCreate)");
	return cuCtxCreate_v2(out, flags, device);
}

/* Ends a context that cuCtxCreate() made, after its work. */
CUresult cuCtxDestroy_v2(CUcontext handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_ctx *ctx = sw_sim_object_get(handle, SW_SIM_CTX);
	if (!ctx || ctx->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	end_context(ctx);
	sw_sim_object_remove(ctx);
	if (stack[depth] == ctx)
		stack[depth ? depth-- : 0] = NULL;
	return CUDA_SUCCESS; /* its memory stays: other threads may still have it current, and learn that it was
				destroyed */
}

CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!sw_sim_object_get(handle, SW_SIM_CTX))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth + 1 >= SW_SIM_STACK_DEPTH)
		return CUDA_ERROR_INVALID_VALUE;
	stack[++depth] = (struct sw_sim_ctx *)handle;
	return CUDA_SUCCESS;
}

/* A context that was destroyed is popped too; the lowest place of the stack is never removed. */
CUresult cuCtxPopCurrent_v2(CUcontext *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!stack[depth])
		return CUDA_ERROR_INVALID_CONTEXT;
	if (out)
		*out = (CUcontext)stack[depth];
	stack[depth ? depth-- : 0] = NULL;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (handle && !sw_sim_object_get(handle, SW_SIM_CTX))
		return CUDA_ERROR_INVALID_CONTEXT;
	stack[depth] = (struct sw_sim_ctx *)handle;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUcontext)sw_sim_ctx_current();
	return CUDA_SUCCESS;
}

/* The context of a handle; NULL: the thread's current one. */
static CUresult find_context(CUcontext handle, struct sw_sim_ctx **out)
{
	*out = handle ? sw_sim_object_get(handle, SW_SIM_CTX) : sw_sim_ctx_current();
	return *out && (*out)->active ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_ctx *ctx;
	CUresult result = find_context(handle, &ctx);
	if (!result && !out)
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result)
		*out = ctx->device->index;
	return result;
}

CUresult cuCtxGetDevice(CUdevice *out)
{
	return cuCtxGetDevice_v2(out, NULL);
}

/* The version of all contexts since CUDA 3.2. */
CUresult cuCtxGetApiVersion(CUcontext handle, unsigned *version)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_ctx *ctx;
	CUresult result = find_context(handle, &ctx);
	if (!result && !version)
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result)
		*version = 3020;
	return result;
}

/* Waits for all work of a context; an error while a capture forbids that. */
CUresult cuCtxSynchronize_v2(CUcontext handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_ctx *ctx;
	CUresult result = find_context(handle, &ctx);
	if (!result)
		result = sw_sim_capture_unsafe();
	if (!result)
		sw_sim_ctx_wait(ctx);
	return result;
}

CUresult cuCtxSynchronize(void)
{
	return cuCtxSynchronize_v2(NULL);
}

CUresult cuCtxGetFlags(unsigned *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = sw_sim_ctx_current()->flags;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_ctx *ctx;
	CUresult result = find_context(handle, &ctx);
	if (!result && !out)
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result)
		*out = ctx->id;
	return result;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *out, CUlimit limit)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	*out = sw_sim_ctx_current()->limits[limit];
	return CUDA_SUCCESS;
}

/* A larger stack waits for the device (measured on H200, driver 580.159.04, CUDA 13.0: "cudaDeviceSetLimit stack,
   larger than before" against "same value" and "heap"). */
CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	struct sw_sim_ctx *ctx = sw_sim_ctx_current();
	if (limit == CU_LIMIT_STACK_SIZE && value > ctx->limits[limit])
		sw_sim_device_wait(ctx->device);
	ctx->limits[limit] = value;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = sw_sim_ctx_current()->cache;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	sw_sim_ctx_current()->cache = config;
	return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	return CUDA_SUCCESS;
}

/* Older names with the same parameters. */
CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	return cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
	return cuDevicePrimaryCtxReset_v2(device);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
	return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuCtxDestroy(CUcontext ctx)
{
	return cuCtxDestroy_v2(ctx);
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
	return cuCtxPushCurrent_v2(ctx);
}

CUresult cuCtxPopCurrent(CUcontext *out)
{
	return cuCtxPopCurrent_v2(out);
}
