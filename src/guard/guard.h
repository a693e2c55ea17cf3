/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-guard.so: what the host touches of buffers that unfinished work uses (--guard-host).
 *
 *     attach.c    finds the recorder
 *     work.c      what the recorder's records mean here
 *     lanes.c     which work is known to be done
 *     buffers.c   the host buffers that CUDA knows of
 *     pages.c     which pages are protected, for which work
 *     fault.c     an access to such a page
 *     chain.c     faults that are not ours: as if we were not there
 *     signals.c   the program's own handlers and masks
 *     calls.c     calls of libc that hand buffers to the kernel
 *     mappings.c  the program's own mappings
 *     process.c   fork, exec, spawn
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
/* In a fork child: there is no other thread. */
void sw_guard_lock_renew(void);

/* ---- lanes.c, under the lock ------------------------------------------------------------------------------------- */

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

/* A stream is made or destroyed; work is enqueued (returns its step); an event is recorded or waited for. */
void sw_lanes_stream_made(const struct sw_guard_at *at, bool nonblocking);
void sw_lanes_stream_gone(const struct sw_guard_at *at);
struct sw_guard_step sw_lanes_enqueue(const struct sw_guard_at *at);
void sw_lanes_record(uint64_t event, const struct sw_guard_at *at);
void sw_lanes_wait(const struct sw_guard_at *at, uint64_t event);
/* What a wait covers if it begins now. */
void sw_lanes_cover_event(struct sw_guard_clock *out, uint64_t event);
void sw_lanes_cover_stream(struct sw_guard_clock *out, const struct sw_guard_at *at);
void sw_lanes_cover_context(struct sw_guard_clock *out, uint8_t ctx);
/* The host knows this to be done. */
void sw_lanes_known(const struct sw_guard_clock *covered);
bool sw_lanes_done(struct sw_guard_step step);

/* ---- buffers.c, under the lock ----------------------------------------------------------------------------------- */

struct sw_buffer {
	uint64_t address, bytes;
	uint64_t alias; /* its address on the device where that is another one, else 0 */
	enum sw_memory memory;
	bool off; /* the program changed its mappings: it is left alone */
};

/* Host memory was allocated or registered; the buffer that begins at the address is freed. */
void sw_buffers_add(const struct sw_rec_alloc *alloc);
void sw_buffers_drop(uint64_t address);
/* The buffer that holds the address; NULL: none. */
struct sw_buffer *sw_buffers_find(uint64_t address);
/* The same by the address that kernels use. */
struct sw_buffer *sw_buffers_find_device(uint64_t address);
/* The next buffer that shares bytes with [lo, hi), by address; NULL: none. */
struct sw_buffer *sw_buffers_next(uint64_t lo, uint64_t hi);

/* ---- pages.c ----------------------------------------------------------------------------------------------------- */

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

/* ---- work.c ------------------------------------------------------------------------------------------------------ */

extern const struct sw_companion_hooks sw_guard_hooks;
/* Forgets what was under way on this thread, and kernels in flight: a fork child. */
void sw_work_forget(void);

/* ---- fault.c ----------------------------------------------------------------------------------------------------- */

/* The handler for SIGSEGV. */
void sw_fault_handle(int signal, siginfo_t *info, void *context);
/* Notes where libcuda lies: what it touches is reported by its calls. */
void sw_fault_start(void);
/* Records that a call of libc touched memory; `frame` is that of the exported function. */
void sw_fault_record(uint64_t at, uint64_t bytes, uint64_t instruction, uint32_t flags, void *frame);

/* ---- chain.c, signals.c ------------------------------------------------------------------------------------------ */

/* Installs our handler if it is not there, and remembers the program's.  Under the lock.  False: it can't be had. */
bool sw_signals_arm(void);
/* The program's action for SIGSEGV; `take`: as for delivering one (SA_RESETHAND).  Under the lock. */
struct sigaction sw_signals_action(bool take);
/* The default action is to be taken: our handler goes. */
void sw_signals_disarm(void);
/* The program has blocked SIGSEGV on this thread. (The kernel's mask never blocks it.) */
bool sw_signals_blocked(void);
/* From now on the kernel's mask blocks it, too. */
void sw_signals_block(void);
/* A fault that is not ours: the program's handler, or the default action. */
void sw_chain_pass(int signal, siginfo_t *info, void *context);

/* Program's functions after ours: RTLD_NEXT. */
void *sw_guard_next(const char *name);
#define SW_NEXT(pointer, name)                                                                                         \
	do {                                                                                                           \
		if (__builtin_expect(!(pointer), 0))                                                                   \
			*(void **)&(pointer) = sw_guard_next(name);                                                    \
	} while (0)

#define SW_EXPORT __attribute__((visibility("default")))

#endif
