/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/instructions/ptx/ptx_declare.h"

#include <string.h>

/* No variable is larger than the memory of a device. */
#define MOST_BYTES (1ull << 40)

struct sw_ptx_type sw_ptx_type_of(const char *at, size_t n)
{
	static const struct {
		const char *text;
		struct sw_ptx_type type;
	} types[] = {
#define SW_PTX_TYPE(text, bits, class) {text, {bits, SW_PTX_##class}},
#include "footprint/instructions/ptx/ptx_types.def"
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].text) == n && !memcmp(types[i].text, at, n))
			return types[i].type;
	return (struct sw_ptx_type){0};
}

enum sw_ptx_state sw_ptx_state_of(const struct sw_ptx_lexer *l)
{
	static const char *const states[] = {".reg", ".param", ".local", ".shared", ".global", ".const"};
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (sw_ptx_is(l, states[i]))
			return (enum sw_ptx_state)(SW_PTX_REG + i);
	return SW_PTX_NO_STATE;
}

bool sw_ptx_skip_group(struct sw_ptx_lexer *l)
{
	for (size_t depth = 1; depth;) {
		if (!sw_ptx_next(l))
			return false;
		if (l->n == 1 && strchr("([{", *l->word))
			depth++;
		else if (l->n == 1 && strchr(")]}", *l->word))
			depth--;
	}
	return true;
}

static const char *read_align(struct sw_ptx_lexer *l, uint64_t *align)
{
	if (!sw_ptx_next(l) || !sw_ptx_number(l, 1u << 20, align) || !*align || *align & (*align - 1))
		return "an alignment that is no power of two";
	return NULL;
}

const char *sw_ptx_declaration_begin(struct sw_ptx_lexer *l, struct sw_ptx_declaration *d)
{
	bool pointee = false; /* after .ptr: what follows describes the memory that it points to */
	uint64_t align = 0, pointee_align;
	const char *wrong;
	*d = (struct sw_ptx_declaration){.state = sw_ptx_state_of(l), .vector = 1};
	for (;;) {
		if (!sw_ptx_next(l))
			return "the text ends within a declaration";
		if (*l->word != '.')
			break;
		struct sw_ptx_type type = sw_ptx_type_of(l->word + 1, l->n - 1);
		if (type.bits) {
			d->type = type;
		} else if (sw_ptx_is(l, ".ptr")) {
			pointee = true;
		} else if (sw_ptx_is(l, ".align")) {
			if ((wrong = read_align(l, pointee ? &pointee_align : &align)))
				return wrong;
		} else if (sw_ptx_is(l, ".v2") || sw_ptx_is(l, ".v4") || sw_ptx_is(l, ".v8")) {
			d->vector = (uint32_t)(l->word[2] - '0');
		} else if (sw_ptx_is(l, ".attribute")) {
			if (!sw_ptx_next(l) || !sw_ptx_is(l, "(") || !sw_ptx_skip_group(l))
				return "an attribute without an end";
		}
	}
	if (!d->type.bits)
		return "a declaration without a type that is known";
	uint64_t natural = (d->type.bits + 7u) / 8 * d->vector;
	d->align = align ? align : natural;
	return NULL;
}

static const char *read_sizes(struct sw_ptx_lexer *l, struct sw_ptx_declaration *d)
{
	uint64_t count;
	if (!sw_ptx_next(l))
		return "the text ends within a declaration";
	if (sw_ptx_is(l, "]")) {
		d->bytes = 0;
		return NULL;
	}
	if (!sw_ptx_number(l, MOST_BYTES, &count) || (d->bytes && count > MOST_BYTES / d->bytes))
		return "an array without a length that can be";
	d->bytes *= count;
	return sw_ptx_next(l) && sw_ptx_is(l, "]") ? NULL : "an array length that is no number";
}

const char *sw_ptx_declaration_name(struct sw_ptx_lexer *l, struct sw_ptx_declaration *d)
{
	const char *wrong;
	d->name = l->word;
	d->n = (uint32_t)l->n;
	d->many = 0;
	d->bytes = (d->type.bits + 7u) / 8 * d->vector;
	while (sw_ptx_next(l)) {
		if (sw_ptx_is(l, "<")) {
			if (!sw_ptx_next(l) || !sw_ptx_number(l, UINT32_MAX, &d->many) || !sw_ptx_next(l) ||
			    !sw_ptx_is(l, ">"))
				return "registers without a number";
		} else if (sw_ptx_is(l, "[")) {
			if ((wrong = read_sizes(l, d)))
				return wrong;
		} else {
			return NULL;
		}
	}
	return "the text ends within a declaration";
}
