/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are counted and not recorded one by one: answers "not ready" of one question in a row (polls), and
 * questions about a kernel that its thread has asked before (attributes, occupancy).
 *
 * Nothing in the trace is ever changed for that.  The first call has a record of its own; the calls after it are added
 * up in the writer, and a record with their number (struct sw_rec_calls) is written
 *  - before the next record of the thread: always for polls, for questions where the trace would else show a thread
 *    that makes no calls for a while,
 *  - with the call that comes SW_COUNTED_MOST_NS after the first of them.
 * So a reader that takes records while they are written sees whole ones only, and a kill loses the last tenth of a
 * second of the count, never the call itself.
 */
#ifndef SW_PRELOAD_RECORDER_COUNTED_H
#define SW_PRELOAD_RECORDER_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "syncwatch/format.h"

struct sw_call;
struct sw_writer;

#define SW_COUNTED_MOST_NS 100000000u
/* Polls that come closer than that are one wait, those that come later are not (src/detect/waits: SW403). */
#define SW_COUNTED_POLL_GAP_NS 50000u
/* A thread without calls for 100 us may have waited for another one (src/schedule, threads that take turns). */
#define SW_COUNTED_SILENCE_NS 50000u

#define SW_COUNTED_KERNELS   1024u
#define SW_COUNTED_QUESTIONS 8u

/* Calls of one entry point that have no record yet. */
struct sw_counted_calls {
	uint64_t calls;
	uint64_t first; /* ticks at the entry of the first of them */
	uint64_t inside;
	uint64_t handle; /* of the last one, as what follows */
	uint32_t what;	 /* entry point and flags, as in a header */
	uint32_t stack;
	uint8_t ctx;
};

/* Nothing that the thread does is recorded after a place while its writer stands there. */
struct sw_place_in_trace {
	const uint8_t *base;
	uint32_t at;
};

struct sw_counts_of_calls {
	struct sw_counted_calls polls;
	uint64_t polled_last; /* ticks at the return of the last poll */
	struct sw_place_in_trace polled_at;
	uint32_t polled; /* enum sw_sync_what; 0: none */
	bool apart;	 /* the polls that are counted come one by one, not in a loop without a pause */

	struct sw_counted_calls asked[SW_COUNTED_QUESTIONS];
	struct sw_counted_calls *last_asked; /* NULL: nothing is counted since the last record of the thread */
	uint64_t run_first, run_last;	     /* ticks: the questions since then */
	uint64_t silent_since;		     /* return of that record's call */
	struct sw_place_in_trace asked_at;
	uint32_t unloads; /* how often code had been unloaded when `known` was begun */
	uint32_t known[SW_COUNTED_KERNELS];
};

/*
 * The call has returned "not ready".  True: it is the same question as before and was counted, and the call has ended.
 * Else the caller records it, and says so with sw_counted_poll_recorded() before the call ends.
 */
bool sw_counted_poll(struct sw_call *call, enum sw_sync_what what, uint64_t handle);
void sw_counted_poll_recorded(const struct sw_call *call, enum sw_sync_what what, uint64_t handle);

/* Has this thread asked the same of this kernel since code was last unloaded?  Remembers that it does now. */
bool sw_counted_knows(const struct sw_call *call, uint64_t kernel);
/* The call, of which sw_counted_knows() was true, has returned.  True: it was counted, and the call has ended. */
bool sw_counted_question(struct sw_call *call, uint64_t kernel);

/* After code was unloaded: handles of kernels may mean other kernels from now on, so no question counts as asked
   before. */
void sw_counted_unloaded(void);

/* Before a record of the thread: writes what is due. */
void sw_counted_flush(struct sw_writer *w);
/* When the thread ends: writes all that is counted. */
void sw_counted_flush_all(struct sw_writer *w);

#endif
