/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the text of a Chrome trace quickly: a buffer, numbers by hand, strings quoted once and kept.  Optionally gzip.
 * Errors of the file are the caller's to find (ferror).
 */
#ifndef SW_REPORT_TIMELINE_TRACE_OUT_H
#define SW_REPORT_TIMELINE_TRACE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/memory.h"

struct sw_trace_out {
	FILE *file;
	char *buffer;
	size_t n;
	void *deflate; /* NULL: plain */
};

bool sw_trace_out_can_gzip(void);
/* The file stays the caller's; close() writes what is left, errors are found by ferror(file). */
void sw_trace_out_open(struct sw_trace_out *out, FILE *file, bool gzip);
void sw_trace_out_close(struct sw_trace_out *out);

void sw_trace_out_bytes(struct sw_trace_out *out, const char *bytes, size_t n);
void sw_trace_out_text(struct sw_trace_out *out, const char *text);
void sw_trace_out_number(struct sw_trace_out *out, uint64_t number);
/* Nanoseconds as microseconds with three decimals: whole nanoseconds survive, which a double would not promise. */
void sw_trace_out_us(struct sw_trace_out *out, uint64_t ns);

/* A JSON string with its quotes: valid UTF-8 in raw bytes (some readers refuse surrogate escapes), control characters
   left out.  Lives in the arena. */
struct sw_label {
	const char *text;
	size_t n;
};
struct sw_label sw_label_quote(struct sw_arena *arena, const char *text);
static inline void sw_trace_out_label(struct sw_trace_out *out, struct sw_label label)
{
	sw_trace_out_bytes(out, label.text, label.n);
}

#endif
