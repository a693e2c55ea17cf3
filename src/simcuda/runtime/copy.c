/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and sets.  Which driver call stands for which kind is measured (libcudart 13.0.96 on driver 580.159.04). */
#include <string.h>

#include "simcuda/runtime/rt.h"

/* Allocation, registration, pools: one driver call each. */

static CUdeviceptr ptr_memory(const void *p)
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

cudaError_t cudaFree(void *p) SW_RT_FORWARD(cuMemFree(ptr_memory(p)))

	cudaError_t cudaMallocHost(void **out, size_t bytes) SW_RT_FORWARD(cuMemHostAlloc(out, bytes, 0))

		cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
			SW_RT_FORWARD(cuMemHostAlloc(out, bytes, flags))

				cudaError_t cudaFreeHost(void *p) SW_RT_FORWARD(cuMemFreeHost(p))

					cudaError_t
	cudaHostRegister(void *p, size_t bytes, unsigned flags) SW_RT_FORWARD(cuMemHostRegister(p, bytes, flags))

		cudaError_t cudaHostUnregister(void *p) SW_RT_FORWARD(cuMemHostUnregister(p))

			cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags)
				SW_RT_FORWARD(cuMemHostGetDevicePointer((CUdeviceptr *)out, p, flags))

					cudaError_t
	cudaHostGetFlags(unsigned *out, void *p) SW_RT_FORWARD(cuMemHostGetFlags(out, p))

		cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
			SW_RT_FORWARD(cuMemAllocManaged((CUdeviceptr *)out, bytes, flags))

				cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
					SW_RT_FORWARD(cuMemAllocPitch((CUdeviceptr *)out, pitch, width, height, 4))

						cudaError_t
	cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
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

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) SW_RT_FORWARD(cuMemGetInfo(available, total))

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
	CUresult result = sw_rt_d->cuPointerGetAttributes(5, asked, values, ptr_memory(p));
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

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
	SW_RT_FORWARD(cuMemAllocAsync((CUdeviceptr *)out, bytes, stream))

		cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
			SW_RT_FORWARD(cuMemAllocFromPoolAsync((CUdeviceptr *)out, bytes, pool, stream))

				cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
					SW_RT_FORWARD(cuMemFreeAsync(ptr_memory(p), stream))

	/* The structures of pools, locations and accesses are the driver's under other names. */
	cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *props)
		SW_RT_FORWARD(cuMemPoolCreate(out, (const CUmemPoolProps *)props))

			cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) SW_RT_FORWARD(cuMemPoolDestroy(pool))

				cudaError_t
	cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) SW_RT_FORWARD(cuMemPoolTrimTo(pool, keep))

		cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
			SW_RT_FORWARD(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value))

				cudaError_t
	cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
		SW_RT_FORWARD(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value))

			cudaError_t
	cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *map, size_t n)
		SW_RT_FORWARD(cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)map, n))

			cudaError_t
	cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool, struct cudaMemLocation *location)
		SW_RT_FORWARD(cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, (CUmemLocation *)location))

			cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
				SW_RT_FORWARD(cuDeviceGetDefaultMemPool(out, device))

					cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
						SW_RT_FORWARD(cuDeviceGetMemPool(out, device))

							cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
								SW_RT_FORWARD(cuDeviceSetMemPool(device, pool))

									static CUdeviceptr ptr_copy(const void *p)
{
	return (uintptr_t)p;
}

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

