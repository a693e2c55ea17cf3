/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a command that judges ends: one contract for run, report, merge, diff and confirm.
 *
 * With --error-exitcode N the status is N where there are errors; else the program's, if it failed; else
 * SW_EXIT_UNPROVEN where not all was seen and judged, or the result could not be written; else SW_EXIT_NOTHING where no
 * CUDA call was seen; else 0, which is a proof.  Without it run passes on the program's status, and the others end with
 * SW_EXIT_INPUT or SW_EXIT_OUTPUT where a trace cannot be used or a file cannot be written.  tools/exits.def has the
 * table for users.
 */
#ifndef SW_TOOLS_VERDICT_H
#define SW_TOOLS_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"

struct sw_report;

struct sw_verdict {
	const struct sw_options *options;
	const int *program_status; /* what the program ended with; NULL: the command runs none */
	bool passes_on;		   /* without --error-exitcode its status is the command's, whatever else happened */
	uint64_t errors;	   /* that count */
	bool incomplete;	   /* not all was seen or judged */
	bool unusable;		   /* a trace cannot be read, or is damaged */
	bool unwritten;		   /* an output could not be written */
	bool calls_seen;	   /* of CUDA */
	int failed;		   /* another status, of a command that could not go on; 0: it could */
};

/* Takes the status of a step, which has complained. */
void sw_verdict_step(struct sw_verdict *verdict, int status);
/* Takes the gaps, the damage and the calls of the report of one trace.  Its errors are counted by the caller. */
void sw_verdict_take(struct sw_verdict *verdict, const struct sw_report *report);

int sw_verdict_status(const struct sw_verdict *verdict);

/* The verdict of a command that stops at this status, before it has judged anything. */
int sw_verdict_refusal(const struct sw_options *options, int status);

#endif
