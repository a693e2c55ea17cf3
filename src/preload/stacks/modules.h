/* SPDX-License-Identifier: Apache-2.0 */
/* The module map: which shared objects are mapped where, for MODULE and MODULE_GONE records. */
#ifndef SW_PRELOAD_STACKS_MODULES_H
#define SW_PRELOAD_STACKS_MODULES_H

#include <stdint.h>

#include "preload/recorder/writer.h"

/* Writes what changed since the last time; cheap when nothing did. Skipped while another thread does it. */
void sw_modules_refresh(struct sw_writer *w);

/* Changes whenever code was unmapped. */
extern uint32_t sw_modules_unmapped __attribute__((visibility("hidden")));
static inline uint32_t sw_modules_generation(void)
{
	return __atomic_load_n(&sw_modules_unmapped, __ATOMIC_ACQUIRE);
}

/* Path of the object that this code is part of; "" before the first refresh. */
const char *sw_modules_own_path(void);

/* A fork child starts a trace of its own: every module is to be described again. */
void sw_modules_forget(void);

#endif
