/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the text share: the table (text_table.c), the groups (text_group.c) with their accesses (text.c),
   the notes (text_notes.c) and the run as a whole (text_run.c). */
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

/* "  label:      text", wrapped; nothing when the text is empty. */
void sw_text_line(struct sw_text *t, const char *label, const char *text);
void sw_text_stack(struct sw_text *t, uint32_t stack, uint32_t function);
/* One side of a finding with its stack; `when` comes before it: "Earlier ". */
void sw_text_access(struct sw_text *t, const struct sw_access *access, const char *when);
/* Each allocation of the finding once. */
void sw_text_allocations(struct sw_text *t, const struct sw_finding *finding);

enum sw_colour sw_text_colour(enum sw_severity severity);

/* A group: its leader in full, the others in a line each. */
void sw_text_group(struct sw_text *t, const struct sw_group *group);
/* The groups as a table; nothing where there are less than two. */
void sw_text_table(struct sw_text *t);
/* Is the group one of those that are printed by themselves? */
bool sw_text_is_shown(const struct sw_text *t, const struct sw_group *group);

/* Files of the run that are missing here and weaken findings, first of all; nothing when none is. */
void sw_text_files(struct sw_text *t);
/* Files that only names are missing for. */
void sw_text_nameless(struct sw_text *t);
/* Limits that the run has hit, next; nothing when it hit none. */
void sw_text_limits_hit(struct sw_text *t);

/* The notes by id, a line each. */
void sw_text_notes(struct sw_text *t);

/* What the program was doing when it ended out of order. */
void sw_text_in_flight(struct sw_text *t);
/* What following the advice on waits saved; nothing where that was not tried. */
void sw_text_savings(struct sw_text *t);
/* The verdict in one line. */
void sw_text_headline(struct sw_text *t, enum sw_headline headline);
/* Coverage: what was looked at and what was not; with --stat all that is known of the run. */
void sw_text_run(struct sw_text *t);

#endif
