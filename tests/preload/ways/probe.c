/* SPDX-License-Identifier: Apache-2.0 */
/* A program without CUDA that looks whether there is any, in all the ways that it may look. */
#include <dlfcn.h>
#include <stdio.h>

extern int cuInit(unsigned int) __attribute__((weak));
extern int cudaGetDeviceCount(int *) __attribute__((weak));

int main(void)
{
	void *self = dlopen(NULL, RTLD_NOW);

	printf("%d", !!dlopen("libcuda.so.1.none", RTLD_NOW));
	printf("%d%d", !!cuInit, !!cudaGetDeviceCount);
	printf("%d%d", !!dlsym(RTLD_DEFAULT, "cuInit"), !!dlsym(RTLD_DEFAULT, "cuLaunchKernel"));
	printf("%d%d", !!dlsym(RTLD_NEXT, "cuInit"), !!dlsym(RTLD_NEXT, "cuMemAlloc_v2"));
	printf("%d%d", !!dlsym(self, "cuInit"), !!dlsym(self, "cuGetProcAddress_v2"));
	printf("%d\n", !!dlerror());
	return 0;
}