static bool fill_plane(CUDA_MEMCPY2D *c, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
		       size_t height, enum cudaMemcpyKind kind)
{
	*c = (CUDA_MEMCPY2D){.srcHost = src,
			     .srcDevice = ptr_copy(src),
			     .srcPitch = spitch,
			     .dstHost = dst,
			     .dstDevice = ptr_copy(dst),
			     .dstPitch = dpitch,
			     .WidthInBytes = width,
			     .Height = height};
	return sw_rt_kinds(kind, &c->dstMemoryType, &c->srcMemoryType);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyHtoD(ptr_copy(dst), src, bytes));
	case cudaMemcpyDeviceToHost:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoH(dst, ptr_copy(src), bytes));
	case cudaMemcpyDeviceToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoD(ptr_copy(dst), ptr_copy(src), bytes));
	case cudaMemcpyHostToHost:
		fill_plane(&c, dst, bytes, src, bytes, bytes, 1, kind);
		SW_RT_CALL(sw_rt_d->cuMemcpy2DUnaligned(&c));
	case cudaMemcpyDefault:
		SW_RT_CALL(sw_rt_d->cuMemcpy(ptr_copy(dst), ptr_copy(src), bytes));
	}
	return sw_rt_result(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyHtoDAsync(ptr_copy(dst), src, bytes, stream));
	case cudaMemcpyDeviceToHost:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoHAsync(dst, ptr_copy(src), bytes, stream));
	case cudaMemcpyDeviceToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoDAsync(ptr_copy(dst), ptr_copy(src), bytes, stream));
	case cudaMemcpyHostToHost:
		fill_plane(&c, dst, bytes, src, bytes, bytes, 1, kind);
		SW_RT_CALL(sw_rt_d->cuMemcpy2DAsync(&c, stream));
	case cudaMemcpyDefault:
		SW_RT_CALL(sw_rt_d->cuMemcpyAsync(ptr_copy(dst), ptr_copy(src), bytes, stream));
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
			     .srcDevice = ptr_copy(p->srcPtr.ptr),
			     .srcArray = (CUarray)p->srcArray,
			     .srcPitch = p->srcPtr.pitch,
			     .srcHeight = p->srcPtr.ysize,
			     .dstXInBytes = p->dstPos.x * to,
			     .dstY = p->dstPos.y,
			     .dstZ = p->dstPos.z,
			     .dstHost = p->dstPtr.ptr,
			     .dstDevice = ptr_copy(p->dstPtr.ptr),
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

/* The runtime asks for the API version of each context first. */
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

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
	SW_RT_ENTER;
	CUcontext to, from;
	cudaError_t result = peer_contexts(dst_device, src_device, &to, &from);
	return sw_rt_result(result ? result
				   : (cudaError_t)sw_rt_d->cuMemcpyPeer(ptr_copy(dst), to, ptr_copy(src), from, bytes));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
				cudaStream_t stream)
{
	SW_RT_ENTER;
	CUcontext to, from;
	cudaError_t result = peer_contexts(dst_device, src_device, &to, &from);
	return sw_rt_result(result ? result
				   : (cudaError_t)sw_rt_d->cuMemcpyPeerAsync(ptr_copy(dst), to, ptr_copy(src), from,
									     bytes, stream));
}

/* ---- symbols ---- */

/*
 * The synchronous forms ask for the symbol's size first and its address afterwards: two cuLibraryGetGlobal.  The
 * asynchronous ones ask for the address alone, with no place for the size (seen with libcudart 13.0).
 */
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

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	void *dst;
	cudaError_t result = symbol_at(symbol, bytes, offset, true, &dst);
	return result ? sw_rt_result(result) : cudaMemcpy(dst, src, bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	void *src;
	cudaError_t result = symbol_at(symbol, bytes, offset, true, &src);
	return result ? sw_rt_result(result) : cudaMemcpy(dst, src, bytes, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset,
				    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SW_RT_ENTER;
	void *dst;
	cudaError_t result = symbol_at(symbol, bytes, offset, false, &dst);
	return result ? sw_rt_result(result) : cudaMemcpyAsync(dst, src, bytes, kind, stream);
}

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

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
	SW_RT_FORWARD(cuMemsetD8(ptr_copy(dst), (unsigned char)value, bytes))

		cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
			SW_RT_FORWARD(cuMemsetD8Async(ptr_copy(dst), (unsigned char)value, bytes, stream))

				cudaError_t
	cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
		SW_RT_FORWARD(cuMemsetD2D8(ptr_copy(dst), pitch, (unsigned char)value, width, height))

			cudaError_t
	cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
		SW_RT_FORWARD(cuMemsetD2D8Async(ptr_copy(dst), pitch, (unsigned char)value, width, height, stream))

	/* Slices that follow each other without a gap are one plane; others are set slice by slice. */
	static cudaError_t
	set_volume(struct cudaPitchedPtr p, int value, struct cudaExtent e, bool async, cudaStream_t stream)
{
	SW_RT_ENTER;
	bool whole = e.height == p.ysize || e.depth == 1;
	size_t planes = whole ? 1 : e.depth, rows = whole ? e.height * e.depth : e.height;
	CUresult result = CUDA_SUCCESS;
	for (size_t z = 0; !result && z < planes; z++) {
		CUdeviceptr at = ptr_copy(p.ptr) + z * p.pitch * p.ysize;
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
