/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/clock.h"

/* Keeps products of a tick count and a rate within 128 bits, whatever a damaged header says. */
#define RATE_MAX (1ull << 62)

/* Nanoseconds a tick, times 2^32. */
static uint64_t rate_of(uint64_t ns, uint64_t ticks)
{
	unsigned __int128 rate = ((unsigned __int128)ns << 32) / ticks;
	return rate > RATE_MAX ? RATE_MAX : (uint64_t)rate;
}

bool sw_trace_clock_start(struct sw_trace_clock *clock, const struct sw_file_header *header)
{
	*clock = (struct sw_trace_clock){
		.start_ticks = header->start_ticks,
		.start_ns = header->start_monotonic_ns,
		.base_ticks = header->start_ticks,
		.rate = 1ull << 32,
	};
	if (header->last_ticks > header->start_ticks && header->last_monotonic_ns > header->start_monotonic_ns) {
		clock->rate = rate_of(header->last_monotonic_ns - header->start_monotonic_ns,
				      header->last_ticks - header->start_ticks);
		clock->fixed = true;
	} else if (header->ticks_per_second) {
		clock->rate = rate_of(1000000000, header->ticks_per_second);
	} else {
		return false;
	}
	return true;
}

void sw_clock_pair(struct sw_trace_clock *clock, uint64_t ticks, uint64_t monotonic_ns)
{
	if (clock->fixed || ticks <= clock->base_ticks || monotonic_ns <= clock->start_ns)
		return;
	/* From here on only: what was converted before this pair keeps its time, so time continues without a jump
	   back unless the first estimate was too fast. */
	uint64_t ns = monotonic_ns - clock->start_ns, estimate = sw_clock_ns(clock, ticks);
	clock->rate = rate_of(ns, ticks - clock->start_ticks);
	clock->base_ticks = ticks;
	clock->base_ns = ns > estimate ? ns : estimate;
}

/* The time of a tick count in nanoseconds since recording began; 0 for one before. */
uint64_t sw_clock_ns(const struct sw_trace_clock *clock, uint64_t ticks)
{
	if (ticks >= clock->base_ticks)
		return clock->base_ns + sw_clock_duration_ns(clock, ticks - clock->base_ticks);
	uint64_t before = sw_clock_duration_ns(clock, clock->base_ticks - ticks);
	return before < clock->base_ns ? clock->base_ns - before : 0;
}

/* So many ticks as nanoseconds. */
uint64_t sw_clock_duration_ns(const struct sw_trace_clock *clock, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * clock->rate >> 32);
}
