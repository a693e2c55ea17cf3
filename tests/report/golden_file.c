/* SPDX-License-Identifier: Apache-2.0 */
#include "golden_file.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

char *golden_path(const char *name)
{
	const char *source = getenv("top_srcdir");
	return sw_format("%s/tests/report/%s", source ? source : ".", name);
}

/* To the end of the line, a part of a long one. */
static int shown(const char *text)
{
	size_t n = strcspn(text, "\n");
	return n < 200 ? (int)n : 200;
}

/* Check's own comparison ends the test without a word where a text is longer than its messages. */
static void same(const char *path, const char *text, const char *golden)
{
	unsigned line = 1;
	size_t at = 0, begin = 0;
	for (; text[at] && text[at] == golden[at]; at++)
		if (text[at] == '\n') {
			line++;
			begin = at + 1;
		}
	begin = at > begin + 60 ? at - 60 : begin; /* lines of SARIF are long */
	ck_assert_msg(text[at] == golden[at], "%s:%u: '%.*s' instead of '%.*s'", path, line, shown(text + begin),
		      text + begin, shown(golden + begin), golden + begin);
}

void check_golden(const char *name, char *text)
{
	char *path = golden_path(name), *golden = NULL;
	FILE *file = fopen(path, getenv("UPDATE_GOLDEN") ? "w+" : "r");
	size_t room = 0;
	ck_assert_msg(file != NULL, "%s", path);
	if (getenv("UPDATE_GOLDEN"))
		fputs(text, file);
	rewind(file);
	bool empty = getdelim(&golden, &room, 0, file) < 0;
	same(path, text, empty ? "" : golden);
	ck_assert_int_eq(fclose(file), 0);
	free(golden);
	free(path);
	free(text);
}
