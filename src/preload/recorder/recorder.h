/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder: what a wrapper calls to leave a record in the trace.
 *
 * Rules for everything in this module: no malloc, no stdio, no locks shared with the program and no system call
 * on the path of a call in steady state, but for sw_record_pointers(); errno is preserved; never exits, never aborts,
 * never calls CUDA.
 * All functions may be called on any thread at any time, also before the library's constructor and inside a fork
 * child; when recording is impossible they do nothing and count what was lost.
 *
 * A wrapper, in its three forms:
 *
 *     struct sw_call call;
 *     if (!sw_call_enter(&call, api, flags, __builtin_frame_address(0)))     // nested in a call of ours, or switched
 * off return real(...);
 *
 *     // 1. most calls: one record, numbered before the call, patched after it
 *     r = sw_call_record(&call, SW_REC_LAUNCH, sizeof *r + n); if (r) { fill } sw_call_publish(&call);
 *     status = real(...);
 *     sw_call_leave(&call, status);
 *
 *     // 2. calls that create a handle or an address, and queries: numbered after the call
 *     status = real(...);
 *     r = sw_call_record_after(&call, SW_REC_ALLOC, sizeof *r, status); if (r) { fill } sw_call_publish(&call);
 *     sw_call_leave(&call, status);
 *
 *     // 3. calls that block: BEGIN before (flags SW_RF_BEGIN), END after
 *     r = sw_call_record(&call, SW_REC_SYNC, sizeof *r); ...; sw_call_publish(&call);
 *     status = real(...);
 *     sw_call_end(&call, status);
 */
#ifndef SW_PRELOAD_RECORDER_RECORDER_H
#define SW_PRELOAD_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syncwatch/format.h"

struct sw_call {
	struct sw_rec *rec; /* the published record of this call, NULL if none (lost) */
	uint64_t t0;	    /* ticks at entry */
	uint64_t seq;	    /* of the record, 0 if none */
	uint32_t stack;
	union {
		uint32_t what; /* both as they stand in a header */
		struct {
			uint16_t api, flags;
		};
	};
	uint8_t ctx;
	uint8_t kind; /* of the record; it is not looked at again, its chunk may be unmapped */
	void *writer;
};

/*
 * Starts a call: time stamp, call stack (innermost frame: the caller of the wrapper whose frame address is given),
 * thread-local guard against nesting.  False: call the real function and record nothing.
 * After true, exactly one of sw_call_leave() or sw_call_end() must follow.
 */
bool sw_call_enter(struct sw_call *call, uint16_t api, uint16_t flags, void *frame);

/* Which context the call works in: CONTEXT record's id, 0 unknown. Before sw_call_record. */
static inline void sw_call_context(struct sw_call *call, uint8_t ctx)
{
	call->ctx = ctx;
}

/* Reserves a record of `bytes` (header included, rounded up to 8, payload zeroed up to 512 bytes, the rest undefined),
   takes the next sequence number and fills the header.  NULL: lost (already counted). */
void *sw_call_record(struct sw_call *call, enum sw_rec_kind kind, size_t bytes);

/* Reserves a record for a call that has returned: status and duration are filled, the sequence number is taken now. */
void *sw_call_record_after(struct sw_call *call, enum sw_rec_kind kind, size_t bytes, int status);

/*
 * Bytes of the program's memory follow a record that is reserved and was reserved last, if some aligned word of them
 * may be an address, or they are one word.  False: they do not, or cannot be read, and the record is as it was.  Costs
 * two system calls.
 */
bool sw_record_pointers(struct sw_rec *rec, const void *from, uint32_t bytes);
/* Reads host memory in the same way; true: some word may be an address, or it is one. */
bool sw_copy_pointers(uint64_t *to, const void *from, uint32_t bytes);

/* Makes the record visible to readers. */
void sw_call_publish(struct sw_call *call);

/* Ends a call: fills duration and status of its record if it is still pending. */
void sw_call_leave(struct sw_call *call, int status);

/* Ends a blocking call: patches its BEGIN record and writes the END record. */
void sw_call_end(struct sw_call *call, int status);

/*
 * Around a function of the program that runs between sw_call_record() and sw_call_end() of a BEGIN record: what it
 * calls is no part of our call, and it may never return.
 */
