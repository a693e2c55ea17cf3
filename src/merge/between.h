/* SPDX-License-Identifier: Apache-2.0 */
/* Findings between the ranks: collectives that do not match, and late ranks. Made when all is merged. */
#ifndef SW_MERGE_BETWEEN_H
#define SW_MERGE_BETWEEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "detect/detect.h"

struct sw_merged;
struct sw_merged_rank;

/* A row of merge/findings.def. */
struct sw_between_info {
	int number;
	const char *kind, *title, *text;
};
const struct sw_between_info *sw_between_info(int number);
const struct sw_between_info *sw_between_info_at(size_t index); /* NULL ends */

struct sw_between {
	int number;
	enum sw_severity severity;
	const char *confidence;
	uint64_t fingerprint;
	char *title, *text; /* one line; the rest */
	SW_VEC(struct sw_merged_rank *) ranks;
};

/* The clock of a machine: its CLOCK_MONOTONIC plus offset is that of the first rank's machine. */
struct sw_merged_clock {
	const char *boot, *host;
	int64_t offset_ns;
	uint64_t error_ns;    /* UINT64_MAX: not known */
	uint64_t collectives; /* that bound it */
};

void sw_between_find(struct sw_merged *merged);

/* For the files of this module. */
void sw_merged_find_clocks(struct sw_merged *merged);
void sw_between_stragglers(struct sw_merged *merged);
struct sw_between *sw_between_add(struct sw_merged *merged, int number, enum sw_severity severity,
				  const char *confidence, uint64_t what);

#endif
