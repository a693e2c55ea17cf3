/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a run, judged one after the other, and the report over all of them.
 *
 * A process is judged and turned into text at once, so that the memory of one judgement is needed at a time.  A finding
 * that several processes share (by fingerprint) is printed once and names them.
 */
#ifndef SW_TOOLS_RUN_JUDGED_H
#define SW_TOOLS_RUN_JUDGED_H

#include "ci_files.h"
#include "command.h"
#include "base/map.h"
#include "last_report.h"
#include "report/report.h"
#include "merge/merged.h"
#include "run/session.h"
#include "verdict.h"

struct sw_judged_finding {
	enum sw_severity severity;
	bool suppressed;
	char *text;	   /* NULL: a note, which the process's own part prints */
	char *json;	   /* NULL: not asked for */
	SW_VEC(size_t) in; /* processes, by index */
};

struct sw_judged_process {
	pid_t pid;
	char *name, *trace;
	int64_t rank;				/* -1: none */
	char *notes;				/* in a line each, and how the program ended */
	char *headline[SW_HEADLINE_COUNTS + 1]; /* by what the whole run turns out to be */
	char *rest;				/* coverage and what else the text ends with */
	bool in_between;			/* a finding between processes is one of its */
	char *table;				/* of the groups */
	char *json, *head, *tail, *groups, *summary;
	struct sw_report_totals totals;
	uint64_t host_wait_ns, folded_wait_ns, folded_waits;
	struct sw_host_wait host_waits[SW_HOST_WAITS];
};

struct sw_judged {
	const struct sw_options *options;
	SW_VEC(struct sw_judged_process) processes;
	SW_VEC(struct sw_judged_finding) findings;
	struct sw_map index;		/* fingerprint, severity, suppressed -> index in findings + 1 */
	struct sw_report_totals totals; /* each finding once */
	struct sw_verdict verdict;
	bool several;			 /* traces: processes are compared */
	bool recorded_here;		 /* by this command, which may add to the traces */
	uint64_t checked[SW_GATE_RULES]; /* calls in the scope of each rule that forbids calls */
	struct sw_merged *between;	 /* those that share memory or collectives; NULL: none do */
	size_t sharing;			 /* processes that share memory */
	FILE *out;			 /* where the text goes */
	bool json;			 /* its parts are kept, for sw_judged_json() */
	struct sw_last_report *last;
	struct sw_text_style style;
	struct sw_ci_files *files; /* NULL: none asked for */
	int no_files;		   /* why they could not be opened */
};

/* Judges the traces of a session, the main process first, and compares those that share memory or call collectives
   together; what a trace lacks, and what cannot be compared, becomes a gap of the session. */
void sw_judged_make(struct sw_judged *judged, const struct sw_options *options, struct sw_session *session);

/* Judges traces that lie in files, for standard output. */
void sw_judged_traces(struct sw_judged *judged, const struct sw_options *options, char *const *paths, size_t n,
		      struct sw_session *session);

/* Prints the report as text. */
void sw_judged_print(const struct sw_judged *judged, const struct sw_session *session);
/* Writes the file that --text names.  An exit status. */
int sw_judged_text(const struct sw_judged *judged, const struct sw_session *session);

/* Writes the file that --json names.  An exit status. */
int sw_judged_json(const struct sw_judged *judged, const struct sw_session *session);

/* Writes the report as JSON to a stream. */
void sw_judged_json_to(const struct sw_judged *judged, const struct sw_session *session, FILE *out);
/* Writes the files for builds that --sarif and its like name; once. */
int sw_judged_files(struct sw_judged *judged, const struct sw_session *session);

/* Adds the gaps of a report to those of the session. */
void sw_judged_take_gaps(struct sw_session *session, pid_t pid, const struct sw_report *report);

/* Prints the gaps of a session, and how many programs without the recorder are known not to be able to use CUDA. */
void sw_judged_put_gaps(FILE *out, const struct sw_session *session);

/* Completes the verdict by the gaps of the session; the exit status of the command. */
int sw_judged_status(struct sw_judged *judged, const struct sw_session *session, const int *program_status);

void sw_judged_free(struct sw_judged *judged);

#endif
