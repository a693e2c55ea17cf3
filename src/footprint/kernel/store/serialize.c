/* SPDX-License-Identifier: Apache-2.0 */
/* Footprints as flat bytes: a head with the counts, then each array, 8-aligned. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/footprint.h"

/* ---- bytes that were read are not trusted */

/* Fails: an element of the array is not what it may be. */
static int bad_array(struct sw_error *error, const char *array, uint32_t index, const char *what)
{
	return sw_fail(error, SW_E_FORMAT, "footprint: %s %u: %s", array, index, what);
}

/* Do n entries from `first` on lie within `count`? */
static bool range_fits(uint32_t first, uint32_t n, uint32_t count)
{
	return first <= count && n <= count - first;
}

/* The number of operands of an operation that a term can be, as ops.def has them; -1: it is no such operation. */
static int operands_of(uint32_t op)
{
	static const uint8_t operands[] = {
#define SW_OP(name, n, text) [SW_OP_##name] = n,
#include "footprint/ops.def"
	};
	return op < SW_OP_PAIR ? operands[op] : -1; /* from there on: halves, memory, control */
}

/* Is it the width of a value, in bits? */
static bool width_valid(uint32_t width)
{
	return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
}

/* The fault of a term's own numbers; NULL: it has none. */
static const char *leaf_bad(const struct sw_footprint *f, const struct sw_term *t)
{
	switch (t->op) {
	case SW_OP_SPECIAL:
		return t->imm < 0 || t->imm >= SW_SPECIALS ? "no such special value" : NULL;
	case SW_OP_RANGE:
		return t->a >= SW_WHYS ? "no such reason" : t->b > SW_FROM_ANYTHING ? "no such unknown" : NULL;
	case SW_OP_SYMBOL_ADDRESS:
		return t->imm < 0 || t->imm >= f->symbols ? "no such symbol" : NULL;
	case SW_OP_PARAM:
		return t->imm < 0 || t->imm > UINT16_MAX ? "no parameter can lie there" : NULL;
	case SW_OP_COMPARE:
		return t->imm < SW_EQ || t->imm > SW_GE || !width_valid((uint32_t)t->imm2) || t->imm2 >> 32
			       ? "no such comparison"
			       : NULL;
	case SW_OP_MULWIDE:
		return t->width < 16 ? "no half of its width" : NULL;
	case SW_OP_EXTEND:
		return t->imm < 1 || t->imm > 64 ? "no such extension" : NULL;
	default:
		return NULL;
	}
}

/* The fault of an ELEMENT term, which is term i: `imm` bytes of the parameter block, at an offset that is term a,
   within the bytes [b, c) of the block.  NULL: it has none. */
static const char *element_bad(const struct sw_term *t, uint32_t i)
{
	if (t->a >= i)
		return "an operand after its user";
	if ((t->imm != 1 && t->imm != 2 && t->imm != 4 && t->imm != 8) || t->imm * 8 > t->width)
		return "no such element";
	return t->b > t->c || t->c > UINT16_MAX + 1u ? "no parameter can lie there" : NULL;
}

/* The fault of a LOADED term, which is term i; NULL: it has none. */
static const char *loaded_bad(const struct sw_term *t, uint32_t i)
{
	if (t->a >= i)
		return "an operand behind its user";
	if ((t->bytes != 1 && t->bytes != 2 && t->bytes != 4 && t->bytes != 8) || t->bytes * 8 > t->width)
		return "no such load";
	return t->c >= SW_WHYS ? "no such reason" : t->b > SW_FROM_ANYTHING ? "no such unknown" : NULL;
}

/* The fault of term i; NULL: it has none. */
static const char *term_bad(const struct sw_footprint *f, uint32_t i)
{
	const struct sw_term *t = &f->term[i];
	if (!width_valid(t->width))
		return "no such width";
	if (t->op == SW_TERM_STEP)
		return t->a >= i || t->b >= i || t->c >= f->loops ? "a step without its terms or loop" : NULL;
	if (t->op == SW_TERM_ANY) {
		if (!t->b || t->b > UINT32_MAX / 2 || t->imm2 < 0 || t->imm2 > 1)
			return "no alternatives";
		uint32_t n = t->imm2 ? 2 * t->b : t->b;
		if (!range_fits(t->a, n, f->alternatives))
			return "alternatives out of bounds";
		for (uint32_t k = 0; k < n; k++)
			if (f->alternative[t->a + k] >= i)
				return "an alternative after its user";
		return NULL;
	}
	if (t->op == SW_TERM_ELEMENT)
		return element_bad(t, i);
	if (t->op == SW_TERM_LOADED)
		return loaded_bad(t, i);
	int n = operands_of(t->op);
	if (n < 0)
		return "no such operation";
	if ((n > 0 && t->a >= i) || (n > 1 && t->b >= i) || (n > 2 && t->c >= i))
		return "an operand after its user";
	return leaf_bad(f, t);
}

/* Is a loop its own ancestor?  Each has one parent, so a walk up that meets a mark of its own goes in a circle;
   marks make it linear. */
static bool loops_circle(const struct sw_footprint *f)
{
	uint32_t *mark = sw_calloc(f->loops + 1, sizeof *mark);
	bool circle = false;
	for (uint32_t i = 0; i < f->loops && !circle; i++) {
		uint32_t at = i;
		for (; at != UINT32_MAX && !mark[at]; at = f->loop[at].parent)
			mark[at] = i + 1;
		circle = at != UINT32_MAX && mark[at] == i + 1;
	}
	free(mark);
	return circle;
}

