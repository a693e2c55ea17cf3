/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/chrome_events.h"

#include <stdio.h>
#include <string.h>

#include "report/timeline/perfetto.h"
#include "report/timeline/timeline.h"

#define PUT(text) sw_trace_out_bytes(out, text, sizeof text - 1)

void sw_events_begin(struct sw_events *events, uint64_t start_realtime_ns, bool perfetto)
{
	struct sw_trace_out *out = &events->out;
	if (perfetto) {
		sw_perfetto_begin(events);
		return;
	}
	if (events->part) {
		events->any = events->part->any;
		events->flows = events->part->flows;
		return;
	}
	/* Times are relative to the start, because microseconds since 1970 lose digits in a double.  HTA looks for
	 * "rank". */
	PUT("{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"distributedInfo\":{\"rank\": "
	    "0},\"baseTimeNanoseconds\":");
	sw_trace_out_number(out, start_realtime_ns);
	PUT(",\"traceEvents\":[");
}

void sw_events_array_end(struct sw_events *events)
{
	if (!events->perfetto && !events->part)
		sw_trace_out_text(&events->out, "\n]");
}

void sw_events_end(struct sw_events *events)
{
	if (events->perfetto) {
		sw_perfetto_free(events);
	} else if (events->part) {
		events->part->any = events->any;
		events->part->flows = events->flows;
	} else {
		sw_trace_out_text(&events->out, "}\n");
	}
	sw_trace_out_close(&events->out);
}

static void begin(struct sw_events *events, char phase, uint32_t pid, uint32_t tid)
{
	struct sw_trace_out *out = &events->out;
	if (events->any)
		PUT(",");
	events->any = true;
	PUT("\n{\"ph\":\"");
	sw_trace_out_bytes(out, &phase, 1);
	PUT("\",\"pid\":");
	sw_trace_out_number(out, pid + (events->part ? events->part->pid_base : 0));
	if (!tid)
		return; /* of the whole process: a thread 0 would be merged into the main thread */
	PUT(",\"tid\":");
	sw_trace_out_number(out, tid);
}

static uint64_t shift_of(const struct sw_events *events)
{
	return events->part ? events->part->shift_ns : 0;
}

static void time_of(struct sw_events *events, uint64_t ns)
{
	struct sw_trace_out *out = &events->out;
	PUT(",\"ts\":");
	sw_trace_out_us(out, ns + shift_of(events));
}

static void text_of(struct sw_events *events, const char *key, const char *text)
{
	struct sw_trace_out *out = &events->out;
	PUT(",\"");
	sw_trace_out_text(out, key);
	PUT("\":\"");
	sw_trace_out_text(out, text);
	PUT("\"");
}

static void name_of(struct sw_events *events, struct sw_label name)
{
	struct sw_trace_out *out = &events->out;
	PUT(",\"name\":");
	sw_trace_out_label(out, name);
}

static void args(struct sw_events *events)
{
	struct sw_trace_out *out = &events->out;
	PUT(",\"args\":{");
	events->arguments = 0;
}

/* Keys are given in turn; the first one has no comma before it. */
static void key_of(struct sw_events *events, const char *key)
{
	struct sw_trace_out *out = &events->out;
	if (events->arguments++)
		PUT(",");
	PUT("\"");
	sw_trace_out_text(out, key);
	PUT("\":");
}

void sw_event_end(struct sw_events *events)
{
	if (events->perfetto) {
		sw_perfetto_end(events);
		return;
	}
	sw_trace_out_text(&events->out, "}}");
}

/* A label has its quotes, and what stands before it is plain. */
static void put_name(struct sw_events *events, struct sw_label name, bool process)
{
	struct sw_trace_out *out = &events->out;
	if (!events->part || !process) {
		sw_trace_out_label(out, name);
		return;
	}
	PUT("\"");
	sw_trace_out_text(out, events->part->who);
	PUT(": ");
	sw_trace_out_bytes(out, name.text + 1, name.n - 1);
}

void sw_event_name(struct sw_events *events, const char *what, uint32_t pid, uint32_t tid, struct sw_label name)
{
	if (events->perfetto) {
		sw_perfetto_name(events, pid, tid, name);
		return;
	}
	begin(events, 'M', pid, tid);
	text_of(events, "name", what);
	args(events);
	key_of(events, "name");
	put_name(events, name, !tid);
	sw_event_end(events);
}

