/* SPDX-License-Identifier: Apache-2.0 */
/* The traces that a run left: one for each process that called CUDA. */
#ifndef SW_TOOLS_TRACES_H
#define SW_TOOLS_TRACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct sw_made_trace {
	char *path;
	uint32_t pid;
	uint64_t start_ns; /* CLOCK_REALTIME */
};

struct sw_made_traces {
	SW_VEC(struct sw_made_trace) at; /* in the order of their start */
};

/*
 * Finds the traces that were started at `path` not before `since_ns`: the recorder never overwrites a file, but calls
 * the next one FILE-2.swt, FILE-3.swt and so on.  What is there but no trace is not counted.
 */
void sw_traces_find(struct sw_made_traces *traces, const char *path, uint64_t since_ns);
void sw_traces_free(struct sw_made_traces *traces);

#endif
