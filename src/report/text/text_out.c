/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_out.h"

#include <string.h>

#include "report/utf8.h"

/* At most `bytes` of the text. */
static void put(FILE *file, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	while (text < end) {
		size_t n = sw_utf8_length(text);
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
	put(out->file, text, strlen(text));
}

void sw_out_coloured(const struct sw_out *out, enum sw_colour colour, const char *text)
{
	static const char *const codes[] = {
		[SW_PLAIN] = "0",    [SW_RED] = "1;31", [SW_YELLOW] = "1;33", [SW_BLUE] = "1;34",
		[SW_GREEN] = "1;32", [SW_BOLD] = "1",	[SW_DIM] = "2",
	};
	if (out->colour)
		fprintf(out->file, "\033[%sm", codes[colour]);
	sw_out_text(out, text);
	if (out->colour)
		fputs("\033[0m", out->file);
}

static size_t columns_of(const char *text, size_t bytes)
{
	size_t columns = 0;
	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

void sw_out_paragraph(const struct sw_out *out, int indent, const char *label, int label_columns, const char *text)
{
	size_t start = (size_t)(indent + label_columns), column = start;
	fprintf(out->file, "%*s", indent, "");
	sw_out_coloured(out, *label ? SW_BOLD : SW_PLAIN, label);
	fprintf(out->file, "%*s", label_columns - (int)columns_of(label, strlen(label)), "");
	for (const char *word = text; *word;) {
		size_t bytes = strcspn(word, " ");
		size_t columns = columns_of(word, bytes);
		if (column > start && column + 1 + columns > SW_OUT_COLUMNS) {
			fprintf(out->file, "\n%*s", (int)start, "");
			column = start;
		} else if (column > start) {
			putc(' ', out->file);
			column++;
		}
		put(out->file, word, bytes);
		column += columns;
		word += bytes;
		word += strspn(word, " ");
	}
	putc('\n', out->file);
}
