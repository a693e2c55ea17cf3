/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "report/timeline/trace_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/timeline/timeline.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "report/excerpts.h"

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

/* Compresses the buffer into the file. */
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

/* Writes the buffer to the file, and empties it. */
static void write_buffer(struct sw_trace_out *out)
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

/* Writes the rest and frees the state; the file stays open. */
void sw_trace_out_close(struct sw_trace_out *out)
{
	if (out->deflate)
		deflate_end(out);
	else
		write_buffer(out);
	free(out->buffer);
	*out = (struct sw_trace_out){0};
}

/* Appends bytes. */
void sw_trace_out_bytes(struct sw_trace_out *out, const char *bytes, size_t n)
{
	while (n > BUFFER - out->n) {
		size_t part = BUFFER - out->n;
		memcpy(out->buffer + out->n, bytes, part);
		out->n = BUFFER;
		bytes += part;
		n -= part;
		write_buffer(out);
	}
	memcpy(out->buffer + out->n, bytes, n);
	out->n += n;
}

/* Appends a string. */
void sw_trace_out_text(struct sw_trace_out *out, const char *text)
{
	sw_trace_out_bytes(out, text, strlen(text));
}

/* Appends a number. */
void sw_trace_out_number(struct sw_trace_out *out, uint64_t number)
{
	char digits[20];
	size_t i = sizeof digits;
	do
		digits[--i] = (char)('0' + number % 10);
	while (number /= 10);
	sw_trace_out_bytes(out, digits + i, sizeof digits - i);
}

/* Nanoseconds as microseconds with three decimals: whole nanoseconds survive, which a double would not promise. */
static void trace_out_us(struct sw_trace_out *out, uint64_t ns)
{
	char rest[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
	sw_trace_out_number(out, ns / 1000);
	sw_trace_out_bytes(out, rest, sizeof rest);
}

/* The text as a string of JSON, with its quotes, in the arena. */
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

/* Numbers of fields, by message. */
enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_FLAGS = 13, PACKET_TRACK = 60 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_ARGUMENT = 4,
	EVENT_LEGACY = 6,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_VALUE = 30
};
enum { ARGUMENT_UNSIGNED = 3, ARGUMENT_TEXT = 6, ARGUMENT_NAME = 10 };
enum { LEGACY_PHASE = 2, LEGACY_ID = 6, LEGACY_ENCLOSING = 12 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };
enum { CLEARED = 1 }; /* nothing is interned, so nothing before this packet is needed */

/* The counters' tracks. */
#define COUNTER_TID 0xffffffffu

struct sw_perfetto {
	SW_VEC(char) event; /* the message that is being made */
	SW_VEC(char) packet;
	struct sw_place at; /* of the slice whose arguments are given */
	uint64_t end_ns;
	bool began;	       /* the first packet is written */
	uint32_t counters[64]; /* processes whose counter has a track */
	size_t counter_n;
};

typedef SW_VEC(char) bytes_vec;

/* Appends bytes to a vector of char. */
static void append_bytes(void *vec, const void *bytes, size_t n)
{
	bytes_vec *v = vec;
	sw_vec_reserve(v, v->n + n);
	memcpy(v->at + v->n, bytes, n);
	v->n += n;
}

/* Appends a number in the varint form of protocol buffers. */
static void put_varint(void *vec, uint64_t value)
{
	char out[10];
	size_t n = 0;
	for (; value >= 0x80; value >>= 7)
		out[n++] = (char)(value | 0x80);
	out[n++] = (char)value;
	append_bytes(vec, out, n);
}

/* Appends a field that is a number. */
static void put_number(void *vec, unsigned field, uint64_t value)
{
	put_varint(vec, field << 3 | WIRE_VARINT);
	put_varint(vec, value);
}

/* Appends a field that is bytes, or a message. */
static void put_bytes(void *vec, unsigned field, const void *bytes, size_t n)
{
	put_varint(vec, field << 3 | WIRE_BYTES);
	put_varint(vec, n);
	append_bytes(vec, bytes, n);
}

/* Appends a field that is a string. */
static void put_text(void *vec, unsigned field, const char *text)
{
	put_bytes(vec, field, text, strlen(text));
}

