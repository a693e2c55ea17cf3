/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that only gives numbers: safe in signal handlers, without threads, descriptors or memory of its own. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static _Atomic uint64_t addresses = 0x100000000, handles = 0x1000;

static int give(void **out)
{
	*out = (void *)atomic_fetch_add(&handles, 16);
	return 0;
}

int cuInit(unsigned flags)
{
	(void)flags;
	return 0;
}

int cuDriverGetVersion(int *version)
{
	*version = 13000;
	return 0;
}

int cuCtxGetCurrent(void **context)
{
	*context = (void *)0x77000;
	return 0;
}

int cuCtxGetDevice(int *device)
{
	*device = 0;
	return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	*address = atomic_fetch_add(&addresses, (bytes + 511) & ~511ull);
	return 0;
}

int cuMemFree_v2(uint64_t address)
{
	(void)address;
	return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
	(void)to, (void)from, (void)bytes;
	return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	(void)flags;
	return give(stream);
}

int cuStreamDestroy_v2(void *stream)
{
	(void)stream;
	return 0;
}

int cuCtxSynchronize(void)
{
	return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
	(void)image;
	return give(module);
}

int cuModuleUnload(void *module)
{
	(void)module;
	return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
	(void)module, (void)name;
	return give(function);
}

int cuFuncGetName(const char **name, void *function)
{
	(void)function;
	*name = "kernel";
	return 0;
}

int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes)
{
	(void)function;
	*offset = index * 8;
	*bytes = 8;
	return index < 20 ? 0 : 1;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		   unsigned shared, void *stream, void **parameters, void **extra)
{
	(void)function, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream,
		(void)parameters, (void)extra;
	return 0;
}