void sw_event_sort(struct sw_events *events, const char *what, uint32_t pid, uint32_t tid, uint64_t index)
{
	if (events->perfetto)
		return;
	begin(events, 'M', pid, tid);
	text_of(events, "name", what);
	args(events);
	sw_event_number(events, "sort_index", index + (events->part && !tid ? events->part->pid_base : 0));
	sw_event_end(events);
}

/*
 * How long a slice is said to be.  Readers add start and length as floating-point microseconds: where their sum is
 * rounded up, a slice overlaps the one that begins at its end, and Chromium's Performance panel leaves that one out.
 * Such a slice is said to end a nanosecond early.
 */
static uint64_t length_of(uint64_t start_ns, uint64_t end_ns)
{
	uint64_t length = end_ns - start_ns;
	bool rounded_up = (double)start_ns / 1e3 + (double)length / 1e3 > (double)end_ns / 1e3;
	return rounded_up && length > 1 ? length - 1 : length;
}

void sw_event_slice(struct sw_events *events, struct sw_place at, uint64_t end_ns, struct sw_label name,
		    const char *category)
{
	struct sw_trace_out *out = &events->out;
	if (events->perfetto) {
		sw_perfetto_slice(events, at, end_ns, name, category);
		return;
	}
	begin(events, 'X', at.pid, at.tid);
	time_of(events, at.ns);
	PUT(",\"dur\":");
	sw_trace_out_us(out, length_of(at.ns + shift_of(events), end_ns + shift_of(events)));
	name_of(events, name);
	text_of(events, "cat", category);
	args(events);
}

void sw_event_counter(struct sw_events *events, uint32_t pid, uint64_t ns, const char *name, uint64_t value)
{
	if (events->perfetto) {
		sw_perfetto_counter(events, pid, ns, name, value);
		return;
	}
	begin(events, 'C', pid, 0);
	time_of(events, ns);
	text_of(events, "name", name);
	args(events);
	sw_event_number(events, "operations", value);
	sw_event_end(events);
}

void sw_event_flow(struct sw_events *events, struct sw_place from, struct sw_place to, const char *name,
		   const char *category)
{
	struct sw_trace_out *out = &events->out;
	if (events->perfetto) {
		sw_perfetto_flow(events, from, to, name, category);
		return;
	}
	uint64_t id = ++events->flows;
	for (int end = 0; end < 2; end++) {
		const struct sw_place *at = end ? &to : &from;
		begin(events, end ? 'f' : 's', at->pid, at->tid);
		time_of(events, at->ns);
		text_of(events, "name", name);
		text_of(events, "cat", category);
		PUT(",\"id\":");
		sw_trace_out_number(out, id);
		if (end)
			PUT(",\"bp\":\"e\"");
		PUT("}");
	}
}

void sw_event_number(struct sw_events *events, const char *key, uint64_t number)
{
	if (events->perfetto) {
		sw_perfetto_number(events, key, number);
		return;
	}
	key_of(events, key);
	sw_trace_out_number(&events->out, number);
}

void sw_event_hex(struct sw_events *events, const char *key, uint64_t word)
{
	static const char digits[] = "0123456789abcdef";
	char text[20] = "\"0x";
	size_t n = 3;
	int shift = 60;
	while (shift && !(word >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		text[n++] = digits[word >> shift & 15];
	text[n++] = '"';
	if (events->perfetto) {
		sw_perfetto_label(events, key, (struct sw_label){text, n});
		return;
	}
	key_of(events, key);
	sw_trace_out_bytes(&events->out, text, n);
}

void sw_event_text(struct sw_events *events, const char *key, const char *plain)
{
	struct sw_trace_out *out = &events->out;
	if (events->perfetto) {
		sw_perfetto_text(events, key, plain);
		return;
	}
	key_of(events, key);
	PUT("\"");
	sw_trace_out_text(out, plain);
	PUT("\"");
}

void sw_event_label(struct sw_events *events, const char *key, struct sw_label label)
{
	if (events->perfetto) {
		sw_perfetto_label(events, key, label);
		return;
	}
	key_of(events, key);
	sw_trace_out_label(&events->out, label);
}

void sw_event_triple(struct sw_events *events, const char *key, const uint32_t number[3])
{
	struct sw_trace_out *out = &events->out;
	if (events->perfetto) {
		char text[48];
		snprintf(text, sizeof text, "%ux%ux%u", number[0], number[1], number[2]);
		sw_perfetto_text(events, key, text);
		return;
	}
	key_of(events, key);
	PUT("[");
	for (int i = 0; i < 3; i++) {
		if (i)
			PUT(",");
		sw_trace_out_number(out, number[i]);
	}
	PUT("]");
}
