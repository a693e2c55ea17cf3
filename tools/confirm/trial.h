/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syncwatch confirm: experiments on the findings of a trace.
 *
 *     cmd_confirm.c   the command: records, judges, tries each finding, reports
 *     trial.c         what is to be tried of a finding
 *     call_places.c   calls of a trace as a plan names them
 *     plan_file.c     the plan that libsyncwatch-confirm.so follows
 *     outcome.c       what the run wrote, and the verdict
 *     explore.c       holds at random
 *     saving_trials.c what is to be changed for a wait
 *     saving_safety.c is there a hazard without the order that the change removes
 *     saving_results.c what a run left
 *     saving_spans.c  the stretch of the run in which the changed calls lie
 *     saving_runs.c   runs with and without the change, in pairs
 *     savings.c       all waits, one after the other
 *     savings_together.c several changes at once, and their order
 *     bootstrap.c     the interval of a median
 *     experiment.c    one more run of the program, holds
 *     fixes.c         the edges of the advice
 */
#ifndef SW_TOOLS_CONFIRM_TRIAL_H
#define SW_TOOLS_CONFIRM_TRIAL_H

#include "analysis.h"
#include "base/memory.h"
#include "preload/confirm/plan.h"
#include "report/report.h"

/* One finding: its calls by their records in the trace; 0: none. */
struct sw_trial {
	struct sw_shown_finding *shown; /* NULL: two calls, of no finding */
	int id;				/* of the finding, 0: none */
	uint64_t earlier, later;
	uint64_t after, before;		   /* where the advice puts the edge: the calls around which it goes */
	uint64_t buffer;		   /* the call that allocated what both touch */
	uint64_t offset, bytes;		   /* of it */
	bool not_executed;		   /* a side is a kernel of the simulated CUDA */
	bool own_order;			   /* a side is a kernel that polls or signals through memory */
	bool earlier_whole, later_whole;   /* certainly touches each byte in common */
	bool earlier_writes, later_writes; /* what it writes can be seen */
	bool later_host, later_access;	   /* done when it returns; an instruction of the host */
	bool fix_on_host;		   /* the advice is a wait of the host */
	bool captured;			   /* both sides are nodes of one graph */
	bool earlier_in_graph;
	uint64_t earlier_node; /* the call that made its node, 0: none or unknown */
	bool later_frees;      /* by a call that waits for work of the whole device */
	bool host_order;       /* ordered if the host's threads have to run as they did */
	bool first_use;	       /* code is used for the first time between the two calls: it is loaded there */
	struct sw_plan_call earlier_call, later_call, after_call, before_call, buffer_call, node_call;
	struct sw_confirmation result;
};

typedef SW_VEC(struct sw_trial) sw_trials;

/* ---- trial.c ----------------------------------------------------------------------------------------------------- */

/* Is the finding meant by --finding?  NULL: all that are not suppressed. */
bool sw_finding_is_meant(struct sw_report *report, const struct sw_shown_finding *shown, const char *which);

/* The hazards of the report that `which` means: as sw_report_means() takes it, NULL all.  False: none. */
bool sw_trials_make(sw_trials *trials, struct sw_report *report, const char *which);

/* The two calls that a text such as "117,118" names.  False: it is none. */
bool sw_trials_of_calls(sw_trials *trials, const char *text);

/* ---- call_places.c ----------------------------------------------------------------------------------------------- */

/* All calls of one stack. */
#define SW_FREE_PLACES 8u
struct sw_call_use {
	uint64_t most;		  /* bytes, or the value, of the largest */
	uint64_t copies, sources; /* copies to the device, and how much different memory they read */
	struct {
		uint32_t api;
		uint64_t stack;
	} frees[SW_FREE_PLACES]; /* calls that free what these allocate */
	uint32_t n_frees;
	bool more_frees; /* than there is room for */
};

/* Calls by their records in a trace, and where to put what names them in another run.  One that is not found is left as
   it is. */
struct sw_wanted_call {
	uint64_t seq;
	struct sw_plan_call *call;
	struct sw_call_use *use; /* NULL: not wanted */
};
typedef SW_VEC(struct sw_wanted_call) sw_wanted_calls;
/* Finds the calls in the trace, and by what they can be recognised in another run; 0 or <0 with error filled. */
int sw_calls_locate(const sw_wanted_calls *wanted, const char *trace, struct sw_error *error);
/* Finds, from the trace, how the calls of all trials are recognised in another run. 0 or <0 with error filled. */
int sw_trials_locate(sw_trials *trials, const char *trace, struct sw_error *error);

