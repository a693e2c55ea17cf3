/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the driver for its functions, as CUDA runtimes do, on a libcuda that no other object sees (RTLD_LOCAL). */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/intercept/cuda_types.h"

static __typeof__(&cuGetProcAddress_v2) ask;

static void *get(const char *name, int version, cuuint64_t flags)
{
	void *function = NULL;

	ask(name, &function, version, flags, NULL);
	return function;
}

#define GET(type, name, version, flags) ((__typeof__(&type))get(name, version, flags))
#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "asked.c:%d: %s\n", __LINE__, #condition);                                     \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

static int ran;

static void CUDA_CB host(void *data)
{
	ran += *(int *)data;
}

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	CUresult (*future)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
	char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n";
	CUdeviceptr at = 0, none = 0;
	CUlibrary library;
	CUkernel kernel;
	CUcontext context;
	CUgraph graph;
	int one = 1, number = 5;
	char letter = 'x';
	void *params[] = {&at, &number, &letter};
	char buffer[64] = "";
	size_t bytes = 12;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
			 CU_LAUNCH_PARAM_END};

	CHECK(driver);
	ask = (__typeof__(ask))dlsym(driver, "cuGetProcAddress_v2");
	CHECK(ask);
	/* The function hands out itself, and the copy is as good. */
	ask = (__typeof__(ask))get("cuGetProcAddress", 12000, 0);
	CHECK(ask && ask == (__typeof__(ask))dlsym(driver, "cuGetProcAddress_v2"));
	CHECK(!get("cuNoSuchFunction", 13000, 0));

	((__typeof__(&cuDevicePrimaryCtxRetain))dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0);
	((__typeof__(&cuCtxSetCurrent))dlsym(driver, "cuCtxSetCurrent"))(context);
	errno = 4711;
	CHECK(GET(cuMemAlloc_v2, "cuMemAlloc", 13000, 0)(&at, 4096) == CUDA_SUCCESS && at);
	CHECK(GET(cuMemAlloc_v2, "cuMemAlloc", 13000, 0)(&none, 0) == CUDA_ERROR_INVALID_VALUE);
	CHECK(GET(cuMemcpyHtoD_v2, "cuMemcpyHtoD", 13000, 0)(at, buffer, 16) == CUDA_SUCCESS);
	CHECK(GET(cuMemcpyHtoD_v2, "cuMemcpyHtoD", 13000, 2)(at, buffer, 32) == CUDA_SUCCESS);
	((__typeof__(&cuLibraryLoadData))dlsym(driver, "cuLibraryLoadData"))(&library, ptx, 0, 0, 0, 0, 0, 0);
	((__typeof__(&cuLibraryGetKernel))dlsym(driver, "cuLibraryGetKernel"))(&kernel, library, "fake");
	GET(cuLaunchKernel, "cuLaunchKernel", 13000, 0)((CUfunction)kernel, 1, 2, 3, 4, 5, 6, 7, 0, params, NULL);
	GET(cuLaunchKernel, "cuLaunchKernel", 13000, 2)((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, 0, params, NULL);
	number = 6;
	GET(cuLaunchKernel, "cuLaunchKernel", 13000, 0)((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, 0, params, NULL);
	GET(cuLaunchKernel, "cuLaunchKernel", 13000, 0)((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, 0, NULL, extra);
	GET(cuEventRecord, "cuEventRecord", 13000, 0)((CUevent)0x9000, 0);
	GET(cuStreamSynchronize, "cuStreamSynchronize", 13000, 2)(0);

	future = (__typeof__(future))get("cuFutureOrderEverything", 13000, 0);
	CHECK(future && future(1, 2, 3, 4, 5, 6, 7) == CUDA_SUCCESS);
	CHECK(future(1, 2, 3, 4, 5, 6, 7) == CUDA_SUCCESS);

	((__typeof__(&cuLaunchHostFunc))dlsym(driver, "cuLaunchHostFunc"))(0, host, &one);
	CHECK(ran == 1);
	((__typeof__(&cuStreamBeginCapture_v2))dlsym(driver, "cuStreamBeginCapture_v2"))(0,
											 CU_STREAM_CAPTURE_MODE_GLOBAL);
	((__typeof__(&cuLaunchHostFunc))dlsym(driver, "cuLaunchHostFunc"))(0, host, &one);
	((__typeof__(&cuStreamEndCapture))dlsym(driver, "cuStreamEndCapture"))(0, &graph);
	((__typeof__(&cuLibraryUnload))dlsym(driver, "cuLibraryUnload"))(library);
	CHECK(errno == 4711);
	return 0;
}
