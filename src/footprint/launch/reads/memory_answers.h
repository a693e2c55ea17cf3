/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an evaluation asked of memory, and what it was told.
 *
 * An evaluation asks in an order that its launch and the answers decide.  A launch that agrees in all that was read of
 * the parameters asks the same, as long as it is told the same.
 */
#ifndef SW_FOOTPRINT_LAUNCH_READS_MEMORY_ANSWERS_H
#define SW_FOOTPRINT_LAUNCH_READS_MEMORY_ANSWERS_H

#include "base/memory.h"
#include "footprint/footprint.h"

/* Different ones of one evaluation; one that asks more is not remembered. */
#define SW_MOST_ANSWERS 256

struct sw_memory_answer {
	uint64_t address, value;
	uint32_t bytes, content; /* enum sw_memory_content */
};

struct sw_memory_answers {
	const struct sw_geometry *launch;
	SW_VEC(struct sw_memory_answer) at; /* in order, each once */
	bool complete;
};

/* The launch, for an evaluation whose questions are noted; valid as long as both. */
struct sw_geometry sw_memory_listen(struct sw_memory_answers *answers, const struct sw_geometry *launch);
/* Is the launch told the same?  Asks until it is not. */
bool sw_memory_tells(const struct sw_geometry *launch, const struct sw_memory_answer *answer, uint32_t n);

#endif