/* Labels are kept as JSON strings: their quotes go, and the backslash before a quote or a backslash. */
static void put_label(void *vec, unsigned field, struct sw_label label)
{
	bytes_vec plain = {0};
	for (size_t i = 1; i + 1 < label.n; i++) {
		if (label.text[i] == '\\' && i + 2 < label.n)
			i++;
		*sw_vec_push(&plain) = label.text[i];
	}
	put_bytes(vec, field, plain.n ? plain.at : "", plain.n);
	free(plain.at);
}

/* Writes one packet of Perfetto's format with the message in p->event; ns UINT64_MAX: it has no time. */
static void write_packet(struct sw_events *events, unsigned field, uint64_t ns)
{
	struct sw_perfetto *p = events->perfetto;
	bytes_vec head = {0};
	p->packet.n = 0;
	if (ns != UINT64_MAX)
		put_number(&p->packet, PACKET_TIMESTAMP, ns);
	put_number(&p->packet, PACKET_SEQUENCE, 1);
	if (!p->began)
		put_number(&p->packet, PACKET_FLAGS, CLEARED);
	p->began = true;
	put_bytes(&p->packet, field, p->event.at, p->event.n);
	put_varint(&head, TRACE_PACKET << 3 | WIRE_BYTES);
	put_varint(&head, p->packet.n);
	sw_trace_out_bytes(&events->out, head.at, head.n);
	sw_trace_out_bytes(&events->out, p->packet.at, p->packet.n);
	free(head.at);
}

