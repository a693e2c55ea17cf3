/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: allocation, formats, and copies by rows. */
#include "simcuda/runtime/rt.h"

/* ---- formats of elements ---- */

/* The driver's format of a channel; 0: none. */
static CUarray_format format_of(const struct cudaChannelFormatDesc *d)
{
	static const CUarray_format formats[3][3] = {
		[cudaChannelFormatKindSigned] = {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16,
						 CU_AD_FORMAT_SIGNED_INT32},
		[cudaChannelFormatKindUnsigned] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
						   CU_AD_FORMAT_UNSIGNED_INT32},
		[cudaChannelFormatKindFloat] = {0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT},
	};
	if ((unsigned)d->f > cudaChannelFormatKindFloat)
		return 0;
	return d->x == 8 ? formats[d->f][0] : d->x == 16 ? formats[d->f][1] : d->x == 32 ? formats[d->f][2] : 0;
}

/* The driver's format and number of channels of an element; false: there is no such format. */
static bool rt_format(const struct cudaChannelFormatDesc *d, CUarray_format *format, unsigned *channels)
{
	const int bits[] = {d->x, d->y, d->z, d->w};
	*channels = 1;
	while (*channels < 4 && bits[*channels])
		if (bits[(*channels)++] != d->x)
			return false;
	*format = format_of(d);
	return *format && *channels != 3;
}

/* The runtime's description of a driver's format; kind "none": there is none. */
static struct cudaChannelFormatDesc rt_channels(CUarray_format format, unsigned channels)
{
	static const enum cudaChannelFormatKind kinds[] = {cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned,
							   cudaChannelFormatKindFloat};
	for (int bits = 8; bits <= 32; bits *= 2)
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			struct cudaChannelFormatDesc d = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
							  channels > 2 ? bits : 0, kinds[k]};
			if (format_of(&d) == format)
				return d;
		}
	return (struct cudaChannelFormatDesc){.f = cudaChannelFormatKindNone};
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
	return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* Asks the driver what an array is. */
static cudaError_t get_descriptor(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR *out)
{
	return (cudaError_t)sw_rt_d->cuArray3DGetDescriptor(out, (CUarray)(uintptr_t)array);
}

/* Bytes of an element of the array, by the driver's descriptor. */
cudaError_t sw_rt_element(cudaArray_const_t array, size_t *bytes)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	cudaError_t result = get_descriptor(array, &d);
	if (!result)
		*bytes = (size_t)rt_channels(d.Format, d.NumChannels).x / 8 * d.NumChannels;
	return result;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *out, cudaArray_const_t array)
{
	SW_RT_ENTER;
	CUDA_ARRAY3D_DESCRIPTOR d;
	cudaError_t result = out ? get_descriptor(array, &d) : cudaErrorInvalidValue;
	if (!result)
		*out = rt_channels(d.Format, d.NumChannels);
	return sw_rt_result(result);
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
			     cudaArray_t array)
{
	SW_RT_ENTER;
	CUDA_ARRAY3D_DESCRIPTOR d;
	cudaError_t result = get_descriptor(array, &d);
	if (!result && format)
		*format = rt_channels(d.Format, d.NumChannels);
	if (!result && extent)
		*extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
	if (!result && flags)
		*flags = d.Flags;
	return sw_rt_result(result);
}

/* ---- allocation; flags are numbered alike ---- */

/* The driver's descriptor of an array; false: no such format. */
static bool describe_array(const struct cudaChannelFormatDesc *format, struct cudaExtent extent, unsigned flags,
			   CUDA_ARRAY3D_DESCRIPTOR *out)
{
	*out = (CUDA_ARRAY3D_DESCRIPTOR){
		.Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
	return format && rt_format(format, &out->Format, &out->NumChannels);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
			      unsigned flags)
{
	SW_RT_ENTER;
	CUDA_ARRAY3D_DESCRIPTOR d;
	if (!describe_array(format, extent, flags, &d))
		return sw_rt_result(cudaErrorInvalidValue);
	SW_RT_CALL(sw_rt_d->cuArray3DCreate((CUarray *)out, &d));
}

cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *format, size_t width, size_t height,
			    unsigned flags)
{
	return cudaMalloc3DArray(out, format, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
	SW_RT_ENTER;
	SW_RT_CALL(array ? sw_rt_d->cuArrayDestroy((CUarray)array) : CUDA_SUCCESS);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *out, const struct cudaChannelFormatDesc *format,
				     struct cudaExtent extent, unsigned levels, unsigned flags)
{
	SW_RT_ENTER;
	CUDA_ARRAY3D_DESCRIPTOR d;
	if (!describe_array(format, extent, flags, &d))
		return sw_rt_result(cudaErrorInvalidValue);
	SW_RT_CALL(sw_rt_d->cuMipmappedArrayCreate((CUmipmappedArray *)out, &d, levels));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
	SW_RT_ENTER;
	SW_RT_CALL(array ? sw_rt_d->cuMipmappedArrayDestroy((CUmipmappedArray)array) : CUDA_SUCCESS);
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *out, cudaMipmappedArray_const_t array, unsigned level)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuMipmappedArrayGetLevel((CUarray *)out, (CUmipmappedArray)(uintptr_t)array, level));
}

