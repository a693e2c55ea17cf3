/* SPDX-License-Identifier: Apache-2.0 */
/* A whole trace file of any bytes: judged, every finding looked at. */
#include <string.h>

#include "detect/detect.h"
#include "fuzz.h"
#include "memory_file.h"

/* Indexes that reports use must exist, or the report reads wild memory. */
static void check_access(const struct sw_judgement *j, const struct sw_access *access)
{
	if (access->stream >= j->streams.n && access->stream)
		abort();
	if (access->allocation > j->allocations.n)
		abort();
	if (access->ranged && access->evidence > SW_EV_EXACT)
		abort();
}

static void check(const struct sw_judgement *j)
{
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct sw_finding *f = &j->findings.at[i];
		if (!sw_finding_info(f->id) || f->accesses > 3 || (f->accesses == 3 && !f->third) || !f->count)
			abort();
		for (uint32_t k = 0; k < f->accesses; k++)
			check_access(j, sw_finding_access(f, k));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_judgement *judgement;
	struct sw_error error;
	uint8_t *open = without_checksums(data, size);
	struct sw_reader *reader = reader_of(open, size);
	free(open);
	if (!reader)
		return 0;
	if (sw_judge(reader, &(struct sw_judge_options){.keep_possible = true, .threads = 1}, &judgement, &error))
		abort(); /* a file that opens is judged to its end */
	check(judgement);
	sw_judgement_free(judgement);
	sw_reader_close(reader);
	return 0;
}
