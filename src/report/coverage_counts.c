/* SPDX-License-Identifier: Apache-2.0 */
#include "report/coverage_counts.h"

bool sw_coverage_count_at(const struct sw_coverage *coverage, size_t i, struct sw_coverage_count *out)
{
	const struct sw_coverage_count rows[] = {
#define SW_COVERAGE(member, key, limit, words, meaning) {coverage->member, limit, words},
#include "detect/coverage.def"
	};
	if (i >= sizeof rows / sizeof *rows)
		return false;
	*out = rows[i];
	return true;
}
