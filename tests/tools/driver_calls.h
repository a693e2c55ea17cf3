/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the driver for programs that syncwatch is tested with.  They load it themselves, so that they need no
 * toolkit to link.  Every call must succeed: the tests are about syncwatch, not about these programs.
 */
#ifndef TESTS_TOOLS_DRIVER_CALLS_H
#define TESTS_TOOLS_DRIVER_CALLS_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *driver;

/* CALL(cuMemFree_v2, (CUdeviceptr), p): the types are those of the parameters. */
#define CALL(name, types, ...)                                                                                         \
	do {                                                                                                           \
		CUresult(*function) types;                                                                             \
		*(void **)&function = dlsym(driver, #name);                                                            \
		if (!function || function(__VA_ARGS__) != CUDA_SUCCESS) {                                              \
			fprintf(stderr, "%s failed\n", #name);                                                         \
			exit(70);                                                                                      \
		}                                                                                                      \
	} while (0)

/* Loads the driver and makes the primary context of device 0 current. */
static void begin_cuda(void)
{
	CUcontext context;
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver)
		exit(71);
	CALL(cuInit, (unsigned), 0);
	CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
	CALL(cuCtxSetCurrent, (CUcontext), context);
}

#endif
