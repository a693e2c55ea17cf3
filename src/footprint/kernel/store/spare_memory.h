/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that code is decompressed into, kept in pieces for what is decompressed next, whatever its size: its pages are
 * there already.  To have fresh ones from the system takes longer than to decompress into them (doc/performance.md,
 * "Judging").
 *
 * Not thread-safe: callers hold a lock.
 */
#ifndef SW_FOOTPRINT_KERNEL_STORE_SPARE_MEMORY_H
#define SW_FOOTPRINT_KERNEL_STORE_SPARE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a piece: a large page of x86-64, and of aarch64 with the usual page of 4 KB. */
#define SW_SPARE_PIECE ((size_t)2 << 20)
/* Most pieces that are kept. */
#define SW_MAX_SPARES 8u

struct sw_spare_memory {
	uint32_t n;
	void *piece[SW_MAX_SPARES];
	uint64_t used_again; /* pieces */
};

/* Memory for at least `wanted` bytes, of which *bytes are there; NULL: none can be had.  The caller's until given
   back; what it holds is not defined. */
void *sw_spare_take(struct sw_spare_memory *memory, size_t wanted, size_t *bytes);
/* Takes the memory back: it is kept as far as there is room, else returned to the system. */
void sw_spare_give(struct sw_spare_memory *memory, void *at, size_t bytes);
/* Returns all that is kept to the system. */
void sw_spare_drop(struct sw_spare_memory *memory);

#endif
