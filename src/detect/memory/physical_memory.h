/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is mapped to reserved addresses: which parts of which reservations show the same bytes.
 *
 * Uses are kept by address, since allocators map one memory once and what they hand out spans many (cuMemMap).  Where
 * memory is mapped more than once, each use is entered at the other addresses too: accesses by those addresses are
 * compared with it.  Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_PHYSICAL_MEMORY_H
#define SW_DETECT_MEMORY_PHYSICAL_MEMORY_H

#include "detect/memory/address_space.h"

/* Offsets [lo, hi) of a block are the same bytes as those of `other` from lo + distance (modulo 2^64) on. */
struct sw_alias {
	uint64_t lo, hi, distance;
	struct sw_block *other;
};

struct sw_physical_set;
struct sw_physical_set *sw_physical_set_new(void);
void sw_physical_set_free(struct sw_physical_set *set);

/* Notes that a handle names new memory: cuMemCreate, or an import from elsewhere. */
void sw_physical_created(struct sw_physical_set *set, uint64_t handle);
/* Forgets a handle that was released and may be reused for other memory; mappings stay. */
void sw_physical_released(struct sw_physical_set *set, uint64_t handle);
/* Records were lost: any handle may name other memory by now. */
void sw_physical_forget(struct sw_physical_set *set);

/* Bytes from `at` on of the memory are mapped to offsets [lo, hi) of the block; `shared` is called with each alias of
   blocks where they are already, which leads to the new place. */
void sw_physical_map(struct sw_physical_set *set, uint64_t handle, uint64_t at, struct sw_block *block, uint64_t lo,
		     uint64_t hi, void (*shared)(void *arg, struct sw_block *block, const struct sw_alias *alias),
		     void *arg);
/* Offsets [lo, hi) of the block show that memory no more. */
void sw_physical_unmap(struct sw_block *block, uint64_t lo, uint64_t hi);

/* The places where the block's memory can be seen as well, by index; NULL ends. */
const struct sw_alias *sw_physical_alias(const struct sw_block *block, size_t index);

#endif
