/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_out.h"

#include <ctype.h>
#include <string.h>

#include "report/excerpts.h"

#define LEAST_TEXT 24 /* columns of text next to a label: with fewer the text begins on the next line */

/* The width of the terminal, or the usual one. */
size_t sw_out_columns(const struct sw_out *out)
{
	return out->columns ? out->columns : SW_OUT_COLUMNS;
}

/* Prints at most `bytes` of the text, with what could control a terminal replaced. */
static void put_bytes(FILE *file, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	while (text < end) {
		size_t n = 0;
		while (text + n < end && text[n] >= 0x20 && text[n] < 0x7f)
			n++;
		if (n) { /* a call for each character would take longer than all else */
			fwrite(text, 1, n, file);
			text += n;
			continue;
		}
		n = sw_utf8_length(text);
		if (n == 0 || (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))) {
			putc('?', file);
			text++;
		} else if (n == 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0) {
			putc('?', file); /* C1 controls: some terminals obey them */
			text += 2;
		} else {
			fwrite(text, 1, n, file);
			text += n;
		}
	}
}

void sw_out_text(const struct sw_out *out, const char *text)
{
	put_bytes(out->file, text, strlen(text));
}

/* Begins a colour, where colours are wanted. */
static void begin_colour(const struct sw_out *out, enum sw_colour colour)
{
	static const char *const codes[] = {
		[SW_PLAIN] = "0",    [SW_RED] = "1;31", [SW_YELLOW] = "1;33", [SW_BLUE] = "1;34",
		[SW_GREEN] = "1;32", [SW_BOLD] = "1",	[SW_DIM] = "2",
	};
	if (out->colour)
		fprintf(out->file, "\033[%sm", codes[colour]);
}

/* Ends the colour. */
static void end_colour(const struct sw_out *out)
{
	if (out->colour)
		fputs("\033[0m", out->file);
}

void sw_out_coloured(const struct sw_out *out, enum sw_colour colour, const char *text)
{
	begin_colour(out, colour);
	sw_out_text(out, text);
	end_colour(out);
}

/* Prints a path within a link's escape sequence.  It comes from debug information: every byte that could end the
   sequence is escaped. */
static void put_url(FILE *file, const char *path)
{
	for (const char *p = path; *p; p++)
		if (isalnum((unsigned char)*p) || strchr("/._-+~", *p))
			putc(*p, file);
		else
			fprintf(file, "%%%02X", (unsigned)(unsigned char)*p);
}

void sw_out_place(const struct sw_out *out, enum sw_colour colour, const char *text, const char *file, int line)
{
	bool link = out->links && file && file[0] == '/';
	if (link) {
		fputs("\033]8;;file://", out->file);
		put_url(out->file, file);
		fprintf(out->file, "#L%d\033\\", line);
	}
	if (colour == SW_PLAIN)
		sw_out_text(out, text);
	else
		sw_out_coloured(out, colour, text);
	if (link)
		fputs("\033]8;;\033\\", out->file);
}

/* How many columns the text takes: characters of UTF-8, not bytes. */
static size_t columns_of(const char *text, size_t bytes)
{
	size_t columns = 0;
	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

size_t sw_out_width(const char *text)
{
	return columns_of(text, strlen(text));
}

void sw_out_cell(const struct sw_out *out, const char *text, size_t columns, bool fill)
{
	size_t width = sw_out_width(text);
	if (width > columns) {
		size_t keep = columns > 3 ? columns - 3 : columns, bytes = 0;
		for (size_t n = 0; text[bytes] && n + (((unsigned char)text[bytes] & 0xc0) != 0x80) <= keep; bytes++)
			n += ((unsigned char)text[bytes] & 0xc0) != 0x80;
		put_bytes(out->file, text, bytes);
		fputs(columns > 3 ? "..." : "", out->file);
		return;
	}
	sw_out_text(out, text);
	if (fill)
		fprintf(out->file, "%*s", (int)(columns - width), "");
}

void sw_out_paragraph(const struct sw_out *out, int indent, const char *label, int label_columns, const char *text)
{
	size_t start = (size_t)(indent + label_columns), most = sw_out_columns(out);
	fprintf(out->file, "%*s", indent, "");
	if (*label)
		sw_out_coloured(out, SW_BOLD, label);
	if (label_columns && start + LEAST_TEXT > most) {
		start = (size_t)indent + 2;
		if (*label)
			fprintf(out->file, "\n%*s", (int)start, "");
		else
			fputs("  ", out->file);
	} else {
		size_t width = sw_out_width(label);
		fprintf(out->file, "%*s", label_columns > (int)width ? label_columns - (int)width : 0, "");
	}
	size_t column = start;
	for (const char *word = text; *word;) {
		size_t bytes = strcspn(word, " ");
		size_t columns = columns_of(word, bytes);
		if (column > start && column + 1 + columns > most) {
			fprintf(out->file, "\n%*s", (int)start, "");
			column = start;
		} else if (column > start) {
			putc(' ', out->file);
			column++;
		}
		put_bytes(out->file, word, bytes);
		column += columns;
		word += bytes;
		word += strspn(word, " ");
	}
	putc('\n', out->file);
}

void sw_out_headline(const struct sw_out *out, enum sw_colour colour, const char *text)
{
	begin_colour(out, colour);
	sw_out_paragraph(&(struct sw_out){.file = out->file, .columns = out->columns}, 0, "", 0, text);
	end_colour(out);
}
