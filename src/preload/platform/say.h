/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for the user on stderr. */
#ifndef SW_PRELOAD_PLATFORM_SAY_H
#define SW_PRELOAD_PLATFORM_SAY_H

/*
 * Writes "syncwatch: TEXT\n" with one write(2); longer lines than 2 KiB are cut. errno is kept. Any thread.
 * Never waits for a reader and never raises a signal: a line that can't be written at once is dropped.
 */
void sw_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
