/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, layered and mipmapped ones. */
#include "simcuda/memory/array.h"

#include <stdlib.h>

#include "simcuda/memory/copy.h"

/* ---- one line of bytes into or out of an array; offsets in bytes ------------------------------------------------- */

static struct sw_sim_side host_side(const void *p)
{
	return (struct sw_sim_side){.type = CU_MEMORYTYPE_HOST, .address = (uintptr_t)p};
}

static struct sw_sim_side device_side(CUdeviceptr p)
{
	return (struct sw_sim_side){.type = CU_MEMORYTYPE_DEVICE, .address = p};
}

static struct sw_sim_side array_side(CUarray handle, size_t offset)
{
	return (struct sw_sim_side){.type = CU_MEMORYTYPE_ARRAY, .array = handle, .at = {offset}};
}

CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void *src, size_t bytes)
{
	return sw_sim_copy(0, false, array_side(dst, offset), host_side(src), bytes, 1, 1);
}

CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t offset, size_t bytes)
{
	return sw_sim_copy(0, false, host_side(dst), array_side(src, offset), bytes, 1, 1);
}

CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
	return sw_sim_copy(0, false, array_side(dst, offset), device_side(src), bytes, 1, 1);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
	return sw_sim_copy(0, false, device_side(dst), array_side(src, offset), bytes, 1, 1);
}

CUresult cuMemcpyAtoA_v2(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes)
{
	return sw_sim_copy(0, false, array_side(dst, dst_offset), array_side(src, src_offset), bytes, 1, 1);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void *src, size_t bytes, CUstream stream)
{
	return sw_sim_copy(stream, true, array_side(dst, offset), host_side(src), bytes, 1, 1);
}

CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream)
{
	return sw_sim_copy(stream, true, host_side(dst), array_side(src, offset), bytes, 1, 1);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

#define MAX_EXTENT 131072u /* more than any device allows: the product of three cannot overflow */
#define MAX_LEVELS 17u

struct mipmapped {
	struct sw_sim_object object;
	unsigned levels;
	struct sw_sim_array *level[MAX_LEVELS];
};

/* Bytes of a channel (CUarray_format in cuda.h); 0: not simulated. */
static size_t channel_bytes(CUarray_format format)
{
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	}
	return 0;
}

/* Would CUDA make this array?  Driver API, cuArray3DCreate: which extents may be 0, what cubemaps are; "it may be 1, 2,
   or 4". */
static CUresult check_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	bool layered = d->Flags & CUDA_ARRAY3D_LAYERED, cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
	if (!d->Width || d->Width > MAX_EXTENT || d->Height > MAX_EXTENT || d->Depth > MAX_EXTENT)
		return CUDA_ERROR_INVALID_VALUE;
	if (d->Depth && !d->Height && !layered)
		return CUDA_ERROR_INVALID_VALUE;
	if (layered && !d->Depth)
		return CUDA_ERROR_INVALID_VALUE;
	if (cube && (d->Width != d->Height || !d->Depth || d->Depth % 6 || (!layered && d->Depth != 6)))
		return CUDA_ERROR_INVALID_VALUE;
	if (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4)
		return CUDA_ERROR_INVALID_VALUE;
	if (d->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
		return sw_sim_unsupported("sparse arrays and arrays without memory");
	return channel_bytes(d->Format) ? CUDA_SUCCESS : sw_sim_unsupported("planar and compressed arrays");
}

/* Makes an array with memory of its own. */
static CUresult array_new(const CUDA_ARRAY3D_DESCRIPTOR *what, struct sw_sim_array **out)
{
	CUresult result = check_descriptor(what);
	if (result)
		return result;
	struct sw_sim_ctx *ctx = sw_sim_ctx_current();
	size_t element = channel_bytes(what->Format) * what->NumChannels, height = what->Height ? what->Height : 1,
	       depth = what->Depth ? what->Depth : 1;
	struct sw_sim_alloc *memory = sw_sim_alloc_device(ctx->device, element * what->Width * height * depth);
	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct sw_sim_array *array = sw_calloc(1, sizeof *array);
	*array = (struct sw_sim_array){.what = *what,
				       .element = element,
				       .width = what->Width,
				       .height = height,
				       .depth = depth,
				       .memory = memory};
	memory->array = array;
	memory->fixed = true; /* cuMemFree is not for it */
	sw_sim_object_add(array, SW_SIM_ARRAY, ctx);
	*out = array;
	return CUDA_SUCCESS;
}

/* Ends an array and frees its memory; nothing waits. */
static void array_free(struct sw_sim_array *array)
{
	sw_sim_object_remove(array);
	sw_sim_alloc_release(array->memory);
	free(array);
}

struct sw_sim_array *sw_sim_array_get(CUarray handle)
{
	return sw_sim_object_get(handle, SW_SIM_ARRAY);
}

/* For sw_sim_object_each(): frees an array. */
static void clear_array(void *array, void *arg)
{
	(void)arg;
	array_free(array);
}

/* For sw_sim_object_each(): the levels are arrays of their own and are cleared as such. */
static void clear_mipmapped(void *m, void *arg)
{
	(void)arg;
	sw_sim_object_remove(m);
	free(m);
}

/* A context ends, and its arrays with it, without a wait. */
void sw_sim_array_clear(struct sw_sim_ctx *ctx)
{
	sw_sim_object_each(SW_SIM_ARRAY, ctx, clear_array, NULL); /* levels, too */
	sw_sim_object_each(SW_SIM_MIPMAPPED, ctx, clear_mipmapped, NULL);
}

