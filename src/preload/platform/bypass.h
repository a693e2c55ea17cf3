/* SPDX-License-Identifier: Apache-2.0 */
/* Did the program use a GPU behind our back? */
#ifndef SW_PRELOAD_PLATFORM_BYPASS_H
#define SW_PRELOAD_PLATFORM_BYPASS_H

#include <stdbool.h>

/* True when the process holds a GPU open for CUDA. Reads /proc/self. */
bool sw_bypass_gpu_open(void);

#endif
