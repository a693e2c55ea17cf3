/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a run: what each announced, the traces they made, and what kept one from being watched.
 *
 * Every image that exec or posix_spawn starts must say hello, and every process that begins to use CUDA must send its
 * trace: what is missing at the end is a gap in the proof.
 */
#ifndef SW_TOOLS_RUN_SESSION_H
#define SW_TOOLS_RUN_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/memory.h"
#include "run/channel.h"

struct sw_analysis;
struct sw_flight;
struct sw_follow;
struct sw_follower;

struct sw_session_trace {
	char *path; /* as announced */
	pid_t pid;
	int fd;	    /* the very file, whatever its path names by now */
	int pidfd;  /* -1: it has ended, or cannot be asked */
	int memory; /* what the file lacks, until the process has ended; -1: nothing */
	uint64_t device, inode;
	bool changed;		  /* when the process had ended, its memory had something that the file did not have */
	struct sw_follow *follow; /* in the follower: judged while it ran; NULL: it was not */
	struct sw_analysis *closed; /* in the follower: judged when it was complete; NULL: it was not */
	int closed_status;	    /* of that */
};

/* An image that was to begin and has not said hello. */
struct sw_session_image {
	pid_t pid;	/* 0: unknown */
	uint32_t flags; /* SW_ANNOUNCE_* */
	char *file;
};

struct sw_session_gap {
	pid_t pid; /* 0: unknown, or none */
	char *text;
	bool in_report; /* the report of the process has it, too */
};

struct sw_session {
	pid_t main;
	struct sw_channel *channel;
	SW_VEC(struct sw_session_trace) traces;
	SW_VEC(struct sw_session_image) expected;
	SW_VEC(pid_t) early;		     /* said hello before posix_spawn shown of them */
	SW_VEC(struct sw_session_gap) gaps;  /* what keeps a clean report from being a proof */
	SW_VEC(struct sw_session_gap) known; /* images without the recorder that cannot use CUDA */
	bool outlived;			     /* something of the run still runs */
	uint32_t failed;		     /* processes that use CUDA and said that they run unrecorded */
	uint32_t refused;		     /* traces that were announced and are not what they should be */
	struct sw_flight *flight;	     /* NULL: traces are kept whole */
	struct sw_follower *follower;	     /* NULL: the run is judged when it is over */
};

/* Makes the session know the process that the command itself starts, whose end is the end of the program. */
void sw_session_start(struct sw_session *session, struct sw_channel *channel, pid_t pid, const char *file);

/* Passes each trace that is announced from now on to the follower (--live). */
void sw_session_follow(struct sw_session *session, struct sw_follower *follower);

/* For the channel: a message came.  `session` is the argument of the channel. */
void sw_session_received(void *session, const struct sw_received *received);

/* For the channel: a process ended, or another descriptor of the session can be read. */
void sw_session_ended(void *session, int pidfd);

/* Waits for what outlives the program, at most `most_ms`; serves the channel meanwhile.  Orphans must become our
   children (PR_SET_CHILD_SUBREAPER): that none is left is how we know that nothing of the run can still use CUDA. */
void sw_session_wait(struct sw_session *session, int most_ms);

/* Does the path of a trace still name the file that was announced, rather than one that the program put there? */
bool sw_session_in_place(const struct sw_session_trace *trace);

/* Is the process of a trace known to run? */
bool sw_session_is_running(const struct sw_session_trace *trace);

/* At the end: turns what is still expected, and what the board counted, into gaps. */
void sw_session_end(struct sw_session *session);

/* Adds a gap; takes the text. */
void sw_session_gap(struct sw_session *session, pid_t pid, char *text);

void sw_session_free(struct sw_session *session);

#endif
