/* SPDX-License-Identifier: Apache-2.0 */
/* Our function for each entry point; NULL where it passes through. */
#ifndef SW_PRELOAD_WRAPPERS_H
#define SW_PRELOAD_WRAPPERS_H

#include "api/ids.h"

extern void *const sw_wrappers[SW_ID_COUNT] __attribute__((visibility("hidden")));

#endif
