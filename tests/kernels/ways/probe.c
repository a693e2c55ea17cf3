/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without CUDA that asks whether CUDA is there, in the ways that programs do.  It must come to the same
 * conclusion with and without syncwatch, and leave no trace.
 */
#include <dlfcn.h>
#include <stdio.h>

int cuInit(unsigned flags) __attribute__((weak));
int cudaGetDeviceCount(int *count) __attribute__((weak));

static const char *usable(int (*init)(unsigned))
{
	return init && init(0) == 0 ? "yes" : "no";
}

int main(void)
{
	int count = 0;
	void *library;

	printf("linked driver: %s\n", usable(cuInit));
	printf("linked runtime: %s\n", cudaGetDeviceCount && cudaGetDeviceCount(&count) == 0 ? "yes" : "no");
	printf("driver somewhere: %s\n", usable((int (*)(unsigned))dlsym(RTLD_DEFAULT, "cuInit")));
	printf("runtime somewhere: %s\n", dlsym(RTLD_DEFAULT, "cudaMalloc") ? "yes" : "no");
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	printf("driver loaded: %s\n", library ? "yes" : "no");
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	printf("driver: %s\n", library ? "yes" : "no");
	printf("launches: %s\n", library && dlsym(library, "cuLaunchKernel") ? "yes" : "no");
	return 3;
}
