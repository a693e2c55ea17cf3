/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file of this process: its header, and the chunks that writers take from it.
 *
 * Chunks are prepared ahead (allocated, mapped, faulted in) by the helper thread and stand in a ring; taking one is
 * lock-free and makes no system call.  When the ring is empty the taker prepares one itself.
 */
#ifndef SW_PRELOAD_RECORDER_TRACE_H
#define SW_PRELOAD_RECORDER_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/platform/clock.h"
#include "preload/platform/lock.h"
#include "syncwatch/format.h"

/* 256 KiB: some 4000 operations, so that taking a chunk is rare; a quiet program of 30 threads still needs only 8 MiB.
 */
#define SW_CHUNK_BYTES 262144u
#define SW_CHUNK_RING  32u

struct sw_trace {
	struct sw_file_header *header; /* mapped; NULL: no file */
	char path[1280];	       /* absolute where the current directory is known */
	int fd;
	uint64_t device, inode; /* of the file: the program may close our descriptor and use its number */
	uint64_t max_chunks;
	struct sw_clock_pair start;

	struct sw_lock lock;	/* guards preparing; never held while the program's code runs */
	uint64_t prepared;	/* chunks prepared so far; under the lock */
	bool ended;		/* under the lock: no more preparing */
	_Atomic uint64_t taken; /* chunks handed out so far */
	struct {
		_Atomic uint64_t number; /* chunk number + 1 when `base` is that chunk, prepared */
		uint8_t *base;
	} ring[SW_CHUNK_RING];
	_Atomic(uint8_t *) retired[2 * SW_CHUNK_RING]; /* full chunks, for the helper to close */
	_Atomic uint64_t late; /* chunks that a writer had to prepare itself (tests/bench shows it) */
};
extern struct sw_trace sw_trace;

/*
 * Creates the file and its header.  0 or -errno, then `sw_trace.path` names what could not be made.  `asked`: path
 * from the options, empty for the default; relative paths start at `directory`.
 */
int sw_trace_open(const char *asked, const char *directory, uint64_t max_bytes);

/* Removes a trace that nothing could be recorded in. */
void sw_trace_discard(void);

/* Takes a chunk, zeroed. NULL: *why is enum sw_loss_why and *error -errno or 0. */
uint8_t *sw_trace_take(enum sw_loss_why *why, int *error);

/* Gives a full chunk back; the pointer must not be used any more. Never blocks. */
void sw_trace_retire(uint8_t *chunk);

/* For the helper: prepares chunks until `ahead` are ready, closes retired ones. Returns the chunks taken so far. */
uint64_t sw_trace_prepare(uint64_t ahead);
void sw_trace_close_retired(void);

/* Above RLIMIT_FSIZE the kernel would not only refuse but send SIGXFSZ, which ends the program. */
bool sw_trace_over_file_limit(uint64_t bytes);

/* Updates the header's clock pair and rate. */
void sw_trace_update_clock(void);

/* Marks a chunk closed with its CRC. The mapping stays. */
void sw_trace_close_chunk(uint8_t *chunk);

/* The end: cuts off chunks that nobody took, sets SW_FILE_CLOSED. Nothing is prepared afterwards. */
void sw_trace_end(void);

#endif
