/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and sets.  Which driver call stands for which kind is measured (libcudart 13.0.96 on driver 580.159.04). */
#include <string.h>

#include "simcuda/runtime/rt.h"

/* Allocation, registration, pools: one driver call each. */

/* A device pointer as the driver takes it. */
static CUdeviceptr device_pointer(const void *p)
{
	return (uintptr_t)p;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
	SW_RT_ENTER;
	if (out && !bytes) {
		*out = NULL;
		return cudaSuccess;
	}
	SW_RT_CALL(sw_rt_d->cuMemAlloc((CUdeviceptr *)out, bytes));
}

SW_RT_FORWARD(cudaFree, (void *p), cuMemFree(device_pointer(p)))

SW_RT_FORWARD(cudaMallocHost, (void **out, size_t bytes), cuMemHostAlloc(out, bytes, 0))

SW_RT_FORWARD(cudaHostAlloc, (void **out, size_t bytes, unsigned flags), cuMemHostAlloc(out, bytes, flags))

SW_RT_FORWARD(cudaFreeHost, (void *p), cuMemFreeHost(p))

SW_RT_FORWARD(cudaHostRegister, (void *p, size_t bytes, unsigned flags), cuMemHostRegister(p, bytes, flags))

SW_RT_FORWARD(cudaHostUnregister, (void *p), cuMemHostUnregister(p))

SW_RT_FORWARD(cudaHostGetDevicePointer, (void **out, void *p, unsigned flags),
	      cuMemHostGetDevicePointer((CUdeviceptr *)out, p, flags))

SW_RT_FORWARD(cudaHostGetFlags, (unsigned *out, void *p), cuMemHostGetFlags(out, p))

SW_RT_FORWARD(cudaMallocManaged, (void **out, size_t bytes, unsigned flags),
	      cuMemAllocManaged((CUdeviceptr *)out, bytes, flags))

SW_RT_FORWARD(cudaMallocPitch, (void **out, size_t *pitch, size_t width, size_t height),
	      cuMemAllocPitch((CUdeviceptr *)out, pitch, width, height, 4))

/* One pitched allocation, whose slices follow each other. */
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
	SW_RT_ENTER;
	CUdeviceptr p;
	size_t pitch;
	cudaError_t result =
		(cudaError_t)sw_rt_d->cuMemAllocPitch(&p, &pitch, extent.width, extent.height * extent.depth, 4);
	if (!result)
		*out = (struct cudaPitchedPtr){(void *)(uintptr_t)p, pitch, extent.width, extent.height};
	return sw_rt_result(result);
}

SW_RT_FORWARD(cudaMemGetInfo, (size_t * available, size_t *total), cuMemGetInfo(available, total))

/* Answered by five attributes of the driver, which are asked for in one call; memory that no allocation knows is
   unregistered, which is no error. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
	SW_RT_ENTER;
	if (!out)
		return sw_rt_result(cudaErrorInvalidValue);
	unsigned type = 0, managed = 0;
	int device = -2;
	CUdeviceptr on_device = 0;
	void *on_host = NULL;
	CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
				       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
				       CU_POINTER_ATTRIBUTE_HOST_POINTER};
	void *values[] = {&type, &managed, &device, &on_device, &on_host};
	CUresult result = sw_rt_d->cuPointerGetAttributes(5, asked, values, device_pointer(p));
	if (result)
		return sw_rt_result((cudaError_t)result);
	memset(out, 0, sizeof *out);
	out->type = managed			   ? cudaMemoryTypeManaged
		    : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
		    : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
						   : cudaMemoryTypeUnregistered;
	out->device = device;
	out->devicePointer = (void *)(uintptr_t)on_device;
	out->hostPointer = type ? on_host : (void *)(uintptr_t)p;
	return cudaSuccess;
}

SW_RT_FORWARD(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream),
	      cuMemAllocAsync((CUdeviceptr *)out, bytes, stream))

SW_RT_FORWARD(cudaMallocFromPoolAsync, (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
	      cuMemAllocFromPoolAsync((CUdeviceptr *)out, bytes, pool, stream))

SW_RT_FORWARD(cudaFreeAsync, (void *p, cudaStream_t stream), cuMemFreeAsync(device_pointer(p), stream))

/* The structures of pools, locations and accesses are the driver's under other names. */
SW_RT_FORWARD(cudaMemPoolCreate, (cudaMemPool_t * out, const struct cudaMemPoolProps *props),
	      cuMemPoolCreate(out, (const CUmemPoolProps *)props))

