/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointer tables in device memory that a launch follows: their content, where it is known. Not thread-safe.
 *
 * A launch finds what the host uploaded there, if the copy is ordered before it and nothing wrote there since, the
 * launch itself included.
 */
#ifndef SW_DETECT_KERNELS_TABLE_READS_H
#define SW_DETECT_KERNELS_TABLE_READS_H

#include "base/memory.h"
#include "detect/detect.h"
#include "footprint/footprint.h"

struct sw_model;
struct sw_kernel;

struct sw_table_read {
	uint64_t lo, hi;
};

/* What the evaluation of one launch read. */
struct sw_table_reads {
	struct sw_model *m;
	SW_VEC(struct sw_table_read) read;
	bool variables; /* some of them are module variables */
};

/* May the kernel follow pointers in memory, and is anything known of memory, now? */
bool sw_table_reads_wanted(const struct sw_model *m, const struct sw_kernel *kernel);
/* What the current launch finds is known from then on; false: nothing.  Evaluates what is deferred. */
bool sw_table_reads_begin(struct sw_table_reads *reads, struct sw_model *m);
void sw_table_reads_end(struct sw_table_reads *reads);
/* The call-back of struct sw_geometry. */
enum sw_memory_content sw_table_read(struct sw_table_reads *reads, uint64_t address, uint32_t bytes, void *out);
/* May the launch write to what it read? */
bool sw_table_reads_overwritten(const struct sw_table_reads *reads, const struct sw_reaches *reaches);

#endif
