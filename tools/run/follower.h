/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `run --live`: the process that judges the processes of a run while they run.
 *
 * A process of its own, so that neither a fault of ours nor the memory that judging takes reaches the process that
 * watches the program, and the program never: the recorder knows nothing of it.  `run` passes it the descriptors of
 * each trace, tells it when a process has ended, and lets it report when all have.  If it is not there any more `run`
 * judges the traces itself.
 */
#ifndef SW_TOOLS_RUN_FOLLOWER_H
#define SW_TOOLS_RUN_FOLLOWER_H

#include <stdio.h>

#include "command.h"
#include "run/session.h"

struct sw_follower;

/* Starts the follower, before the program is started, while this process has one thread.  `report` makes the report of
   the run, in the follower, from a session whose traces have `follow`, and returns the exit status.  NULL after one
   line. */
struct sw_follower *sw_follower_start(const struct sw_options *options,
				      int (*report)(const struct sw_options *options, struct sw_session *session,
						    int *program_status));

/* Begins when the only trace of a run is complete (SW_ANNOUNCE_CLOSED): judges it while the process is taken apart,
   which takes tenths of a second where it used a GPU, and reports as the other one does, by sw_follower_finish(). NULL:
   none could be started. */
struct sw_follower *sw_follower_start_closed(const struct sw_options *options, const struct sw_session *session,
					     int (*report)(const struct sw_options *options, struct sw_session *session,
							   int *program_status));

/* All records of a trace up to that number have been judged; UINT64_MAX: the follower reads no more of it. */
uint64_t sw_follower_passed(const struct sw_follower *follower, size_t index);

/* Can be read when the follower wants something: then sw_follower_serve(). */
int sw_follower_descriptor(const struct sw_follower *follower);

/* Reads what the follower wants.  True: that the program ends (--stop-on-error). */
bool sw_follower_serve(struct sw_follower *follower);

/* Passes it a trace with its descriptors, by the index in the session. */
void sw_follower_trace(struct sw_follower *follower, size_t index, const struct sw_session_trace *trace);

/* Tells it that the process of a trace has ended. */
void sw_follower_ended(struct sw_follower *follower, size_t index);
/* Tells it that another file is the trace now, with the device and inode that are there. */
void sw_follower_moved(struct sw_follower *follower, size_t index, const struct sw_session_trace *trace);

/* The run is over: lets the follower report and end.  False: it is not there any more, or does not have all traces, and
   nothing was reported. */
bool sw_follower_finish(struct sw_follower *follower, const struct sw_session *session, int *program_status,
			int *status);

/* Ends the follower where it still is, and waits for it. */
void sw_follower_free(struct sw_follower *follower);

/* For the control (sw_control_command): how the run stands.  SW_EXIT_NOTHING: ask again a moment later. */
int sw_follower_top(void *follower, char **words, size_t n, FILE *answer);

#endif
