/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the parts of the text share: the table (text.c), the groups (text.c) with their accesses (text.c),
   the notes (text.c) and the run as a whole (text_run.c). */
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

/* A group: its leader in full, the others in a line each. */
void sw_text_group(struct sw_text *t, const struct sw_group *group);
/* The groups as a table; nothing where there are less than two. */
void sw_text_table(struct sw_text *t);
/* Is the group printed in full (errors and warnings), rather than with the notes? */
bool sw_text_is_shown(const struct sw_text *t, const struct sw_group *group);

/* The notes by id, a line each. */
void sw_text_notes(struct sw_text *t);

#endif
