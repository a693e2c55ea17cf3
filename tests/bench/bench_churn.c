/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the analyser over a run that makes and ends streams, events, allocations and graphs without end.
 *
 *     tests/bench/bench_churn [OPERATIONS]        default 100000000
 *
 * A line for each tenth: resident memory, heap, operations a second (processor time of reading and judging; writing the
 * trace is not counted).
 */
#include <stdio.h>
#include <stdlib.h>

#include "detect/churn.h"

static long resident_kib(void)
{
	long pages[2] = {0};
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%ld %ld", &pages[0], &pages[1]) != 2)
		pages[1] = 0;
	if (f)
		fclose(f);
	return pages[1] * 4;
}

int main(int argc, char **argv)
{
	uint64_t operations = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
	struct churn churn;
	churn_start(&churn);
	printf("%12s %12s %12s %10s %9s\n", "operations", "resident KiB", "heap KiB", "Mop/s", "findings");
	for (uint64_t tenth = 1; tenth <= 10; tenth++) {
		while (churn.operations < operations / 10 * tenth)
			churn_go_on(&churn, 1024);
		printf("%12llu %12ld %12llu %10.2f %9zu\n", (unsigned long long)churn.operations, resident_kib(),
		       (unsigned long long)(churn_heap() >> 10), (double)churn.operations / churn.seconds * 1e-6,
		       churn.judgement.findings.n);
		fflush(stdout);
	}
	churn_end(&churn);
	printf("%u errors, %u warnings, %u notes\n", churn.judgement.errors, churn.judgement.warnings,
	       churn.judgement.notes);
	return 0;
}
