/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names as people write them. */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "report/symbols/names.h"

#ifdef HAVE_DEMANGLE
/* Declared here because <cxxabi.h> is a C++ header; the symbol is part of the Itanium C++ ABI. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);
#endif

char *sw_demangle(const char *name)
{
#ifdef HAVE_DEMANGLE
	/* Anything that does not start so is a plain name: "f" would be demangled as the type "float". */
	if (strncmp(name, "_Z", 2) == 0) {
		int status = 0;
		char *plain = __cxa_demangle(name, NULL, NULL, &status);
		if (plain)
			return plain;
	}
#endif
	return sw_strdup(name);
}

/* Does the parenthesis at `at` belong to a name ("(anonymous namespace)", "operator()") rather than open parameters? */
static bool part_of_name(const char *text, const char *at)
{
	static const char anonymous[] = "(anonymous namespace)", call[] = "operator";
	if (strncmp(at, anonymous, sizeof anonymous - 1) == 0)
		return true;
	size_t before = (size_t)(at - text);
	return at[1] == ')' && before >= sizeof call - 1 && strncmp(at - (sizeof call - 1), call, sizeof call - 1) == 0;
}

/* Where the parameters of a function begin in its demangled name, else its end. */
static size_t name_end(const char *text)
{
	int angle = 0;
	for (const char *p = text; *p; p++) {
		if (strncmp(p, "operator", 8) == 0 && (p[8] == '<' || p[8] == '>' || p[8] == '-')) {
			p += 8;
			while (p[1] == '<' || p[1] == '>' || p[1] == '=')
				p++;
			continue;
		}
		if (*p == '<') {
			angle++;
		} else if (*p == '>') {
			angle -= angle > 0;
		} else if (*p == '(' && angle == 0) {
			if (!part_of_name(text, p))
				return (size_t)(p - text);
			p = strchr(p, ')');
		}
	}
	return strlen(text);
}

/* Start of "operator..." in the name, `end` if it is none: blanks and brackets after it belong to the name.  One among
   template arguments (lambdas of PyTorch's kernels) is not the name. */
static size_t operator_at(const char *text, size_t end)
{
	int depth = 0;
	for (size_t i = 0; i < end; i++) {
		depth += text[i] == '<';
		depth -= text[i] == '>';
		if (depth == 0 && strncmp(text + i, "operator", 8) == 0 &&
		    (i == 0 || text[i - 1] == ' ' || text[i - 1] == ':'))
			return i;
	}
	return end;
}

/* Where the template arguments that end at `end` begin; `end` if there are none. */
static size_t arguments_at(const char *text, size_t end)
{
	int depth = 0;
	if (end == 0 || text[end - 1] != '>')
		return end;
	for (size_t i = end; i-- > 1;) {
		depth += text[i] == '>';
		depth -= text[i] == '<';
		if (depth == 0)
			return i;
	}
	return end;
}

/* Where the function's name begins, after the return type: after the last blank before `end` that is in no bracket. */
static size_t name_start(const char *text, size_t end)
{
	int depth = 0;
	while (end > 0) {
		char c = text[end - 1];
		depth += c == '>' || c == ')';
		depth -= c == '<' || c == '(';
		if (c == ' ' && depth == 0)
			break;
		end--;
	}
	return end;
}

char *sw_demangled_base(const char *demangled)
{
	size_t end = name_end(demangled);
	size_t call = operator_at(demangled, end);
	if (call == end)
		call = end = arguments_at(demangled, end);
	size_t start = name_start(demangled, call);
	return sw_strndup(demangled + start, end - start);
}
