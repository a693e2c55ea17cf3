/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the text: the table, the groups with their accesses, the notes (text.c), and the run as a whole
   (text_run.c); text_report.c puts them together. */
#ifndef SW_REPORT_TEXT_TEXT_H
#define SW_REPORT_TEXT_TEXT_H

#include "report/report.h"
#include "report/text/text_out.h"

struct sw_text {
	struct sw_report *report;
	struct sw_names *names;
	struct sw_out out;
	bool stat;
	const char *trace;
};

/* Prints "  label:      text", wrapped; nothing when the text is empty. */
void sw_text_line(struct sw_text *t, const char *label, const char *text);
void sw_text_stack(struct sw_text *t, uint32_t stack, uint32_t function);

/* Prints a group: its leader in full, the others in a line each. */
void sw_text_group(struct sw_text *t, const struct sw_group *group);
/* Prints the groups as a table; nothing where there are less than two. */
void sw_text_table(struct sw_text *t);
/* Is the group printed in full (errors and warnings), rather than with the notes? */
bool sw_text_is_shown(const struct sw_text *t, const struct sw_group *group);

/* Prints the notes by id, a line each. */
void sw_text_notes(struct sw_text *t);

/* Prints limits of recording or judging that the run has hit: findings may be missing, so they stand in the first
   lines. */
void sw_text_limits_hit(struct sw_text *t);
/* Prints the files of the run that are missing here and weaken findings, first of all; nothing when none is. */
void sw_text_files(struct sw_text *t);
/* Prints the calls in progress when the program ended out of order. */
void sw_text_in_flight(struct sw_text *t);
/* Prints the verdict in one line. */
void sw_text_headline(struct sw_text *t, enum sw_headline headline);
/* Prints the coverage: what was looked at and what was not; with --stat all that is known of the run. */
void sw_text_run(struct sw_text *t);

#endif
