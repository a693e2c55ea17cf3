/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper thread: prepares chunks ahead of the writers, closes those that are full, keeps the clock pair fresh.
 *
 * It also does what takes the loader's lock (loading libunwind, asking whether CUDA is simulated).  A thread of the
 * program that did so itself could deadlock: another one may hold that lock in a constructor and wait for it.
 */
#ifndef SW_PRELOAD_RECORDER_HELPER_H
#define SW_PRELOAD_RECORDER_HELPER_H

#include <stdbool.h>

/* Starts the thread and waits, at most a tenth of a second, until the loader's part is done. 0 or -errno; without a
   helper everything still works, only slower. */
int sw_helper_start(void);

/* Does libcuda export `syncwatch_simulated_cuda`? False until the helper has looked. */
bool sw_helper_simulated(void);

/* The thread does not exist in a fork child. */
void sw_helper_forget(void);

#endif
