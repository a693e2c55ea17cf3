/* SPDX-License-Identifier: Apache-2.0 */
#ifndef __clang__
#pragma GCC optimize("Os") /* the preload object has little room */
#endif

#include "base/name_pattern.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define VARIABLE_BYTES 128u /* longest name of a variable, with its NUL */

struct parts {
	struct utsname machine;
	char text[VARIABLE_BYTES]; /* a process id, or the name of a variable */
};

/* The program's name, without anything that a shell would mind. */
static void plain_program(char *out)
{
	size_t n = 0;
	for (const char *p = program_invocation_short_name; *p && n < 64; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
			     *p == '_' || (n && (*p == '.' || *p == '-' || *p == '+'));
		out[n++] = plain ? *p : '_';
	}
	out[n] = 0;
}

/* The replacement of the directive after a percent sign, and its length in the pattern; NULL: it is none. */
static const char *part_of(const char *at, struct parts *parts, size_t *bytes)
{
	const char *end;
	*bytes = 1;
	switch (*at) {
	case '%':
		return "%";
	case 'p':
		snprintf(parts->text, sizeof parts->text, "%d", (int)getpid());
		return parts->text;
	case 'e':
		plain_program(parts->text);
		return parts->text;
	case 'h':
		return uname(&parts->machine) ? "" : parts->machine.nodename;
	case 'q':
		end = at[1] == '{' ? strchr(at, '}') : NULL;
		if (!end || end - at - 2 >= (ptrdiff_t)sizeof parts->text)
			return NULL;
		*bytes = (size_t)(end - at) + 1;
		memcpy(parts->text, at + 2, *bytes - 3);
		parts->text[*bytes - 3] = 0;
		const char *value = getenv(parts->text);
		return value ? value : "";
	default:
		return NULL;
	}
}

/* "%p" is the process, "%e" the program, "%h" the host, "%q{NAME}" a variable; other uses of "%" stay as they are. */
int sw_name_expand(char *out, size_t room, const char *pattern)
{
	struct parts parts;
	size_t bytes, n;
	while (*pattern) {
		const char *text = *pattern == '%' ? part_of(pattern + 1, &parts, &bytes) : NULL;
		n = text ? strlen(text) : 1;
		if (n >= room)
			return -ENAMETOOLONG;
		memcpy(out, text ? text : pattern, n);
		out += n;
		room -= n;
		pattern += text ? bytes + 1 : 1;
	}
	*out = 0;
	return 0;
}
