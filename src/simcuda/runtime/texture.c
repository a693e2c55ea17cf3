/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects: the runtime's descriptors as the driver's, and back. */
#include "simcuda/runtime/rt.h"

_Static_assert(sizeof(struct cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC), "same layout");

static bool resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
	*to = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)from->resType, .flags = from->flags};
	switch (from->resType) {
	case cudaResourceTypeArray:
		to->res.array.hArray = (CUarray)from->res.array.array;
		return true;
	case cudaResourceTypeMipmappedArray:
		to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
		return true;
	case cudaResourceTypeLinear:
		to->res.linear.devPtr = (uintptr_t)from->res.linear.devPtr;
		to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
		return sw_rt_format(&from->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
	case cudaResourceTypePitch2D:
		to->res.pitch2D.devPtr = (uintptr_t)from->res.pitch2D.devPtr;
		to->res.pitch2D.width = from->res.pitch2D.width;
		to->res.pitch2D.height = from->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
		return sw_rt_format(&from->res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
	}
	return false;
}

static void resource_back(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to)
{
	*to = (struct cudaResourceDesc){.resType = (enum cudaResourceType)from->resType, .flags = from->flags};
	switch (to->resType) {
	case cudaResourceTypeArray:
		to->res.array.array = (cudaArray_t)from->res.array.hArray;
		break;
	case cudaResourceTypeMipmappedArray:
		to->res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
		break;
	case cudaResourceTypeLinear:
		to->res.linear.devPtr = (void *)(uintptr_t)from->res.linear.devPtr;
		to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
		to->res.linear.desc = sw_rt_channels(from->res.linear.format, from->res.linear.numChannels);
		break;
	case cudaResourceTypePitch2D:
		to->res.pitch2D.devPtr = (void *)(uintptr_t)from->res.pitch2D.devPtr;
		to->res.pitch2D.width = from->res.pitch2D.width;
		to->res.pitch2D.height = from->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
		to->res.pitch2D.desc = sw_rt_channels(from->res.pitch2D.format, from->res.pitch2D.numChannels);
		break;
	}
}

/* Fields that are numbered alike on both sides; the rest are flags. */
#define SAME(to, from)                                                                                                 \
	do {                                                                                                           \
		for (int i = 0; i < 3; i++)                                                                            \
			(to)->addressMode[i] = (__typeof__((to)->addressMode[0]))(from)->addressMode[i];               \
		(to)->filterMode = (__typeof__((to)->filterMode))(from)->filterMode;                                   \
		(to)->maxAnisotropy = (from)->maxAnisotropy;                                                           \
		(to)->mipmapFilterMode = (__typeof__((to)->mipmapFilterMode))(from)->mipmapFilterMode;                 \
		(to)->mipmapLevelBias = (from)->mipmapLevelBias;                                                       \
		(to)->minMipmapLevelClamp = (from)->minMipmapLevelClamp;                                               \
		(to)->maxMipmapLevelClamp = (from)->maxMipmapLevelClamp;                                               \
		for (int i = 0; i < 4; i++)                                                                            \
			(to)->borderColor[i] = (from)->borderColor[i];                                                 \
	} while (0)

static CUDA_TEXTURE_DESC reading(const struct cudaTextureDesc *from)
{
	CUDA_TEXTURE_DESC to = {
		.flags = (from->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
			 (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
			 (from->sRGB ? CU_TRSF_SRGB : 0u) |
			 (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
			 (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u)};
	SAME(&to, from);
	return to;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *what,
				    const struct cudaTextureDesc *how, const struct cudaResourceViewDesc *view)
{
	SW_RT_ENTER;
	CUDA_RESOURCE_DESC r;
	if (!what || !how || !resource(what, &r))
		return sw_rt_result(cudaErrorInvalidValue);
	CUDA_TEXTURE_DESC t = reading(how);
	SW_RT_CALL(sw_rt_d->cuTexObjectCreate((CUtexObject *)out, &r, &t, (const CUDA_RESOURCE_VIEW_DESC *)view));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) SW_RT_FORWARD(cuTexObjectDestroy(object))

	cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out, cudaTextureObject_t object)
{
	SW_RT_ENTER;
	CUDA_RESOURCE_DESC r;
	cudaError_t result = out ? (cudaError_t)sw_rt_d->cuTexObjectGetResourceDesc(&r, object) : cudaErrorInvalidValue;
	if (!result)
		resource_back(&r, out);
	return sw_rt_result(result);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out, cudaTextureObject_t object)
{
	SW_RT_ENTER;
	CUDA_TEXTURE_DESC t;
	cudaError_t result = out ? (cudaError_t)sw_rt_d->cuTexObjectGetTextureDesc(&t, object) : cudaErrorInvalidValue;
	if (result)
		return sw_rt_result(result);
	*out = (struct cudaTextureDesc){
		.readMode = t.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat,
		.normalizedCoords = !!(t.flags & CU_TRSF_NORMALIZED_COORDINATES),
		.sRGB = !!(t.flags & CU_TRSF_SRGB),
		.disableTrilinearOptimization = !!(t.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
		.seamlessCubemap = !!(t.flags & CU_TRSF_SEAMLESS_CUBEMAP)};
	SAME(out, &t);
	return sw_rt_result(cudaSuccess);
}

cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *out, cudaTextureObject_t object)
	SW_RT_FORWARD(cuTexObjectGetResourceViewDesc((CUDA_RESOURCE_VIEW_DESC *)out, object))

		cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *what)
{
	SW_RT_ENTER;
	CUDA_RESOURCE_DESC r;
	if (!what || !resource(what, &r))
		return sw_rt_result(cudaErrorInvalidValue);
	SW_RT_CALL(sw_rt_d->cuSurfObjectCreate((CUsurfObject *)out, &r));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) SW_RT_FORWARD(cuSurfObjectDestroy(object))

	cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out, cudaSurfaceObject_t object)
{
	SW_RT_ENTER;
	CUDA_RESOURCE_DESC r;
	cudaError_t result =
		out ? (cudaError_t)sw_rt_d->cuSurfObjectGetResourceDesc(&r, object) : cudaErrorInvalidValue;
	if (!result)
		resource_back(&r, out);
	return sw_rt_result(result);
}
