/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of PTX text and how their parameters lie. */
#include <stdlib.h>

#include "base/memory.h"
#include "image/image.h"
#include "image/ptx_lexer.h"

/* CUDA C++ Programming Guide, "Function Parameters": 32764 bytes from sm_70 on. */
#define BLOCK_MAX 32764

struct entry {
	SW_VEC(struct sw_param) params;
	uint64_t bytes; /* of the block so far */
};

/* PTX ISA, "Fundamental Types" and "Opaque Types" (which are 64-bit handles as parameters). */
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

static int bad(const struct sw_ptx_lexer *l, const char *text, const char *what, struct sw_error *error)
{
	return sw_fail(error, SW_E_FORMAT, "PTX: offset %zu: %s", (size_t)(l->at - text), what);
}

/* .param [.align N] type [.ptr [.space] [.align N]] name [ "[" count "]" ]..., the lexer stands on .param.  On return
   it stands on the comma or parenthesis after it. */
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
				return bad(l, text, "an alignment that is no power of two", error);
			if (!pointee)
				align = number;
		} else if (sw_ptx_is(l, "[")) {
			if (!sw_ptx_next(l) || !sw_ptx_number(l, BLOCK_MAX, &number) || number * bytes > BLOCK_MAX)
				return bad(l, text, "an array parameter without a length that a kernel can have",
					   error);
			if (!align)
				align = bytes;
			bytes *= number;
		} else if (sw_ptx_is(l, ".v2") || sw_ptx_is(l, ".v4")) {
			return bad(l, text, "a vector as a parameter", error);
		}
	}
	if (!bytes)
		return bad(l, text, "a parameter without a type that is known", error);
	if (!align)
		align = bytes;
	e->bytes = (e->bytes + align - 1) & ~(align - 1);
	if (e->bytes + bytes > BLOCK_MAX)
		return bad(l, text, "more parameter bytes than a kernel can have", error);
	*sw_vec_push(&e->params) = (struct sw_param){(uint16_t)e->bytes, (uint16_t)bytes};
	e->bytes += bytes;
	return 0;
}

/* The lexer stands after the name.  Kernels without parameters may leave the parentheses out. */
static int read_params(struct sw_ptx_lexer *l, const char *text, struct entry *e, struct sw_error *error)
{
	int rc;
	e->params.n = 0;
	e->bytes = 0;
	if (!sw_ptx_next(l))
		return bad(l, text, "the text ends within an entry", error);
	if (!sw_ptx_is(l, "("))
		return 0;
	while (sw_ptx_next(l) && !sw_ptx_is(l, ")")) {
		if (!sw_ptx_is(l, ".param"))
			return bad(l, text, ".param is missing", error);
		if ((rc = read_param(l, text, e, error)))
			return rc;
		if (sw_ptx_is(l, ")"))
			return 0;
	}
	return sw_ptx_is(l, ")") ? 0 : bad(l, text, "the text ends within an entry's parameters", error);
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
			rc = bad(&l, ptx, "the text ends within an entry", error);
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
