/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h as the wrappers need it: every ABI version declared under its exported name. */
#ifndef SW_PRELOAD_INTERCEPT_CUDA_TYPES_H
#define SW_PRELOAD_INTERCEPT_CUDA_TYPES_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "api/newer_types.h"

#if CUDA_VERSION < 12040
#error "the headers of CUDA 12.4 or newer are needed"
#endif

#endif
