/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the Chrome trace format, or of Perfetto's own ("Trace Event Format", and what Perfetto, catapult and HTA
 * make of it).
 *
 * A slice is begun, given arguments, and ended; the others are one call.  Process and thread numbers are
 * small and made up: handles would not fit what some viewers read.
 */
#ifndef SW_REPORT_TIMELINE_CHROME_EVENTS_H
#define SW_REPORT_TIMELINE_CHROME_EVENTS_H

#include "report/timeline/trace_out.h"

struct sw_chrome_part;

struct sw_events {
	struct sw_trace_out out;
	bool any;
	unsigned arguments; /* written so far */
	uint64_t flows;
	struct sw_chrome_part *part;  /* NULL: the file is of one trace */
	struct sw_perfetto *perfetto; /* NULL: JSON; else the same as Perfetto's own format (perfetto.h) */
};

struct sw_place {
	uint32_t pid, tid;
	uint64_t ns;
};

void sw_events_begin(struct sw_events *events, uint64_t start_realtime_ns, bool perfetto);
/* Ends the array of events; top-level keys may follow as text, then sw_events_end(). */
void sw_events_array_end(struct sw_events *events);
void sw_events_end(struct sw_events *events);

/* `what`: "process_name", "thread_name". */
void sw_event_name(struct sw_events *events, const char *what, uint32_t pid, uint32_t tid, struct sw_label name);
void sw_event_sort(struct sw_events *events, const char *what, uint32_t pid, uint32_t tid, uint64_t index);
void sw_event_slice(struct sw_events *events, struct sw_place at, uint64_t end_ns, struct sw_label name,
		    const char *category);
void sw_event_counter(struct sw_events *events, uint32_t pid, uint64_t ns, const char *name, uint64_t value);
/* One pair an arrow: viewers disagree on one start with several ends.  Both must lie inside slices already written, and
   from.ns < to.ns. */
void sw_event_flow(struct sw_events *events, struct sw_place from, struct sw_place to, const char *name,
		   const char *category);

/* Arguments of the slice begun last. */
void sw_event_number(struct sw_events *events, const char *key, uint64_t number);
void sw_event_hex(struct sw_events *events, const char *key, uint64_t word);
void sw_event_text(struct sw_events *events, const char *key, const char *plain); /* nothing to quote in it */
void sw_event_label(struct sw_events *events, const char *key, struct sw_label label);
void sw_event_triple(struct sw_events *events, const char *key, const uint32_t number[3]);
void sw_event_end(struct sw_events *events);

#endif
