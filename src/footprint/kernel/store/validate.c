/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/store/validate.h"

#include <stdlib.h>

static int bad_array(struct sw_error *error, const char *array, uint32_t index, const char *what)
{
	return sw_fail(error, SW_E_FORMAT, "footprint: %s %u: %s", array, index, what);
}

static bool range_fits(uint32_t first, uint32_t n, uint32_t count)
{
	return first <= count && n <= count - first;
}

/* Operands of the values that a term can be, as ops.def has them; -1: no value of its own. */
static int operands_of(uint32_t op)
{
	static const uint8_t operands[] = {
#define SW_OP(name, n, text) [SW_OP_##name] = n,
#include "footprint/ops.def"
	};
	return op < SW_OP_PAIR ? operands[op] : -1; /* from there on: halves, memory, control */
}

static bool width_valid(uint32_t width)
{
	return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
}

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

static const char *element_bad(const struct sw_term *t, uint32_t i)
{
	if (t->a >= i)
		return "an operand after its user";
	if ((t->imm != 1 && t->imm != 2 && t->imm != 4 && t->imm != 8) || t->imm * 8 > t->width)
		return "no such element";
	return t->b > t->c || t->c > UINT16_MAX + 1u ? "no parameter can lie there" : NULL;
}

static const char *loaded_bad(const struct sw_term *t, uint32_t i)
{
	if (t->a >= i)
		return "an operand behind its user";
	if ((t->bytes != 1 && t->bytes != 2 && t->bytes != 4 && t->bytes != 8) || t->bytes * 8 > t->width)
		return "no such load";
	return t->c >= SW_WHYS ? "no such reason" : t->b > SW_FROM_ANYTHING ? "no such unknown" : NULL;
}

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

/* Each loop has one parent: a walk up that takes more steps than there are loops goes in a circle.  Marks make it
 * linear.
 */
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

int sw_footprint_check(const struct sw_footprint *f, struct sw_error *error)
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
