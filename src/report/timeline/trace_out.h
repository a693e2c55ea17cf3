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

struct sw_chrome_part;

struct sw_trace_out {
	FILE *file;
	char *buffer;
	size_t n;
	void *deflate; /* NULL: plain */
};

bool sw_trace_out_can_gzip(void);
/* Begins to write through a buffer, with gzip if asked for.  The file stays the caller's; close() writes what is left,
   errors are found by ferror(file). */
void sw_trace_out_open(struct sw_trace_out *out, FILE *file, bool gzip);
void sw_trace_out_close(struct sw_trace_out *out);

void sw_trace_out_bytes(struct sw_trace_out *out, const char *bytes, size_t n);
void sw_trace_out_text(struct sw_trace_out *out, const char *text);
void sw_trace_out_number(struct sw_trace_out *out, uint64_t number);

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

/*
 * Events of the Chrome trace format, or of Perfetto's own ("Trace Event Format", and what Perfetto, catapult and HTA
 * make of it).
 *
 * A slice is begun, given arguments, and ended; the others are one call.  Process and thread numbers are
 * small and made up: handles would not fit what some viewers read.
 */

struct sw_events {
	struct sw_trace_out out;
	bool any;
	unsigned arguments; /* written so far */
	uint64_t flows;
	struct sw_chrome_part *part;  /* NULL: the file is of one trace */
	struct sw_perfetto *perfetto; /* NULL: JSON; else the same as Perfetto's own format (trace_out.h) */
};

struct sw_place {
	uint32_t pid, tid;
	uint64_t ns;
};

void sw_events_begin(struct sw_events *events, uint64_t start_realtime_ns, bool perfetto);
/* Ends the array of events; top-level keys may follow as text, then sw_events_end(). */
void sw_events_array_end(struct sw_events *events);
void sw_events_end(struct sw_events *events);

/* Names a process or thread; `what`: "process_name", "thread_name". */
void sw_event_name(struct sw_events *events, const char *what, uint32_t pid, uint32_t tid, struct sw_label name);
/* Gives it a place among the others: by `index`. */
void sw_event_sort(struct sw_events *events, const char *what, uint32_t pid, uint32_t tid, uint64_t index);
/* Draws a slice; its arguments follow, up to sw_event_end(). */
void sw_event_slice(struct sw_events *events, struct sw_place at, uint64_t end_ns, struct sw_label name,
		    const char *category);
/* Draws a value of a counter from this time on. */
void sw_event_counter(struct sw_events *events, uint32_t pid, uint64_t ns, const char *name, uint64_t value);
/* Draws an arrow.  One pair an arrow: viewers disagree on one start with several ends.  Both must lie inside slices
   already written, and from.ns < to.ns. */
void sw_event_flow(struct sw_events *events, struct sw_place from, struct sw_place to, const char *name,
		   const char *category);

/* Adds a number as an argument of the slice begun last. */
void sw_event_number(struct sw_events *events, const char *key, uint64_t number);
/* Adds a word in hexadecimal. */
void sw_event_hex(struct sw_events *events, const char *key, uint64_t word);
void sw_event_text(struct sw_events *events, const char *key, const char *plain); /* nothing to quote in it */
void sw_event_label(struct sw_events *events, const char *key, struct sw_label label);
void sw_event_triple(struct sw_events *events, const char *key, const uint32_t number[3]);
void sw_event_end(struct sw_events *events);

/*
 * The events of trace_out.h as a Perfetto trace: a file of TracePackets (protos/perfetto/trace in Perfetto's
 * sources), whole nanoseconds, one track a process or thread of the other format.  trace_out.c calls these.
 */

#endif
