/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report: a judgement in words, as text for people and as JSON for programs.
 *
 * Not thread-safe.  Reader and judgement must outlive the report.
 */
#ifndef SW_REPORT_REPORT_H
#define SW_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "detect/detect.h"
#include "report/suppress.h"
#include "report/words/fix_lines.h"
#include "report/words/wording.h"

struct sw_json;

/* One finding.  Its sentences are made when it is printed: there may be a million findings. */
struct sw_shown_finding {
	const struct sw_finding *finding;
	const struct sw_finding_info *info;
	uint64_t fingerprint;
	bool suppressed, known;			    /* known: by the file that comes with syncwatch */
	const struct sw_confirmation *confirmation; /* what experiments said; NULL: none were made */
	const struct sw_saving *saving;		    /* the same of a wait */
};

/* The saving of following several advices at once, and the order in which to fix: the most first. */
struct sw_saving_step {
	struct sw_shown_finding *shown;
	int64_t alone_ns, total_ns; /* by itself, or what is predicted of it; together with those before it */
	bool left_out;		    /* it is not safe together with others that save more */
};
struct sw_savings_total {
	bool tried;
	bool only; /* none was measured alone */
	struct sw_saving all;
	SW_VEC(struct sw_saving_step) steps;
};

/* A call that had not returned when the trace ends. */
struct sw_in_flight {
	uint32_t thread, stack;
	uint16_t api, flags;
	uint64_t seq, t_ns;
	const char *name; /* of a function of NCCL; NULL: `api` has it */
};

/* Findings with one cause (report/groups.h). */
struct sw_group {
	uint32_t leader;	  /* the strongest, printed in full: index into shown */
	uint32_t edges;		  /* missing edges between lanes; 0: the cause is no missing edge */
	SW_VEC(uint32_t) members; /* the others, in the order of shown */
	/* The edge that fixes them, the first of several: from the end of one operation to the start of another. */
	const struct sw_access *after, *before;
};

struct sw_report_totals {
	uint32_t errors, warnings, notes; /* shown */
	uint32_t suppressed, hidden;
	uint32_t known;	       /* of the suppressed: by the file that comes with syncwatch */
	uint32_t hazard_notes; /* of the notes: hazards that only a measured wait orders, and the like */
	uint32_t possible;     /* hazards that are only possible, shown on request */
	uint32_t lowered;      /* hazards that an unknown call lowered from error to possible, shown or not */
};

struct sw_report {
	const struct sw_judgement *judgement;
	struct sw_reader *reader;
	struct sw_suppressions *suppressions; /* not owned; NULL */
	bool all;
	struct sw_names names;
	SW_VEC(struct sw_shown_finding) shown; /* those that are shown, in the judgement's order */
	SW_VEC(struct sw_group) groups;	       /* of shown, in the order of their leaders */
	uint32_t *group_of;		       /* of each finding that is shown: index + 1 */
	SW_VEC(struct sw_in_flight) in_flight; /* when the program did not end in order */
	struct sw_report_totals totals;
	const struct sw_savings_total *savings; /* NULL: nothing was tried */
	/* Why the report is no proof: what was not recorded, or not judged.  Empty: all was. */
	SW_VEC(char *) gaps;
};

struct sw_report_options {
	struct sw_suppressions *suppressions; /* NULL: none */
	bool all;			      /* also what is hidden or suppressed */
	bool compared; /* the caller compares the process with those that it shares memory with */
};

struct sw_report *sw_report_new(struct sw_reader *reader, const struct sw_judgement *judgement,
				const struct sw_report_options *options);
void sw_report_free(struct sw_report *report);

/* While the program runs: a report without findings, and then of one finding of the judgement so far, by its index, in
   place of the one before.  False: the finding is suppressed. */
struct sw_report *sw_report_begin(struct sw_reader *reader, const struct sw_judgement *so_far,
				  const struct sw_report_options *options);
/* Makes it a report of one finding of the judgement so far, by its index, in place of the one before.  False: the
   finding is suppressed. */
bool sw_report_only(struct sw_report *report, size_t index);

/* Does the text of --finding mean it: an id (SW101), a kind, a fingerprint or its beginning, or FILE:LINE of one of its
   calls?  How many of those that are shown it means. */
