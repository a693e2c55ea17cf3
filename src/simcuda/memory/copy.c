/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and sets.  Who waits for whom is one table (waits_for), from measurements: CUDA's documents leave much of it
 * open (CUDA Driver API, "API synchronization behavior").
 */
#include "simcuda/memory/copy.h"

#include <string.h>

#include "simcuda/memory/array.h"
#include "simcuda/sim.h"

/* ---- sets: cuMemsetD{8,16,32}, linear and pitched, synchronous in name and asynchronous -------------------------- */

#define SET_LATENCY_NS 2000u
#define RATE	       1000u /* bytes a ns */

/* The work of a memset; an error if the memory is not CUDA's or is misaligned. */
static CUresult set_work(struct sw_sim_set what, struct sw_sim_work **out)
{
	uint64_t row = (uint64_t)what.width * what.element;
	if (sw_sim_memory_of(what.dst) == SW_SIM_PAGEABLE || (what.height > 1 && what.pitch < row) ||
	    what.dst % what.element || !sw_sim_alloc_holds(what.dst, (what.height - 1) * what.pitch + row))
		return CUDA_ERROR_INVALID_VALUE;
	*out = sw_sim_work_new(CU_GRAPH_NODE_TYPE_MEMSET, SET_LATENCY_NS + row * what.height / RATE);
	(*out)->set = what;
	return CUDA_SUCCESS;
}

/* Makes work of a node that fills memory, after the checks. */
CUresult sw_sim_set_work(const void *params, struct sw_sim_work **out)
{
	const CUDA_MEMSET_NODE_PARAMS *p = params;
	if (!p->width || !p->height || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
		return CUDA_ERROR_INVALID_VALUE;
	return set_work((struct sw_sim_set){p->dst, p->pitch, p->width, p->height, p->value, p->elementSize}, out);
}

/* Sets of device memory do not keep the host, those of pinned memory do (measured on H200, driver 580.159.04,
   CUDA 13.0: "cudaMemset dev", "cudaMemset pinned"; CUDA Runtime API, "API synchronization behavior", says the same).
 */
static CUresult set_memory(CUstream handle, bool async, struct sw_sim_set what)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	struct sw_sim_op *op;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (!result && !async)
		result = sw_sim_capture_unsafe();
	if (result || !what.width || !what.height)
		return result;
	struct sw_sim_work *work;
	if ((result = set_work(what, &work)))
		return result;
	result = sw_sim_submit(s, work, &op);
	if (!result && !async && sw_sim_memory_of(what.dst) != SW_SIM_DEVICE)
		sw_sim_op_wait(op);
	return result;
}

/* NAME, value type: the four forms of one element size. */
#define SETS(bits, type)                                                                                               \
	CUresult cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t n)                                           \
	{                                                                                                              \
		return set_memory(0, false, (struct sw_sim_set){dst, 0, n, 1, value, bits / 8});                       \
	}                                                                                                              \
	CUresult cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t n, CUstream stream)                        \
	{                                                                                                              \
		return set_memory(stream, true, (struct sw_sim_set){dst, 0, n, 1, value, bits / 8});                   \
	}                                                                                                              \
	CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height)        \
	{                                                                                                              \
		return set_memory(0, false, (struct sw_sim_set){dst, pitch, width, height, value, bits / 8});          \
	}                                                                                                              \
	CUresult cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height,      \
					  CUstream stream)                                                             \
	{                                                                                                              \
		return set_memory(stream, true, (struct sw_sim_set){dst, pitch, width, height, value, bits / 8});      \
	}
SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned)

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* Model: latency in ns, bytes a ns. */
#define COPY_LATENCY_NS 3000u
#define DEVICE_RATE	1000u /* within a device */
#define PINNED_RATE	25u
#define PAGEABLE_RATE	6u
/* An asynchronous copy from pageable memory up to this size is staged at the call; a larger one keeps the caller.
   Measured on H200, driver 580.159.04, CUDA 13.0: 65537 bytes did not wait, 16 MiB did; the limit lies in between. */
#define STAGING_BYTES (1u << 20)

static bool on_device(enum sw_sim_memory memory)
{
	return memory == SW_SIM_DEVICE;
}

/* How long a copy takes in the model, by the memory at both ends. */
static uint64_t copy_ns(const struct sw_sim_side *dst, const struct sw_sim_side *src, uint64_t bytes)
{
	uint64_t rate = dst->memory == SW_SIM_PAGEABLE || src->memory == SW_SIM_PAGEABLE ? PAGEABLE_RATE
			: on_device(dst->memory) && on_device(src->memory)		 ? DEVICE_RATE
											 : PINNED_RATE;
	return COPY_LATENCY_NS + bytes / rate;
}

