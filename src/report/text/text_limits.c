/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of recording or judging that the run has hit: findings may be missing, so they stand in the first lines. */
#include <inttypes.h>

#include "report/text/text.h"

void sw_text_limits_hit(struct sw_text *t)
{
	const struct sw_coverage *coverage = &t->report->judgement->coverage;
	const struct {
		uint64_t n;
		unsigned place;
		const char *what;
	} counters[] = {
#define SW_COVERAGE(member, key, limit, words, meaning) {coverage->member, limit, words},
#include "detect/coverage.def"
	};
	bool any = false;
	for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
		if (counters[i].place < SW_COVERAGE_FIRST_LINES || !counters[i].n)
			continue;
		if (!any) {
			sw_out_coloured(&t->out, SW_YELLOW,
					"syncwatch: limits of syncwatch were reached: findings may be missing");
			putc('\n', t->out.file);
		}
		any = true;
		sw_text_line(t, "limit:", sw_names_format(t->names, "%" PRIu64 " %s", counters[i].n, counters[i].what));
	}
	if (any)
		putc('\n', t->out.file);
}
