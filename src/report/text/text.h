/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the text share: the findings in full (text.c), the notes (text_notes.c) and the run as a whole
   (text_run.c). */
#ifndef SW_REPORT_TEXT_TEXT_H
#define SW_REPORT_TEXT_TEXT_H

#include "report/report.h"
#include "report/text/text_out.h"

struct sw_text {
	struct sw_report *report;
	struct sw_names *names;
	struct sw_out out;
};

/* "  label:      text", wrapped; nothing when the text is empty. */
void sw_text_line(struct sw_text *t, const char *label, const char *text);
void sw_text_stack(struct sw_text *t, uint32_t stack, uint32_t function);
/* "/src/race.cu:33", "(libcublas.so.13+0x1911817)". */
const char *sw_text_place(struct sw_text *t, const struct sw_frame *frame);

/* Files of the run that are missing here, first of all; nothing when none is. */
void sw_text_files(struct sw_text *t);
/* Limits that the run has hit, next; nothing when it hit none. */
void sw_text_limits_hit(struct sw_text *t);

/* Is this finding one of those that sw_text_notes() prints, in a line instead of in full? */
bool sw_text_is_note(const struct sw_text *t, const struct sw_shown_finding *shown);
/* The notes by id, a line each. */
void sw_text_notes(struct sw_text *t);

/* What the program was doing when it ended out of order. */
void sw_text_in_flight(struct sw_text *t);
/* The verdict, the waits in all, the coverage and its limits. */
void sw_text_run(struct sw_text *t);

#endif
