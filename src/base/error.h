/* SPDX-License-Identifier: Apache-2.0 */
/* One error with its text, filled by the function that failed and printed by the caller that ends because of it. */
#ifndef SW_BASE_ERROR_H
#define SW_BASE_ERROR_H

struct sw_error {
	int code;	/* -errno, or SW_E_* below */
	char text[480]; /* one line, without newline; UTF-8 */
};

/* Codes besides -errno (which are small negative numbers). */
enum {
	SW_E_FORMAT = -10001,  /* input is not what it should be: text names the place */
	SW_E_VERSION = -10002, /* input is of a newer version */
	SW_E_USAGE = -10003,   /* wrong options */
	SW_E_UNSUPPORTED = -10004
};

/* Fills *error (may be NULL) and returns code, so that `return sw_fail(error, -EINVAL, "...")` reads well. */
int sw_fail(struct sw_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