#define SW_LEAST_FINGERPRINT 4u
bool sw_report_means(struct sw_report *report, const struct sw_shown_finding *shown, const char *which);
size_t sw_report_count_meant(struct sw_report *report, const char *which);

/* Adds a reason why the report is no proof, for a sentence about the process: "its trace ...". Takes the text. */
void sw_report_gap(struct sw_report *report, char *text);

/* The words of a finding, and the line that would suppress it; strings live as long as the names. */
struct sw_wording sw_report_words(struct sw_report *report, const struct sw_shown_finding *shown);
const char *sw_report_suppression(struct sw_report *report, const struct sw_shown_finding *shown);

struct sw_text_style {
	bool colour;	   /* with ANSI colours */
	bool links;	   /* places are links to their files (OSC 8) */
	bool stat;	   /* all that is known of the run, not only what was judged */
	unsigned columns;  /* of a line, 0: 100 */
	size_t limit;	   /* groups that are printed in full, 0: all */
	const char *only;  /* print the causes of findings that this means (sw_report_means()), in full; NULL: all */
	bool quiet;	   /* nothing but headlines */
	const char *trace; /* named at the end; NULL: not */
};
/* The default of --limit. */
#define SW_REPORT_LIMIT 10

/* The headline may say "no hazards" of a whole and complete judgement only. */
enum sw_headline {
	SW_HEADLINE_COMPLETE,
	SW_HEADLINE_INCOMPLETE, /* not all was seen or judged */
	SW_HEADLINE_COUNTS	/* complete, and the process has hazards that stand elsewhere in the report */
};

/* Prints the report.  Errors of the stream are left for the caller to find (ferror). */
void sw_report_text(struct sw_report *report, FILE *out, const struct sw_text_style *style);

/* Parts of the text, for reports of several processes.  This one prints files of the run that are missing here and
   weaken findings. */
void sw_report_text_files(struct sw_report *report, FILE *out, const struct sw_text_style *style);
/* Prints the table of all groups. */
void sw_report_text_table(struct sw_report *report, FILE *out, const struct sw_text_style *style);
/* Prints the group that this finding leads; false: it leads none that is shown. */
bool sw_report_text_finding(struct sw_report *report, size_t index, FILE *out, const struct sw_text_style *style);
/* Prints the notes, a line for those that are alike. */
void sw_report_text_notes(struct sw_report *report, FILE *out, const struct sw_text_style *style);
/* Prints the verdict in one line. */
void sw_report_text_headline(struct sw_report *report, FILE *out, const struct sw_text_style *style,
			     enum sw_headline headline);
/* Prints the coverage and the other facts of the run. */
void sw_report_text_rest(struct sw_report *report, FILE *out, const struct sw_text_style *style);

/* Prints "1 error, 0 warnings, 2 notes". */
void sw_report_put_counts(FILE *out, uint32_t errors, uint32_t warnings, uint32_t notes);

/* Writes the report as of doc/report.schema.json; valid UTF-8 whatever the names hold. */
void sw_report_json(struct sw_report *report, FILE *out);

/* Limits that a report must state: the rows of detect/coverage.def that have words. */

/* From here on a row is a limit of syncwatch that the run has hit. */
#define SW_COVERAGE_FIRST_LINES 100

struct sw_coverage_count {
	uint64_t n;
	unsigned place; /* among the lines of the text report, 0 in none */
	char text[200]; /* "1 record was lost" */
};

/* Row i of the table of what was not recorded or judged; false beyond the last one. */
bool sw_coverage_count_at(const struct sw_coverage *coverage, size_t i, struct sw_coverage_count *out);

/* Files of the run that are missing or changed where it is judged, so that the report says less than it could. */

struct sw_unusable_file {
	const char *path;
	bool changed;	  /* not what the program had loaded; else missing */
	uint64_t kernels; /* launched ones whose code is in it */
	bool names;	  /* call stacks of findings lead through it */
};
typedef SW_VEC(struct sw_unusable_file) sw_unusable_file_vec;

/* Lists the files of the run that are missing here or changed, those with code first.  Free files->at. */
void sw_unusable_files(const struct sw_report *report, sw_unusable_file_vec *files);

/* How to get a report that needs none of them. */
const char *sw_unusable_files_fix(struct sw_report *report);

#endif
