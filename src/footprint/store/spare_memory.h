/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that code is decompressed into, kept for what is decompressed next: its pages are there already.  To have
 * fresh ones from the system takes longer than to decompress into them (doc/performance.md, "Judging").
 *
 * Not thread-safe: callers hold a lock.
 */
#ifndef SW_FOOTPRINT_STORE_SPARE_MEMORY_H
#define SW_FOOTPRINT_STORE_SPARE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SW_MAX_SPARES 16u

struct sw_spare_memory {
	size_t limit; /* most bytes that are kept */
	size_t bytes;
	uint32_t n;
	struct sw_spare {
		void *at;
		size_t bytes;
	} spare[SW_MAX_SPARES]; /* the oldest first */
};

/* Memory for at least `wanted` bytes, of which *bytes are there; NULL: none can be had.  It is hardly larger, but what
   is used briefly may have any size.  The caller's until given back. */
void *sw_spare_take(struct sw_spare_memory *memory, size_t wanted, bool briefly, size_t *bytes);
/* What was taken: kept, or returned to the system. */
void sw_spare_give(struct sw_spare_memory *memory, void *at, size_t bytes);
/* Returns all that is kept to the system. */
void sw_spare_drop(struct sw_spare_memory *memory);

#endif
