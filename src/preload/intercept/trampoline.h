/* SPDX-License-Identifier: Apache-2.0 */
/* Counting stand-ins for functions of the driver that the table does not know. */
#ifndef SW_PRELOAD_INTERCEPT_TRAMPOLINE_H
#define SW_PRELOAD_INTERCEPT_TRAMPOLINE_H

#include <stdint.h>

/* A function that records its first call (UNCLASSIFIED) and jumps to `real`; `name` is copied. The same for the same
   pointer; `real` itself when all are taken. */
void *sw_trampoline(const char *name, void *real);

/* For the assembly: `index` of the trampoline, its six integer argument registers, the caller's frame. */
void *sw_trampoline_count(uint64_t index, const uint64_t *args, void *frame);

#endif
