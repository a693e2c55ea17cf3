/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Announces to `syncwatch run` what this process does.  Without SYNCWATCH_RUN in the environment that the program was
 * started with, every function returns at once.
 *
 * Any thread, any time: signal handlers, children of vfork, before main, with every descriptor closed.  Nothing waits
 * longer than 3 ms, raises a signal, changes errno or leaves a descriptor open.
 */
#ifndef SW_PRELOAD_SESSION_ANNOUNCE_H
#define SW_PRELOAD_SESSION_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/session/announce_wire.h"

/* Reads the environment and maps the board.  Once an image, from a constructor or before the first announcement. */
void sw_announce_start(void);

/* Is there a run that listens? */
bool sw_announce_wanted(void);

/* Tells `run` that this process begins to use CUDA, so that it expects the message of a trace or a failure. */
void sw_announce_begin(void);
/* True: the descriptors of the file and, if >= 0, of its memory were sent to somebody who listens. */
bool sw_announce_trace(int fd, int memory, uint64_t device, uint64_t inode, const char *path);
void sw_announce_failed(const char *why);

/* The command's last word on windows (enum sw_window_order); 0: none since *seen. */
uint32_t sw_announce_order(_Atomic uint32_t *seen);

/* Any message.  fd < 0: none is passed.  The text is cut at SW_ANNOUNCE_TEXT bytes. */
void sw_announce(enum sw_announce_kind kind, uint32_t flags, uint64_t number, const char *text);

/* SW_ANNOUNCE_LOST_*: what `environment` lacks to watch the image that gets it. */
uint32_t sw_announce_lost(char *const environment[]);

#endif
