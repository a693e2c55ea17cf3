/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for people: wrapped, coloured on demand, safe on any terminal. */
#ifndef SW_REPORT_TEXT_TEXT_OUT_H
#define SW_REPORT_TEXT_TEXT_OUT_H

#include <stdbool.h>
#include <stdio.h>

enum sw_colour { SW_PLAIN, SW_RED, SW_YELLOW, SW_BLUE, SW_GREEN, SW_BOLD, SW_DIM };

struct sw_out {
	FILE *file;
	bool colour;
};

#define SW_OUT_COLUMNS 100

/* Prints the text; control characters (a name could hold escape sequences) and invalid UTF-8 become '?'. */
void sw_out_text(const struct sw_out *out, const char *text);
/* The same in a colour. */
void sw_out_coloured(const struct sw_out *out, enum sw_colour colour, const char *text);

/*
 * "  label: text", wrapped at blanks so that lines stay below SW_OUT_COLUMNS; later lines start under the text.
 * label "": just the indent.  A word longer than a line stays whole.
 */
void sw_out_paragraph(const struct sw_out *out, int indent, const char *label, int label_columns, const char *text);

#endif
