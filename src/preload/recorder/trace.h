/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file of this process: its header, and the chunks that writers take from it.
 *
 * Chunks are prepared ahead (allocated, mapped, faulted in) by the helper thread and stand in a ring; taking one is
 * lock-free and makes no system call.  When the ring is empty the taker has one prepared, and waits.
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
#define SW_CHUNK_BYTES	  262144u
#define SW_CHUNK_RING	  32u
#define SW_CHUNKS_RETIRED 128u /* that wait for the helper: 32 MiB */
/* The last bytes of each chunk hold its number in the file, which records never reach. */
#define SW_CHUNK_RECORDS_END (SW_CHUNK_BYTES - (uint32_t)sizeof(uint64_t))

static inline uint64_t sw_chunk_offset(uint64_t number)
{
	return SW_FORMAT_HEADER_BYTES + number * SW_CHUNK_BYTES;
}

struct sw_trace_file {
	char path[1280]; /* absolute where the current directory is known */
	int fd;		 /* in the table of the isolated thread, -1 none; other threads open the file for each use */
	uint64_t device, inode;
};

struct sw_trace {
	struct sw_file_header *header; /* mapped; NULL: no file */
	struct sw_trace_file file;
	/* Inode 0: header and chunks are mapped from the file.  Else from here, and written to the file (memory.c). */
	struct sw_trace_file memory;
	uint64_t max_chunks;
	struct sw_clock_pair start;

	struct sw_lock lock;	/* guards the preparing of chunks; never held while the program's code runs */
	uint64_t prepared;	/* chunks prepared so far; under the lock */
	_Atomic bool ended;	/* set under the lock: no more preparing */
	_Atomic uint64_t taken; /* chunks handed out so far */
	struct {
		_Atomic uint64_t number; /* chunk number + 1 when `base` is that chunk, prepared */
		uint8_t *base;
		bool cold; /* its pages are not mapped yet: whoever takes it does that */
	} ring[SW_CHUNK_RING];
	_Atomic uint64_t expected;		       /* so many chunks will be taken in all, as far as writers know */
	_Atomic uint32_t preparing;		       /* the helper is at it */
	_Atomic uint32_t news;			       /* counts each chunk that it prepared, and each end of that */
	_Atomic uint32_t waiting;		       /* writers, for news */
	_Atomic(uint8_t *) retired[SW_CHUNKS_RETIRED]; /* full chunks, for the helper to close */
	_Atomic uint64_t late;			       /* chunks that a writer had to wait for (tests/bench shows it) */
	_Atomic uint64_t behind;		       /* full chunks in memory that found no place in `retired` */
	bool low;	 /* the file system has little room left: the trace stops growing before it is full */
	int write_error; /* of the last write from memory to the file: no more chunks are prepared */
};
extern struct sw_trace sw_trace __attribute__((visibility("hidden")));

/*
 * Creates the file and its header.  0 or -errno, then `sw_trace.file.path` names what could not be made.  `asked`: path
 * from the options, empty for the default; relative paths start at `directory`.
 */
int sw_trace_open(const char *asked, const char *directory, uint64_t max_bytes);

/* Removes a trace that nothing could be recorded in. */
void sw_trace_discard(void);

/* Takes a chunk, zeroed. NULL: *why is enum sw_loss_why and *error -errno or 0. */
uint8_t *sw_trace_take(enum sw_loss_why *why, int *error);

/* Tells the helper that so many bytes will be written soon: it prepares chunks for them at once, as far as their
   ring goes. */
void sw_trace_expect(uint64_t bytes);

/* Returns a full chunk to the helper; the pointer must not be used any more. Never blocks. */
void sw_trace_retire(uint8_t *chunk);

/* Updates the header's clock pair and rate. */
void sw_trace_update_clock(void);

/*
 * For the recorder's own files: the descriptor of the trace for one use, and the end of that use.  Negative: -errno. On
 * any thread but the isolated one the program may put another file after the number at any time.
 */
int sw_trace_borrow(struct sw_trace_file *file);
void sw_trace_return(const struct sw_trace_file *file, int fd);

/* Ends the trace: cuts off unused chunks, sets SW_FILE_CLOSED. No chunk is prepared afterwards. */
void sw_trace_end(void);

/*
 * The helper: an isolated thread (isolated_thread.h) that makes, grows and cuts the trace, prepares chunks ahead of the
 * writers, closes those that are full, keeps the clock pair fresh.
 *
 * What takes the loader's lock (loading libunwind, asking whether CUDA is simulated) is done by a thread of libc's that
 * ends with it.  A thread of the program that did so itself could deadlock: another one may hold that lock in a
 * constructor and wait for it.
 */

/* Starts the helper. 0 or -errno; without it everything still works, only slower. */
int sw_helper_begin(void);

/* Starts the part that needs the loader, and waits 0.1 s for it at most, with the program's signal mask.  True: it is
   done; else it goes on while the program runs. */
bool sw_helper_load(uint64_t mask);

/* Does libcuda export `syncwatch_simulated_cuda`? False until the helper has looked. */
bool sw_helper_simulated(void);

/* In a fork child, where the parent's helper does not exist: forgets it, so that sw_helper_begin() starts a new one
   for the child's trace. */
void sw_helper_forget(void);

#endif