/* ---- copies; offsets in bytes and rows ---- */

struct place {
	cudaArray_const_t array; /* NULL: a pointer */
	const void *p;
	size_t pitch, x, y;
};

/* Copies by one driver call: measured with libcudart 13.0.96 on driver 580.159.04, as is that cudaMallocArray is a
   cuArray3DCreate. */
static cudaError_t copy_3d(struct place to, struct place from, size_t width, size_t height, enum cudaMemcpyKind kind,
			   bool async, cudaStream_t stream)
{
	SW_RT_ENTER;
	CUDA_MEMCPY3D c = {.srcXInBytes = from.x,
			   .srcY = from.y,
			   .srcHost = from.p,
			   .srcDevice = (uintptr_t)from.p,
			   .srcArray = (CUarray)(uintptr_t)from.array,
			   .srcPitch = from.pitch,
			   .dstXInBytes = to.x,
			   .dstY = to.y,
			   .dstHost = (void *)(uintptr_t)to.p,
			   .dstDevice = (uintptr_t)to.p,
			   .dstArray = (CUarray)(uintptr_t)to.array,
			   .dstPitch = to.pitch,
			   .WidthInBytes = width,
			   .Height = height,
			   .Depth = 1};
	if (!sw_rt_kinds(kind, &c.dstMemoryType, &c.srcMemoryType))
		return sw_rt_result(cudaErrorInvalidMemcpyDirection);
	c.dstMemoryType = to.array ? CU_MEMORYTYPE_ARRAY : c.dstMemoryType;
	c.srcMemoryType = from.array ? CU_MEMORYTYPE_ARRAY : c.srcMemoryType;
	SW_RT_CALL(async ? sw_rt_d->cuMemcpy3DAsync(&c, stream) : sw_rt_d->cuMemcpy3D(&c));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
				size_t height, enum cudaMemcpyKind kind)
{
	return copy_3d((struct place){dst, NULL, 0, x, y}, (struct place){NULL, src, pitch, 0, 0}, width, height, kind,
		       false, NULL);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
				     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	return copy_3d((struct place){dst, NULL, 0, x, y}, (struct place){NULL, src, pitch, 0, 0}, width, height, kind,
		       true, stream);
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
				  size_t height, enum cudaMemcpyKind kind)
{
	return copy_3d((struct place){NULL, dst, pitch, 0, 0}, (struct place){src, NULL, 0, x, y}, width, height, kind,
		       false, NULL);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
				       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	return copy_3d((struct place){NULL, dst, pitch, 0, 0}, (struct place){src, NULL, 0, x, y}, width, height, kind,
		       true, stream);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x,
				     size_t src_y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
	return copy_3d((struct place){dst, NULL, 0, dst_x, dst_y}, (struct place){src, NULL, 0, src_x, src_y}, width,
		       height, kind, false, NULL);
}

/* ---- runs of bytes, row by row (deprecated) ---- */

/* Copies bytes from a position of an array on, over the ends of its rows: the rest of the first row, whole rows, the
   beginning of the last, each one driver call (measured with libcudart 13.0.96 on driver 580.159.04).  in: into the
   array. */
