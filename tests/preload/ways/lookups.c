/* SPDX-License-Identifier: Apache-2.0 */
/* dlerror() and errno after look-ups, found and not found, and of handles that are none. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "preload/intercept/cuda_types.h"

#define CHECK(x)                                                                                                       \
	do {                                                                                                           \
		if (!(x)) {                                                                                            \
			fprintf(stderr, "line %d: %s\n", __LINE__, #x);                                                \
			return 1;                                                                                      \
		}                                                                                                      \
	} while (0)

/* A failed look-up says which name it was for, and says it once. */
static int told(const char *name)
{
	const char *error = dlerror();

	return error && strstr(error, name) && !dlerror();
}

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	CUdeviceptr at = 0;
	CUcontext context;

	CHECK(driver);
	errno = 4711;
	/* The first pointer of the driver: its object is looked through, and an old one lacks names. */
	dlerror();
	CHECK(dlsym(driver, "cuMemAlloc_v2") && !dlerror());
	CHECK(!dlsym(driver, "cuNoSuchFunction") && told("cuNoSuchFunction"));
	CHECK(!dlsym(RTLD_DEFAULT, "cuNoSuchFunction") && told("cuNoSuchFunction"));
	CHECK(!dlsym(RTLD_NEXT, "cuNoSuchFunction") && told("cuNoSuchFunction"));
	/* The driver was loaded RTLD_LOCAL: no look-up without its handle finds it. */
	CHECK(!dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") && told("cuMemAlloc_v2"));
	CHECK(errno == 4711);

	CHECK(((__typeof__(&cuDevicePrimaryCtxRetain))dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0) ==
	      CUDA_SUCCESS);
	CHECK(((__typeof__(&cuCtxSetCurrent))dlsym(driver, "cuCtxSetCurrent"))(context) == CUDA_SUCCESS);
	CHECK(((__typeof__(&cuMemAlloc_v2))dlsym(driver, "cuMemAlloc_v2"))(&at, 0x777) == CUDA_SUCCESS);
	CHECK(((__typeof__(&cuEventQuery))dlsym(driver, "cuEventQuery"))(NULL) == CUDA_ERROR_NOT_READY);
	/* No function of the driver's: the launch is recorded, the handle is not described as a kernel. */
	((__typeof__(&cuLaunchKernel))dlsym(driver, "cuLaunchKernel"))((CUfunction)0xbad, 1, 1, 1, 1, 1, 1, 0, 0, NULL,
								       NULL);
	CHECK(errno == 4711 && !dlerror());
	return 0;
}
