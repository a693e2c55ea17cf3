/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nvcc's start-up code registers: code images, kernels and variables.  An image is loaded at the first use of one
 * of its kernels or variables (lazy loading), by one cuLibraryLoadData.
 */
#include "simcuda/runtime/rt.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

struct managed {
	void **host; /* the program's pointer to the variable */
	const char *name;
};

struct image {
	void *handle[1]; /* what nvcc's code keeps: its address */
	const void *wrapper;
	CUlibrary library;
	SW_VEC(struct managed) managed;
	bool initialised; /* managed variables have their addresses */
};

struct entry {
	struct image *image;
	const char *name; /* on the device */
	CUkernel kernel;
	bool variable;
};

/* Host address of a stub function or variable: its entry.  Recursive: the driver may load on behalf of a registered
 * call. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sw_map entries;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
			    uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
		       int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
			      int constant, int global);
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *function);

static struct image *image_of(void **handle)
{
	return (struct image *)(void *)((char *)handle - offsetof(struct image, handle));
}

void **__cudaRegisterFatBinary(void *wrapper)
{
	struct image *image = sw_calloc(1, sizeof *image);
	image->wrapper = wrapper;
	image->handle[0] = wrapper;
	return image->handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* Runs from atexit(): the driver may be unloaded, and nothing that it holds has to be returned. */
void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

static void add(void **handle, const void *host, const char *name, bool variable)
{
	struct entry *e = sw_calloc(1, sizeof *e);
	e->image = image_of(handle);
	e->name = name;
	e->variable = variable;
	pthread_mutex_lock(&lock);
	sw_map_put_ptr(&entries, (uintptr_t)host, e);
	pthread_mutex_unlock(&lock);
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
			    uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	add(handle, host, name, false);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
		       int constant, int global)
{
	(void)device, (void)external, (void)bytes, (void)constant, (void)global;
	add(handle, host, name, true);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
			      int constant, int global)
{
	(void)device, (void)external, (void)bytes, (void)constant, (void)global;
	*sw_vec_push(&image_of(handle)->managed) = (struct managed){host, name};
	add(handle, host, name, true);
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
	(void)handle, (void)name, (void)host, (void)bytes; /* only kernels would read it */
}

/* Called with the lock held. */
static cudaError_t library(struct image *image, CUlibrary *out)
{
	cudaError_t result = cudaSuccess;
	if (!image->library)
		result = (cudaError_t)sw_rt_d->cuLibraryLoadData(&image->library, image->wrapper, NULL, NULL, 0, NULL,
								 NULL, 0);
	*out = image->library;
	return result;
}

static cudaError_t kernel_of(struct entry *e, CUkernel *out)
{
	CUlibrary lib;
	cudaError_t result = cudaSuccess;
	pthread_mutex_lock(&lock);
	if (!e->kernel) {
		result = library(e->image, &lib);
		if (!result)
			result = (cudaError_t)sw_rt_d->cuLibraryGetKernel(&e->kernel, lib, e->name);
	}
	*out = e->kernel;
	pthread_mutex_unlock(&lock);
	return result == cudaErrorSymbolNotFound ? cudaErrorInvalidDeviceFunction : result;
}

static struct entry *find(const void *host)
{
	pthread_mutex_lock(&lock);
	struct entry *e = sw_map_ptr(&entries, (uintptr_t)host);
	pthread_mutex_unlock(&lock);
	return e;
}

cudaError_t sw_rt_kernel(const void *function, CUkernel *out)
{
	struct entry *e = find(function);
	if (!function || (e && e->variable))
		return cudaErrorInvalidDeviceFunction;
	if (e)
		return kernel_of(e, out);
	*out = (CUkernel)(uintptr_t)function; /* a cudaKernel_t: the driver knows whether it is one */
	return cudaSuccess;
}

cudaError_t sw_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
	CUlibrary lib;
	const struct entry *e = find(symbol);
	if (!e || !e->variable)
		return cudaErrorInvalidSymbol;
	pthread_mutex_lock(&lock);
	cudaError_t result = library(e->image, &lib);
	pthread_mutex_unlock(&lock);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuLibraryGetGlobal(address, bytes, lib, e->name);
	return result == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : result;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *function)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	if (!result)
		*out = (cudaKernel_t)kernel;
	return sw_rt_result(result);
}

/* nvcc's code calls it before the program's first use of a managed variable of that image. */
char __cudaInitModule(void **handle)
{
	struct image *image = image_of(handle);
	if (sw_rt_result(sw_rt_ready()))
		return 0;
	CUlibrary lib;
	pthread_mutex_lock(&lock);
	bool ok = !library(image, &lib);
	for (size_t i = 0; ok && !image->initialised && i < image->managed.n; i++) {
		CUdeviceptr address;
		size_t bytes;
		ok = !sw_rt_d->cuLibraryGetManaged(&address, &bytes, lib, image->managed.at[i].name);
		if (ok)
			*image->managed.at[i].host = (void *)(uintptr_t)address;
	}
	image->initialised = ok;
	pthread_mutex_unlock(&lock);
	return ok;
}