/* The address of a place in the array; 0: a box of this extent there does not lie within. */
uint64_t sw_sim_array_at(const struct sw_sim_array *array, const size_t at[3], const size_t extent[3])
{
	const size_t room[3] = {array->width * array->element, array->height, array->depth};
	for (int i = 0; i < 3; i++)
		if (at[i] > room[i] || extent[i] > room[i] - at[i])
			return 0;
	return array->memory->base + (at[2] * room[1] + at[1]) * room[0] + at[0];
}

/* The array that an address lies in, and the place there: byte, row, slice.  NULL: none. */
struct sw_sim_array *sw_sim_array_of(uint64_t address, size_t at[3])
{
	const struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (!a || !a->array)
		return NULL;
	size_t row = a->array->width * a->array->element, rows = (address - a->base) / row;
	at[0] = (address - a->base) % row;
	at[1] = rows % a->array->height;
	at[2] = rows / a->array->height;
	return a->array;
}

/* ---- the API ---- */

/* cuArrayCreate() of any dimension, not allowed in a capture. */
static CUresult create_array(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *what)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_array *array;
	CUresult result = sw_sim_capture_unsafe();
	if (!result)
		result = out && what ? array_new(what, &array) : CUDA_ERROR_INVALID_VALUE;
	if (!result)
		*out = (CUarray)array;
	return result;
}

CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *what)
{
	if (!what)
		return CUDA_ERROR_INVALID_VALUE;
	CUDA_ARRAY3D_DESCRIPTOR full = {what->Width, what->Height, 0, what->Format, what->NumChannels, 0};
	return create_array(out, &full);
}

CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *what)
{
	return create_array(out, what);
}

/* Waits for the device before an array or mipmapped array is freed, as cuMemFree does (measured on H200, driver
   580.159.04: "cudaFreeArray", "cudaFreeMipmappedArray").  An error if the handle is none, or another thread freed it
   meanwhile. */
static CUresult wait_for(const void *handle, enum sw_sim_kind kind)
{
	const struct sw_sim_object *object = sw_sim_object_get(handle, kind);
	if (!object)
		return CUDA_ERROR_INVALID_HANDLE;
	sw_sim_device_wait(object->ctx->device);
	return sw_sim_object_get(handle, kind) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Waits for work that uses the array; a level of a mipmapped array ends with that. */
CUresult cuArrayDestroy(CUarray handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_array *array = sw_sim_array_get(handle);
	CUresult result = sw_sim_capture_unsafe();
	if (!result)
		result = array && array->level ? CUDA_ERROR_INVALID_HANDLE : wait_for(handle, SW_SIM_ARRAY);
	if (!result)
		array_free(array);
	return result;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_array *array = sw_sim_array_get(handle);
	if (!array || !out)
		return array ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = array->what;
	return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *out, CUarray handle)
{
	CUDA_ARRAY3D_DESCRIPTOR full;
	CUresult result = out ? cuArray3DGetDescriptor_v2(&full, handle) : CUDA_ERROR_INVALID_VALUE;
	if (!result)
		*out = (CUDA_ARRAY_DESCRIPTOR){full.Width, full.Height, full.Format, full.NumChannels};
	return result;
}

/* ---- mipmapped ---- */

/* An extent at a level of a mipmapped array: halved for each, never below 1. */
static size_t halve_extent(size_t extent, unsigned level)
{
	return extent && !(extent >> level) ? 1 : extent >> level;
}

/* The descriptor of a level; layers do not become fewer. */
static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *what, unsigned level)
{
	bool layers = what->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
	CUDA_ARRAY3D_DESCRIPTOR d = *what;
	d.Width = halve_extent(what->Width, level);
	d.Height = halve_extent(what->Height, level);
	d.Depth = layers ? what->Depth : halve_extent(what->Depth, level);
	return d;
}

/* Ends a mipmapped array with its levels. */
static void mipmapped_free(struct mipmapped *m)
{
	for (unsigned i = 0; i < m->levels; i++)
		array_free(m->level[i]);
	sw_sim_object_remove(m);
	free(m);
}

/* How many levels a mipmapped array gets.  CUDA driver API, cuMipmappedArrayCreate: "clamped to the range [1, 1 +
   floor(log2(max(width, height, depth)))]". */
static unsigned levels_of(const CUDA_ARRAY3D_DESCRIPTOR *what, unsigned asked)
{
	size_t widest = what->Width > what->Height ? what->Width : what->Height;
	unsigned most = 1;
	if (what->Depth > widest && !(what->Flags & CUDA_ARRAY3D_LAYERED))
		widest = what->Depth;
	while (most < MAX_LEVELS && widest >> most)
		most++;
	return asked < 1 ? 1 : asked < most ? asked : most;
}

/* Each level is an array of its own, half as large as the one before. */
CUresult cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *what, unsigned levels)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	CUresult result = sw_sim_capture_unsafe();
	if (result || !out || !what)
		return result ? result : CUDA_ERROR_INVALID_VALUE;
	struct mipmapped *m = sw_calloc(1, sizeof *m);
	sw_sim_object_add(m, SW_SIM_MIPMAPPED, sw_sim_ctx_current());
	for (unsigned n = levels_of(what, levels); !result && m->levels < n;) {
		CUDA_ARRAY3D_DESCRIPTOR level = level_of(what, m->levels);
		result = array_new(&level, &m->level[m->levels]);
		if (!result)
			m->level[m->levels++]->level = true;
	}
	if (result)
		mipmapped_free(m);
	else
		*out = (CUmipmappedArray)m;
	return result;
}

CUresult cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray handle, unsigned level)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct mipmapped *m = sw_sim_object_get(handle, SW_SIM_MIPMAPPED);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || level >= m->levels)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUarray)m->level[level];
	return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	CUresult result = sw_sim_capture_unsafe();
	if (!result)
		result = wait_for(handle, SW_SIM_MIPMAPPED);
	if (!result)
		mipmapped_free((struct mipmapped *)handle);
	return result;
}
