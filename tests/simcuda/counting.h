/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of counting.c. */
#ifndef TESTS_SIMCUDA_COUNTING_H
#define TESTS_SIMCUDA_COUNTING_H

#include <stdbool.h>

#define COUNTED_MAX 1024

struct counted {
	char name[64];
	int version;	   /* asked for */
	bool per_thread;   /* asked for with flag 2 */
	bool has_variants; /* legacy and per-thread differ */
	long calls;
};

int counted_entries(struct counted **out);
void counted_reset(void);

#endif
