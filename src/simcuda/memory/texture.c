/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects: descriptors that are kept and returned unchanged, since no kernel fetches through
   them. */
#include "simcuda/memory/array.h"

#include <stdlib.h>

struct texture {
	struct sw_sim_object object;
	CUDA_RESOURCE_DESC resource;
	CUDA_TEXTURE_DESC how;
	CUDA_RESOURCE_VIEW_DESC view;
	bool viewed;
};

/* For sw_sim_object_each(), and the end of one object. */
static void remove_object(void *object, void *arg)
{
	(void)arg;
	sw_sim_object_remove(object);
	free(object);
}

/* A context ends, and its texture and surface objects with it. */
void sw_sim_texture_clear(struct sw_sim_ctx *ctx)
{
	sw_sim_object_each(SW_SIM_TEXTURE, ctx, remove_object, NULL);
	sw_sim_object_each(SW_SIM_SURFACE, ctx, remove_object, NULL);
}

/* Would CUDA take this resource?  Driver API, cuTexObjectCreate: "devPtr ... must be aligned", the memory must be
   there; 2D: "pitchInBytes". */
static bool is_valid(const CUDA_RESOURCE_DESC *r)
{
	if (r->flags)
		return false;
	switch ((int)r->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
		return sw_sim_array_get(r->res.array.hArray);
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return sw_sim_object_get(r->res.mipmap.hMipmappedArray, SW_SIM_MIPMAPPED);
	case CU_RESOURCE_TYPE_LINEAR:
		return sw_sim_alloc_holds(r->res.linear.devPtr, r->res.linear.sizeInBytes);
	case CU_RESOURCE_TYPE_PITCH2D:
		return r->res.pitch2D.width && r->res.pitch2D.height &&
		       sw_sim_alloc_holds(r->res.pitch2D.devPtr,
					  (r->res.pitch2D.height - 1) * r->res.pitch2D.pitchInBytes + 1);
	}
	return false;
}

/* Makes an object that keeps what it was made from. */
static CUresult create_object(unsigned long long *out, enum sw_sim_kind kind, const struct texture *from)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out || !is_valid(&from->resource))
		return CUDA_ERROR_INVALID_VALUE;
	/* "If this flag is not set, cuSurfRefSetArray will fail": surfaces need an array made for them. */
	if (kind == SW_SIM_SURFACE &&
	    (from->resource.resType != CU_RESOURCE_TYPE_ARRAY ||
	     !(sw_sim_array_get(from->resource.res.array.hArray)->what.Flags & CUDA_ARRAY3D_SURFACE_LDST)))
		return CUDA_ERROR_INVALID_VALUE;
	struct texture *object = sw_alloc(sizeof *object);
	*object = *from;
	sw_sim_object_add(object, kind, sw_sim_ctx_current());
	*out = (uintptr_t)object;
	return CUDA_SUCCESS;
}

/* The object of a handle; NULL: none of this kind. */
static const struct texture *find_object(unsigned long long handle, enum sw_sim_kind kind)
{
	return sw_sim_object_get((const void *)(uintptr_t)handle, kind);
}

/* Ends a texture or surface object. */
static CUresult destroy_object(unsigned long long handle, enum sw_sim_kind kind)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct texture *object = find_object(handle, kind);
	if (!object)
		return CUDA_ERROR_INVALID_VALUE;
	remove_object((void *)(uintptr_t)object, NULL);
	return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
			   const CUDA_RESOURCE_VIEW_DESC *view)
{
	struct texture object = {0};
	/* "Note that for CUDA mipmapped arrays, this flag has to be set." */
	if (!resource || !how ||
	    (resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY && !(how->flags & CU_TRSF_NORMALIZED_COORDINATES)))
		return CUDA_ERROR_INVALID_VALUE;
	object.resource = *resource;
	object.how = *how;
	object.viewed = view;
	if (view)
		object.view = *view;
	return create_object(out, SW_SIM_TEXTURE, &object);
}

CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
	struct texture object = {0};
	if (!resource)
		return CUDA_ERROR_INVALID_VALUE;
	object.resource = *resource;
	return create_object(out, SW_SIM_SURFACE, &object);
}

CUresult cuTexObjectDestroy(CUtexObject handle)
{
	return destroy_object(handle, SW_SIM_TEXTURE);
}

CUresult cuSurfObjectDestroy(CUsurfObject handle)
{
	return destroy_object(handle, SW_SIM_SURFACE);
}

/* Returns the resource that the object was made of. */
static CUresult resource_of(CUDA_RESOURCE_DESC *out, unsigned long long handle, enum sw_sim_kind kind)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct texture *object = find_object(handle, kind);
	if (!object || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = object->resource;
	return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUtexObject handle)
{
	return resource_of(out, handle, SW_SIM_TEXTURE);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUsurfObject handle)
{
	return resource_of(out, handle, SW_SIM_SURFACE);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *out, CUtexObject handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct texture *object = find_object(handle, SW_SIM_TEXTURE);
	if (!object || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = object->how;
	return CUDA_SUCCESS;
}

/* "If no resource view was specified, CUDA_ERROR_INVALID_VALUE is returned." */
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *out, CUtexObject handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct texture *object = find_object(handle, SW_SIM_TEXTURE);
	if (!object || !object->viewed || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = object->view;
	return CUDA_SUCCESS;
}
