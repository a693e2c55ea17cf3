/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-guard.so: what the host touches of buffers that unfinished work uses (--guard-host).
 *
 *     calls.c    finds the recorder; calls of libc that hand buffers to the kernel; fork, exec, spawn
 *     work.c     what the recorder's records mean here; which work is known to be done
 *     buffers.c  the host buffers that CUDA knows of
 *     pages.c    which pages are protected, for which work; the program's own mappings
 *     signals.c  an access to such a page; faults that are not ours: as if we were not there; the program's own
 *                handlers and masks
 *
 * Whether an access is a hazard is judged from the trace.  So pages may stay protected longer than they need (a fault
 * more), and be released earlier (a hazard is missed): neither makes a false report.
 *
 * Nothing here allocates.  The tables are changed under one lock, with all signals blocked: code under it touches
 * nothing but them, the trace and its own stack, since a fault there could not be handled.
 */
#ifndef SW_GUARD_GUARD_H
#define SW_GUARD_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/recorder/companion.h"

/* NULL: no recorder, or one of another version; then everything passes through. */
extern const struct sw_companion *sw_guard_recorder;
/* The hooks that were set before ours, which ours must call; NULL: none. */
extern const struct sw_companion_hooks *sw_guard_others;

/* The lock.  Returns the signal mask to return. */
uint64_t sw_guard_lock(void);
void sw_guard_unlock(uint64_t mask);

/* ---- work.c, under the lock ------------------------------------------------------------------------------------- */

#define SW_GUARD_LANES 64u

/* How far each lane is known. */
struct sw_guard_clock {
	uint64_t tick[SW_GUARD_LANES];
};
/* Work: the tick'th step of a lane; tick 0: no lane could be had. */
struct sw_guard_step {
	uint32_t lane;
	uint64_t tick;
};
struct sw_guard_at {
	uint64_t stream;
	uint32_t thread; /* of ours, for per-thread streams */
	uint8_t ctx;
	bool per_thread; /* handle 0 is the per-thread stream */
};

bool sw_lanes_done(struct sw_guard_step step);

/* ---- buffers.c, under the lock ---------------------------------------------------------------------------------- */

struct sw_buffer {
	uint64_t address, bytes;
	uint64_t alias; /* its address on the device where that is another one, else 0 */
	enum sw_memory memory;
	bool off; /* the program changed its mappings: it is left alone */
};

/* Host memory was allocated or registered: keeps the buffer, and whether it can be guarded. */
void sw_buffers_add(const struct sw_rec_alloc *a);
/* The buffer that begins at the address was freed. */
void sw_buffers_drop(uint64_t address);
/* The buffer that holds the address; NULL: none. */
struct sw_buffer *sw_buffers_find(uint64_t address);
/* Finds a buffer by the address that kernels use, else by the host's. */
struct sw_buffer *sw_buffers_find_device(uint64_t address);
/* The next buffer that shares bytes with [lo, hi), by address; NULL: none. */
struct sw_buffer *sw_buffers_next(uint64_t lo, uint64_t hi);

/* ---- pages.c ---------------------------------------------------------------------------------------------------- */

enum sw_fault {
	SW_FAULT_FOREIGN, /* no page of ours */
	SW_FAULT_STALE,	  /* released meanwhile: the access succeeds when it is made again */
	SW_FAULT_BESIDE,  /* on a page, but not of the bytes that work uses */
	SW_FAULT_HIT
};

/* Pages are protected. Without the lock: as of a moment ago. */
bool sw_pages_any(void);
/* All below under the lock. */
/* Work uses [at, at + bytes): protects it as far as it can be. */
void sw_pages_guard(struct sw_guard_step step, uint64_t at, uint64_t bytes, bool writes);
/* Work uses host memory that cannot be guarded, or only in part: counted. */
void sw_pages_unguarded(void);
/* How many such uses the trace does not have yet; they count as recorded from then on.  `now`: even if they are few
   compared with those that it has; else 0 then. */
uint64_t sw_pages_unguarded_new(bool now);
void sw_pages_forget_unguarded(void);
/* Releases what is done. */
void sw_pages_settle(void);
/* Releases every page in touch with [lo, hi), and forgets why it was protected. True: the access would have hit. */
bool sw_pages_release(uint64_t lo, uint64_t hi, bool writes);
void sw_pages_release_managed(void);
void sw_pages_release_all(void);
/* Nothing is protected any more. */
void sw_pages_stop(void);
enum sw_fault sw_pages_fault(uint64_t address, bool writes);
/* Releases the page of a fault, and more with each fault in the same buffer. */
void sw_pages_open(uint64_t address, bool writes);
/* A system call begins or ends to work on [lo, hi): it is not protected until that has returned.  With more calls than
   can be remembered nothing is. */
void sw_pages_busy(uint64_t lo, uint64_t hi, bool begins);

/* ---- work.c ----------------------------------------------------------------------------------------------------- */

extern const struct sw_companion_hooks sw_guard_hooks;
/* Forgets what was under way on this thread, and kernels in flight: a fork child. */
void sw_work_forget(void);

/* ---- signals.c -------------------------------------------------------------------------------------------------- */

/* Records that a call of libc touched memory; `frame` is that of the exported function. */
void sw_fault_record(uint64_t at, uint64_t bytes, uint64_t instruction, uint32_t flags, void *frame);

/* Installs our handler if it is not there, and remembers the program's.  Under the lock.  False: it can't be had. */
bool sw_signals_arm(void);

/* Program's functions after ours: RTLD_NEXT. */
void *sw_guard_next(const char *name);
#define SW_NEXT(pointer, name)                                                                                         \
	do {                                                                                                           \
		if (__builtin_expect(!(pointer), 0))                                                                   \
			*(void **)&(pointer) = sw_guard_next(name);                                                    \
	} while (0)

#define SW_EXPORT __attribute__((visibility("default")))

#endif
