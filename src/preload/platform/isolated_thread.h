/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of the recorder that shares neither descriptors nor signals with the program.
 *
 * It has descriptors of its own: the program may close, replace or use up all of its descriptors and never meets one of
 * ours, nor does it see one in /proc/self/fd.  Signals that a call raises stay with it, blocked.  libc does not know it
 * (clone, not pthread_create), so it does not keep a process alive whose last thread has left by pthread_exit.
 *
 * Hence what runs on it may call sw_sys_* and nothing else: no other function of libc, no thread-local variable.
 */
#ifndef SW_PRELOAD_ISOLATED_THREAD_H
#define SW_PRELOAD_ISOLATED_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Starts the thread, which ends with the status that `body` returns. 0 or -errno. */
int sw_isolated_start(int (*body)(void));

/*
 * Runs a job there and waits for its end.  Where there is no such thread, or it does not begin within 10 ms (the
 * program's threads may have all processors for themselves), the job runs on the calling thread.  True: it ran there.
 */
bool sw_isolated_run(void (*job)(void *), void *with);

/*
 * Runs a job there that failed on the calling thread: a program that gave up its rights, or has no descriptor left,
 * cannot do what that thread can.  Waits up to a second for it to begin.  False: it did not, and does not; then no
 * later call waits.
 */
bool sw_isolated_insist(void (*job)(void *), void *with);

/* For the body: waits `ns`, less than a second, for a job, and runs it.  For others: the wait ends now. */
void sw_isolated_serve(uint64_t ns);
void sw_isolated_nudge(void);

/* Is the calling thread the isolated one, with descriptors that nobody else can touch? */
bool sw_isolated_here(void);

/* For the body: it has begun.  For others: has it, or is there none?  A new thread may wait for a processor for long.
 */
void sw_isolated_enter(void);
bool sw_isolated_entered(void);
void sw_isolated_wait_entered(const struct timespec *most);

/* The thread's number, as in /proc/self/task; 0: there is none. */
uint32_t sw_isolated_thread(void);

/* Opens a file; on a thread of the program with the highest possible descriptor, so that it does not take the number of
   one that the program closed. */
int sw_isolated_open(const char *path, int flags, unsigned mode);

/* In a fork child, where the parent's isolated thread does not exist: forgets it, its job and its lock, so that a
   new one can be started. */
void sw_isolated_forget(void);

#endif
