/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank of a job a process was, by the variables that its launcher had set. */
#ifndef SW_READER_RANKS_H
#define SW_READER_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "reader/reader.h"

struct sw_rank {
	uint32_t rank, size; /* size 0: unknown */
	uint32_t restart;    /* how often torchrun had restarted its workers */
	const char *source;  /* the variable */
	const char *job;     /* "" unknown */
};

/* Finds the rank of the recorded process.  False: it had none, or the trace does not say (before minor 9). */
bool sw_rank_of(const struct sw_trace_environment *environment, struct sw_rank *out);

/* Finds the rank of this process, which the launcher of `syncwatch merge` gave it; false: it has none. */
bool sw_rank_own(struct sw_rank *out);

#endif
