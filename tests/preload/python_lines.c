/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables as Python reads them: compares with what lines.py printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/python/python.h"

static const char bytes_type;
static const struct sw_python_types types = {.bytes = &bytes_type};

/* A bytes object that holds what these hexadecimal digits say. */
static void make(char *object, const struct sw_python_layout *at, const char *digits)
{
	const void *type = &bytes_type;
	uint64_t n = 0;
	for (unsigned byte; sscanf(digits + 2 * n, "%2x", &byte) == 1; n++)
		object[at->bytes_data + n] = (char)byte;
	memcpy(object + at->type, &type, sizeof type);
	memcpy(object + at->bytes_length, &n, sizeof n);
}

/* How many of the lines are others. */
static unsigned compare(const char *text, char *object, unsigned *compared)
{
	struct sw_python_layout at = {.type = 8, .bytes_length = 16, .bytes_data = 32};
	unsigned format, first, wrong = 0;
	int n, offset, line;
	if (sscanf(text, "%u %u %n", &format, &first, &n) != 2)
		return 1;
	text += n;
	make(object, &at, text);
	text += strcspn(text, " ");
	const struct sw_python_table table = sw_python_table_of(&at, &types, object);
	struct sw_python_entry last = {0};
	for (; sscanf(text, " %d:%d%n", &offset, &line, &n) == 2; text += n, ++*compared) {
		/* In order, with steps back; now and then from the beginning. */
		sw_python_line((enum sw_python_format)format, &table, first, offset / 2 & ~1,
			       *compared % 3 ? &last : &(struct sw_python_entry){0});
		if (*compared % 5 == 0)
			last = (struct sw_python_entry){0};
		const uint32_t found = sw_python_line((enum sw_python_format)format, &table, first, offset, &last);
		if (found != (uint32_t)(line > 0 ? line : 0) && wrong++ < 3)
			printf("first line %u, offset %d: %u, Python says %d\n", first, offset, found, line);
	}
	return wrong;
}

int main(void)
{
	char *line = NULL, *object = malloc(1u << 24);
	size_t room = 0;
	unsigned compared = 0, wrong = 0;
	while (object && getline(&line, &room, stdin) > 0)
		wrong += compare(line, object, &compared);
	free(line);
	free(object);
	printf("%u lines, %u wrong\n", compared, wrong);
	return wrong || compared < 10000;
}
