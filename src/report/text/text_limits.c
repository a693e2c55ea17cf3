/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of recording or judging that the run has hit: findings may be missing, so they stand in the first lines. */
#include <inttypes.h>

#include "report/coverage_counts.h"
#include "report/text/text.h"

void sw_text_limits_hit(struct sw_text *t)
{
	struct sw_coverage_count count;
	bool any = false;
	for (size_t i = 0; sw_coverage_count_at(&t->report->judgement->coverage, i, &count); i++) {
		if (count.place < SW_COVERAGE_FIRST_LINES || !count.n)
			continue;
		if (!any) {
			sw_out_coloured(&t->out, SW_YELLOW,
					"syncwatch: limits of syncwatch were reached: findings may be missing");
			putc('\n', t->out.file);
		}
		any = true;
		sw_text_line(t, "limit:", sw_names_format(t->names, "%" PRIu64 " %s", count.n, count.what));
	}
	if (any)
		putc('\n', t->out.file);
}
