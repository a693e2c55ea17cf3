/* SPDX-License-Identifier: Apache-2.0 */
#include "table_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

void corpus_text_fail(const struct corpus_text *text, const char *what)
{
	fprintf(stderr, "%s:%d: %s: '%.40s'\n", text->path, text->line, what, text->at);
	exit(2);
}

void corpus_text_blank(struct corpus_text *text)
{
	while (*text->at == ' ')
		text->at++;
}

char corpus_text_peek(struct corpus_text *text)
{
	corpus_text_blank(text);
	return *text->at;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool corpus_text_is(struct corpus_text *text, const char *token)
{
	size_t n = strlen(token);

	corpus_text_blank(text);
	if (strncmp(text->at, token, n) != 0)
		return false;
	text->at += n;
	return true;
}

bool corpus_text_word(struct corpus_text *text, const char *word)
{
	size_t n = strlen(word);

	corpus_text_blank(text);
	if (strncmp(text->at, word, n) != 0 || is_letter(text->at[n]) || text->at[n] == '[')
		return false;
	text->at += n;
	return true;
}

void corpus_text_want(struct corpus_text *text, const char *token)
{
	if (!corpus_text_is(text, token)) {
		char what[64];

		snprintf(what, sizeof what, "%s wanted", token);
		corpus_text_fail(text, what);
	}
}

void corpus_text_end(struct corpus_text *text)
{
	if (corpus_text_peek(text))
		corpus_text_fail(text, "something is left");
}

int64_t corpus_text_number(struct corpus_text *text)
{
	char *end;
	int64_t value;

	corpus_text_blank(text);
	/* Unsigned 64-bit numbers above INT64_MAX are not needed. */
	value = strtoll(text->at, &end, 10);
	if (end == text->at)
		corpus_text_fail(text, "a number wanted");
	text->at = end;
	return value;
}

double corpus_text_real(struct corpus_text *text)
{
	char *end;
	double value = strtod(text->at, &end);

	if (end == text->at)
		corpus_text_fail(text, "a number wanted");
	text->at = end;
	return value;
}

void corpus_text_name(struct corpus_text *text, char *out)
{
	size_t n = 0;

	corpus_text_blank(text);
	if (*text->at == '@')
		out[n++] = *text->at++;
	while (is_letter(*text->at) && n < CORPUS_NAME - 1)
		out[n++] = *text->at++;
	out[n] = '\0';
	if (!n || is_letter(*text->at))
		corpus_text_fail(text, "a name wanted");
}
