/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's parameters by the C++ runtime's demangler, to compare with sw_signature_of(). */
#ifndef TESTS_IMAGE_DEMANGLED_H
#define TESTS_IMAGE_DEMANGLED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern char *__cxa_demangle(const char *mangled, char *out, size_t *bytes, int *status);

static inline bool ends_with(const char *text, size_t n, const char *end)
{
	return n > strlen(end) && !strncmp(text + n - strlen(end), end, strlen(end));
}

/*
 * One letter for each parameter: c pointer to const, * other pointer, v anything else.  Returns their number, 0 when
 * the name can't be demangled or has none.
 */
static inline size_t demangled_signature(const char *mangled, char *out, size_t room)
{
	int status = 0, depth = 0;
	char *text = __cxa_demangle(mangled, NULL, NULL, &status);
	size_t n = 0, length = text ? strlen(text) : 0;
	if (!length || text[length - 1] != ')') {
		free(text);
		return 0;
	}
	char *end = text + length - 1, *open = end;
	/* Back to the parenthesis that opens the parameters. */
	for (; open > text; open--) {
		depth += (*open == ')' || *open == '>') - (*open == '(' || *open == '<');
		if (!depth)
			break;
	}
	for (char *start = open + 1; start < end && n + 1 < room; n++) {
		char *stop = start;
		for (depth = 0; stop < end && (depth || *stop != ','); stop++)
			depth += (*stop == '(' || *stop == '<') - (*stop == ')' || *stop == '>');
		size_t bytes = (size_t)(stop - start);
		bool to_const = ends_with(start, bytes, " const*") || ends_with(start, bytes, " const volatile*");
		out[n] = to_const ? 'c' : stop[-1] == '*' ? '*' : 'v';
		start = stop + (stop < end ? 2 : 0);
	}
	out[n] = 0;
	free(text);
	return n;
}

#endif
