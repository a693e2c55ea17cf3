/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json_out.h"

#include <inttypes.h>

#include "report/excerpts.h"

/* How many bytes from here on stand for themselves in a JSON string. */
static size_t plain_bytes(const char *text)
{
	size_t n = 0;
	for (unsigned char c = (unsigned char)*text; c; c = (unsigned char)text[n]) {
		size_t length = c < 0x80 ? 1 : sw_utf8_length(text + n);
		if (!length || c == '"' || c == '\\' || c < 0x20 || c == 0x7f)
			break;
		n += length;
	}
	return n;
}

void sw_json_quote(FILE *out, const char *text)
{
	putc('"', out);
	while (*text) {
		/* A call for each of them would take more time than all else that is done for a report. */
		size_t n = plain_bytes(text);
		if (n) {
			fwrite(text, 1, n, out);
			text += n;
		} else if ((unsigned char)*text >= 0x80) {
			fputs("\xef\xbf\xbd", out); /* U+FFFD */
			text++;
		} else if (*text == '"' || *text == '\\') {
			putc('\\', out);
			putc(*text++, out);
		} else {
			fprintf(out, "\\u%04x", (unsigned char)*text++);
		}
	}
	putc('"', out);
}

/* Writes a line break and the indentation of the current depth. */
static void put_indent(const struct sw_json *json)
{
	static const char spaces[] = "                                ";
	putc('\n', json->out);
	for (size_t left = 2 * (size_t)json->depth, n; left; left -= n) {
		n = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
		fwrite(spaces, 1, n, json->out);
	}
}

/* Writes what comes before a value: a comma, a line, and its key unless NULL. */
static void put_separator(struct sw_json *json, const char *key)
{
	if (!json->first)
		putc(',', json->out);
	if (json->depth > 0)
		put_indent(json);
	json->first = false;
	if (key) {
		sw_json_quote(json->out, key);
		fputs(": ", json->out);
	}
}

/* Begins an object ('{') or an array ('['); key: its name, NULL in arrays. */
void sw_json_open(struct sw_json *json, const char *key, char bracket)
{
	if (json->depth == 0)
		json->first = true;
	put_separator(json, key);
	putc(bracket, json->out);
	json->depth++;
	json->first = true;
}

void sw_json_close(struct sw_json *json, char bracket)
{
	json->depth--;
	if (!json->first)
		put_indent(json);
	putc(bracket, json->out);
	json->first = false;
	if (json->depth == 0)
		putc('\n', json->out);
}

void sw_json_text(struct sw_json *json, const char *key, const char *text)
{
	put_separator(json, key);
	if (text)
		sw_json_quote(json->out, text);
	else
		fputs("null", json->out);
}

void sw_json_number(struct sw_json *json, const char *key, uint64_t number)
{
	put_separator(json, key);
	fprintf(json->out, "%" PRIu64, number);
}

/* Writes a number that may be negative. */
void sw_json_signed(struct sw_json *json, const char *key, int64_t number)
{
	put_separator(json, key);
	fprintf(json->out, "%" PRId64, number);
}

/* Writes nanoseconds as milliseconds, from integers: no locale's comma, no rounding. */
void sw_json_ms(struct sw_json *json, const char *key, uint64_t ns)
{
	put_separator(json, key);
	fprintf(json->out, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

void sw_json_hex(struct sw_json *json, const char *key, uint64_t word)
{
	put_separator(json, key);
	fprintf(json->out, "\"0x%" PRIx64 "\"", word);
}

/* Writes true or false. */
void sw_json_bool(struct sw_json *json, const char *key, bool value)
{
	put_separator(json, key);
	fputs(value ? "true" : "false", json->out);
}

void sw_json_raw(struct sw_json *json, const char *key, const char *value)
{
	put_separator(json, key);
	fputs(value, json->out);
}
