/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks to nanoseconds since the start of the trace. */
#ifndef SW_READER_CLOCK_H
#define SW_READER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "syncwatch/format.h"

struct sw_trace_clock {
	uint64_t start_ticks, start_ns; /* the first pair; start_ns is CLOCK_MONOTONIC */
	uint64_t base_ticks, base_ns;	/* times are counted from this pair; base_ns is since the start */
	uint64_t rate;			/* nanoseconds a tick, 2^-32 */
	bool fixed; /* the header has a second pair: its long base line is better than any CLOCK record */
};

/* Prepares to convert ticks to time.  False: the header gives neither a rate nor a second pair (1 tick = 1 ns is
   assumed). */
bool sw_trace_clock_start(struct sw_trace_clock *clock, const struct sw_file_header *header);

/* Takes a CLOCK record: refines the rate where the header could not (the program was killed before it wrote the last
   pair). */
void sw_clock_pair(struct sw_trace_clock *clock, uint64_t ticks, uint64_t monotonic_ns);

uint64_t sw_clock_ns(const struct sw_trace_clock *clock, uint64_t ticks);
uint64_t sw_clock_duration_ns(const struct sw_trace_clock *clock, uint64_t ticks);

#endif
