/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects as text: file, function, line.  Everything is read with sw_python_read() and checked: it may be damaged,
   or not what it was taken for. */
#include <string.h>

#include "preload/python/python.h"

/* ---- strings ----------------------------------------------------------------------------------------------------- */

/* Fields of PyASCIIObject.state, in all versions: interned 2 bits, kind 3 bits, compact, ascii. */
#define KIND(state)    ((state) >> 2 & 7u)
#define COMPACT(state) ((state) >> 5 & 1u)
#define ASCII(state)   ((state) >> 6 & 1u)

#define CHARACTERS (1u << 24) /* a longer name is none */

/* Is the object of this type? */
static bool is_a(const struct sw_python_layout *at, const char *object, const void *type)
{
	const void *its;
	return object && sw_python_read(object + at->type, &its, sizeof its) && its == type;
}

/* Writes a character as UTF-8; returns its bytes, 1 to 4. */
static unsigned put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	const unsigned n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (unsigned i = n - 1; i; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
	return n;
}

/* The character as it may be printed: '?' for what is none (surrogates stand for bytes that were no UTF-8), and for
   control characters, which would end a line of a report. */
static uint32_t printable_char(uint32_t c)
{
	return c < 0x20 || c == 0x7f || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff ? '?' : c;
}

/* Characters of `width` bytes as UTF-8, as many as fit. */
static uint32_t encode_utf8(const uint8_t *from, uint32_t n, unsigned width, char *out, uint32_t room)
{
	uint32_t bytes = 0;
	for (uint32_t i = 0; i < n; i++) {
		char one[4];
		uint32_t c = 0;
		memcpy(&c, from + (size_t)i * width, width);
		const unsigned length = put_utf8(one, printable_char(c));
		if (bytes + length > room)
			break;
		memcpy(out + bytes, one, length);
		bytes += length;
	}
	return bytes;
}

/* Reads a string object as UTF-8.  `of_end`: what does not fit is cut off at its beginning (paths), else at its end.
   False: it is no string. */
static bool read_text(const struct sw_python_layout *at, const struct sw_python_types *types, const char *object,
		      char *out, uint32_t room, bool of_end, uint32_t *bytes)
{
	uint8_t buffer[SW_PYTHON_FILE * 4];
	uint64_t length;
	uint32_t state;
	if (!is_a(at, object, types->text) || !sw_python_read(object + at->text_length, &length, sizeof length) ||
	    !sw_python_read(object + at->text_state, &state, sizeof state))
		return false;
	const unsigned width = KIND(state);
	if (!COMPACT(state) || (width != 1 && width != 2 && width != 4) || length > CHARACTERS)
		return false;
	const char *data = object + (ASCII(state) ? at->text_ascii : at->text_compact);
	const uint32_t most = room < SW_PYTHON_FILE ? room : SW_PYTHON_FILE;
	/* A path is cut as a whole: its characters may take up to four bytes each. */
	uint32_t n = length > most ? most : (uint32_t)length;
	if (of_end && !ASCII(state) && n > most / 4)
		n = most / 4;
	if (of_end)
		data += (length - n) * width;
	if (n && !sw_python_read(data, buffer, (size_t)n * width))
		return false;
	*bytes = encode_utf8(buffer, n, width, out, room);
	return true;
}

/* ---- code objects ------------------------------------------------------------------------------------------------ */

/* Is this code of the interpreter itself?  _Py_InitCleanup, which runs after an __init__ that was inlined, has its name
   for a file (Objects/codeobject.c of 3.13). */
static bool is_internal(const struct sw_python_source *source)
{
	return !source->first_line && source->file_bytes == source->function_bytes &&
	       memcmp(source->text, source->text + source->file_bytes, source->file_bytes) == 0;
}

/* Reads file, function and table of lines of a code object.  Each pointer is read by a system call, since the object
   may be gone already. */
enum sw_python_found sw_python_source_read(const struct sw_python_layout *at, const struct sw_python_types *types,
					   const void *code, struct sw_python_source *out)
{
	const char *object = code, *file, *function, *table;
	if (((uintptr_t)code & 7) || !is_a(at, object, types->code) ||
	    !sw_python_read(object + at->file, &file, sizeof file) ||
	    !sw_python_read(object + at->function, &function, sizeof function) ||
	    !sw_python_read(object + at->lines, &table, sizeof table) ||
	    !sw_python_read(object + at->first_line, &out->first_line, sizeof out->first_line))
		return SW_PYTHON_UNREADABLE;
	out->table = sw_python_table_of(at, types, table);
	if (!file || !function)
		return SW_PYTHON_INTERNAL;
	if (!read_text(at, types, file, out->text, SW_PYTHON_FILE, true, &out->file_bytes) ||
	    !read_text(at, types, function, out->text + out->file_bytes, SW_PYTHON_FUNCTION, false,
		       &out->function_bytes))
		return SW_PYTHON_UNREADABLE;
	return is_internal(out) ? SW_PYTHON_INTERNAL : SW_PYTHON_SOURCE;
}

/* ---- line tables ------------------------------------------------------------------------------------------------- */

#define TABLE (64u << 20) /* a longer table is none */

