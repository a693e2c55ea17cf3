/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of PTX text and how their parameters lie. */
#include "image/ptx.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/memory.h"
#include "image/image.h"

/*
 * Words of PTX text.  Comments, strings and the rest of .loc and .file lines (which end at the newline, not at a
 * semicolon) are passed over.
 */

struct sw_ptx_lexer sw_ptx_lexer(const void *text, size_t size)
{
	const char *end = size ? memchr(text, 0, size) : NULL;
	return (struct sw_ptx_lexer){.at = text, .end = end ? end : (const char *)text + size};
}

/* Can the character be part of a word?  Letters, digits, _ $ % (PTX ISA, "Identifiers"); directives and types begin
   with a dot. */
static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* Passes over the rest of the line. */
static void to_newline(struct sw_ptx_lexer *l)
{
	const char *nl = memchr(l->at, '\n', (size_t)(l->end - l->at));
	l->at = nl ? nl : l->end;
}

/* Passes over all up to the mark and over it; without one, over the rest of the text. */
static void skip_past(struct sw_ptx_lexer *l, const char *mark, size_t n)
{
	const char *found = memmem(l->at, (size_t)(l->end - l->at), mark, n);
	l->at = found ? found + n : l->end;
}

/* Does the text go on with this? */
static bool starts_with(const struct sw_ptx_lexer *l, const char *with)
{
	size_t n = strlen(with);
	return (size_t)(l->end - l->at) >= n && !memcmp(l->at, with, n);
}

/* Passes over blanks, comments and strings. */
static void skip_blanks(struct sw_ptx_lexer *l)
{
	while (l->at < l->end) {
		if (isspace((unsigned char)*l->at)) {
			l->at++;
		} else if (starts_with(l, "//")) {
			to_newline(l);
		} else if (starts_with(l, "/*")) {
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

/* CUDA C++ Programming Guide, "Function Parameters": 32764 bytes from sm_70 on. */
#define BLOCK_MAX 32764

/* The parameters of the entry that is being read. */
struct entry {
	SW_VEC(struct sw_param) params;
	uint64_t bytes; /* of the block so far */
};

/* The size of a type, 0 for a word that is none.  PTX ISA, "Fundamental Types" and "Opaque Types" (which are 64-bit
   handles as parameters). */
static unsigned type_bytes(const struct sw_ptx_lexer *l)
{
	static const struct {
		const char *name;
		unsigned bytes;
	} types[] = {
		{".b8", 1},    {".u8", 1},     {".s8", 1},	   {".b16", 2},	    {".u16", 2}, {".s16", 2},
		{".f16", 2},   {".bf16", 2},   {".b32", 4},	   {".u32", 4},	    {".s32", 4}, {".f32", 4},
		{".f16x2", 4}, {".bf16x2", 4}, {".b64", 8},	   {".u64", 8},	    {".s64", 8}, {".f64", 8},
		{".b128", 16}, {".texref", 8}, {".samplerref", 8}, {".surfref", 8},
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (sw_ptx_is(l, types[i].name))
			return types[i].bytes;
	return 0;
}

/* Fills the error with the place where the lexer stands and what is wrong there. */
static int fail_at(const struct sw_ptx_lexer *l, const char *text, const char *what, struct sw_error *error)
{
	return sw_fail(error, SW_E_FORMAT, "PTX: offset %zu: %s", (size_t)(l->at - text), what);
}

/* Reads one parameter and appends its place: .param [.align N] type [.ptr [.space] [.align N]] name [ "[" count "]"
   ]..., the lexer stands on .param.  On return it stands on the comma or parenthesis after it. */
static int read_param(struct sw_ptx_lexer *l, const char *text, struct entry *e, struct sw_error *error)
{
	uint64_t bytes = 0, align = 0, number;
	bool pointee = false;
	while (sw_ptx_next(l) && !sw_ptx_is(l, ",") && !sw_ptx_is(l, ")")) {
		unsigned type = type_bytes(l);
		if (type) {
			bytes = type;
		} else if (sw_ptx_is(l, ".ptr")) {
			pointee = true; /* what follows describes what it points to */
		} else if (sw_ptx_is(l, ".align")) {
			if (!sw_ptx_next(l) || !sw_ptx_number(l, 1024, &number) || !number || number & (number - 1))
				return fail_at(l, text, "an alignment that is no power of two", error);
			if (!pointee)
				align = number;
		} else if (sw_ptx_is(l, "[")) {
			if (!sw_ptx_next(l) || !sw_ptx_number(l, BLOCK_MAX, &number) || number * bytes > BLOCK_MAX)
				return fail_at(l, text, "an array parameter without a length that a kernel can have",
					       error);
			if (!align)
				align = bytes;
			bytes *= number;
		} else if (sw_ptx_is(l, ".v2") || sw_ptx_is(l, ".v4")) {
			return fail_at(l, text, "a vector as a parameter", error);
		}
	}
	if (!bytes)
		return fail_at(l, text, "a parameter without a type that is known", error);
	if (!align)
		align = bytes;
	e->bytes = (e->bytes + align - 1) & ~(align - 1);
	if (e->bytes + bytes > BLOCK_MAX)
		return fail_at(l, text, "more parameter bytes than a kernel can have", error);
	*sw_vec_push(&e->params) = (struct sw_param){(uint16_t)e->bytes, (uint16_t)bytes};
	e->bytes += bytes;
	return 0;
}

/* Reads the parameters of an entry; the lexer stands on its name.  Kernels without parameters may leave the
   parentheses out. */
static int read_params(struct sw_ptx_lexer *l, const char *text, struct entry *e, struct sw_error *error)
{
	int rc;
	e->params.n = 0;
	e->bytes = 0;
	if (!sw_ptx_next(l))
		return fail_at(l, text, "the text ends within an entry", error);
	if (!sw_ptx_is(l, "("))
		return 0;
	while (sw_ptx_next(l) && !sw_ptx_is(l, ")")) {
		if (!sw_ptx_is(l, ".param"))
			return fail_at(l, text, ".param is missing", error);
		if ((rc = read_param(l, text, e, error)))
			return rc;
		if (sw_ptx_is(l, ")"))
			return 0;
	}
	return sw_ptx_is(l, ")") ? 0 : fail_at(l, text, "the text ends within an entry's parameters", error);
}

int sw_ptx_walk(const char *ptx, size_t size, int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg,
		struct sw_error *error)
{
	struct sw_ptx_lexer l = sw_ptx_lexer(ptx, size);
	struct entry e = {0};
	int rc = 0;
	while (!rc && sw_ptx_next(&l)) {
		if (!sw_ptx_is(&l, ".entry"))
			continue;
		if (!sw_ptx_next(&l)) {
			rc = fail_at(&l, ptx, "the text ends within an entry", error);
			break;
		}
		char *name = sw_strndup(l.word, l.n);
		rc = read_params(&l, ptx, &e, error);
		if (!rc)
			rc = each(arg, &(struct sw_cubin_kernel){
					       .name = name,
					       .params = (uint32_t)e.params.n,
					       .param = e.params.at,
					       .param_bytes = (uint32_t)e.bytes,
				       });
		free(name);
	}
	free(e.params.at);
	return rc;
}
