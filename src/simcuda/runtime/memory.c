/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, registration, pools: one driver call each. */
#include "simcuda/runtime/rt.h"

#include <string.h>

static CUdeviceptr ptr(const void *p)
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

cudaError_t cudaFree(void *p) SW_RT_FORWARD(cuMemFree(ptr(p)))

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
	CUresult result = sw_rt_d->cuPointerGetAttributes(5, asked, values, ptr(p));
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
					SW_RT_FORWARD(cuMemFreeAsync(ptr(p), stream))

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
