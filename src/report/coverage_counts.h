/* SPDX-License-Identifier: Apache-2.0 */
/* What a report must say of its own limits: the rows of detect/coverage.def that have words. */
#ifndef SW_REPORT_COVERAGE_COUNTS_H
#define SW_REPORT_COVERAGE_COUNTS_H

#include "detect/detect.h"

/* From here on a row is a limit of syncwatch that the run has hit. */
#define SW_COVERAGE_FIRST_LINES 100

struct sw_coverage_count {
	uint64_t n;
	unsigned place; /* among the lines of the text report, 0 in none */
	const char *what;
};

/* Row i of the table; false beyond the last one. */
bool sw_coverage_count_at(const struct sw_coverage *coverage, size_t i, struct sw_coverage_count *out);

#endif
