/* SPDX-License-Identifier: Apache-2.0 */
/* Footprints as flat bytes: a head with the counts, then each array, 8-aligned. What is read is checked in
   validate.c. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/kernel/store/validate.h"

#define SW_PACK_MAGIC 0x31465753u /* "SWF1" */

/* X(array, count, bytes of an element): elements are copied as they are, so none may have padding. */
#define SW_ARRAYS(X)                                                                                                   \
	X(param, params, 4)                                                                                            \
	X(term, terms, 32)                                                                                             \
	X(alternative, alternatives, 4)                                                                                \
	X(fact, facts, 8)                                                                                              \
	X(loop, loops, 20)                                                                                             \
	X(root, roots, 16)                                                                                             \
	X(site, sites, 48)                                                                                             \
	X(grid, grids, 24)                                                                                             \
	X(symbol, symbols, 16)                                                                                         \
	X(string, strings, 1)
#define SW_SIZE_CHECK(array, count, size)                                                                              \
	static_assert(sizeof *((struct sw_footprint *)0)->array == (size), "packed as it is");
SW_ARRAYS(SW_SIZE_CHECK)
#undef SW_SIZE_CHECK

struct head {
	uint32_t magic, source, arch, wild, param_bytes;
#define SW_COUNT(array, count, size) uint32_t count;
	SW_ARRAYS(SW_COUNT)
#undef SW_COUNT
};

static size_t padded_size(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

void sw_footprint_pack(const struct sw_footprint *f, void **out, size_t *bytes)
{
	struct head head = {SW_PACK_MAGIC,	f->source, f->arch, f->wild, f->param_bytes,
#define SW_COUNT(array, count, size) f->count,
			    SW_ARRAYS(SW_COUNT)
#undef SW_COUNT
	};
	size_t n = padded_size(sizeof head);
#define SW_SUM(array, count, size) n += padded_size((size_t)f->count * (size));
	SW_ARRAYS(SW_SUM)
#undef SW_SUM
	unsigned char *to = sw_calloc(1, n), *at = to + padded_size(sizeof head);
	memcpy(to, &head, sizeof head);
#define SW_PUT(array, count, size)                                                                                     \
	if (f->count)                                                                                                  \
		memcpy(at, f->array, (size_t)f->count *(size));                                                        \
	at += padded_size((size_t)f->count * (size));
	SW_ARRAYS(SW_PUT)
#undef SW_PUT
	*out = to;
	*bytes = n;
}

/* An array of `count` elements at *at, which is moved after it; NULL: beyond the end. */
static void *take_array(struct sw_arena *arena, const unsigned char *bytes, size_t size, size_t *at, size_t array_bytes)
{
	if (array_bytes > size - *at)
		return NULL;
	void *copy = sw_arena_alloc(arena, array_bytes + 1); /* never NULL, also for none */
	memcpy(copy, bytes + *at, array_bytes);
	*at += padded_size(array_bytes) < size - *at ? padded_size(array_bytes) : size - *at;
	return copy;
}

int sw_footprint_unpack(const void *bytes, size_t size, struct sw_footprint **out, struct sw_error *error)
{
	struct head head;
	size_t at = padded_size(sizeof head);
	if (size < at)
		return sw_fail(error, SW_E_FORMAT, "footprint: offset 0: %zu bytes, the head alone has %zu", size, at);
	memcpy(&head, bytes, sizeof head);
	if (head.magic != SW_PACK_MAGIC)
		return sw_fail(error, SW_E_FORMAT, "footprint: offset 0: no footprint");
	struct sw_footprint *f = sw_calloc(1, sizeof *f);
	*f = (struct sw_footprint){
		.source = head.source, .arch = head.arch, .wild = head.wild, .param_bytes = head.param_bytes};
	int rc = 0;
#define SW_TAKE(array, count, bytes_each)                                                                              \
	f->count = head.count;                                                                                         \
	if (!rc && !(f->array = take_array(&f->arena, bytes, size, &at, (size_t)head.count * (bytes_each))))           \
		rc = sw_fail(error, SW_E_FORMAT, "footprint: offset %zu: %u " #count " do not fit", at, head.count);
	SW_ARRAYS(SW_TAKE)
#undef SW_TAKE
	if (!rc)
		rc = sw_footprint_check(f, error);
	if (rc)
		sw_footprint_free(f);
	else
		*out = f;
	return rc;
}
