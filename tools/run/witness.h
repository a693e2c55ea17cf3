/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Was a signal sent to us, or to our whole process group?  The kernel does not say.  The witness is a process of the
 * same group that blocks every signal: what was sent to the group is pending in it, too.
 */
#ifndef SW_TOOLS_RUN_WITNESS_H
#define SW_TOOLS_RUN_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct sw_witness {
	pid_t pid; /* below 1: there is none, and every signal counts as sent to us alone */
	int fd;
};

/* Starts a process of our group that tells whether it was sent a signal, too.  All signals that will be asked about
   must be blocked. */
void sw_witness_start(struct sw_witness *witness);

/* Was a signal that came to us shown to the witness, too?  Then it went to our whole group. */
bool sw_witness_saw(struct sw_witness *witness, int sig);

/* Ends the witness; may be called twice. */
void sw_witness_end(struct sw_witness *witness);

#endif
