/* SPDX-License-Identifier: Apache-2.0 */
/* State of the recorder in this process, and how it starts and ends. */
#ifndef SW_PRELOAD_RECORDER_PROCESS_H
#define SW_PRELOAD_RECORDER_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/platform/sys.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/writer.h"
#include "syncwatch/format.h"

enum sw_recorder_state {
	SW_STATE_FRESH = 0, /* no CUDA call yet, or a fork child: its copy of the page reads as zeros */
	SW_STATE_STARTING,
	SW_STATE_ON,
	SW_STATE_ON_CHECKED, /* on, but no page that forks clear: every call asks for its process id */
	SW_STATE_FULL,	     /* no chunk could be had; what was recorded stays (keep-first) */
	SW_STATE_OFF,	     /* no trace could be made, or set-user-id program */
	SW_STATE_ENDED,	     /* the destructor has run */
	SW_STATE_PAUSED,     /* outside of all windows: hot calls are left out (window.h) */
	SW_STATE_ON_ASKED,   /* on, but each call asks whether its window is over (--capture python) */
	SW_STATE_TURN,	     /* a window opens or closes with the next call */
};

/* Lies in a page with MADV_WIPEONFORK. */
struct sw_process_page {
	_Atomic uint32_t state; /* enum sw_recorder_state */
};
extern struct sw_process_page *sw_process_page __attribute__((visibility("hidden")));

/* One sequence for all records of the process, on a pair of cache lines of its own: processors fetch pairs. */
struct sw_sequence {
	_Alignas(128) _Atomic uint64_t last;
	char pad[120];
};
extern struct sw_sequence sw_sequence __attribute__((visibility("hidden")));

static inline uint32_t sw_process_state(void)
{
	return atomic_load_explicit(&sw_process_page->state, memory_order_acquire);
}

/* Are records written in this state, though perhaps not of hot calls? */
static inline bool sw_state_records(uint32_t state)
{
	return state == SW_STATE_ON || state == SW_STATE_ON_CHECKED || state == SW_STATE_PAUSED ||
	       state == SW_STATE_ON_ASKED || state == SW_STATE_TURN;
}

/* Is recording on, and no check due? */
static inline bool sw_process_on(void)
{
	return __builtin_expect(sw_process_state() == SW_STATE_ON, 1);
}

static inline uint64_t sw_sequence_next(void)
{
	return atomic_fetch_add_explicit(&sw_sequence.last, 1, memory_order_relaxed) + 1;
}

/*
 * When the state is not ON: starts recording if this is the first call (`start`), also in a fork child. True: record.
 */
bool sw_process_ready(bool start);

/* Stops recording where no chunk can be had any more (a limit, no room): keeps what is recorded, warns the user
   once. */
void sw_process_full(enum sw_loss_why why, int error);

/* One warning a trace is enough: true the first time. */
bool sw_process_warn(void);

/* Why a record is lost that there is no room for now. */
enum sw_loss_why sw_process_loss(void);

/* A call was made inside another one: by a callback, a signal handler or CUDA itself.  Only counted; the report says
   how often. */
void sw_process_nested(void);

#endif