void sw_call_pause(struct sw_call *call);
void sw_call_resume(struct sw_call *call);

/*
 * Around a function of the program that the driver calls inside any call, recorded or not: what it calls is recorded.
 * The record of the call that it is inside of is complete from then on, as one that succeeded and took no time.
 */
struct sw_pause {
	void *guard, *guard_return;
};
void sw_thread_pause(struct sw_pause *pause);
void sw_thread_resume(const struct sw_pause *pause);

/* Is the calling thread inside a recorded call, seen from a function with this frame address? */
bool sw_call_inside(const void *frame);

/* A HOST_SYNC record; an object is distinguished from others of its kind by its number. False: lost, and counted. */
bool sw_host_sync(enum sw_thread_op op, enum sw_through kind, uint64_t object);

/* The calling thread's state (writer.h), for companions: as long as the thread lives. */
struct sw_thread *sw_recorder_thread(void);

/* From now on HOST_SYNC records are complete: says so in the header of this trace and of those that fork children make.
 */
void sw_host_sync_on(void);

/*
 * A description (FUNCTION, IMAGE, CONTEXT, API, NAME ...): reserve, fill, publish.  May be used between enter and
 * leave, or on its own.  `ordered`: takes a sequence number (needed when other threads will refer to it).
 */
void *sw_describe(enum sw_rec_kind kind, size_t bytes, bool ordered);
void sw_describe_done(void *rec);

/* Small things for one thread: remember the current context (id) until it changes. */
uint8_t *sw_thread_context(void);

/* A sentence for the user that the report repeats (NOTICE record); deduplicated by text. */
void sw_notice(const char *text);

/* Writes the driver into the header: cuDriverGetVersion's number, and whether it only simulates one. */
void sw_record_driver(uint32_t version, bool simulated);

/* True from the first CUDA call on: trace file open and recording.  Until then sw_describe() and sw_notice() do
   nothing: a program that only asks for entry points leaves no trace. */
bool sw_recording(void);

/* Call it whenever a pointer to a wrapper is handed out: a program that never got one, but holds a GPU open at its end,
   gets a line that says so (SW901). */
void sw_intercepted(void);

/* Options as parsed from SYNCWATCH_OPTIONS (src/preload/recorder/options.def). Read-only after start. */
#define SW_GPU_TIMELINE_NODES  2u
#define SW_GPU_TIMELINE_SHARED 3u
struct sw_preload_options {
	bool stacks;		/* record call stacks (default on) */
	uint32_t depth;		/* frames kept a stack (default 48) */
	bool spool;		/* max_bytes bounds what the file occupies, not its length */
	uint64_t max_bytes;	/* size limit of the trace, keep-first (default 8 GiB) */
	bool images;		/* copy code images that lie in no file (default on) */
	uint64_t max_images;	/* bytes of them in all (default 128 MiB) */
	char image_store[1024]; /* folder with images of earlier runs (src/pack/image_store.h); empty: none */
	uint32_t gpu_timeline; /* 0 off, 1 on, SW_GPU_TIMELINE_NODES: graphs node by node; _SHARED: so, with other users
				*/
	bool quiet;	       /* no line at the start */
	bool guard_host;       /* libsyncwatch-guard.so is expected (default off) */
	bool report;	       /* start the analyser at exit (default on) */
	enum sw_window_of { SW_WINDOW_ALL, SW_WINDOW_NVTX, SW_WINDOW_PYTHON, SW_WINDOW_PROFILER } windows;
	bool paused;			/* no window until the program or the command opens one */
	uint64_t delay_ns, duration_ns; /* of the first window; 0: none, no end */
	uint64_t steps, skip;		/* entries of ranges that open windows, and those before; 0: all */
	char capture[256];		/* name of ranges, or function, without its kind */
	char trace[1024];		/* -o: path; empty: syncwatch-PROGRAM-PID.swt in the current directory */
	char pass[2048];		/* options handed on to the analyser (json=, chrome=, suppress=, all ...) */
};
const struct sw_preload_options *sw_preload_options(void);

/* Called where objects were loaded, with signals blocked; NULL: nobody wants to know. */
extern void (*sw_objects_came)(void) __attribute__((visibility("hidden")));

#endif