/* ---- plan_file.c ------------------------------------------------------------------------------------------------- */

int sw_plan_write(const char *path, const struct sw_hold_plan *plan, struct sw_error *error);

/* ---- outcome.c --------------------------------------------------------------------------------------------------- */

struct sw_outcome_edge {
	uint32_t fix;
	struct sw_added_edge added;
};

struct sw_outcome {
	bool earlier, later, later_first; /* reached; in the other order */
	bool later_held;		  /* reached while the other was held */
	bool released;
	enum sw_release why;
	bool probe_done, later_done; /* when the hold ended */
	bool done_after;	     /* the later side's work ended, after the hold */
	bool late, captured, ended;
	bool unplaced;	     /* no hold could be put into the graph */
	const char *refused; /* the call that was, NULL: none */
	int refused_status;
	bool compared;
	/* Bytes of those that were compared: changed by the later side, which came first; by the earlier one after it;
	   by the two together; by each of the two. */
	uint64_t bytes, by_later, by_earlier, by_both, by_each;
	bool swapped; /* the later side came first and was the one that is held */
	uint64_t earlier_us, left_us, later_us, released_us, done_us;
	SW_VEC(struct sw_outcome_edge) edges; /* by the record of their call */
	struct {
		uint64_t ns, timed; /* in all, and how many of the waits that is */
	} waits[SW_PLAN_EDGES];	    /* of each fix */
};

/* Reads what a run with a hold left behind.  False: there is no such file. */
bool sw_outcome_read(const char *path, struct sw_outcome *out);
void sw_outcome_free(struct sw_outcome *outcome);
/* Concludes from a run with a hold what holds of the finding. */
void sw_outcome_judge(const struct sw_outcome *outcome, const struct sw_trial *trial, struct sw_confirmation *out);

/* ---- experiment.c ------------------------------------------------------------------------------------------------ */

struct sw_experiments {
	const struct sw_options *options;
	char *folder;		   /* a private one, for plans, results and traces */
	FILE *log;		   /* of what was held, NULL: none */
	uint32_t runs;		   /* made so far */
	int status;		   /* of the program in the run that was recorded first */
	struct sw_report *report;  /* of that run */
	uint64_t span_ns;	   /* of that run */
	uint64_t streams;	   /* that it made */
	uint64_t most_run_ns;	   /* a run that takes longer is ended */
	uint64_t hold_ns, most_ns; /* one hold; all of a run */
};

/* The environment of runs with holds: code is loaded at once, unless all that is needed has been used before, and
   streams have hardware queues of their own, so that neither orders anything. */
const char *const *sw_experiment_environment(const struct sw_experiments *experiments, bool loads);
/* Counts the streams that a run of the program made: trials need as many. */
void sw_experiment_count_streams(struct sw_experiments *experiments, const char *trace);

int sw_experiments_begin(struct sw_experiments *experiments, const struct sw_options *options);
void sw_experiments_end(struct sw_experiments *experiments);
/* Holds the earlier side.  SW_EXIT_OK, or a status after one line. */
int sw_experiment_hold(struct sw_experiments *experiments, struct sw_trial *trial);
/* A run that is looked at by the caller. */
struct sw_observation {
	const char *const *environment;		   /* name, value ... NULL; NULL: as it is */
	const char *output;			   /* file for standard output, NULL: it is dropped */
	void (*line)(void *arg, const char *line); /* each line of its results */
	void *arg;
	bool keep_trace;
	/* Made: the program's status, its trace, which the caller removes and frees; it had to be ended. */
	int program_status;
	char *trace;
	bool stopped;
};
int sw_experiment_observe(struct sw_experiments *experiments, struct sw_hold_plan *plan,
			  struct sw_observation *observation);

/* ---- fixes.c ----------------------------------------------------------------------------------------------------- */

/* Puts the edges in, and judges the run with each. */
int sw_experiment_fixes(struct sw_experiments *experiments, sw_trials *trials, uint32_t most_runs);

#endif
