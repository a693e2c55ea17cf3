/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver as calibrate uses it: loaded at run time, so that the command needs no driver otherwise. */
#ifndef SW_CALIBRATE_DRIVER_H
#define SW_CALIBRATE_DRIVER_H

#include <cuda.h>

#include "base/error.h"

struct sw_driver {
#define SW_DRIVER(symbol) __typeof__(symbol) *symbol;
#include "calibrate/driver.def"
#undef SW_DRIVER
	/* Ends the spinning kernels of the simulated CUDA, which executes none; NULL on a real driver. */
	void (*simulated_finish)(void);
};

/* Loads the driver; `path`: of a libcuda.so.1, NULL the system's.  Entry points that are missing fail with
   CUDA_ERROR_NOT_SUPPORTED.  0 or -ENOENT with error filled. */
int sw_driver_load(struct sw_driver *driver, const char *path, struct sw_error *error);

#endif
