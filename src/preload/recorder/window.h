/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: when hot calls are recorded.
 *
 * Lifecycle calls (create, destroy, allocate, free, load, capture, graphs) are recorded always, hot ones (launch, copy,
 * set, event, wait, query, synchronise) only while a window is open.  Where one opens or closes, a CUT record says
 * which calls were left out.
 *
 * What opens or closes a window (a range of NVTX, a timer, the command) changes the state to TURN.  The next call of
 * any thread then writes the CUT, before its own record, and the state becomes ON or PAUSED: so no record of the window
 * can come before its CUT, and a thread without a writer can change the state.
 */
#ifndef SW_PRELOAD_RECORDER_WINDOW_H
#define SW_PRELOAD_RECORDER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/recorder/process.h"
#include "preload/recorder/writer.h"
#include "preload/session/announce_wire.h"

/* Captures of streams that have not ended: then every call is recorded. */
extern uint32_t sw_window_captures __attribute__((visibility("hidden")));

/* Leaves a hot call out and counts it, in state PAUSED and where nothing else asks for its record.  False: it must be
   recorded. */
static inline bool sw_window_counts_out(void)
{
	const struct sw_thread *t = &sw_thread;
	if (sw_process_state() != SW_STATE_PAUSED || !t->writer || t->guard ||
	    __atomic_load_n(&sw_window_captures, __ATOMIC_RELAXED))
		return false;
	t->writer->left_out++;
	return true;
}

/* Before main: delays count from here. */
void sw_window_prepare(void);
/* Recording begins: the state that it begins with, ON or PAUSED.  A CUT is due where it is PAUSED. */
enum sw_recorder_state sw_window_begin(struct sw_writer *w);
/* The trace ends: counts what the last pause left out. */
void sw_window_end(struct sw_writer *w);
/* In a fork child, before it starts its own trace: keeps the options' clocks (delay, duration: both count from the
   parent's start and first window), the command's order, the profiler's state, the count of entries and the calling
   thread's ranges; forgets the ranges of other threads and of nvtxRangeStart(), captures, and what the parent's
   trace counts. */
void sw_window_forget(void);

/* In state TURN: writes the CUT and changes the state.  The calling thread has a writer and is not busy. */
void sw_window_turn(void);

/* Is an entry point recorded in windows only (intercept/driver.c)?  NULL without that part of the object. */
bool sw_calls_hot(uint16_t api) __attribute__((weak));
/* State PAUSED: is a call of this entry point left out?  Then it is counted. */
bool sw_window_leaves_out(uint16_t api);
/* Must be asked before each call whether a window is open: by the function above. */
extern bool sw_window_asks __attribute__((visibility("hidden")));
/* Are records of companions left out now, in the middle of what is not recorded? */
bool sw_window_paused(void);

/* For the recorder's own thread: looks at timers and at what the command says.  Nanoseconds until it must look again.
 */
uint64_t sw_window_look(uint64_t most_ns);

/* ---- what opens windows ------------------------------------------------------------------------------------------ */

/* A range of NVTX begins on this thread; `named`: it is one of --capture.  Before the range's own record. */
void sw_window_push(uint64_t domain, bool named);
void sw_window_start(uint64_t id, bool named);
/* A range ends; after the range's own record. */
void sw_window_pop(uint64_t domain);
void sw_window_stop(uint64_t id);
/* When a thread ends: closes the ranges that it is still in. */
void sw_window_thread_ended(void);

/* At cudaProfilerStart() and Stop(): opens or closes the window of --capture profiler. */
void sw_window_profiler(bool on);

/* --capture python: asks whether the thread is inside of the function, before each of its calls.  NULL: nobody knows.
 */
void sw_window_ask(void);
typedef bool sw_window_inside(void);
extern sw_window_inside *sw_window_ask_python __attribute__((visibility("hidden")));

/* For syncwatch_record_start() and its like: gives the order to record or to pause (enum sw_window_order; another
   value only asks).  True: a window is open. */
bool sw_window_order(enum sw_window_order order);

#endif
