/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the driver in its constructor, before libsyncwatch's own has run, and in its destructor, after. */
#include <dlfcn.h>

#include "preload/intercept/cuda_types.h"

static __typeof__(&cuMemAlloc_v2) allocate;

__attribute__((constructor)) static void begin(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	CUdeviceptr at;

	allocate = (__typeof__(allocate))dlsym(driver, "cuMemAlloc_v2");
	allocate(&at, 111);
}

__attribute__((destructor)) static void end(void)
{
	CUdeviceptr at;

	allocate(&at, 333);
}

int early_library(void);
int early_library(void)
{
	CUdeviceptr at;

	return allocate(&at, 222);
}
