/* SPDX-License-Identifier: Apache-2.0 */
/* Names to small numbers.  The text that they lie in must outlive the table. */
#ifndef SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_NAMES_H
#define SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

#define SW_PTX_NO_NAME UINT32_MAX

struct sw_ptx_name {
	const char *at;
	uint32_t n, hash;
};
/* Zero-initialise.  Not thread-safe, but any number of threads may find while none adds. */
struct sw_ptx_names {
	SW_VEC(struct sw_ptx_name) name; /* by number */
	uint32_t *slot;			 /* number + 1, 0 free */
	size_t slots;			 /* power of two */
};

/* The number of a name, SW_PTX_NO_NAME when it was never added. */
uint32_t sw_ptx_names_find(const struct sw_ptx_names *names, const char *at, size_t n);
uint32_t sw_ptx_names_add(struct sw_ptx_names *names, const char *at, size_t n);
/* Forgets all names and keeps the memory. */
void sw_ptx_names_clear(struct sw_ptx_names *names);
void sw_ptx_names_free(struct sw_ptx_names *names);

#endif
