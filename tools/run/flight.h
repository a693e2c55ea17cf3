/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: `run --last`, `--keep`.  The traces of a run keep a window, the chunks that were closed last.
 *
 * The recorder writes its file as ever.  Five times a second `run` looks at it; a chunk that falls out of the window is
 * read, what must stay of it is kept (run/kept.h), and its blocks are given back to the file system.  When the process
 * has ended the file is replaced by a trace of what is left; the same is written next to it, while the process runs,
 * when somebody asks for it or a CUDA error comes that ends a context.  The program waits for none of this, and if
 * `run` is not there any more, the recorder ends when the file takes half as much again as it may.
 */
#ifndef SW_TOOLS_RUN_FLIGHT_H
#define SW_TOOLS_RUN_FLIGHT_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"
#include "run/session.h"

struct sw_flight;

/* A recorder of the last part of a run; NULL: the options do not ask for it. */
struct sw_flight *sw_flight_new(const struct sw_options *options);
void sw_flight_free(struct sw_flight *flight);

/* How large the recorder may let its file become, in blocks that it has. */
uint64_t sw_flight_most_bytes(const struct sw_options *options);

/* Can be read when it is time for sw_flight_look(); -1: never. */
int sw_flight_descriptor(const struct sw_flight *flight);

/* Takes up what all processes recorded since the last look, drops what fell out of the window, and dumps at an error.
 */
void sw_flight_look(struct sw_flight *flight, struct sw_session *session);

/* After a process ended, and its memory was written to its file: turns the file into the trace of its window. */
void sw_flight_ended(struct sw_flight *flight, struct sw_session *session, size_t index);

/* Writes a trace for each process that runs; prints where, and returns an exit status. */
int sw_flight_dump(struct sw_flight *flight, struct sw_session *session, const char *why, FILE *answer);

#endif
