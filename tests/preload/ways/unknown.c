/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with a function of the driver that no table of ours knows; -DLIBRARY: the same in an object that is loaded
   while the program runs, whose own calls come first. */
#include <dlfcn.h>
#include <stddef.h>

#include "preload/intercept/cuda_types.h"

CUresult cuFutureOrderEverything(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g);
static CUresult (*const table[])(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
				 uint64_t) = {cuFutureOrderEverything};

#ifdef LIBRARY
__attribute__((visibility("default"))) int use(void)
#else
static int use(void)
#endif
{
	CUdeviceptr at;
	if (cuMemAlloc_v2(&at, 888) != CUDA_SUCCESS)
		return 1;
	if (cuFutureOrderEverything(1, 2, 3, 4, 5, 6, 7) != CUDA_SUCCESS)
		return 2;
	return table[0](1, 2, 3, 4, 5, 6, 7) != CUDA_SUCCESS;
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
	CUdeviceptr at;
	int (*loaded)(void);
	if (argc < 2)
		return use();
	if (cuMemAlloc_v2(&at, 777) != CUDA_SUCCESS)
		return 3;
	*(void **)&loaded = dlsym(dlopen(argv[1], RTLD_NOW), "use");
	return loaded ? loaded() : 4;
}
#endif
