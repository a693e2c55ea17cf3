/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

/* Fills *error, if there is one, and returns the code: for "return sw_fail(...)". */
int sw_fail(struct sw_error *error, int code, const char *format, ...)
{
	if (error) {
		va_list ap;
		error->code = code;
		va_start(ap, format);
		vsnprintf(error->text, sizeof error->text, format, ap);
		va_end(ap);
	}
	return code;
}
