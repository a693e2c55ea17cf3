/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to a report, and to the files that were asked for: what `run`, `report` and `export` share. */
#ifndef SW_TOOLS_ANALYSIS_H
#define SW_TOOLS_ANALYSIS_H

#include "command.h"
#include "report/report.h"

struct sw_analysis {
	struct sw_reader *reader;
	struct sw_judgement *judgement;
	struct sw_suppressions *suppressions;
	struct sw_report *report;
	struct sw_gate gate; /* calls that the options forbid */
};

/* Can every file that the options name be written, and the suppressions be read?  SW_EXIT_OK, or a status after one
   line. */
int sw_analysis_check(const struct sw_options *options);

/* How the options want a trace to be judged: strictly only if it has what that needs of host threads. */
struct sw_judge_options sw_analysis_judge(const struct sw_options *options, const struct sw_reader *reader);

/* Judges as sw_judge(), with a line on a terminal while it takes long: "judging: ..." */
int sw_analysis_judge_with_progress(struct sw_reader *reader, struct sw_judge_options *judge, const char *step,
				    struct sw_judgement **judgement, struct sw_error *error);

/* For commands that print or draw what a trace holds, after it was read to its end: `status`, or one line and
   SW_EXIT_INPUT where the trace is damaged and only what is whole of it was used. */
int sw_analysis_tell_damage(const struct sw_reader *reader, int status);

/* Judges a trace.  As below, but writes nothing. */
int sw_analysis_judge_only(struct sw_analysis *analysis, const char *trace, const struct sw_options *options,
			   bool hidden);

/* Judges a run with order that its trace does not show (edges of `more`), or with its uses of memory that other
   processes share; NULL: neither. */
int sw_analysis_judge_more(struct sw_analysis *analysis, const char *trace, const struct sw_options *options,
			   bool hidden, const struct sw_judge_options *more);

/* Judging in pieces, for a program that runs: with the reader of its trace, which the analysis owns from now on; the
   options of `judge` must outlive it.  SW_EXIT_OK, or a status after one line.  Then the report, of a judgement that is
   complete. */
int sw_analysis_begin(struct sw_analysis *analysis, struct sw_reader *reader, const struct sw_options *options,
		      struct sw_judge_options *judge);
void sw_analysis_report(struct sw_analysis *analysis, bool hidden, bool compared);
/* The suppressions of the options once more; NULL: none, or unreadable. */
struct sw_suppressions *sw_analysis_suppressions(const struct sw_options *options);

/* Judges a trace and writes the files of the options.  `hidden`: the report holds cheap waits and what is suppressed,
   too. SW_EXIT_OK, or a status after one line; free it in any case. */
int sw_analysis_make(struct sw_analysis *analysis, const char *trace, const struct sw_options *options, bool hidden);
/* Makes the rules of the options that forbid calls.  SW_EXIT_OK, or SW_EXIT_USAGE after one line. */
int sw_analysis_gate(const struct sw_options *options, struct sw_gate *gate);
/* Adds the calls that each rule of --forbid and its like checked in this trace to `calls`, which may be of several
   traces: a rule in whose scope no call was has checked nothing, a gap in the proof. */
void sw_analysis_add_checked(const struct sw_judgement *judgement, uint64_t *calls);
/* Names the next rule that had nothing to check (`calls` is 0), from *index on; malloc'ed, NULL after the last. */
char *sw_analysis_unchecked(const struct sw_gate *gate, const uint64_t *calls, uint32_t *index);

void sw_analysis_free(struct sw_analysis *analysis);

#endif
