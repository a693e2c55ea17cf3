/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

/* Stands for what a driver lacks: only the rows that need it fail. */
static CUresult not_supported(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* Loads the driver and finds its functions. */
int sw_driver_load(struct sw_driver *driver, const char *path, struct sw_error *error)
{
	void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return sw_fail(error, -ENOENT, "no CUDA driver: %s", dlerror());
#define SW_DRIVER(symbol)                                                                                              \
	driver->symbol = (__typeof__(driver->symbol))(uintptr_t)dlsym(library, #symbol);                               \
	if (!driver->symbol)                                                                                           \
		driver->symbol = (__typeof__(driver->symbol))(uintptr_t)not_supported;
#include "calibrate/driver.def"
#undef SW_DRIVER
	driver->simulated_finish = (void (*)(void))(uintptr_t)dlsym(library, "syncwatch_simulated_finish");
	return 0;
}