/* The bytes of a table of lines; none if its length is no table's, as a damaged object has. */
struct sw_python_table sw_python_table_of(const struct sw_python_layout *at, const struct sw_python_types *types,
					  const void *object)
{
	const struct sw_python_table none = {0};
	uint64_t bytes;
	uint8_t last;
	if (!is_a(at, object, types->bytes) ||
	    !sw_python_read((const char *)object + at->bytes_length, &bytes, sizeof bytes) || !bytes || bytes > TABLE)
		return none;
	const uint8_t *data = (const uint8_t *)object + at->bytes_data;
	return sw_python_read(data + bytes - 1, &last, 1) ? (struct sw_python_table){data, bytes} : none;
}

struct stream {
	const uint8_t *at, *end;
};

/* The next byte of a table, -1: no more. */
static int next_byte(struct stream *s)
{
	return s->at < s->end ? *s->at++ : -1;
}

/* 0 for a line number that cannot be. */
static uint32_t valid_line(int64_t line)
{
	return line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
}

/* Each line_of_* reads a table up to the instruction at `offset`, from where `e` says that it was read last.  3.9:
   pairs of increments, of the address (unsigned) and of the line (signed). */
static uint32_t line_of_lnotab(struct stream *s, const uint8_t *begin, struct sw_python_entry *e, int64_t offset)
{
	for (int step, delta; (step = next_byte(s)) >= 0 && (delta = next_byte(s)) >= 0;) {
		if (e->offset + step > offset)
			break;
		e->offset += step;
		e->line += (int8_t)delta;
		e->position = (uint64_t)(s->at - begin);
	}
	return valid_line(e->line);
}

/* 3.10: pairs, the length of a range and its line as a difference; -128: it has none. */
static uint32_t line_of_linetable(struct stream *s, const uint8_t *begin, struct sw_python_entry *e, int64_t offset)
{
	for (int step, delta; (step = next_byte(s)) >= 0 && (delta = next_byte(s)) >= 0;) {
		const int64_t line = e->line + ((int8_t)delta != -128 ? (int8_t)delta : 0);
		if (offset < e->offset + step)
			return (int8_t)delta == -128 ? 0 : valid_line(line);
		*e = (struct sw_python_entry){(uint64_t)(s->at - begin), e->offset + step, line};
	}
	return 0;
}

/* Six bits a byte, the lowest first; bit 6: more follow. */
static bool take_number(struct stream *s, uint32_t *out)
{
	uint32_t value = 0;
	for (unsigned shift = 0;; shift += 6) {
		const int byte = next_byte(s);
		if (byte < 0 || shift > 30)
			return false;
		value |= ((uint32_t)byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	*out = value;
	return true;
}

/* Codes of entries (CPython, Objects/locations.md): below ONE_LINE short forms on the same line; from there three that
   add 0 to 2 lines; then those with a line of their own, the first of them without columns; no location. */
enum { ONE_LINE = 10, NO_COLUMNS = 13, NO_LOCATION = 15 };

/* Adds to the line as an entry of this code says, and reads its columns. False: the table ends. */
static bool take_location(struct stream *s, unsigned code, int64_t *line, bool *none)
{
	uint32_t number, skipped;
	*none = code == NO_LOCATION;
	if (*none)
		return true;
	if (code >= NO_COLUMNS) {
		if (!take_number(s, &number))
			return false;
		*line += number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
		return code == NO_COLUMNS ||
		       (take_number(s, &skipped) && take_number(s, &skipped) && take_number(s, &skipped));
	}
	if (code >= ONE_LINE)
		*line += code - ONE_LINE;
	return next_byte(s) >= 0 && (code < ONE_LINE || next_byte(s) >= 0);
}

/* From 3.11 on: a head byte for each range: 1, code in four bits, length - 1 in code units in three bits. */
static uint32_t line_of_locations(struct stream *s, const uint8_t *begin, struct sw_python_entry *e, int64_t offset)
{
	for (int head; (head = next_byte(s)) >= 0;) {
		bool none;
		int64_t line = e->line;
		const int64_t end = e->offset + ((head & 7) + 1) * 2;
		if (!(head & 128) || !take_location(s, (unsigned)head >> 3 & 15, &line, &none))
			return 0;
		if (offset < end)
			return none ? 0 : valid_line(line);
		*e = (struct sw_python_entry){(uint64_t)(s->at - begin), end, line};
	}
	return 0;
}

/* The line of an instruction.  Entries of the table follow each other, so a later offset continues where the last
   search ended. */
uint32_t sw_python_line(enum sw_python_format format, const struct sw_python_table *table, uint32_t first_line,
			int64_t offset, struct sw_python_entry *last)
{
	if (offset < 0) /* the frame has not begun */
		return valid_line(first_line);
	if (!table->bytes)
		return format == SW_PYTHON_LNOTAB ? valid_line(first_line) : 0;
	if (!last->position || last->position > table->bytes || offset < last->offset)
		*last = (struct sw_python_entry){.line = first_line};
	struct stream s = {table->data + last->position, table->data + table->bytes};
	switch (format) {
	case SW_PYTHON_LNOTAB:
		return line_of_lnotab(&s, table->data, last, offset);
	case SW_PYTHON_LINETABLE:
		return line_of_linetable(&s, table->data, last, offset);
	case SW_PYTHON_LOCATIONS:
		return line_of_locations(&s, table->data, last, offset);
	}
	return 0;
}