/* Whether the host waits for the copy.  Measured on H200, driver 580.159.04, CUDA 13.0; rows cited by their calls. */
static bool host_waits(bool async, const struct sw_sim_side *dst, const struct sw_sim_side *src, uint64_t bytes)
{
	if (!async) /* "cudaMemcpy D2D" returns at once, "cudaMemcpy H2D", "D2H", "H2H" do not */
		return !(on_device(dst->memory) && on_device(src->memory));
	if (dst->memory == SW_SIM_PAGEABLE) /* "cudaMemcpyAsync D2H pageable", "H2H pageable" */
		return true;
	switch (src->source) {
	case SW_SIM_SOURCE_PLAIN:
		break;
	case SW_SIM_SOURCE_STREAM: /* "batch pageable 4 KiB" and "2 MiB", order STREAM: both wait for the stream */
		return src->memory == SW_SIM_PAGEABLE;
	case SW_SIM_SOURCE_DURING: /* "batch pinned 2 MiB", order DURING, waits; "batch pageable 2 MiB" does not */
		return src->memory != SW_SIM_PAGEABLE;
	case SW_SIM_SOURCE_DURING_3D: /* "3D batch pinned to array", "3D batch pageable to array", order DURING */
		return true;
	}
	return src->memory == SW_SIM_PAGEABLE && bytes > STAGING_BYTES; /* "cudaMemcpyAsync H2D pageable" */
}

