/* SPDX-License-Identifier: Apache-2.0 */
/* One more run of the program, with a plan. */
#ifndef SW_TOOLS_CONFIRM_RUN_H
#define SW_TOOLS_CONFIRM_RUN_H

#include "confirm/trial.h"

/* One run: its files are there while `use` works on them. */
struct sw_confirm_run {
	struct sw_experiments *in;
	char *plan, *result, *trace;
	const char *const *environment; /* besides the plan; NULL: none */
	const char *output;		/* file for standard output, NULL: it is dropped */
	struct sw_outcome outcome;
	int status;	  /* the program's */
	uint64_t ns;	  /* from its start to its end */
	bool has_outcome; /* there is an outcome */
	bool stopped;	  /* it had to be ended */
};

/* Begins a run whose environment and output are filled.  SW_EXIT_OK, or a status after one line; end it in any case. */
int sw_confirm_run_begin(struct sw_confirm_run *run, struct sw_experiments *in, struct sw_hold_plan *plan);
void sw_confirm_run_end(struct sw_confirm_run *run, bool keep_trace);

#endif
