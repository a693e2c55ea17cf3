/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that wraps the driver to count what is allocated, as quotas do: its table is filled at first use.
 *   -DLOOKS_UP    through dlsym as everybody sees it; else through libc's, past all others
 *   -DWRAPS_DLSYM programs that look names up find the wrapper, too
 *   -DSTAGE       it is the first stage of a driver in two: the second is the file in $SECOND_STAGE
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/intercept/cuda_types.h"

#include "base/arch.h"

#define EXPORT __attribute__((visibility("default")))

static int counted;

static void *(*libcs_dlsym(void))(void *, const char *)
{
	return (__typeof__(libcs_dlsym()))dlvsym(RTLD_NEXT, "dlsym", SW_ARCH_OLDEST_LIBC);
}

static void *of_driver(const char *name)
{
	static void *driver;
	if (!driver)
#ifdef STAGE
		driver = dlopen(getenv("SECOND_STAGE"), RTLD_NOW | RTLD_LOCAL);
#else
		driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
#endif
#ifdef LOOKS_UP
	return dlsym(driver, name);
#else
	return libcs_dlsym()(driver, name);
#endif
}

#define REAL(symbol) ((__typeof__(&symbol))of_driver(#symbol))

EXPORT CUresult cuInit(unsigned flags)
{
	return REAL(cuInit)(flags);
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
	counted++;
	return REAL(cuMemAlloc_v2)(at, bytes);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr at)
{
	return REAL(cuMemFree_v2)(at);
}

#ifdef STAGE
EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
	return REAL(cuCtxGetCurrent)(context);
}
#endif

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
				    CUdriverProcAddressQueryResult *result)
{
	CUresult status = REAL(cuGetProcAddress_v2)(name, out, version, flags, result);
#ifndef STAGE
	if (status == CUDA_SUCCESS && strcmp(name, "cuMemAlloc") == 0)
		*out = (void *)cuMemAlloc_v2;
#endif
	return status;
}

#ifdef WRAPS_DLSYM
EXPORT void *dlsym(void *handle, const char *name)
{
	if (handle != RTLD_NEXT && strcmp(name, "cuMemAlloc_v2") == 0)
		return (void *)cuMemAlloc_v2;
	if (handle != RTLD_NEXT && strcmp(name, "cuGetProcAddress_v2") == 0)
		return (void *)cuGetProcAddress_v2;
	return libcs_dlsym()(handle, name);
}
#endif

#ifndef STAGE
__attribute__((destructor)) static void end(void)
{
	fprintf(stderr, "counted: %d\n", counted);
}
#endif
