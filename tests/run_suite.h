/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that suites of Check share: how main() ends, and whether a sanitizer's allocator and signal handlers are in
   place. */
#ifndef TESTS_RUN_SUITE_H
#define TESTS_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

#include "base/signal_stack.h"

#ifdef SW_BASE_SANITIZED
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* How main() exits.  CK_VERBOSITY, CK_RUN_CASE and the like choose as for any suite. */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