/* Finds the place of the copy in an array; an error if it does not lie within. */
static CUresult check_array(struct sw_sim_side *s, size_t width, size_t height, size_t depth)
{
	const struct sw_sim_array *array = sw_sim_array_get(s->array);
	if (!array)
		return CUDA_ERROR_INVALID_HANDLE;
	s->address = sw_sim_array_at(array, s->at, (const size_t[]){width, height, depth});
	s->pitch = array->width * array->element;
	s->slice = s->pitch * array->height;
	s->memory = SW_SIM_DEVICE;
	return s->address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Finds out which memory one end of a copy is, and whether all of it is there. */
static CUresult check_side(struct sw_sim_side *s, size_t width, size_t height, size_t depth)
{
	if (s->type == CU_MEMORYTYPE_ARRAY)
		return check_array(s, width, height, depth);
	uint64_t bytes = (depth - 1) * s->slice + (height - 1) * s->pitch + width;
	const struct sw_sim_alloc *alloc = sw_sim_alloc_find(s->address);
	s->memory = sw_sim_memory_of(s->address);
	if (s->memory == SW_SIM_MANAGED && alloc->pool) /* measured: copies treat it so (tests/gpu/managed/copies.cu) */
		s->memory = SW_SIM_DEVICE;
	if (s->memory == SW_SIM_PAGEABLE && s->type == CU_MEMORYTYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->memory != SW_SIM_PAGEABLE && s->memory != SW_SIM_REGISTERED && !sw_sim_alloc_holds(s->address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return !s->address ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Snapshots a source that the caller may change as soon as the call returns. */
static void stage_source(struct sw_sim_copy *c)
{
	const char *from = sw_sim_backing(c->src);
	char *bytes = sw_alloc(c->width * c->height * c->depth), *to = bytes;
	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++, to += c->width)
			memcpy(to, from + z * c->src_slice + y * c->src_pitch, c->width);
	c->staged = bytes;
	c->src_pitch = c->width;
	c->src_slice = c->width * c->height;
}

/* The legacy stream of the device at the other end, when a synchronous copy crosses devices: the copy takes part in
   both streams. (measured on two H200: "cudaMemcpyPeer 0->1 1MiB", "cudaMemcpy D2D 0->1") */
static struct sw_sim_stream *other_end(struct sw_sim_stream *s, const struct sw_sim_side *dst,
				       const struct sw_sim_side *src)
{
	const struct sw_sim_side *sides[] = {dst, src};
	for (int i = 0; i < 2; i++) {
		const struct sw_sim_alloc *a =
			on_device(sides[i]->memory) ? sw_sim_alloc_find(sides[i]->address) : NULL;
		if (a && a->device != s->object.ctx->device && a->device->primary->active)
			return a->device->primary->legacy;
	}
	return NULL;
}

/* Enqueues a copy that takes part in two streams: it begins after both, and both end in it. */
static struct sw_sim_op *enqueue_across(struct sw_sim_stream *s, struct sw_sim_stream *other, struct sw_sim_work *work)
{
	struct sw_sim_op *marker = sw_sim_stream_begin(other, NULL), *op = sw_sim_stream_begin(s, work);
	sw_sim_op_after(op, marker);
	sw_sim_op_submit(marker);
	sw_sim_op_put(marker);
	sw_sim_stream_advance(s, op);
	sw_sim_stream_advance(other, op);
	sw_sim_op_submit(op);
	sw_sim_op_put(op);
	return op;
}

/* The work of a copy whose ends are checked. */
static struct sw_sim_work *copy_work(const struct sw_sim_side *dst, const struct sw_sim_side *src, size_t width,
				     size_t height, size_t depth)
{
	struct sw_sim_work *work =
		sw_sim_work_new(CU_GRAPH_NODE_TYPE_MEMCPY, copy_ns(dst, src, (uint64_t)width * height * depth));
	work->copy = (struct sw_sim_copy){.dst = dst->address,
					  .src = src->address,
					  .width = width,
					  .height = height,
					  .depth = depth,
					  .dst_pitch = dst->pitch,
					  .src_pitch = src->pitch,
					  .dst_slice = dst->slice,
					  .src_slice = src->slice};
	return work;
}

/* Any copy: checks both sides, puts the work on the stream and waits where CUDA does.  Pageable sources of asynchronous
   copies are staged, so that the program may change them at once. */
CUresult sw_sim_copy(CUstream handle, bool async, struct sw_sim_side dst, struct sw_sim_side src, size_t width,
		     size_t height, size_t depth)
{
	struct sw_sim_stream *s;
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	CUresult result = sw_sim_stream_find(handle, &s);
	if (!result && !async)
		result = sw_sim_capture_unsafe();
	if (result || !width || !height || !depth)
		return result;
	if ((result = check_side(&dst, width, height, depth)) || (result = check_side(&src, width, height, depth)))
		return result;
	struct sw_sim_work *work = copy_work(&dst, &src, width, height, depth);
	uint64_t bytes = (uint64_t)width * height * depth;
	bool wait = host_waits(async, &dst, &src, bytes);
	if (!wait && !s->capture && src.memory == SW_SIM_PAGEABLE)
		stage_source(&work->copy);
	struct sw_sim_stream *other = async ? NULL : other_end(s, &dst, &src);
	struct sw_sim_op *op;
	if (other)
		op = enqueue_across(s, other, work);
	else
		result = sw_sim_submit(s, work, &op);
	if (!result && wait)
		sw_sim_op_wait(op);
	return result;
}

/* Copies bytes in a line. */
static CUresult copy_linear(CUstream stream, bool async, uint64_t dst, CUmemorytype dst_type, uint64_t src,
			    CUmemorytype src_type, size_t bytes)
{
	struct sw_sim_side d = {.type = dst_type, .address = dst}, s = {.type = src_type, .address = src};
	return sw_sim_copy(stream, async, d, s, bytes, 1, 1);
}

#define HOST	CU_MEMORYTYPE_HOST
#define DEVICE	CU_MEMORYTYPE_DEVICE
#define UNIFIED CU_MEMORYTYPE_UNIFIED

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
	return copy_linear(0, false, dst, DEVICE, (uintptr_t)src, HOST, bytes);
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
	return copy_linear(0, false, (uintptr_t)dst, HOST, src, DEVICE, bytes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return copy_linear(0, false, dst, DEVICE, src, DEVICE, bytes);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return copy_linear(0, false, dst, UNIFIED, src, UNIFIED, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
	return copy_linear(stream, true, dst, DEVICE, (uintptr_t)src, HOST, bytes);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return copy_linear(stream, true, (uintptr_t)dst, HOST, src, DEVICE, bytes);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return copy_linear(stream, true, dst, DEVICE, src, DEVICE, bytes);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
	return copy_linear(stream, true, dst, UNIFIED, src, UNIFIED, bytes);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t bytes)
{
	return dst_ctx && src_ctx ? copy_linear(0, false, dst, DEVICE, src, DEVICE, bytes) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t bytes,
			   CUstream stream)
{
	return dst_ctx && src_ctx ? copy_linear(stream, true, dst, DEVICE, src, DEVICE, bytes)
				  : CUDA_ERROR_INVALID_CONTEXT;
}

/* One end of a pitched copy: start of its first byte; the pitches are in it already. */
static struct sw_sim_side side_at(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array,
				  const size_t at[3], size_t pitch, size_t height)
{
	uint64_t base = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device;
	return (struct sw_sim_side){.type = type,
				    .address = base + (at[2] * height + at[1]) * pitch + at[0],
				    .pitch = pitch,
				    .slice = pitch * height,
				    .array = array,
				    .at = {at[0], at[1], at[2]}};
}

/* `which` is dst or src of a descriptor; `z` and `rows` are those of a 3D one. */
#define SIDE(c, which, z, rows)                                                                                        \
	side_at((c)->which##MemoryType, (c)->which##Host, (c)->which##Device, (c)->which##Array,                       \
		(const size_t[]){(c)->which##XInBytes, (c)->which##Y, (z)}, (c)->which##Pitch, (rows))

/* Is the pitch less than a row? */
static bool is_narrow(CUmemorytype type, size_t pitch, size_t width)
{
	return type != CU_MEMORYTYPE_ARRAY && pitch < width;
}

/* cuMemcpy2D() in all forms; rows must not overlap. */
static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool async)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	if (c->Height > 1 && ((c->dstPitch && is_narrow(c->dstMemoryType, c->dstPitch, c->WidthInBytes)) ||
			      (c->srcPitch && is_narrow(c->srcMemoryType, c->srcPitch, c->WidthInBytes))))
		return CUDA_ERROR_INVALID_VALUE;
	return sw_sim_copy(stream, async, SIDE(c, dst, 0, 0), SIDE(c, src, 0, 0), c->WidthInBytes, c->Height, 1);
}

/* cuMemcpy3D() in all forms. */
static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, bool async)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	if (c->Height > 1 && (is_narrow(c->dstMemoryType, c->dstPitch, c->WidthInBytes) ||
			      is_narrow(c->srcMemoryType, c->srcPitch, c->WidthInBytes)))
		return CUDA_ERROR_INVALID_VALUE;
	return sw_sim_copy(stream, async, SIDE(c, dst, c->dstZ, c->dstHeight), SIDE(c, src, c->srcZ, c->srcHeight),
			   c->WidthInBytes, c->Height, c->Depth);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *c)
{
	return copy_2d(c, 0, false);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c)
{
	return copy_2d(c, 0, false);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream)
{
	return copy_2d(c, stream, true);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *c)
{
	return copy_3d(c, 0, false);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream stream)
{
	return copy_3d(c, stream, true);
}

/* ---- for graph nodes ---- */

/* Makes work of a copy node, after the checks of both sides. */
CUresult sw_sim_copy_work(const void *params, struct sw_sim_work **out)
{
	const CUDA_MEMCPY3D *c = params;
	struct sw_sim_side dst = SIDE(c, dst, c->dstZ, c->dstHeight), src = SIDE(c, src, c->srcZ, c->srcHeight);
	if (!c->WidthInBytes || !c->Height || !c->Depth)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = check_side(&dst, c->WidthInBytes, c->Height, c->Depth);
	if (!result)
		result = check_side(&src, c->WidthInBytes, c->Height, c->Depth);
	if (!result)
		*out = copy_work(&dst, &src, c->WidthInBytes, c->Height, c->Depth);
	return result;
}

/* A side of a copy as its node's parameters name it: an array with the position there, or a pointer. */
#define PARAMS(out, which, address, pitch, slice)                                                                      \
	do {                                                                                                           \
		size_t at[3];                                                                                          \
		struct sw_sim_array *array = sw_sim_array_of(address, at);                                             \
		bool host = sw_sim_memory_of(address) != SW_SIM_DEVICE;                                                \
		(out)->which##MemoryType = array ? CU_MEMORYTYPE_ARRAY : host ? HOST : DEVICE;                         \
		(out)->which##Host = host ? (void *)(uintptr_t)(address) : NULL;                                       \
		(out)->which##Device = host || array ? 0 : (address);                                                  \
		(out)->which##Pitch = array ? 0 : (pitch);                                                             \
		(out)->which##Height = array || !(pitch) ? 0 : (slice) / (pitch);                                      \
		(out)->which##Array = (CUarray)array;                                                                  \
		(out)->which##XInBytes = array ? at[0] : 0;                                                            \
		(out)->which##Y = array ? at[1] : 0;                                                                   \
		(out)->which##Z = array ? at[2] : 0;                                                                   \
	} while (0)

/* Writes the parameters that the program gave a copy node to *out. */
void sw_sim_copy_params(const struct sw_sim_work *work, CUDA_MEMCPY3D *out)
{
	const struct sw_sim_copy *c = &work->copy;
	*out = (CUDA_MEMCPY3D){.WidthInBytes = c->width, .Height = c->height, .Depth = c->depth};
	PARAMS(out, dst, c->dst, c->dst_pitch, c->dst_slice);
	PARAMS(out, src, c->src, c->src_pitch, c->src_slice);
}
