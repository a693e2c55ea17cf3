/* SPDX-License-Identifier: Apache-2.0 */
/* The stretch of a run in which the changed calls lie. */
#ifndef SW_TOOLS_CONFIRM_SAVING_SPANS_H
#define SW_TOOLS_CONFIRM_SAVING_SPANS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/memory.h"
#include "confirm/bootstrap.h"

struct sw_mark {
	uint32_t site, nth;
	uint64_t ns;
};
/* Marks of one run.  Work that is done once is no part of the times. */
struct sw_marks {
	SW_VEC(struct sw_mark) at;
	uint64_t end_ns;  /* when the host had waited after the last of them */
	uint64_t once_ns; /* what the changes did once */
	uint64_t lost;	  /* calls for which there was no room */
};
/* From the first of the calls to the end of the wait after the last: what pairs of runs took there. */
struct sw_saving_stretch {
	struct sw_interval saved;
	int64_t base_ns; /* without the change */
	size_t parts;	 /* between two such calls; 0: the runs have none in common */
	size_t left_out; /* of these, those in which runs differ anyway */
	int64_t left_out_ns;
};
void sw_marks_free(struct sw_marks *marks);
void sw_saving_compare(const struct sw_marks *base, const struct sw_marks *with, size_t pairs, FILE *log,
		       struct sw_saving_stretch *out);

#endif
