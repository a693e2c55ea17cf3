/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in memory of our own, for a run that listens (`syncwatch run`).
 *
 * A mapping of a file raises SIGBUS once the file is made shorter, or where the file system finds no block for a page
 * that was there.  Under `run` header and chunks are mapped from memory that cannot be made shorter (a sealed memfd),
 * and `run` holds it: what is in it when this process is killed, `run` writes to the file.  Before that the helper
 * does: full chunks at once, after which their memory is free again, those in use five times a second, for the case
 * that `run` is killed as well.  Until the end is written the file has the flag SW_FILE_BEHIND.
 */
#ifndef SW_PRELOAD_MEMORY_H
#define SW_PRELOAD_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the memory, before there is a trace.  On the isolated thread: without descriptors of our own it would not be
 * ours.
 */
void sw_memory_make(void);
/* After sw_memory_make(): sets the path by which the program's threads open the memory (a descriptor of the
   isolated thread). */
void sw_memory_name(void);

/* Gives the memory up, where it is not used after all; nothing may be mapped from it. */
void sw_memory_drop(void);

/* No `run` holds it: uses the file instead. Called while there is only the header. */
void sw_memory_leave(void);

/* Writes to the file what it lacks, and frees full chunks. `last`: no thread records any more. Nothing without
   memory. */
void sw_memory_write(bool last);
/* Writes one chunk that is full and closed to the file. */
void sw_memory_write_closed(const uint8_t *chunk);

/* Does too much wait for a file system that stands still?  Then the program waits as well, as it would for a file. */
bool sw_memory_is_behind(void);

/* In a fork child, which has a trace of its own: forgets a lock that a thread of the parent may hold. */
void sw_memory_forget(void);

#endif
