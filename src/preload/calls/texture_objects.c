/* SPDX-License-Identifier: Apache-2.0 */
/* Textures, surfaces and tensor maps as OBJECT records: which memory kernels reach through them. */
#include "preload/platform/seldom.h"

#include "preload/calls/fill.h"

#include <string.h>

#include "base/hash.h"
#include "preload/calls/copy_boxes.h"
#include "preload/intercept/contexts.h"
#include "preload/calls/custom.h"

#define MAX_RANK 5u
#define MAX_NAME 16384u

/* The memory behind a texture or surface: an array (all levels of a mipmapped one), or a range or pitched rectangle of
   linear memory. */
static void fill_resource(struct sw_rec_object *r, const CUDA_RESOURCE_DESC *from)
{
	r->side = SW_SIDE_DEVICE;
	switch (from->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
		r->side = SW_SIDE_ARRAY;
		r->address = (uint64_t)(uintptr_t)from->res.array.hArray;
		break;
	case CU_RESOURCE_TYPE_LINEAR:
		r->address = from->res.linear.devPtr;
		r->rank = 1;
		r->size[0] = from->res.linear.sizeInBytes;
		break;
	case CU_RESOURCE_TYPE_PITCH2D:
		r->address = from->res.pitch2D.devPtr;
		r->rank = 2;
		r->size[0] = sw_box_array_bytes(from->res.pitch2D.format, from->res.pitch2D.numChannels,
						from->res.pitch2D.width, 1, 1);
		r->size[1] = from->res.pitch2D.height;
		r->stride[0] = from->res.pitch2D.pitchInBytes;
		break;
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: /* all levels */
		r->side = SW_SIDE_ARRAY;
		r->address = (uint64_t)(uintptr_t)from->res.mipmap.hMipmappedArray;
		break;
	default:
		break;
	}
}

void sw_object_texture(struct sw_rec_object *r, uint64_t handle, const CUDA_RESOURCE_DESC *from)
{
	r->kind = SW_OBJECT_TEXTURE;
	r->handle = handle;
	fill_resource(r, from);
}

void sw_object_surface(struct sw_rec_object *r, uint64_t handle, const CUDA_RESOURCE_DESC *from)
{
	r->kind = SW_OBJECT_SURFACE;
	r->handle = handle;
	fill_resource(r, from);
}

/* A tensor map has no handle: kernels get its 128 bytes as a parameter, so it is known by their hash. */
static uint64_t hash_of(const CUtensorMap *map)
{
	return sw_hash_words(map, sizeof *map);
}

/* A tensor map has no handle: kernels get its 128 bytes, so their hash stands for it.  The innermost dimension has no
   stride. */
void sw_object_tensor_map(struct sw_rec_object *r, const CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
			  const void *address, const cuuint64_t *size, const cuuint64_t *stride)
{
	r->kind = SW_OBJECT_TENSOR_MAP;
	r->side = SW_SIDE_DEVICE;
	r->handle = hash_of(map);
	r->address = (uint64_t)(uintptr_t)address;
	r->type = (uint16_t)type;
	r->rank = (uint8_t)(rank < MAX_RANK ? rank : MAX_RANK);
	for (uint32_t i = 0; i < r->rank; i++) {
		r->size[i] = size[i];
		if (i)
			r->stride[i - 1] = stride[i - 1];
	}
}

/* A tensor map was changed in place: the record says what it was before, and its address where that is new. */
static void map_changed(struct sw_call *call, CUresult status, const CUtensorMap *map, uint64_t before,
			uint64_t address)
{
	struct sw_rec_object *r;

	sw_call_context(call, sw_context_here());
	r = sw_call_record_after(call, SW_REC_OBJECT, sizeof *r, status);
	if (r && status == CUDA_SUCCESS) {
		r->kind = SW_OBJECT_TENSOR_MAP;
		r->side = SW_SIDE_DEVICE;
		r->handle = hash_of(map);
		r->before = before;
		r->address = address;
	}
	sw_call_publish(call);
	sw_call_leave(call, status);
}

/* cuTensorMapReplaceAddress(). */
CUresult sw_custom_tensor_map_replace(const struct sw_site *site, CUtensorMap *map, void *address)
{
	__typeof__(&cuTensorMapReplaceAddress) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const uint64_t before = on && map ? hash_of(map) : 0;
	const CUresult status = real(map, address);

	if (on)
		map_changed(&call, status, map, before, SW_WORD(address));
	return status;
}

/* cuTensorMapSetAllocationClass() changes a tensor map in place ("adjusts only the encoded selector"), and so the hash
   by which it is known: both are recorded. */
CUresult sw_custom_tensor_map_class(const struct sw_site *site, CUtensorMap *map, CUtensorMapAllocClass class,
				    CUtensorMapAllocClass *out)
{
	CUresult (*real)(CUtensorMap *, CUtensorMapAllocClass, CUtensorMapAllocClass *) = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const uint64_t before = on && map ? hash_of(map) : 0;
	const CUresult status = real(map, class, out);

	if (on)
		map_changed(&call, status, map, before, 0);
	return status;
}

/* Names a variable of the device, so that reports call "__device__ float table[64]" by its name instead of an
   address. */
void sw_symbol_named(uint64_t address, const char *name)
{
	const size_t bytes = name ? strnlen(name, MAX_NAME) : 0;
	struct sw_rec_name *r = bytes && address ? sw_describe(SW_REC_NAME, sizeof *r + bytes, true) : NULL;

	if (!r)
		return;
	r->of = SW_NAME_SYMBOL;
	r->name_bytes = (uint32_t)bytes;
	r->handle = address;
	memcpy(r + 1, name, bytes);
	sw_describe_done(r);
}