SW_RT_FORWARD(cudaMemPoolDestroy, (cudaMemPool_t pool), cuMemPoolDestroy(pool))

SW_RT_FORWARD(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), cuMemPoolTrimTo(pool, keep))

SW_RT_FORWARD(cudaMemPoolGetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
	      cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value))

SW_RT_FORWARD(cudaMemPoolSetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value),
	      cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value))

SW_RT_FORWARD(cudaMemPoolSetAccess, (cudaMemPool_t pool, const struct cudaMemAccessDesc *map, size_t n),
	      cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)map, n))

SW_RT_FORWARD(cudaMemPoolGetAccess,
	      (enum cudaMemAccessFlags * flags, cudaMemPool_t pool, struct cudaMemLocation *location),
	      cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, (CUmemLocation *)location))

SW_RT_FORWARD(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * out, int device), cuDeviceGetDefaultMemPool(out, device))

SW_RT_FORWARD(cudaDeviceGetMemPool, (cudaMemPool_t * out, int device), cuDeviceGetMemPool(out, device))

SW_RT_FORWARD(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool), cuDeviceSetMemPool(device, pool))

/* On which sides a copy of this kind begins and ends, as the driver names them; false: there is no such kind. */
bool sw_rt_kinds(enum cudaMemcpyKind kind, CUmemorytype *dst, CUmemorytype *src)
{
	static const CUmemorytype table[][2] = {
		[cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
		[cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
		[cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
		[cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
		[cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
	};
	if ((unsigned)kind > cudaMemcpyDefault)
		return false;
	*dst = table[kind][0];
	*src = table[kind][1];
	return true;
}

/* The driver's form of a 2D copy; false: no such kind. */
static bool fill_plane(CUDA_MEMCPY2D *c, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
		       size_t height, enum cudaMemcpyKind kind)
{
	*c = (CUDA_MEMCPY2D){.srcHost = src,
			     .srcDevice = device_pointer(src),
			     .srcPitch = spitch,
			     .dstHost = dst,
			     .dstDevice = device_pointer(dst),
			     .dstPitch = dpitch,
			     .WidthInBytes = width,
			     .Height = height};
	return sw_rt_kinds(kind, &c->dstMemoryType, &c->srcMemoryType);
}

/* Each kind is a driver call of its own. */
cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyHtoD(device_pointer(dst), src, bytes));
	case cudaMemcpyDeviceToHost:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoH(dst, device_pointer(src), bytes));
	case cudaMemcpyDeviceToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoD(device_pointer(dst), device_pointer(src), bytes));
	case cudaMemcpyHostToHost:
		fill_plane(&c, dst, bytes, src, bytes, bytes, 1, kind);
		SW_RT_CALL(sw_rt_d->cuMemcpy2DUnaligned(&c));
	case cudaMemcpyDefault:
		SW_RT_CALL(sw_rt_d->cuMemcpy(device_pointer(dst), device_pointer(src), bytes));
	}
	return sw_rt_result(cudaErrorInvalidMemcpyDirection);
}

/* Each kind is a driver call of its own. */
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyHtoDAsync(device_pointer(dst), src, bytes, stream));
	case cudaMemcpyDeviceToHost:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoHAsync(dst, device_pointer(src), bytes, stream));
	case cudaMemcpyDeviceToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoDAsync(device_pointer(dst), device_pointer(src), bytes, stream));
	case cudaMemcpyHostToHost:
		fill_plane(&c, dst, bytes, src, bytes, bytes, 1, kind);
		SW_RT_CALL(sw_rt_d->cuMemcpy2DAsync(&c, stream));
	case cudaMemcpyDefault:
		SW_RT_CALL(sw_rt_d->cuMemcpyAsync(device_pointer(dst), device_pointer(src), bytes, stream));
	}
	return sw_rt_result(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
			 enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	if (!fill_plane(&c, dst, dpitch, src, spitch, width, height, kind))
		return sw_rt_result(cudaErrorInvalidMemcpyDirection);
	SW_RT_CALL(sw_rt_d->cuMemcpy2DUnaligned(&c));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	if (!fill_plane(&c, dst, dpitch, src, spitch, width, height, kind))
		return sw_rt_result(cudaErrorInvalidMemcpyDirection);
	SW_RT_CALL(sw_rt_d->cuMemcpy2DAsync(&c, stream));
}

