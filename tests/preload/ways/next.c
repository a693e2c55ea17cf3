/* SPDX-License-Identifier: Apache-2.0 */
/* Calls through another interposer; and looks up names with every handle that dlsym knows. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/intercept/cuda_types.h"

extern int next_calls;

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "next.c:%d: %s\n", __LINE__, #condition);                                      \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

int main(void)
{
	void *self = dlopen(NULL, RTLD_NOW);
	CUdeviceptr at = 0;

	CHECK(getpgrp() > 0 && next_calls == 1);
	CHECK(cuMemAlloc_v2(&at, 444) == CUDA_SUCCESS && at && next_calls == 2);
	CHECK(dlsym(RTLD_DEFAULT, "cuMemFree_v2") && !dlerror());
	CHECK(dlsym(RTLD_DEFAULT, "cuMemFree_v2") == dlsym(self, "cuMemFree_v2"));
	CHECK(dlsym(RTLD_NEXT, "cuMemFree_v2") == dlsym(self, "cuMemFree_v2") && !dlerror());
	CHECK(!dlsym(self, "cuNoSuchFunction") && dlerror());
	CHECK(!dlsym(RTLD_NEXT, "no such name") && dlerror());
	CHECK(dlsym(RTLD_DEFAULT, "malloc") && dlsym(RTLD_NEXT, "malloc"));
	return 0;
}
