/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks that a flight recorder still has of a trace. */
#ifndef SW_TOOLS_RUN_WINDOW_H
#define SW_TOOLS_RUN_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syncwatch/format.h"

/* The chunks of the window, each writer's in their order. */
struct sw_window {
	struct sw_window_chunk {
		uint32_t writer, index;
		uint64_t place; /* for read() */
	} * chunk;
	size_t chunks;
	/* The records of a chunk, and how many bytes; at most `room`.  False: it cannot be read. */
	bool (*read)(void *arg, uint64_t place, void *records, uint32_t *bytes, uint32_t room);
	void *arg;
	bool running; /* the program runs: numbers that are taken and not there yet end the trace */
};

/* The next whole record of a chunk; NULL: there is none. */
const struct sw_rec *sw_window_record(const unsigned char *records, uint32_t at, uint32_t bytes);

/* The number at which a trace of the window ends: the last one before which none is missing, if the program runs.
   `after`: the last number that was dropped.  `scratch` has room for a chunk. */
uint64_t sw_window_end_number(const struct sw_window *window, uint64_t after, unsigned char *scratch, uint32_t room);

#endif
