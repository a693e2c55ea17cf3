/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a launch: the parameter block, laid out as C does. */
#include "table_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct {
	const char *name;
	uint8_t bytes;
	bool floating;
} scalars[] = {
	{"i8", 1, false},  {"u8", 1, false},  {"i16", 2, false}, {"u16", 2, false}, {"i32", 4, false},
	{"u32", 4, false}, {"i64", 8, false}, {"u64", 8, false}, {"f32", 4, true},  {"f64", 8, true},
};

/* Where the parts of a parameter go. */
struct place {
	struct corpus_launch *launch;
	size_t at;
	size_t align; /* largest seen, of the struct being read */
	bool packed;
};

static size_t place_bytes(struct corpus_text *text, struct place *place, size_t bytes, size_t align)
{
	size_t at;

	if (place->packed)
		align = 1;
	at = (place->at + align - 1) / align * align;
	if (at + bytes > CORPUS_MAX_BLOCK)
		corpus_text_fail(text, "parameters are too large");
	place->at = at + bytes;
	if (align > place->align)
		place->align = align;
	return at;
}

static void read_scalar(struct corpus_text *text, struct place *place, size_t bytes, bool floating)
{
	size_t at = place_bytes(text, place, bytes, bytes);
	uint8_t *out = place->launch->params + at;

	if (floating) {
		double wide = corpus_text_real(text);
		float narrow = (float)wide;

		memcpy(out, bytes == 8 ? (const void *)&wide : (const void *)&narrow, bytes);
	} else {
		int64_t value = corpus_text_number(text);

		memcpy(out, &value, bytes); /* little-endian, as the GPU */
	}
}

static void read_object(struct corpus_text *text, struct place *place, enum corpus_object kind)
{
	struct corpus_handle handle = {.kind = kind, .buffer = -1};

	corpus_text_name(text, handle.name);
	if (kind == CORPUS_MAP)
		for (int i = 0; i < 2; i++) {
			uint32_t *pair = i ? handle.box : handle.size;

			corpus_text_want(text, ",");
			pair[0] = (uint32_t)corpus_text_number(text);
			corpus_text_want(text, "x");
			pair[1] = (uint32_t)corpus_text_number(text);
		}
	corpus_text_want(text, ")");
	handle.at = kind == CORPUS_MAP ? place_bytes(text, place, 128, 128) : place_bytes(text, place, 8, 8);
	*sw_vec_push(&place->launch->handles) = handle;
}

static void read_argument(struct corpus_text *text, struct place *place);

/* Behind the opening brace.  The alignment of a struct is known at its end only: read twice. */
static void read_struct(struct corpus_text *text, struct place *place, bool packed)
{
	struct corpus_launch *launch = place->launch;
	char *const start = text->at;
	size_t words = launch->words.n, handles = launch->handles.n, buffers = launch->buffers.n;
	size_t begin = place->at;

	for (int pass = 0;; pass++) {
		struct place inner = {.launch = launch, .at = begin, .align = 1, .packed = packed};

		text->at = start;
		do
			read_argument(text, &inner);
		while (corpus_text_is(text, ","));
		corpus_text_want(text, "}");
		if (pass) {
			place->at = (inner.at + inner.align - 1) / inner.align * inner.align;
			if (inner.align > place->align)
				place->align = inner.align;
			return;
		}
		begin = (begin + inner.align - 1) / inner.align * inner.align;
		launch->words.n = words;
		launch->handles.n = handles;
		while (launch->buffers.n > buffers)
			free(launch->buffers.at[--launch->buffers.n].pointers.at);
	}
}

static void read_argument(struct corpus_text *text, struct place *place)
{
	struct corpus_words *words = &place->launch->words;
	char name[CORPUS_NAME];

	for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
		if (corpus_text_word(text, scalars[i].name)) {
			read_scalar(text, place, scalars[i].bytes, scalars[i].floating);
			return;
		}
	if (corpus_text_is(text, "&")) {
		corpus_read_pointer(text, words, place_bytes(text, place, 8, 8), 8, false);
	} else if (corpus_text_is(text, "low(")) {
		corpus_read_pointer(text, words, place_bytes(text, place, 4, 4), 4, false);
		corpus_text_want(text, ")");
	} else if (corpus_text_is(text, "high(")) {
		corpus_read_pointer(text, words, place_bytes(text, place, 4, 4), 4, true);
		corpus_text_want(text, ")");
	} else if (corpus_text_is(text, "zeros(")) {
		place_bytes(text, place, (size_t)corpus_text_number(text), 1);
		corpus_text_want(text, ")");
	} else if (corpus_text_is(text, "texture(")) {
		read_object(text, place, CORPUS_TEXTURE);
	} else if (corpus_text_is(text, "surface(")) {
		read_object(text, place, CORPUS_SURFACE);
	} else if (corpus_text_is(text, "map(")) {
		read_object(text, place, CORPUS_MAP);
	} else if (corpus_text_is(text, "packed{")) {
		read_struct(text, place, true);
	} else if (corpus_text_is(text, "{")) {
		read_struct(text, place, false);
	} else {
		struct corpus_word word = {.at = place_bytes(text, place, 8, 8), .bytes = 8, .buffer = -1};

		corpus_text_name(text, name);
		corpus_read_buffer(text, place->launch, name);
		memcpy(word.name, name, sizeof name);
		*sw_vec_push(words) = word;
	}
}

void corpus_read_arguments(struct corpus_text *text, struct corpus_launch *launch)
{
	struct place place = {.launch = launch, .align = 1};

	corpus_text_want(text, "(");
	while (!corpus_text_is(text, ")")) {
		size_t n = launch->n_params, before = place.at;
		size_t begin;

		if (n == sizeof launch->param / sizeof *launch->param)
			corpus_text_fail(text, "too many arguments");
		/* Its offset is the first byte after the padding that its alignment asked for. */
		place.align = 1;
		read_argument(text, &place);
		begin = (before + place.align - 1) / place.align * place.align;
		launch->param[n].offset = (uint32_t)begin;
		launch->param[n].bytes = (uint32_t)(place.at - begin);
		launch->n_params++;
		if (corpus_text_peek(text) != ')')
			corpus_text_want(text, ",");
	}
	launch->param_bytes = place.at;
}
