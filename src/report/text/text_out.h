/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for people: wrapped, coloured on demand, safe on any terminal. */
#ifndef SW_REPORT_TEXT_TEXT_OUT_H
#define SW_REPORT_TEXT_TEXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum sw_colour { SW_PLAIN, SW_RED, SW_YELLOW, SW_BLUE, SW_GREEN, SW_BOLD, SW_DIM };

struct sw_out {
	FILE *file;
	bool colour;
	bool links;	  /* places are links for the terminal (OSC 8) */
	unsigned columns; /* of a line, 0: SW_OUT_COLUMNS */
};

#define SW_OUT_COLUMNS 100

size_t sw_out_columns(const struct sw_out *out);

/* Prints the text; control characters (a name could hold escape sequences) and invalid UTF-8 become '?'. */
void sw_out_text(const struct sw_out *out, const char *text);
/* Prints as sw_out_text(), in a colour. */
void sw_out_coloured(const struct sw_out *out, enum sw_colour colour, const char *text);
/* Prints as sw_out_coloured(), as a link to a line of a file, where links are asked for and the path is absolute. */
void sw_out_place(const struct sw_out *out, enum sw_colour colour, const char *text, const char *file, int line);

/* Prints a line of its own in a colour, wrapped at blanks. */
void sw_out_headline(const struct sw_out *out, enum sw_colour colour, const char *text);

/* Columns that the text takes: one for each character. */
size_t sw_out_width(const char *text);
/* Prints the text in so many columns at most: its end is left out ("...") where it is longer, and blanks follow to
   `fill` it. */
void sw_out_cell(const struct sw_out *out, const char *text, size_t columns, bool fill);

/* Prints "  label: text", wrapped at blanks so that lines stay within the columns; later lines start under the text,
   or, where that leaves no room, on lines of their own.  label "": just the indent.  A word longer than a line stays
   whole. */
void sw_out_paragraph(const struct sw_out *out, int indent, const char *label, int label_columns, const char *text);

#endif
