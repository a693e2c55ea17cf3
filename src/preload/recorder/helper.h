/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper: an isolated thread (isolated_thread.h) that makes, grows and cuts the trace, prepares chunks ahead of the
 * writers, closes those that are full, keeps the clock pair fresh.
 *
 * What takes the loader's lock (loading libunwind, asking whether CUDA is simulated) is done by a thread of libc's that
 * ends with it.  A thread of the program that did so itself could deadlock: another one may hold that lock in a
 * constructor and wait for it.
 */
#ifndef SW_PRELOAD_RECORDER_HELPER_H
#define SW_PRELOAD_RECORDER_HELPER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the helper. 0 or -errno; without it everything still works, only slower. */
int sw_helper_begin(void);

/* Starts the part that needs the loader, and waits 0.1 s for it at most, with the program's signal mask.  True: it is
   done; else it goes on while the program runs. */
bool sw_helper_load(uint64_t mask);

/* Does libcuda export `syncwatch_simulated_cuda`? False until the helper has looked. */
bool sw_helper_simulated(void);

/* The thread does not exist in a fork child. */
void sw_helper_forget(void);

#endif