/*
 * CUDA Runtime API, cudaMemcpy3D: positions are "in units of each object's elements", those of pointers are bytes; "if
 * a CUDA array is participating in the copy, the extent is defined in terms of that array's elements".
 */
cudaError_t sw_rt_volume(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
	size_t to = 1, from = 1;
	cudaError_t result = p ? cudaSuccess : cudaErrorInvalidValue;
	if (!result && p->dstArray)
		result = sw_rt_element(p->dstArray, &to);
	if (!result && p->srcArray)
		result = sw_rt_element(p->srcArray, &from);
	if (result)
		return result;
	*c = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x * from,
			     .srcY = p->srcPos.y,
			     .srcZ = p->srcPos.z,
			     .srcHost = p->srcPtr.ptr,
			     .srcDevice = device_pointer(p->srcPtr.ptr),
			     .srcArray = (CUarray)p->srcArray,
			     .srcPitch = p->srcPtr.pitch,
			     .srcHeight = p->srcPtr.ysize,
			     .dstXInBytes = p->dstPos.x * to,
			     .dstY = p->dstPos.y,
			     .dstZ = p->dstPos.z,
			     .dstHost = p->dstPtr.ptr,
			     .dstDevice = device_pointer(p->dstPtr.ptr),
			     .dstArray = (CUarray)p->dstArray,
			     .dstPitch = p->dstPtr.pitch,
			     .dstHeight = p->dstPtr.ysize,
			     .WidthInBytes = p->extent.width * (p->dstArray ? to : from),
			     .Height = p->extent.height,
			     .Depth = p->extent.depth};
	if (!sw_rt_kinds(p->kind, &c->dstMemoryType, &c->srcMemoryType))
		return cudaErrorInvalidMemcpyDirection;
	c->dstMemoryType = p->dstArray ? CU_MEMORYTYPE_ARRAY : c->dstMemoryType;
	c->srcMemoryType = p->srcArray ? CU_MEMORYTYPE_ARRAY : c->srcMemoryType;
	return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
	SW_RT_ENTER;
	CUDA_MEMCPY3D c;
	cudaError_t result = sw_rt_volume(p, &c);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuMemcpy3D(&c));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
	SW_RT_ENTER;
	CUDA_MEMCPY3D c;
	cudaError_t result = sw_rt_volume(p, &c);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuMemcpy3DAsync(&c, stream));
}

/* The primary contexts of two devices, made if they are not there.  The runtime asks for the API version of each
   first. */
static cudaError_t peer_contexts(int dst_device, int src_device, CUcontext *dst, CUcontext *src)
{
	unsigned version;
	cudaError_t result = sw_rt_primary(dst_device, dst);
	if (!result)
		result = sw_rt_primary(src_device, src);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuCtxGetApiVersion(*dst, &version);
	return result ? result : (cudaError_t)sw_rt_d->cuCtxGetApiVersion(*src, &version);
}

/* By the primary contexts of both devices. */
cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
	SW_RT_ENTER;
	CUcontext to, from;
	cudaError_t result = peer_contexts(dst_device, src_device, &to, &from);
	return sw_rt_result(
		result ? result
		       : (cudaError_t)sw_rt_d->cuMemcpyPeer(device_pointer(dst), to, device_pointer(src), from, bytes));
}

/* By the primary contexts of both devices. */
cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
				cudaStream_t stream)
{
	SW_RT_ENTER;
	CUcontext to, from;
	cudaError_t result = peer_contexts(dst_device, src_device, &to, &from);
	return sw_rt_result(result ? result
				   : (cudaError_t)sw_rt_d->cuMemcpyPeerAsync(device_pointer(dst), to,
									     device_pointer(src), from, bytes, stream));
}

/* ---- symbols ---- */

/* The address of bytes in a variable.  The synchronous forms ask for the symbol's size first (twice): two
   cuLibraryGetGlobal.  The asynchronous ones ask for the address alone, with no place for the size (seen with libcudart
   13.0). */
