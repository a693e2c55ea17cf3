/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `syncwatch ctl PID COMMAND` on the side of `run`: a unix socket that answers one command a connection, and the same
 * by signals (SIGRTMIN start, SIGRTMIN + 1 stop, SIGRTMIN + 2 dump).
 *
 * It listens in the private folder of the run, which a watched process has in its environment, and on the abstract name
 * that ends with the number of `run`.  Only its own user and root are answered.  Nothing waits for who asks.  Orders
 * for the recorders stand on the announce board, at which each looks ten times a second: no signal reaches the program.
 *
 * Not thread-safe.
 */
#ifndef SW_TOOLS_RUN_CONTROL_H
#define SW_TOOLS_RUN_CONTROL_H

#include <stdbool.h>
#include <stdio.h>

#include "run/channel.h"
#include "run/session.h"

/* A connection carries a request, the words of the command each with a NUL, and an answer: a byte with the exit status,
   then text. */
#define SW_CONTROL_SOCKET   "ctl"
#define SW_CONTROL_ABSTRACT "syncwatch-ctl/" /* after a NUL, before the number of `run` */
#define SW_CONTROL_REQUEST  4096u
#define SW_CONTROL_ANSWER   131072u

/* Does a command: `words` as given behind its name.  Prints its answer and returns an exit status (command.h). */
typedef int sw_control_command(void *arg, char **words, size_t n, FILE *answer);

struct sw_control {
	struct sw_channel *channel;
	struct sw_session *session;
	/* Filled by those who do them; NULL: there is no such command in this run. */
	sw_control_command *dump, *top;
	void *dump_arg, *top_arg;
	/* Private. */
	int listener[2];
	char *path;
};

/* Opens the socket at which `syncwatch ctl` finds this run.  Where that fails `ctl` finds no run, and nothing else
   is different. */
void sw_control_open(struct sw_control *control, struct sw_channel *channel, struct sw_session *session);
/* Serves a descriptor of the control that can be read, as the channel reported.  False: it is none of the
   control's. */
bool sw_control_readable(struct sw_control *control, int fd);
/* Does what a signal to `run` asks for (signal.h). */
void sw_control_signal(struct sw_control *control, int number);

/* Removes the socket; may be called twice. */
void sw_control_close(struct sw_control *control);

#endif
