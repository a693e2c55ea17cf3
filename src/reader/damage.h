/* SPDX-License-Identifier: Apache-2.0 */
/* Errors found in a trace, one line each. */
#ifndef SW_READER_DAMAGE_H
#define SW_READER_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct sw_damage {
	const char *path; /* borrowed */
	SW_VEC(char *) lines;
	bool unusable; /* the file is not what the recorder wrote: cut, overwritten, in part missing */
};

/* Adds "path: offset N: text".  Beyond a limit lines are dropped after one that says so: a file of random bytes must
   not fill memory or terminals. */
void sw_damage_add(struct sw_damage *damage, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Damage of a file that is whole: the recorder itself left something out. */
void sw_damage_gap(struct sw_damage *damage, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void sw_damage_free(struct sw_damage *damage);

#endif
