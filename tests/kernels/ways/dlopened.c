/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads CUDA by hand, so that no other object sees its symbols (RTLD_LOCAL).
 * usage: dlopened runtime|driver LIBRARY
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

typedef int (*function)();

static function find(const char *name)
{
	function f = (function)dlsym(library, name);

	if (!f) {
		printf("%s: %s\n", name, dlerror());
		exit(1);
	}
	return f;
}

static void check(const char *what, int status)
{
	if (status == 0)
		return;
	printf("%s: error %d\n", what, status);
	exit(1);
}

#define CALL(name, ...) check(name, find(name)(__VA_ARGS__))

static void use_runtime(void)
{
	void *data;

	CALL("cudaMalloc", &data, (size_t)4096);
	CALL("cudaMemset", data, 0, (size_t)4096);
	CALL("cudaDeviceSynchronize");
	CALL("cudaFree", data);
}

static void use_driver(void)
{
	int device;
	void *context;
	unsigned long long data;

	CALL("cuInit", 0);
	CALL("cuDeviceGet", &device, 0);
	CALL("cuDevicePrimaryCtxRetain", &context, device);
	CALL("cuCtxSetCurrent", context);
	CALL("cuMemAlloc_v2", &data, (size_t)4096);
	CALL("cuMemsetD8_v2", data, 0, (size_t)4096);
	CALL("cuCtxSynchronize");
	CALL("cuMemFree_v2", data);
	CALL("cuDevicePrimaryCtxRelease_v2", device);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	if (!strcmp(argv[1], "runtime"))
		use_runtime();
	else
		use_driver();
	puts("done");
	return 3;
}
