/* SPDX-License-Identifier: Apache-2.0 */
#include "base/counted.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes a count and its words: of each "{one|many}" only the part that agrees with n. */
void sw_counted(char *text, size_t bytes, uint64_t n, const char *words)
{
	int digits = snprintf(text, bytes, "%" PRIu64 " ", n);
	size_t at = digits < 0 ? 0 : (size_t)digits;
	bool writes = true;
	for (const char *c = words; *c && at + 1 < bytes; c++) {
		if (*c == '{')
			writes = n == 1;
		else if (*c == '|')
			writes = n != 1;
		else if (*c == '}')
			writes = true;
		else if (writes)
			text[at++] = *c;
	}
	if (at < bytes)
		text[at] = '\0';
}
