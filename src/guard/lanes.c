/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which work is known to be done: vector clocks of a fixed size, by the rules of doc/order.md as far as they are cheap.
 * What is left out (host functions, graphs' own events, more lanes than there is room for) leaves pages protected for
 * longer.
 */
#include "guard/guard.h"

#include <string.h>

#define EVENTS 512u /* remembered; a record that was pushed out covers nothing */

struct lane {
	uint64_t stream; /* handle; 0: the legacy or a per-thread stream */
	uint32_t thread; /* per-thread streams */
	uint8_t ctx;
	bool used, gone, legacy, nonblocking;
	struct sw_guard_clock knows;
};

static struct lane lanes[SW_GUARD_LANES];
static struct {
	uint64_t event;
	struct sw_guard_clock knows;
} events[EVENTS];
static struct sw_guard_clock host;

static void join(struct sw_guard_clock *into, const struct sw_guard_clock *from)
{
	for (unsigned i = 0; i < SW_GUARD_LANES; i++)
		if (into->tick[i] < from->tick[i])
			into->tick[i] = from->tick[i];
}

static struct lane wanted(const struct sw_guard_at *at)
{
	bool own = at->stream == 2 || (!at->stream && at->per_thread);
	return (struct lane){.stream = at->stream > 2 ? at->stream : 0,
			     .thread = own ? at->thread : 0,
			     .ctx = at->stream > 2 ? 0 : at->ctx,
			     .legacy = at->stream <= 2 && !own};
}

static bool idle(uint32_t i)
{
	return host.tick[i] >= lanes[i].knows.tick[i];
}

/* A free slot, or that of a lane with nothing pending.  Ticks of a slot continue: old steps stay done. */
static struct lane *make(const struct lane *want)
{
	struct lane *found = NULL;
	for (uint32_t i = 0; i < SW_GUARD_LANES && !found; i++)
		if (!lanes[i].used || (lanes[i].gone && idle(i)))
			found = &lanes[i];
	for (uint32_t i = 0; i < SW_GUARD_LANES && !found; i++)
		if (idle(i) && !lanes[i].legacy)
			found = &lanes[i];
	if (!found)
		return NULL;
	struct sw_guard_clock knows = {0};
	knows.tick[found - lanes] = found->knows.tick[found - lanes];
	*found = *want;
	found->knows = knows;
	found->used = true;
	return found;
}

/* NULL: no room. */
static struct lane *lane_of(const struct sw_guard_at *at)
{
	struct lane want = wanted(at);
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++) {
		struct lane *l = &lanes[i];
		if (l->used && !l->gone && l->stream == want.stream && l->thread == want.thread &&
		    l->legacy == want.legacy && (want.stream || l->ctx == want.ctx))
			return l;
	}
	struct lane *l = make(&want);
	if (l)
		l->ctx = at->ctx;
	return l;
}

/* The legacy stream waits for all blocking streams of its context, and they for it. */
static void legacy_rules(struct lane *l)
{
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++) {
		struct lane *other = &lanes[i];
		if (!other->used || other == l || other->ctx != l->ctx || other->nonblocking || l->nonblocking)
			continue;
		if (l->legacy || other->legacy)
			join(&l->knows, &other->knows);
	}
}

void sw_lanes_stream_made(const struct sw_guard_at *at, bool nonblocking)
{
	struct lane *l = lane_of(at);
	if (l)
		l->nonblocking = nonblocking;
}

void sw_lanes_stream_gone(const struct sw_guard_at *at)
{
	struct lane want = wanted(at);
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++)
		if (want.stream && lanes[i].used && lanes[i].stream == want.stream)
			lanes[i].gone = true;
}

struct sw_guard_step sw_lanes_enqueue(const struct sw_guard_at *at)
{
	struct lane *l = lane_of(at);
	if (!l)
		return (struct sw_guard_step){0};
	uint32_t i = (uint32_t)(l - lanes);
	legacy_rules(l);
	return (struct sw_guard_step){i, ++l->knows.tick[i]};
}

void sw_lanes_record(uint64_t event, const struct sw_guard_at *at)
{
	struct lane *l = lane_of(at);
	uint32_t slot = (uint32_t)((event * 0x9e3779b97f4a7c15ull) >> 55) % EVENTS;
	events[slot].event = event;
	if (l) {
		legacy_rules(l);
		events[slot].knows = l->knows;
	} else {
		memset(&events[slot].knows, 0, sizeof events[slot].knows);
	}
}

void sw_lanes_cover_event(struct sw_guard_clock *out, uint64_t event)
{
	uint32_t slot = (uint32_t)((event * 0x9e3779b97f4a7c15ull) >> 55) % EVENTS;
	if (events[slot].event == event)
		*out = events[slot].knows;
	else
		memset(out, 0, sizeof *out);
}

void sw_lanes_wait(const struct sw_guard_at *at, uint64_t event)
{
	struct sw_guard_clock covered;
	struct lane *l = lane_of(at);
	sw_lanes_cover_event(&covered, event);
	if (l)
		join(&l->knows, &covered);
}

void sw_lanes_cover_stream(struct sw_guard_clock *out, const struct sw_guard_at *at)
{
	struct lane *l = lane_of(at);
	memset(out, 0, sizeof *out);
	if (l) {
		legacy_rules(l);
		*out = l->knows;
	}
}

void sw_lanes_cover_context(struct sw_guard_clock *out, uint8_t ctx)
{
	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < SW_GUARD_LANES; i++)
		if (lanes[i].used && lanes[i].ctx == ctx)
			join(out, &lanes[i].knows);
}

void sw_lanes_known(const struct sw_guard_clock *covered)
{
	join(&host, covered);
}

bool sw_lanes_done(struct sw_guard_step step)
{
	return host.tick[step.lane] >= step.tick;
}
