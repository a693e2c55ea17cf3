/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a recorder: reveals a finished trace piece by piece, as a program of several threads would have written it,
 * into a memory and a file.  Records are committed before the calls return that they are of, and out of the order of
 * their numbers; full chunks go to the file and out of the memory.
 */
#ifndef TESTS_GOLDEN_FEED_TRACE_H
#define TESTS_GOLDEN_FEED_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct feed;

/* The trace of a descriptor (expanded), which stays the caller's.  The order depends on the seed. */
struct feed *feed_new(int trace, uint32_t seed);
/* Descriptors for sw_reader_follow(): they are the caller's. */
void feed_open(const struct feed *feed, int *file, int *memory);
/* One more step.  False: the trace is complete. */
bool feed_step(struct feed *feed);
/* How many records were committed while a lower number was missing, and calls that returned later. */
uint64_t feed_inversions(const struct feed *feed);
uint64_t feed_pending(const struct feed *feed);
void feed_free(struct feed *feed);

#endif
