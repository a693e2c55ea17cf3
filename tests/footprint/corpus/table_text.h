/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a line of the table. */
#ifndef SW_CORPUS_TABLE_TEXT_H
#define SW_CORPUS_TABLE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct corpus_text {
	const char *path;
	char *at; /* rest of the line */
	int line;
};

/* One line on stderr, exit status 2. */
__attribute__((noreturn)) void corpus_text_fail(const struct corpus_text *text, const char *what);

/* All skip blanks first. */
void corpus_text_blank(struct corpus_text *text);
char corpus_text_peek(struct corpus_text *text);
bool corpus_text_is(struct corpus_text *text, const char *token);  /* eats it if it is there */
bool corpus_text_word(struct corpus_text *text, const char *word); /* likewise, and no letter or digit follows */
void corpus_text_want(struct corpus_text *text, const char *token);
void corpus_text_end(struct corpus_text *text);
int64_t corpus_text_number(struct corpus_text *text);
double corpus_text_real(struct corpus_text *text);
void corpus_text_name(struct corpus_text *text, char *out); /* letters, digits, _ and a leading @; CORPUS_NAME bytes */

#endif
