/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process of a run, judged while it runs.  What it finds is printed once, with its first occurrence; counts are in
 * the report.
 *
 * Used by the follower alone (run/follower.h).
 */
#ifndef SW_TOOLS_RUN_FOLLOW_H
#define SW_TOOLS_RUN_FOLLOW_H

#include <sys/types.h>

#include "analysis.h"
#include "run/top.h"

struct sw_follow_sink {
	const struct sw_options *options;
	FILE *out;
	uint64_t errors; /* printed so far */
	/* Called after one was printed that is an error; NULL: not wanted. */
	void (*error)(void *arg, pid_t pid, const struct sw_shown_finding *shown);
	void *arg;
};

struct sw_follow;

/* Begins to judge the trace of a process that runs.  The descriptors are its own from now on, also on failure; NULL
   after one line. */
struct sw_follow *sw_follow_open(const char *path, pid_t pid, int file, int memory, struct sw_follow_sink *sink);

/* Judges at most `most` records of what there is.  The number of those judged; fewer: there are no more yet. */
size_t sw_follow_step(struct sw_follow *follow, size_t most);
/* All records up to that number have been judged; UINT64_MAX: all that there will be. */
uint64_t sw_follow_passed(const struct sw_follow *follow);

/* After the process ended: what is in its trace now is all. */
void sw_follow_ended(struct sw_follow *follow);
bool sw_follow_has_ended(const struct sw_follow *follow);

/* Has all been judged that there will be? */
bool sw_follow_is_over(const struct sw_follow *follow);

/* Takes the judgement of the whole trace with its report; the analysis is the caller's.  False: it must be judged from
   its file, and `why` says why. */
bool sw_follow_take(struct sw_follow *follow, bool compared, struct sw_analysis *analysis, const char **why);
/* Fills in how it stands; with names if they are wanted.  `top` is valid until the next step. */
void sw_follow_view(struct sw_follow *follow, bool names, struct sw_top_process *top);
void sw_follow_free(struct sw_follow *follow);

#endif
