/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_TESTS_GOLDEN_FILE_H
#define SW_TESTS_GOLDEN_FILE_H

/* The path of tests/report/NAME; malloc'ed. */
char *golden_path(const char *name);
/*
 * Fails the test if the text is not that of tests/report/NAME; frees it.  UPDATE_GOLDEN=1 writes the file instead: look
 * at the difference before committing it.
 */
void check_golden(const char *name, char *text);

#endif
