/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "report/timeline/trace_out.h"

#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "report/utf8.h"

enum { BUFFER = 1 << 20 };

/* ---- gzip -------------------------------------------------------------------------------------------------------- */

#ifdef HAVE_ZLIB
bool sw_trace_out_can_gzip(void)
{
	return true;
}

static void *deflate_new(void)
{
	z_stream *z = sw_calloc(1, sizeof *z);
	/* 15 + 16: a gzip header; level 1: traces are repetitive, and the writer must keep up with the judge. */
	if (deflateInit2(z, 1, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static void deflate_write(struct sw_trace_out *out, int flush)
{
	unsigned char packed[65536];
	z_stream *z = out->deflate;
	z->next_in = (unsigned char *)out->buffer;
	z->avail_in = (unsigned)out->n;
	do {
		z->next_out = packed;
		z->avail_out = sizeof packed;
		deflate(z, flush);
		fwrite(packed, 1, sizeof packed - z->avail_out, out->file);
	} while (z->avail_out == 0);
}

static void deflate_end(struct sw_trace_out *out)
{
	deflate_write(out, Z_FINISH);
	deflateEnd(out->deflate);
	free(out->deflate);
}
#else
bool sw_trace_out_can_gzip(void)
{
	return false;
}

static void *deflate_new(void)
{
	return NULL;
}

static void deflate_end(struct sw_trace_out *out)
{
	(void)out;
}
#endif

/* ---- buffer ------------------------------------------------------------------------------------------------------ */

void sw_trace_out_open(struct sw_trace_out *out, FILE *file, bool gzip)
{
	*out = (struct sw_trace_out){.file = file, .buffer = sw_alloc(BUFFER), .deflate = gzip ? deflate_new() : NULL};
}

static void spill(struct sw_trace_out *out)
{
#ifdef HAVE_ZLIB
	if (out->deflate) {
		deflate_write(out, Z_NO_FLUSH);
		out->n = 0;
		return;
	}
#endif
	fwrite(out->buffer, 1, out->n, out->file);
	out->n = 0;
}

void sw_trace_out_close(struct sw_trace_out *out)
{
	if (out->deflate)
		deflate_end(out);
	else
		spill(out);
	free(out->buffer);
	*out = (struct sw_trace_out){0};
}

void sw_trace_out_bytes(struct sw_trace_out *out, const char *bytes, size_t n)
{
	while (n > BUFFER - out->n) {
		size_t part = BUFFER - out->n;
		memcpy(out->buffer + out->n, bytes, part);
		out->n = BUFFER;
		bytes += part;
		n -= part;
		spill(out);
	}
	memcpy(out->buffer + out->n, bytes, n);
	out->n += n;
}

void sw_trace_out_text(struct sw_trace_out *out, const char *text)
{
	sw_trace_out_bytes(out, text, strlen(text));
}

void sw_trace_out_number(struct sw_trace_out *out, uint64_t number)
{
	char digits[20];
	size_t i = sizeof digits;
	do
		digits[--i] = (char)('0' + number % 10);
	while (number /= 10);
	sw_trace_out_bytes(out, digits + i, sizeof digits - i);
}

void sw_trace_out_us(struct sw_trace_out *out, uint64_t ns)
{
	char rest[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
	sw_trace_out_number(out, ns / 1000);
	sw_trace_out_bytes(out, rest, sizeof rest);
}

struct sw_label sw_label_quote(struct sw_arena *arena, const char *text)
{
	/* A byte that is not UTF-8 becomes the three of U+FFFD. */
	char *quoted = sw_arena_alloc(arena, 3 * strlen(text) + 3);
	size_t n = 0;
	quoted[n++] = '"';
	while (*text) {
		size_t length = sw_utf8_length(text);
		if (!length) {
			memcpy(quoted + n, "\xef\xbf\xbd", 3);
			n += 3;
			text++;
			continue;
		}
		if (*text == '"' || *text == '\\')
			quoted[n++] = '\\';
		if (length > 1 || ((unsigned char)*text >= 0x20 && *text != 0x7f)) {
			memcpy(quoted + n, text, length);
			n += length;
		}
		text += length;
	}
	quoted[n++] = '"';
	return (struct sw_label){quoted, n};
}
