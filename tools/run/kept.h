/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stays of the chunks of a trace that a flight recorder drops (`run --last`, `--keep`), and a trace of that and of
 * the chunks that it still has.
 *
 * Of a dropped chunk stay its descriptions and its lifecycle calls, as far as what they made still lives: memory,
 * streams, events, graphs, code, names.  Hot calls are counted and dropped: launches, copies, waits.  Call stacks,
 * Python code, launches and parameter blocks that later records may refer to are kept by writer.  The trace begins with
 * a CUT record without a number; readers take it like any other.
 *
 * The chunks are what a program wrote, and are not trusted.  Not thread-safe.
 */
#ifndef SW_TOOLS_RUN_KEPT_H
#define SW_TOOLS_RUN_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/window.h"
#include "syncwatch/format.h"

struct sw_kept;

struct sw_kept *sw_kept_new(void);
void sw_kept_free(struct sw_kept *kept);

/* Takes a chunk that leaves the window, `bytes` of records, and keeps of it what the rest of the trace refers to.
   Chunks of one writer in their order. */
void sw_kept_drop(struct sw_kept *kept, uint32_t writer, const void *records, uint32_t bytes);

/* Bytes that are kept of dropped chunks. */
uint64_t sw_kept_bytes(const struct sw_kept *kept);

/*
 * Writes a trace with this header (its number of chunks is filled in).  `notice`: a sentence for the report, or NULL.
 * What is kept is used up: no other call but sw_kept_free() may follow.  0 or -errno.
 */
int sw_kept_write(struct sw_kept *kept, const struct sw_file_header *header, struct sw_window *window,
		  const char *notice, int out);

#endif
