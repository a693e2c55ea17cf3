/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's output: lines of text.
 *
 *   launch NUMBER TID GX GY GZ BX BY BZ STATE NAME     in the order of the launches; NUMBER is the launch's number
 * among those of this name on this thread, from 1 r|w|a|c ADDRESS WIDTH PITCH ROWS                   bytes of that
 * launch that were read, written, changed atomically, read by asynchronous copies of up to that many bytes: ROWS rows
 *                                                      of WIDTH bytes, PITCH apart; ADDRESS is hexadecimal
 *   error|note TEXT
 *   end LAUNCHES
 *
 * STATE: watched; unwatched (enough launches of this kernel were seen, or it failed); dropped (the hash set was full).
 */
#ifndef SW_TRUTH_LINES_H
#define SW_TRUTH_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "observed.h"

struct launch {
	char name[8192]; /* mangled; those of PyTorch have up to 3000 characters */
	uint32_t grid[3], block[3];
	unsigned tid, number, seen; /* of this name: on this thread, on all */
	bool watched;
};

bool lines_open(const char *path); /* false: no file; ends with the process */
/* Counts the launch; returns its number on its thread, *seen: on all threads.  One caller at a time. */
unsigned lines_count(const struct launch *launch, unsigned *seen);
/* head NULL: not watched.  The table is sorted in place.  One caller at a time. */
void lines_launch(const struct launch *launch, const struct observed *head, struct observed_sector *table);
/* kind is "error" or "note"; any thread. */
void lines_note(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
