/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that the recorder wrote (lines.h), in memory. */
#ifndef SW_TRUTH_ACCESSES_H
#define SW_TRUTH_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/memory.h"

/* Rows of bytes that were touched in one way. */
struct seen_rows {
	uint64_t address, width, pitch, rows;
	uint8_t role; /* enum sw_touch_role, one of them */
	bool copy;    /* READ: by an asynchronous copy, of up to that many bytes */
};

struct seen_launch {
	const char *name;
	uint32_t number, tid; /* of this name on this thread, from 1 */
	uint32_t grid[3], block[3];
	bool watched, dropped; /* dropped: not all accesses are here */
	bool joined;	       /* for the code that joins them */
	size_t first, rows;    /* of seen.row */
};

struct seen {
	struct sw_arena arena;
	SW_VEC(struct seen_launch) launch;
	SW_VEC(struct seen_rows) row;
	struct sw_map index; /* hash of (name, tid, number) -> launch + 1 */
	uint64_t errors;
	bool ended; /* the program came to its end */
};

/* 0, or -errno.  Lines that are not understood count as errors. */
int seen_read(const char *path, struct seen *out);
void seen_free(struct seen *seen);
struct seen_launch *seen_find(const struct seen *seen, const char *name, uint32_t tid, uint32_t number);

#endif
