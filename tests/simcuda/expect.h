/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations of a test program: those that fail are named and counted, and the program continues. */
#ifndef TESTS_SIMCUDA_EXPECT_H
#define TESTS_SIMCUDA_EXPECT_H

#include <stdio.h>

static int failures;

#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
			failures++;                                                                                    \
		}                                                                                                      \
	} while (0)

#endif
