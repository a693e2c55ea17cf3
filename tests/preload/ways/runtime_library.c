/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the driver for a hundred functions and more before its first call, as a CUDA runtime does; then allocates. */
#include <dlfcn.h>

#include "preload/intercept/cuda_types.h"

int runtime_allocate(size_t bytes);
int runtime_allocate(size_t bytes)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	__typeof__(&cuGetProcAddress_v2) ask = (__typeof__(ask))dlsym(driver, "cuGetProcAddress_v2");
	__typeof__(&cuMemAlloc_v2) allocate = NULL;
	CUdeviceptr at;

	for (int i = 0; i < 120; i++)
		ask("cuMemAlloc", (void **)&allocate, 12000, 0, NULL);
	return allocate(&at, bytes);
}
