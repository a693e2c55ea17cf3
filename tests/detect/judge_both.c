/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges traces twice, with what each launch touches worked out at once and only where it matters, and compares.
 *
 *     tests/detect/judge_both FILE...
 *
 * Prints for each trace how many launches it has, how many were worked out, and the processor time of both.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "detect/both_modes.h"

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct sw_judgement *judge(const char *path, bool all, double *took)
{
	struct sw_judge_options options = {
		.fold_below_ns = 100000, .keep_possible = true, .evaluate_all = all, .cache = "", .threads = 1};
	struct sw_reader *reader;
	struct sw_judgement *judgement;
	struct sw_error error;
	double from = seconds();
	if (sw_reader_open(path, &reader, &error)) {
		fprintf(stderr, "%s\n", error.text);
		exit(1);
	}
	/* A damaged trace is judged as far as it goes. */
	if (sw_judge(reader, &options, &judgement, &error))
		fprintf(stderr, "%s: %s\n", path, error.text);
	sw_reader_close(reader);
	*took = seconds() - from;
	return judgement;
}

static bool compare(const char *path)
{
	double one, other;
	struct sw_judgement *at_once = judge(path, true, &one), *late = judge(path, false, &other);
	bool same = at_once && late && same_judgements(at_once, late, path);
	const char *name = strrchr(path, '/');
	if (at_once && late)
		printf("%s %s: %" PRIu64 " launches, %" PRIu64 " of %" PRIu64 " worked out, %.2f s and %.2f s\n",
		       same ? "ok" : "FAIL", name ? name + 1 : path, late->coverage.launches,
		       late->coverage.launches_evaluated, at_once->coverage.launches_evaluated, one, other);
	if (at_once)
		sw_judgement_free(at_once);
	if (late)
		sw_judgement_free(late);
	return same;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++) {
		failed |= !compare(argv[i]);
		fflush(stdout);
	}
	return failed;
}
