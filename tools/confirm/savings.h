/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch confirm --waits: follows the advice on waits at run time, and measures. */
#ifndef SW_TOOLS_CONFIRM_SAVINGS_H
#define SW_TOOLS_CONFIRM_SAVINGS_H

#include "confirm/saving_spans.h"
#include "confirm/trial.h"

#define SW_SAVING_SITES 16u

/* One finding, and how its calls are made otherwise. */
struct sw_saving_trial {
	struct sw_shown_finding *shown;
	struct sw_plan_changes changes;
	uint64_t seq[SW_SAVING_SITES]; /* a call of each site */
	struct sw_plan_call call[SW_SAVING_SITES];
	struct sw_plan_site whole;		     /* of a wait that is narrowed: with all edges of the advice */
	struct sw_call_use use[SW_SAVING_SITES];     /* of all calls of its stack */
	bool wants_frees;			     /* memory that it allocates is kept where it is freed */
	struct sw_moved_site moved[SW_SAVING_SITES]; /* work that goes to another stream */
	size_t n_moved;
	bool guarded;			  /* it is safe only where the host does not use the memory meanwhile */
	bool host_stays;		  /* else the host still waits for what it may use */
	size_t with;			  /* the trial whose change is this one's, too: place + 1; 0: it has its own */
	uint32_t stream[SW_PLAN_STREAMS]; /* of the judgement, and the call that made it: 0 the legacy default stream */
	uint64_t made[SW_PLAN_STREAMS];
	struct sw_saving result;
};
typedef SW_VEC(struct sw_saving_trial) sw_saving_trials;

/* Calls are made otherwise, and how it was. */
struct sw_savings {
	struct sw_experiments *in;
	sw_saving_trials trials;
	struct sw_baseline *baseline;
	uint32_t most_runs, most_pairs;
	uint32_t kept_runs; /* of most_runs: for those of sw_savings_together() */
	const char *trace;  /* that the trials come from */
	struct sw_savings_total total;
};

/* ---- saving_trials.c --------------------------------------------------------------------------------------------- */

/* The waits of the report that `which` means, as in sw_trials_make(), with what is to be changed, or why not.
   False: it means none. */
bool sw_saving_trials_make(sw_saving_trials *trials, struct sw_report *report, const struct sw_options *options);
/* Turns the change of a trial from pinning memory to copying it through a ring of pinned memory. */
void sw_saving_staged(struct sw_saving *saving);
/* Finds, from the trace, how the calls of all trials are recognised in another run: by their stack and how often it
   came before. 0 or <0 with error filled. */
int sw_saving_trials_locate(sw_saving_trials *trials, const char *trace, struct sw_error *error);

/* ---- saving_safety.c --------------------------------------------------------------------------------------------- */

/* Judges the trace as if the work that moves were on a stream of its own, and refuses the trial where its order is
   needed.  SW_EXIT_OK, or a status after one line. */
int sw_saving_judge_moved(struct sw_savings *savings, struct sw_saving_trial *trial);
/* Judges a wait that is narrowed: leaves out each edge of the advice without which there is no hazard either, since the
   program has order of its own there. */
int sw_saving_judge_narrowed(struct sw_savings *savings, struct sw_saving_trial *trial);

/* ---- saving_results.c -------------------------------------------------------------------------------------------- */

/* Results of a run: its output, its status, the bytes that its copies brought to the host. */
struct sw_run_results;
/* Runs the program with these changes.  SW_EXIT_OK, or a status after one line. */
int sw_run_results_make(struct sw_experiments *in, const struct sw_plan_changes *changes, bool outputs,
			struct sw_run_results **out);
void sw_run_results_free(struct sw_run_results *results);
/* Nanoseconds, 0: there was no work. */
uint64_t sw_run_results_span(const struct sw_run_results *results);
/* Nanoseconds before the span: starting CUDA, loading code. */
uint64_t sw_run_results_before(const struct sw_run_results *results);

/* How often the host used memory that it would not have waited for; *unseen: some of it may not have been seen. */
uint64_t sw_run_results_host_uses(const struct sw_run_results *results, bool *unseen);

/* Makes two runs as they are: what differs between them says nothing. */
int sw_baseline_make(struct sw_experiments *in, struct sw_baseline **out);
void sw_baseline_free(struct sw_baseline *baseline);
/* Did the changed run leave the same?  Fills what was compared, or verdict and reason. */
bool sw_baseline_same(const struct sw_baseline *baseline, const struct sw_run_results *results, struct sw_saving *out);

/* When calls of sites began in the run; *out is the caller's from now on. */
void sw_run_results_take_marks(struct sw_run_results *results, struct sw_marks *out);
/* Copies from pinned memory that brought other bytes than it held, or may have. */
uint64_t sw_run_results_spoilt(const struct sw_run_results *results);

/* ---- saving_runs.c ----------------------------------------------------------------------------------------------- */

/* Checks the results with these changes, then measures in pairs of runs. */
int sw_saving_measure(struct sw_savings *savings, const struct sw_plan_changes *changes, struct sw_saving *out);
/* Makes one run as it is and one with the change: how much longer that one took in all, its start included. */
int sw_saving_cost(struct sw_savings *savings, const struct sw_plan_changes *changes, struct sw_saving *out,
		   int64_t *cost_ns);
/* Makes a run in which only the guard knows of the change.  The trial is refused, or goes without the guard, where the
   host uses the memory. */
int sw_saving_rehearse(struct sw_savings *savings, struct sw_saving_trial *trial);

/* ---- savings_together.c ------------------------------------------------------------------------------------------ */

/* Measures all trials that saved something together, after each was tried alone. */
int sw_savings_together(struct sw_savings *savings);

/* ---- savings.c --------------------------------------------------------------------------------------------------- */

int sw_savings_try(struct sw_savings *savings);
void sw_savings_free(struct sw_savings *savings);

#endif
