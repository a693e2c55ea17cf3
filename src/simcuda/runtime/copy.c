/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and sets.  Which driver call stands for which kind is measured (libcudart 13.0.96 on driver 580.159.04). */
#include "simcuda/runtime/rt.h"

static CUdeviceptr ptr(const void *p)
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

static bool plane(CUDA_MEMCPY2D *c, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
		  size_t height, enum cudaMemcpyKind kind)
{
	*c = (CUDA_MEMCPY2D){.srcHost = src,
			     .srcDevice = ptr(src),
			     .srcPitch = spitch,
			     .dstHost = dst,
			     .dstDevice = ptr(dst),
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
		SW_RT_CALL(sw_rt_d->cuMemcpyHtoD(ptr(dst), src, bytes));
	case cudaMemcpyDeviceToHost:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoH(dst, ptr(src), bytes));
	case cudaMemcpyDeviceToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoD(ptr(dst), ptr(src), bytes));
	case cudaMemcpyHostToHost:
		plane(&c, dst, bytes, src, bytes, bytes, 1, kind);
		SW_RT_CALL(sw_rt_d->cuMemcpy2DUnaligned(&c));
	case cudaMemcpyDefault:
		SW_RT_CALL(sw_rt_d->cuMemcpy(ptr(dst), ptr(src), bytes));
	}
	return sw_rt_result(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyHtoDAsync(ptr(dst), src, bytes, stream));
	case cudaMemcpyDeviceToHost:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoHAsync(dst, ptr(src), bytes, stream));
	case cudaMemcpyDeviceToDevice:
		SW_RT_CALL(sw_rt_d->cuMemcpyDtoDAsync(ptr(dst), ptr(src), bytes, stream));
	case cudaMemcpyHostToHost:
		plane(&c, dst, bytes, src, bytes, bytes, 1, kind);
		SW_RT_CALL(sw_rt_d->cuMemcpy2DAsync(&c, stream));
	case cudaMemcpyDefault:
		SW_RT_CALL(sw_rt_d->cuMemcpyAsync(ptr(dst), ptr(src), bytes, stream));
	}
	return sw_rt_result(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
			 enum cudaMemcpyKind kind)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	if (!plane(&c, dst, dpitch, src, spitch, width, height, kind))
		return sw_rt_result(cudaErrorInvalidMemcpyDirection);
	SW_RT_CALL(sw_rt_d->cuMemcpy2DUnaligned(&c));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SW_RT_ENTER;
	CUDA_MEMCPY2D c;
	if (!plane(&c, dst, dpitch, src, spitch, width, height, kind))
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
			     .srcDevice = ptr(p->srcPtr.ptr),
			     .srcArray = (CUarray)p->srcArray,
			     .srcPitch = p->srcPtr.pitch,
			     .srcHeight = p->srcPtr.ysize,
			     .dstXInBytes = p->dstPos.x * to,
			     .dstY = p->dstPos.y,
			     .dstZ = p->dstPos.z,
			     .dstHost = p->dstPtr.ptr,
			     .dstDevice = ptr(p->dstPtr.ptr),
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
static cudaError_t peers(int dst_device, int src_device, CUcontext *dst, CUcontext *src)
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
	cudaError_t result = peers(dst_device, src_device, &to, &from);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuMemcpyPeer(ptr(dst), to, ptr(src), from, bytes));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
				cudaStream_t stream)
{
	SW_RT_ENTER;
	CUcontext to, from;
	cudaError_t result = peers(dst_device, src_device, &to, &from);
	return sw_rt_result(
		result ? result : (cudaError_t)sw_rt_d->cuMemcpyPeerAsync(ptr(dst), to, ptr(src), from, bytes, stream));
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
	SW_RT_FORWARD(cuMemsetD8(ptr(dst), (unsigned char)value, bytes))

		cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
			SW_RT_FORWARD(cuMemsetD8Async(ptr(dst), (unsigned char)value, bytes, stream))

				cudaError_t
	cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
		SW_RT_FORWARD(cuMemsetD2D8(ptr(dst), pitch, (unsigned char)value, width, height))

			cudaError_t
	cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
		SW_RT_FORWARD(cuMemsetD2D8Async(ptr(dst), pitch, (unsigned char)value, width, height, stream))

	/* Slices that follow each other without a gap are one plane; others are set slice by slice. */
	static cudaError_t
	set_volume(struct cudaPitchedPtr p, int value, struct cudaExtent e, bool async, cudaStream_t stream)
{
	SW_RT_ENTER;
	bool whole = e.height == p.ysize || e.depth == 1;
	size_t planes = whole ? 1 : e.depth, rows = whole ? e.height * e.depth : e.height;
	CUresult result = CUDA_SUCCESS;
	for (size_t z = 0; !result && z < planes; z++) {
		CUdeviceptr at = ptr(p.ptr) + z * p.pitch * p.ysize;
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
