/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the content of device memory: bytes that the host uploaded and the trace has (SW_COPY_CONTENT).
 *
 * Parts of memory, by address; none overlaps another.  Content that may have been overwritten is dropped: what is kept
 * is certain.  Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_CONTENTS_H
#define SW_DETECT_MEMORY_CONTENTS_H

#include "base/memory.h"
#include "hb/hb.h"

struct sw_content_part {
	uint64_t address;
	uint32_t bytes;
	bool may_change; /* the source could be changed before the copy read it */
	struct sw_point point;
	uint64_t step; /* number of the record */
	unsigned char *data;
};

struct sw_memory_contents;

struct sw_memory_contents *sw_contents_new(void);
void sw_contents_free(struct sw_memory_contents *contents);
static inline bool sw_contents_any(const struct sw_memory_contents *contents);
/* Takes the place of what was known there; data is copied. */
void sw_contents_put(struct sw_memory_contents *contents, const struct sw_content_part *part);
/* Drops what is known of [lo, hi), which record number `step` may have written; newer content stays. */
void sw_contents_forget(struct sw_memory_contents *contents, uint64_t lo, uint64_t hi, uint64_t step);
/* The part that holds all of [address, address + bytes); NULL: not known.  Until the next change. */
const struct sw_content_part *sw_contents_find(const struct sw_memory_contents *contents, uint64_t address,
					       uint32_t bytes);
/* Is something known that overlaps [lo, hi) and came before record number `step`? */
bool sw_contents_before(const struct sw_memory_contents *contents, uint64_t lo, uint64_t hi, uint64_t step);
/* The first part that ends after the address; NULL: none. Until the next change. */
const struct sw_content_part *sw_contents_from(const struct sw_memory_contents *contents, uint64_t address);

struct sw_memory_contents {
	SW_VEC(struct sw_content_part) part;
	size_t bytes;
	uint64_t settled; /* step: what was deferred before overwrites nothing that is known (stored_values.c) */
};

static inline bool sw_contents_any(const struct sw_memory_contents *contents)
{
	return contents->part.n != 0;
}

#endif
