/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a suite of Check: what main() of each suite ends with. */
#ifndef TESTS_RUN_SUITE_H
#define TESTS_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

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
