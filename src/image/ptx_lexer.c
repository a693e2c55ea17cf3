/* SPDX-License-Identifier: Apache-2.0 */
#include "image/ptx_lexer.h"

#include <ctype.h>

struct sw_ptx_lexer sw_ptx_lexer(const void *text, size_t size)
{
	const char *end = size ? memchr(text, 0, size) : NULL;
	return (struct sw_ptx_lexer){.at = text, .end = end ? end : (const char *)text + size};
}

/* PTX ISA, "Identifiers": letters, digits, _ $ %; directives and types begin with a dot. */
static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static void to_newline(struct sw_ptx_lexer *l)
{
	const char *nl = memchr(l->at, '\n', (size_t)(l->end - l->at));
	l->at = nl ? nl : l->end;
}

static void skip_past(struct sw_ptx_lexer *l, const char *mark, size_t n)
{
	const char *found = memmem(l->at, (size_t)(l->end - l->at), mark, n);
	l->at = found ? found + n : l->end;
}

static bool starts(const struct sw_ptx_lexer *l, const char *with)
{
	size_t n = strlen(with);
	return (size_t)(l->end - l->at) >= n && !memcmp(l->at, with, n);
}

static void skip_blanks(struct sw_ptx_lexer *l)
{
	while (l->at < l->end) {
		if (isspace((unsigned char)*l->at)) {
			l->at++;
		} else if (starts(l, "//")) {
			to_newline(l);
		} else if (starts(l, "/*")) {
			l->at += 2;
			skip_past(l, "*/", 2);
		} else if (*l->at == '"') {
			l->at++;
			skip_past(l, "\"", 1);
		} else {
			return;
		}
	}
}

bool sw_ptx_next(struct sw_ptx_lexer *l)
{
	for (;;) {
		skip_blanks(l);
		if (l->at == l->end)
			return false;
		l->word = l->at;
		/* ".param.u64" is two directives, "ld.param.u64" one opcode. */
		bool directive = *l->word == '.';
		do
			l->at++;
		while (in_word(*l->word) && l->at < l->end && in_word(*l->at) && !(directive && *l->at == '.'));
		l->n = (size_t)(l->at - l->word);
		if (!sw_ptx_is(l, ".loc") && !sw_ptx_is(l, ".file"))
			return true;
		to_newline(l);
	}
}

bool sw_ptx_number(const struct sw_ptx_lexer *l, uint64_t most, uint64_t *out)
{
	const char *p = l->word, *end = p + l->n;
	unsigned base = 10;
	uint64_t value = 0;
	if (l->n > 2 && p[0] == '0' && (p[1] | 32) == 'x')
		base = 16, p += 2;
	else if (l->n > 2 && p[0] == '0' && (p[1] | 32) == 'b')
		base = 2, p += 2;
	else if (l->n > 1 && p[0] == '0')
		base = 8, p++;
	if (end > p && end[-1] == 'U')
		end--;
	if (p == end)
		return false;
	for (; p < end; p++) {
		unsigned digit = isdigit((unsigned char)*p)    ? (unsigned)(*p - '0')
				 : isxdigit((unsigned char)*p) ? (unsigned)((*p | 32) - 'a' + 10)
							       : 99;
		if (digit >= base)
			return false;
		value = value * base + digit;
		if (value > most)
			return false;
	}
	*out = value;
	return true;
}