static cudaError_t copy_run(cudaArray_const_t array, size_t x, size_t y, const void *p, size_t count, bool in,
			    enum cudaMemcpyKind kind, bool async, cudaStream_t stream)
{
	SW_RT_ENTER;
	CUDA_ARRAY3D_DESCRIPTOR d;
	size_t row = 0;
	cudaError_t result = get_descriptor(array, &d);
	if (!result)
		result = sw_rt_element(array, &row);
	row *= d.Width;
	if (!result && (!row || x >= row))
		result = cudaErrorInvalidValue;
	for (size_t done = 0; !result && done < count;) {
		size_t left = count - done, rows = x ? 0 : left / row;
		size_t width = rows ? row : left < row - x ? left : row - x;
		struct place there = {array, NULL, 0, x, y}, here = {NULL, (const char *)p + done, width, 0, 0};
		result = copy_3d(in ? there : here, in ? here : there, width, rows ? rows : 1, kind, async, stream);
		done += rows ? rows * row : width;
		y += rows ? rows : 1;
		x = 0;
	}
	return sw_rt_result(result);
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t count,
			      enum cudaMemcpyKind kind)
{
	return copy_run(dst, x, y, src, count, /* in */ true, kind, /* async */ false, NULL);
}

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t count,
				enum cudaMemcpyKind kind)
{
	return copy_run(src, x, y, dst, count, /* in */ false, kind, /* async */ false, NULL);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src, size_t count,
				   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	return copy_run(dst, x, y, src, count, /* in */ true, kind, /* async */ true, stream);
}

cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t count,
				     enum cudaMemcpyKind kind, cudaStream_t stream)
{
	return copy_run(src, x, y, dst, count, /* in */ false, kind, /* async */ true, stream);
}

/* Through a buffer on the device (measured as above). */
cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x,
				   size_t src_y, size_t count, enum cudaMemcpyKind kind)
{
	void *between;
	cudaError_t result = cudaMalloc(&between, count);
	if (result)
		return result;
	result = copy_run(src, src_x, src_y, between, count, /* in */ false, kind, /* async */ false, NULL);
	if (!result)
		result = copy_run(dst, dst_x, dst_y, between, count, /* in */ true, kind, /* async */ false, NULL);
	cudaFree(between);
	return sw_rt_result(result);
}

/* Texture and surface objects: the runtime's descriptors as the driver's, and back. */

_Static_assert(sizeof(struct cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC), "same layout");

/* The driver's form of a resource; false: no such kind or format. */
static bool convert_resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
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
		return rt_format(&from->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
	case cudaResourceTypePitch2D:
		to->res.pitch2D.devPtr = (uintptr_t)from->res.pitch2D.devPtr;
		to->res.pitch2D.width = from->res.pitch2D.width;
		to->res.pitch2D.height = from->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
		return rt_format(&from->res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
	}
	return false;
}

/* The runtime's form of a resource. */
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
		to->res.linear.desc = rt_channels(from->res.linear.format, from->res.linear.numChannels);
		break;
	case cudaResourceTypePitch2D:
		to->res.pitch2D.devPtr = (void *)(uintptr_t)from->res.pitch2D.devPtr;
		to->res.pitch2D.width = from->res.pitch2D.width;
		to->res.pitch2D.height = from->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
		to->res.pitch2D.desc = rt_channels(from->res.pitch2D.format, from->res.pitch2D.numChannels);
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

/* The driver's form of how a texture is read. */
static CUDA_TEXTURE_DESC convert_reading(const struct cudaTextureDesc *from)
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
	if (!what || !how || !convert_resource(what, &r))
		return sw_rt_result(cudaErrorInvalidValue);
	CUDA_TEXTURE_DESC t = convert_reading(how);
	SW_RT_CALL(sw_rt_d->cuTexObjectCreate((CUtexObject *)out, &r, &t, (const CUDA_RESOURCE_VIEW_DESC *)view));
}

SW_RT_FORWARD(cudaDestroyTextureObject, (cudaTextureObject_t object), cuTexObjectDestroy(object))

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

SW_RT_FORWARD(cudaGetTextureObjectResourceViewDesc, (struct cudaResourceViewDesc * out, cudaTextureObject_t object),
	      cuTexObjectGetResourceViewDesc((CUDA_RESOURCE_VIEW_DESC *)out, object))

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *what)
{
	SW_RT_ENTER;
	CUDA_RESOURCE_DESC r;
	if (!what || !convert_resource(what, &r))
		return sw_rt_result(cudaErrorInvalidValue);
	SW_RT_CALL(sw_rt_d->cuSurfObjectCreate((CUsurfObject *)out, &r));
}

SW_RT_FORWARD(cudaDestroySurfaceObject, (cudaSurfaceObject_t object), cuSurfObjectDestroy(object))

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
