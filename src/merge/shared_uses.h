/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes do with memory that they share: uses that nothing orders. */
#ifndef SW_MERGE_SHARED_USES_H
#define SW_MERGE_SHARED_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

struct sw_merged;
struct sw_merged_rank;
struct sw_report;

/* As struct sw_shared_use; times are of CLOCK_MONOTONIC, 0 where it never happened. */
struct sw_merged_use {
	struct sw_merged_rank *process;
	uint64_t handle, lo, hi;
	uint64_t call_ns, learnt_ns, known_ns, signalled_ns, signalled_more_ns, waited_ns;
	uint32_t signalled_event, waited_event;
	bool reads, writes, atomic, learning;
	uint64_t site; /* the same for all calls of one line, 0 unknown */
	char *what;    /* "kernel scale (demo.cu:28)" */
};
typedef SW_VEC(struct sw_merged_use) sw_merged_uses;

/* Those that the judgement of the report lists. */
void sw_merged_uses_take(sw_merged_uses *uses, struct sw_merged_rank *process, struct sw_report *report);
void sw_merged_uses_join(sw_merged_uses *to, sw_merged_uses *from); /* `from` is empty afterwards */
void sw_merged_uses_sort(sw_merged_uses *uses);
void sw_merged_uses_free(sw_merged_uses *uses);

struct sw_access;
/* "cudaFree (demo.cu:28)"; the caller frees it. */
char *sw_merged_call_text(struct sw_report *report, const struct sw_access *call);

/* A moment of one process on the clock of another of the same machine, and how far both can be apart. */
uint64_t sw_shared_moment(const struct sw_merged_rank *of, const struct sw_merged_rank *on, uint64_t ns);
uint64_t sw_shared_moment_error(const struct sw_merged_rank *a, const struct sw_merged_rank *b);

/* Finds the pairs that nothing orders; the handles must be known to be of one allocation each. */
void sw_between_uses(struct sw_merged *merged);

#endif
