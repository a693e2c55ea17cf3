/* SPDX-License-Identifier: Apache-2.0 */
/* doors WAY...: allocates 777 bytes by each of them in turn (linked, asked, pointer), 100 times; says how many pages of
   memory that took. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "preload/intercept/cuda_types.h"

static long pages(void)
{
	long all = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2)
		resident = -1;
	if (file)
		fclose(file);
	return resident;
}

static CUresult allocate(void *driver, const char *way)
{
	CUdeviceptr at = 0;
	CUresult (*function)(CUdeviceptr *, size_t) = NULL;
#ifdef LINKED
	if (strcmp(way, "linked") == 0) {
		cuInit(0);
		return cuMemAlloc_v2(&at, 777);
	}
#endif
	if (strcmp(way, "asked") == 0) {
		*(void **)&function = dlsym(driver, "cuMemAlloc_v2");
	} else {
		__typeof__(&cuGetProcAddress_v2) ask = (__typeof__(ask))dlsym(driver, "cuGetProcAddress_v2");
		ask("cuMemAlloc", (void **)&function, 12000, 0, NULL);
	}
	return function(&at, 777);
}

int main(int argc, char **argv)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	long before = 0;
	for (int round = 0; round < 100; round++) {
		for (int i = 1; i < argc; i++)
			if (allocate(driver, argv[i]) != CUDA_SUCCESS)
				return 1;
		before = round ? before : pages();
	}
	printf("%ld\n", pages() - before);
	return 0;
}