/* <0 with error filled if a loop has no such parent, is inside itself, or has facts beyond the array. */
static int check_loops(const struct sw_footprint *f, struct sw_error *error)
{
	for (uint32_t i = 0; i < f->loops; i++) {
		const struct sw_loop *l = &f->loop[i];
		if (l->parent != UINT32_MAX && l->parent >= f->loops)
			return bad_array(error, "loop", i, "no such parent");
		if (!range_fits(l->entry, l->entries, f->facts) || !range_fits(l->back, l->backs, f->facts))
			return bad_array(error, "loop", i, "facts out of bounds");
	}
	return loops_circle(f) ? bad_array(error, "loop", 0, "a loop inside itself") : 0;
}

/* The fault of a root; NULL: it has none. */
static const char *root_bad(const struct sw_footprint *f, const struct sw_root *r)
{
	if (r->kind > SW_ROOT_UNKNOWN || r->weak > 1)
		return "no such kind";
	if ((r->kind == SW_ROOT_SYMBOL || (r->kind == SW_ROOT_INDIRECT && !r->span)) && r->symbol >= f->symbols)
		return "no such symbol";
	if (r->loader > f->sites)
		return "no such site";
	bool placed = r->kind == SW_ROOT_PARAM || r->kind == SW_ROOT_OBJECT || r->kind == SW_ROOT_MAP ||
		      (r->kind == SW_ROOT_INDIRECT && r->span);
	return placed && (uint64_t)r->param + r->span > UINT16_MAX ? "no parameter can lie there" : NULL;
}

/* The fault of a site; NULL: it has none. */
static const char *site_bad(const struct sw_footprint *f, const struct sw_access_site *s)
{
	if (!s->role || s->role > (SW_TOUCH_READ | SW_TOUCH_WRITE | SW_TOUCH_ATOMIC) || s->polls > 1)
		return "no such role";
	if (s->op >= SW_OPS || s->why >= SW_WHYS)
		return "no such operation or reason";
	if ((s->address != SW_NO_TERM && s->address >= f->terms) || (s->size != SW_NO_TERM && s->size >= f->terms))
		return "no such term";
	if (!range_fits(s->fact, s->facts, f->facts) || !range_fits(s->root, s->roots, f->roots))
		return "facts or roots out of bounds";
	if (s->loop > f->loops)
		return "no such loop";
	return s->text >= f->strings ? "no such string" : NULL;
}

/* The fault of a wait or trigger; NULL: it has none. */
static const char *grid_bad(const struct sw_footprint *f, const struct sw_grid_op *g)
{
	if (g->kind > SW_GRID_TRIGGER || g->early > 1 || g->number > SW_MAX_GRID_WAITS)
		return "no such wait or trigger";
	if (!range_fits(g->fact, g->facts, f->facts))
		return "facts out of bounds";
	return g->text >= f->strings ? "no such string" : NULL;
}

#define SW_CHECK_EACH(array, count, expression)                                                                        \
	for (uint32_t i = 0; i < f->count; i++) {                                                                      \
		const char *what = expression;                                                                         \
		if (what)                                                                                              \
			return bad_array(error, #array, i, what);                                                      \
	}

/* Is every index in bounds, every operand before its user, every number one of its kind, and no loop its own ancestor?
   0, or SW_E_FORMAT with error naming the first that is not.  A footprint that passes can be evaluated and printed
   safely. */
static int check_footprint(const struct sw_footprint *f, struct sw_error *error)
{
	if (f->source != SW_SOURCE_PTX && f->source != SW_SOURCE_SASS)
		return bad_array(error, "source", f->source, "no such source");
	if (!f->strings || f->string[0] || f->string[f->strings - 1] || f->wild >= f->strings)
		return bad_array(error, "string", 0, "strings without their ends");
	SW_CHECK_EACH(term, terms, term_bad(f, i))
	SW_CHECK_EACH(fact, facts, f->fact[i].term >= f->terms || f->fact[i].truth > 1 ? "no such term" : NULL)
	SW_CHECK_EACH(root, roots, root_bad(f, &f->root[i]))
	SW_CHECK_EACH(site, sites, site_bad(f, &f->site[i]))
	SW_CHECK_EACH(grid, grids, grid_bad(f, &f->grid[i]))
	SW_CHECK_EACH(symbol, symbols, f->symbol[i].name >= f->strings ? "no such string" : NULL)
	return check_loops(f, error);
}

/* ---- packing */

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

/* A size rounded up to a multiple of 8. */
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

/* A copy of the next array at *at, which is moved after it and its padding; NULL: it goes beyond the end. */
static void *take_array(struct sw_arena *arena, const unsigned char *bytes, size_t size, size_t *at, size_t array_bytes)
{
	if (array_bytes > size - *at)
		return NULL;
	void *copy = sw_arena_alloc(arena, array_bytes + 1); /* never NULL, also for none */
	memcpy(copy, bytes + *at, array_bytes);
	*at += padded_size(array_bytes) < size - *at ? padded_size(array_bytes) : size - *at;
	return copy;
}

/* Reads a footprint from its flat form.  The bytes are not trusted: every index is checked.  SW_E_FORMAT with `error`
   filled, and *out as it was, where they are damaged. */
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
		rc = check_footprint(f, error);
	if (rc)
		sw_footprint_free(f);
	else
		*out = f;
	return rc;
}