static cudaError_t symbol_at(const void *symbol, size_t bytes, size_t offset, bool twice, void **out)
{
	CUdeviceptr address;
	size_t room = SIZE_MAX;
	cudaError_t result = twice ? sw_rt_symbol(symbol, NULL, &room) : cudaSuccess;
	if (!result)
		result = sw_rt_symbol(symbol, &address, NULL);
	if (!result && (offset > room || bytes > room - offset))
		result = cudaErrorInvalidValue;
	if (!result)
		*out = (void *)(uintptr_t)(address + offset);
	return result;
}

/* As cudaMemcpy() to the variable's address, after its size was checked. */
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	void *dst;
	cudaError_t result = symbol_at(symbol, bytes, offset, true, &dst);
	return result ? sw_rt_result(result) : cudaMemcpy(dst, src, bytes, kind);
}

/* As cudaMemcpy() from the variable's address, after its size was checked. */
cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	void *src;
	cudaError_t result = symbol_at(symbol, bytes, offset, true, &src);
	return result ? sw_rt_result(result) : cudaMemcpy(dst, src, bytes, kind);
}

/* As cudaMemcpyAsync() to the variable's address, after its size was checked. */
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset,
				    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SW_RT_ENTER;
	void *dst;
	cudaError_t result = symbol_at(symbol, bytes, offset, false, &dst);
	return result ? sw_rt_result(result) : cudaMemcpyAsync(dst, src, bytes, kind, stream);
}

/* As cudaMemcpyAsync() from the variable's address, after its size was checked. */
cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset,
				      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SW_RT_ENTER;
	void *src;
	cudaError_t result = symbol_at(symbol, bytes, offset, false, &src);
	return result ? sw_rt_result(result) : cudaMemcpyAsync(dst, src, bytes, kind, stream);
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
	SW_RT_ENTER;
	CUdeviceptr address;
	size_t bytes;
	cudaError_t result = sw_rt_symbol(symbol, &address, &bytes);
	if (!result)
		*out = (void *)(uintptr_t)address;
	return sw_rt_result(result);
}

cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol)
{
	SW_RT_ENTER;
	CUdeviceptr address;
	return sw_rt_result(sw_rt_symbol(symbol, &address, out));
}

/* ---- sets ---- */

SW_RT_FORWARD(cudaMemset, (void *dst, int value, size_t bytes),
	      cuMemsetD8(device_pointer(dst), (unsigned char)value, bytes))

SW_RT_FORWARD(cudaMemsetAsync, (void *dst, int value, size_t bytes, cudaStream_t stream),
	      cuMemsetD8Async(device_pointer(dst), (unsigned char)value, bytes, stream))

SW_RT_FORWARD(cudaMemset2D, (void *dst, size_t pitch, int value, size_t width, size_t height),
	      cuMemsetD2D8(device_pointer(dst), pitch, (unsigned char)value, width, height))

SW_RT_FORWARD(cudaMemset2DAsync, (void *dst, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
	      cuMemsetD2D8Async(device_pointer(dst), pitch, (unsigned char)value, width, height, stream))

/* Slices that follow each other without a gap are one plane; others are set slice by slice. */
static cudaError_t set_volume(struct cudaPitchedPtr p, int value, struct cudaExtent e, bool async, cudaStream_t stream)
{
	SW_RT_ENTER;
	bool whole = e.height == p.ysize || e.depth == 1;
	size_t planes = whole ? 1 : e.depth, rows = whole ? e.height * e.depth : e.height;
	CUresult result = CUDA_SUCCESS;
	for (size_t z = 0; !result && z < planes; z++) {
		CUdeviceptr at = device_pointer(p.ptr) + z * p.pitch * p.ysize;
		result = async ? sw_rt_d->cuMemsetD2D8Async(at, p.pitch, (unsigned char)value, e.width, rows, stream)
			       : sw_rt_d->cuMemsetD2D8(at, p.pitch, (unsigned char)value, e.width, rows);
	}
	SW_RT_CALL(result);
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
	return set_volume(p, value, extent, false, NULL);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent extent, cudaStream_t stream)
{
	return set_volume(p, value, extent, true, stream);
}
