/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of PTX text.  Comments, strings and the rest of .loc and .file lines (which end at the newline, not at a
 * semicolon) are passed over.
 */
#ifndef SW_IMAGE_PTX_H
#define SW_IMAGE_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sw_ptx_lexer {
	const char *at, *end;
	const char *word; /* the current word: an identifier or directive, a number, or one other character */
	size_t n;
};

/* Before the first word; the text is borrowed and need not end with a NUL. */
struct sw_ptx_lexer sw_ptx_lexer(const void *text, size_t size);
/* Moves on to the next word.  False at the end of the text (or its first NUL: fatbins pad with them). */
bool sw_ptx_next(struct sw_ptx_lexer *lexer);

/* Is this the current word? */
static inline bool sw_ptx_is(const struct sw_ptx_lexer *lexer, const char *word)
{
	return strlen(word) == lexer->n && !memcmp(lexer->word, word, lexer->n);
}

/* The current word as a decimal, hexadecimal, octal or binary number; false when it is none or above `most`. */
bool sw_ptx_number(const struct sw_ptx_lexer *lexer, uint64_t most, uint64_t *out);

#endif