/* The number of a track, unique over all processes. */
static uint64_t track_id(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

/* Begins an event of a track; type 0: it has none. */
static void begin_event(struct sw_perfetto *p, unsigned type, uint32_t pid, uint32_t tid)
{
	p->event.n = 0;
	if (type)
		put_number(&p->event, EVENT_TYPE, type);
	put_number(&p->event, EVENT_TRACK, track_id(pid, tid));
}

/* Begins a trace in Perfetto's format. */
static void perfetto_begin(struct sw_events *events)
{
	events->perfetto = sw_calloc(1, sizeof *events->perfetto);
}

/* Frees the state of Perfetto's format. */
static void perfetto_free(struct sw_events *events)
{
	free(events->perfetto->event.at);
	free(events->perfetto->packet.at);
	free(events->perfetto);
	events->perfetto = NULL;
}

/* Names a process (tid 0) or a track. */
static void perfetto_name(struct sw_events *events, uint32_t pid, uint32_t tid, struct sw_label name)
{
	struct sw_perfetto *p = events->perfetto;
	bytes_vec what = {0};
	p->event.n = 0;
	put_number(&p->event, TRACK_UUID, track_id(pid, tid));
	/* Streams are threads here as well: arrows are drawn between threads only. */
	put_number(&what, tid ? THREAD_PID : PROCESS_PID, pid);
	if (tid)
		put_number(&what, THREAD_TID, tid);
	put_label(&what, tid ? THREAD_NAME : PROCESS_NAME, name);
	put_bytes(&p->event, tid ? TRACK_THREAD : TRACK_PROCESS, what.at, what.n);
	write_packet(events, PACKET_TRACK, UINT64_MAX);
	free(what.at);
}

/* Begins a slice; its facts follow until perfetto_end(). */
static void perfetto_slice(struct sw_events *events, struct sw_place at, uint64_t end_ns, struct sw_label name,
			   const char *category)
{
	struct sw_perfetto *p = events->perfetto;
	p->at = at;
	p->end_ns = end_ns;
	begin_event(p, SLICE_BEGIN, at.pid, at.tid);
	put_text(&p->event, EVENT_CATEGORY, category);
	put_label(&p->event, EVENT_NAME, name);
}

/* Writes the slice: its begin with the facts, then its end. */
static void perfetto_end(struct sw_events *events)
{
	struct sw_perfetto *p = events->perfetto;
	write_packet(events, PACKET_EVENT, p->at.ns);
	begin_event(p, SLICE_END, p->at.pid, p->at.tid);
	write_packet(events, PACKET_EVENT, p->end_ns);
}

/* Describes the track of a process's counter, once. */
static void counter_track(struct sw_events *events, uint32_t pid, const char *name)
{
	struct sw_perfetto *p = events->perfetto;
	for (size_t i = 0; i < p->counter_n; i++)
		if (p->counters[i] == pid)
			return;
	if (p->counter_n < sizeof p->counters / sizeof *p->counters)
		p->counters[p->counter_n++] = pid;
	p->event.n = 0;
	put_number(&p->event, TRACK_UUID, track_id(pid, COUNTER_TID));
	put_number(&p->event, TRACK_PARENT, track_id(pid, 0));
	put_text(&p->event, TRACK_NAME, name);
	put_bytes(&p->event, TRACK_COUNTER, "", 0);
	write_packet(events, PACKET_TRACK, UINT64_MAX);
}

/* Writes a counter's value. */
static void perfetto_counter(struct sw_events *events, uint32_t pid, uint64_t ns, const char *name, uint64_t value)
{
	struct sw_perfetto *p = events->perfetto;
	counter_track(events, pid, name);
	begin_event(p, COUNTER, pid, COUNTER_TID);
	put_number(&p->event, EVENT_VALUE, value);
	write_packet(events, PACKET_EVENT, ns);
}

/* Draws an arrow, in the form of the older format, which binds it to the slices that stand there, written long
   before. */
static void perfetto_flow(struct sw_events *events, struct sw_place from, struct sw_place to, const char *name,
			  const char *category)
{
	struct sw_perfetto *p = events->perfetto;
	const uint64_t id = ++events->flows;
	for (int end = 0; end < 2; end++) {
		const struct sw_place *at = end ? &to : &from;
		bytes_vec legacy = {0};
		put_number(&legacy, LEGACY_PHASE, end ? 'f' : 's');
		put_number(&legacy, LEGACY_ID, id);
		put_number(&legacy, LEGACY_ENCLOSING, 1);
		begin_event(p, 0, at->pid, at->tid);
		put_text(&p->event, EVENT_CATEGORY, category);
		put_text(&p->event, EVENT_NAME, name);
		put_bytes(&p->event, EVENT_LEGACY, legacy.at, legacy.n);
		write_packet(events, PACKET_EVENT, at->ns);
		free(legacy.at);
	}
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Adds a fact to the event and frees it. */
static void end_argument(struct sw_perfetto *p, bytes_vec *value)
{
	put_bytes(&p->event, EVENT_ARGUMENT, value->at, value->n);
	free(value->at);
}

/* Adds a number as a fact of the slice. */
static void perfetto_number(struct sw_events *events, const char *key, uint64_t number)
{
	bytes_vec value = {0};
	put_text(&value, ARGUMENT_NAME, key);
	put_number(&value, ARGUMENT_UNSIGNED, number);
	end_argument(events->perfetto, &value);
}

/* Adds a string as a fact of the slice. */
static void perfetto_text(struct sw_events *events, const char *key, const char *plain)
{
	bytes_vec value = {0};
	put_text(&value, ARGUMENT_NAME, key);
	put_text(&value, ARGUMENT_TEXT, plain);
	end_argument(events->perfetto, &value);
}

/* Adds a label as a fact of the slice. */
static void perfetto_label(struct sw_events *events, const char *key, struct sw_label label)
{
	bytes_vec value = {0};
	put_text(&value, ARGUMENT_NAME, key);
	put_label(&value, ARGUMENT_TEXT, label);
	end_argument(events->perfetto, &value);
}

#define PUT(text) sw_trace_out_bytes(out, text, sizeof text - 1)

/* Begins a trace in Chrome's or Perfetto's format; as a part of a merged one where events->part is set. */
void sw_events_begin(struct sw_events *events, uint64_t start_realtime_ns, bool perfetto)
{
	struct sw_trace_out *out = &events->out;
	if (perfetto) {
		perfetto_begin(events);
		return;
	}
	if (events->part) {
		events->any = events->part->any;
		events->flows = events->part->flows;
		return;
	}
	/* Times are relative to the start, because microseconds since 1970 lose digits in a double.  HTA looks for
	   "rank". */
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

/* Ends the trace, or the part. */
void sw_events_end(struct sw_events *events)
{
	if (events->perfetto) {
		perfetto_free(events);
	} else if (events->part) {
		events->part->any = events->any;
		events->part->flows = events->flows;
	} else {
		sw_trace_out_text(&events->out, "}\n");
	}
	sw_trace_out_close(&events->out);
}

/* Begins an event of Chrome's format; phase: its kind, tid 0: of the whole process. */
static void begin_line(struct sw_events *events, char phase, uint32_t pid, uint32_t tid)
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

/* The shift (ns) of a part of a merged trace, whose process began later. */
static uint64_t shift_of(const struct sw_events *events)
{
	return events->part ? events->part->shift_ns : 0;
}

/* Writes the time of an event. */
static void time_of(struct sw_events *events, uint64_t ns)
{
	struct sw_trace_out *out = &events->out;
	PUT(",\"ts\":");
	trace_out_us(out, ns + shift_of(events));
}

/* Writes a member that needs no escapes. */
static void text_of(struct sw_events *events, const char *key, const char *text)
{
	struct sw_trace_out *out = &events->out;
	PUT(",\"");
	sw_trace_out_text(out, key);
	PUT("\":\"");
	sw_trace_out_text(out, text);
	PUT("\"");
}

/* Writes the name of an event. */
static void name_of(struct sw_events *events, struct sw_label name)
{
	struct sw_trace_out *out = &events->out;
	PUT(",\"name\":");
	sw_trace_out_label(out, name);
}

/* Begins the facts of an event. */
static void begin_args(struct sw_events *events)
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

/* Ends a slice, after its facts. */
void sw_event_end(struct sw_events *events)
{
	if (events->perfetto) {
		perfetto_end(events);
		return;
	}
	sw_trace_out_text(&events->out, "}}");
}

/* Writes the name of a row or process.  A label has its quotes, and what stands before it is plain. */
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
		perfetto_name(events, pid, tid, name);
		return;
	}
	begin_line(events, 'M', pid, tid);
	text_of(events, "name", what);
	begin_args(events);
	key_of(events, "name");
	put_name(events, name, !tid);
	sw_event_end(events);
}

/* Says where a viewer should place a process or a track; Perfetto does so by itself. */
void sw_event_sort(struct sw_events *events, const char *what, uint32_t pid, uint32_t tid, uint64_t index)
{
	if (events->perfetto)
		return;
	begin_line(events, 'M', pid, tid);
	text_of(events, "name", what);
	begin_args(events);
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

/* Begins a slice from at.ns to end_ns; its facts follow until sw_event_end(). */
void sw_event_slice(struct sw_events *events, struct sw_place at, uint64_t end_ns, struct sw_label name,
		    const char *category)
{
	struct sw_trace_out *out = &events->out;
	if (events->perfetto) {
		perfetto_slice(events, at, end_ns, name, category);
		return;
	}
	begin_line(events, 'X', at.pid, at.tid);
	time_of(events, at.ns);
	PUT(",\"dur\":");
	trace_out_us(out, length_of(at.ns + shift_of(events), end_ns + shift_of(events)));
	name_of(events, name);
	text_of(events, "cat", category);
	begin_args(events);
}

/* Writes the value of a counter from this time on. */
void sw_event_counter(struct sw_events *events, uint32_t pid, uint64_t ns, const char *name, uint64_t value)
{
	if (events->perfetto) {
		perfetto_counter(events, pid, ns, name, value);
		return;
	}
	begin_line(events, 'C', pid, 0);
	time_of(events, ns);
	text_of(events, "name", name);
	begin_args(events);
	sw_event_number(events, "operations", value);
	sw_event_end(events);
}

void sw_event_flow(struct sw_events *events, struct sw_place from, struct sw_place to, const char *name,
		   const char *category)
{
	struct sw_trace_out *out = &events->out;
	if (events->perfetto) {
		perfetto_flow(events, from, to, name, category);
		return;
	}
	uint64_t id = ++events->flows;
	for (int end = 0; end < 2; end++) {
		const struct sw_place *at = end ? &to : &from;
		begin_line(events, end ? 'f' : 's', at->pid, at->tid);
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
		perfetto_number(events, key, number);
		return;
	}
	key_of(events, key);
	sw_trace_out_number(&events->out, number);
}

/* Adds a word in hexadecimal as a fact. */
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
		perfetto_label(events, key, (struct sw_label){text, n});
		return;
	}
	key_of(events, key);
	sw_trace_out_bytes(&events->out, text, n);
}

/* Adds a string that needs no escapes as a fact. */
void sw_event_text(struct sw_events *events, const char *key, const char *plain)
{
	struct sw_trace_out *out = &events->out;
	if (events->perfetto) {
		perfetto_text(events, key, plain);
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
		perfetto_label(events, key, label);
		return;
	}
	key_of(events, key);
	sw_trace_out_label(&events->out, label);
}

/* Adds three numbers, such as a grid, as a fact. */
void sw_event_triple(struct sw_events *events, const char *key, const uint32_t number[3])
{
	struct sw_trace_out *out = &events->out;
	if (events->perfetto) {
		char text[48];
		snprintf(text, sizeof text, "%ux%ux%u", number[0], number[1], number[2]);
		perfetto_text(events, key, text);
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
