/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/perfetto.h"

#include <stdlib.h>
#include <string.h>

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

static void put(void *vec, const void *bytes, size_t n)
{
	bytes_vec *v = vec;
	sw_vec_reserve(v, v->n + n);
	memcpy(v->at + v->n, bytes, n);
	v->n += n;
}

static void put_varint(void *vec, uint64_t value)
{
	char out[10];
	size_t n = 0;
	for (; value >= 0x80; value >>= 7)
		out[n++] = (char)(value | 0x80);
	out[n++] = (char)value;
	put(vec, out, n);
}

static void put_number(void *vec, unsigned field, uint64_t value)
{
	put_varint(vec, field << 3 | WIRE_VARINT);
	put_varint(vec, value);
}

static void put_bytes(void *vec, unsigned field, const void *bytes, size_t n)
{
	put_varint(vec, field << 3 | WIRE_BYTES);
	put_varint(vec, n);
	put(vec, bytes, n);
}

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

/* One packet with the message in p->event; ns UINT64_MAX: it has no time. */
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

static uint64_t track(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static void event(struct sw_perfetto *p, unsigned type, uint32_t pid, uint32_t tid)
{
	p->event.n = 0;
	if (type)
		put_number(&p->event, EVENT_TYPE, type);
	put_number(&p->event, EVENT_TRACK, track(pid, tid));
}

void sw_perfetto_begin(struct sw_events *events)
{
	events->perfetto = sw_calloc(1, sizeof *events->perfetto);
}

void sw_perfetto_free(struct sw_events *events)
{
	free(events->perfetto->event.at);
	free(events->perfetto->packet.at);
	free(events->perfetto);
	events->perfetto = NULL;
}

void sw_perfetto_name(struct sw_events *events, uint32_t pid, uint32_t tid, struct sw_label name)
{
	struct sw_perfetto *p = events->perfetto;
	bytes_vec what = {0};
	p->event.n = 0;
	put_number(&p->event, TRACK_UUID, track(pid, tid));
	/* Streams are threads here as well: arrows are drawn between threads only. */
	put_number(&what, tid ? THREAD_PID : PROCESS_PID, pid);
	if (tid)
		put_number(&what, THREAD_TID, tid);
	put_label(&what, tid ? THREAD_NAME : PROCESS_NAME, name);
	put_bytes(&p->event, tid ? TRACK_THREAD : TRACK_PROCESS, what.at, what.n);
	write_packet(events, PACKET_TRACK, UINT64_MAX);
	free(what.at);
}

void sw_perfetto_slice(struct sw_events *events, struct sw_place at, uint64_t end_ns, struct sw_label name,
		       const char *category)
{
	struct sw_perfetto *p = events->perfetto;
	p->at = at;
	p->end_ns = end_ns;
	event(p, SLICE_BEGIN, at.pid, at.tid);
	put_text(&p->event, EVENT_CATEGORY, category);
	put_label(&p->event, EVENT_NAME, name);
}

void sw_perfetto_end(struct sw_events *events)
{
	struct sw_perfetto *p = events->perfetto;
	write_packet(events, PACKET_EVENT, p->at.ns);
	event(p, SLICE_END, p->at.pid, p->at.tid);
	write_packet(events, PACKET_EVENT, p->end_ns);
}

static void counter_track(struct sw_events *events, uint32_t pid, const char *name)
{
	struct sw_perfetto *p = events->perfetto;
	for (size_t i = 0; i < p->counter_n; i++)
		if (p->counters[i] == pid)
			return;
	if (p->counter_n < sizeof p->counters / sizeof *p->counters)
		p->counters[p->counter_n++] = pid;
	p->event.n = 0;
	put_number(&p->event, TRACK_UUID, track(pid, COUNTER_TID));
	put_number(&p->event, TRACK_PARENT, track(pid, 0));
	put_text(&p->event, TRACK_NAME, name);
	put_bytes(&p->event, TRACK_COUNTER, "", 0);
	write_packet(events, PACKET_TRACK, UINT64_MAX);
}

void sw_perfetto_counter(struct sw_events *events, uint32_t pid, uint64_t ns, const char *name, uint64_t value)
{
	struct sw_perfetto *p = events->perfetto;
	counter_track(events, pid, name);
	event(p, COUNTER, pid, COUNTER_TID);
	put_number(&p->event, EVENT_VALUE, value);
	write_packet(events, PACKET_EVENT, ns);
}

/* The form of the older format, which binds an arrow to the slices that stand there, written long before. */
void sw_perfetto_flow(struct sw_events *events, struct sw_place from, struct sw_place to, const char *name,
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
		event(p, 0, at->pid, at->tid);
		put_text(&p->event, EVENT_CATEGORY, category);
		put_text(&p->event, EVENT_NAME, name);
		put_bytes(&p->event, EVENT_LEGACY, legacy.at, legacy.n);
		write_packet(events, PACKET_EVENT, at->ns);
		free(legacy.at);
	}
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void argument(struct sw_perfetto *p, bytes_vec *value)
{
	put_bytes(&p->event, EVENT_ARGUMENT, value->at, value->n);
	free(value->at);
}

void sw_perfetto_number(struct sw_events *events, const char *key, uint64_t number)
{
	bytes_vec value = {0};
	put_text(&value, ARGUMENT_NAME, key);
	put_number(&value, ARGUMENT_UNSIGNED, number);
	argument(events->perfetto, &value);
}

void sw_perfetto_text(struct sw_events *events, const char *key, const char *plain)
{
	bytes_vec value = {0};
	put_text(&value, ARGUMENT_NAME, key);
	put_text(&value, ARGUMENT_TEXT, plain);
	argument(events->perfetto, &value);
}

void sw_perfetto_label(struct sw_events *events, const char *key, struct sw_label label)
{
	bytes_vec value = {0};
	put_text(&value, ARGUMENT_NAME, key);
	put_label(&value, ARGUMENT_TEXT, label);
	argument(events->perfetto, &value);
}
