/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that use the driver API alone: calls that must succeed. */
#ifndef KERNELS_DRIVER_H
#define KERNELS_DRIVER_H

#include <cuda.h>

#include "options.h"

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		CUresult check_status = (call);                                                                        \
		if (check_status != CUDA_SUCCESS) {                                                                    \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)check_status);        \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

#endif
