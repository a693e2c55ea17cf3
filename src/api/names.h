/* SPDX-License-Identifier: Apache-2.0 */
/* Names of entry points by index. api.h has their classes, too. */
#ifndef SW_API_NAMES_H
#define SW_API_NAMES_H

#include <stddef.h>

/* As exported by libcuda; "" out of range. */
const char *sw_api_symbol(size_t index);
/* The runtime function that stands for it; "" none. */
const char *sw_api_runtime(size_t index);
/* By exported symbol; 0 when unknown. */
size_t sw_api_find(const char *symbol);

#endif
