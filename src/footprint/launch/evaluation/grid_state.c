/* SPDX-License-Identifier: Apache-2.0 */
/* One launch and its dependencies: which of the waits and triggers of its code its threads come to. */
#include "footprint/footprint.h"

#include <stdlib.h>
#include <string.h>

/* Conditions are evaluated for each thread of a block, or of the grid where they name the block.  Beyond so many, or of
   more terms, they are unknown. */
#define MOST_THREADS 4096u

#define MOST_TERMS 256u

struct value {
	uint64_t bits;
	bool known, needed;
};

struct threads {
	const struct sw_footprint *f;
	const struct sw_geometry *g;
	struct value *value;		   /* by term */
	uint32_t need[MOST_TERMS], needed; /* of a condition, users before their operands */
	bool names_block, names_thread;
	uint32_t tid[3], ctaid[3];
};

/* x modulo 2^width. */
static uint64_t low_bits(uint64_t x, uint32_t width)
{
	return width >= 64 ? x : x & ((UINT64_C(1) << width) - 1);
}

/* The low `width` bits of x as a signed number. */
static int64_t as_signed(uint64_t x, uint32_t width)
{
	uint64_t sign = UINT64_C(1) << (width - 1);
	return width >= 64 ? (int64_t)x : (int64_t)((low_bits(x, width) ^ sign) - sign);
}

/* The special register's value in the thread in hand; false: not known from the launch. */
static bool special_value(const struct threads *t, int64_t which, uint64_t *out)
{
	const struct sw_geometry *g = t->g;
	if (which >= SW_TID_X && which <= SW_TID_Z)
		*out = t->tid[which - SW_TID_X];
	else if (which >= SW_NTID_X && which <= SW_NTID_Z)
		*out = g->block[which - SW_NTID_X];
	else if (which >= SW_CTAID_X && which <= SW_CTAID_Z)
		*out = t->ctaid[which - SW_CTAID_X];
	else if (which >= SW_NCTAID_X && which <= SW_NCTAID_Z)
		*out = g->grid[which - SW_NCTAID_X];
	else if (which == SW_LANEID || which == SW_WARPID) {
		uint32_t thread = t->tid[0] + g->block[0] * (t->tid[1] + g->block[1] * t->tid[2]);
		*out = which == SW_LANEID ? thread % 32 : thread / 32;
	} else {
		return false;
	}
	return true;
}

/* The value of a parameter word of this launch; false: the launch does not have it. */
static bool parameter_value(const struct threads *t, const struct sw_term *term, uint64_t *out)
{
	uint32_t bytes = (term->width + 7u) / 8;
	*out = 0;
	if (!t->g->params || (uint64_t)term->imm + bytes > t->g->param_bytes)
		return false;
	memcpy(out, (const char *)t->g->params + term->imm, bytes);
	return true;
}

/* Does the comparison, of the term's signedness and operand width, hold for a and b? */
static bool compare_values(const struct sw_term *t, uint64_t a, uint64_t b)
{
	uint32_t width = (uint32_t)t->imm2;
	int64_t x = as_signed(a, width), y = as_signed(b, width);
	uint64_t ua = low_bits(a, width), ub = low_bits(b, width);
	bool less = t->flags & SW_SIGNED ? x < y : ua < ub, equal = ua == ub;
	const bool holds[] = {[SW_EQ] = equal,	       [SW_NE] = !equal,	  [SW_LT] = less,
			      [SW_LE] = less || equal, [SW_GT] = !less && !equal, [SW_GE] = !less};
	return holds[t->imm];
}

/* Computes an operation of one thread from its operands o.  False: one that conditions of waits are not made of. */
static bool compute_op(const struct sw_term *t, const uint64_t *o, uint64_t *out)
{
	uint32_t w = t->width;
	bool is_signed = t->flags & SW_SIGNED;
	switch (t->op) {
	case SW_OP_MOV:
		*out = o[0];
		return true;
	case SW_OP_ADD:
		*out = o[0] + o[1];
		return true;
	case SW_OP_SUB:
		*out = o[0] - o[1];
		return true;
	case SW_OP_MUL:
		*out = o[0] * o[1];
		return true;
	case SW_OP_DIV:
	case SW_OP_REM:
		if (is_signed || !low_bits(o[1], w))
			return false;
		*out = t->op == SW_OP_DIV ? low_bits(o[0], w) / low_bits(o[1], w)
					  : low_bits(o[0], w) % low_bits(o[1], w);
		return true;
	case SW_OP_NEG:
		*out = 0 - o[0];
		return true;
	case SW_OP_AND:
		*out = o[0] & o[1];
		return true;
	case SW_OP_OR:
		*out = o[0] | o[1];
		return true;
	case SW_OP_XOR:
		*out = o[0] ^ o[1];
		return true;
	case SW_OP_NOT:
		*out = ~o[0];
		return true;
	case SW_OP_SHL:
		*out = low_bits(o[1], 32) >= w ? 0 : o[0] << low_bits(o[1], 32);
		return true;
	case SW_OP_SHR:
		if (low_bits(o[1], 32) >= w)
			return false;
		*out = is_signed ? (uint64_t)(as_signed(o[0], w) >> low_bits(o[1], 32))
				 : low_bits(o[0], w) >> low_bits(o[1], 32);
		return true;
	case SW_OP_EXTEND:
		*out = is_signed ? (uint64_t)as_signed(o[0], (uint32_t)t->imm) : low_bits(o[0], (uint32_t)t->imm);
		return true;
	case SW_OP_SELECT:
		*out = o[0] & 1 ? o[1] : o[2];
		return true;
	case SW_OP_COMPARE:
		*out = compare_values(t, o[0], o[1]);
		return true;
	default:
		return false;
	}
}

/* Does the special register differ between the threads of a block? */
static bool names_thread(int64_t which)
{
	return (which >= SW_TID_X && which <= SW_TID_Z) || which == SW_LANEID || which == SW_WARPID;
}

/* Lists the terms that the conditions of an operation are made of, in t->need, and notes whether they name the
   thread or the block.  False: they are too many. */
static bool need_terms(struct threads *t, const struct sw_grid_op *op)
{
	uint32_t last = 0;
	t->needed = 0;
	t->names_block = t->names_thread = false;
	for (uint32_t i = 0; i < op->facts; i++) {
		uint32_t term = t->f->fact[op->fact + i].term;
		t->value[term].needed = true;
		last = term > last ? term : last;
	}
	/* Operands have smaller numbers than their users. */
	for (uint32_t i = last + 1; i-- > 0;) {
		const struct sw_term *term = &t->f->term[i];
		uint32_t operand[3] = {term->a, term->b, term->c};
		if (!t->value[i].needed)
			continue;
		t->value[i].needed = false;
		t->names_thread |= term->op == SW_OP_SPECIAL && names_thread(term->imm);
		t->names_block |= term->op == SW_OP_SPECIAL && term->imm >= SW_CTAID_X && term->imm <= SW_CTAID_Z;
		if (t->needed < MOST_TERMS)
			t->need[t->needed] = i;
		t->needed++;
		for (uint32_t k = 0; term->op < SW_OP_PAIR && k < sw_term_operands(term); k++)
			t->value[operand[k]].needed = true;
	}
	return t->needed <= MOST_TERMS;
}

/* The value of a term in one thread, from the values of its operands. */
static void compute_term(struct threads *t, uint32_t number)
{
	const struct sw_term *term = &t->f->term[number];
	struct value *v = &t->value[number];
	uint32_t operand[3] = {term->a, term->b, term->c};
	uint64_t o[3] = {0};
	v->known = term->op < SW_OP_PAIR;
	v->bits = 0;
	for (uint32_t i = 0; v->known && i < sw_term_operands(term); i++) {
		v->known = t->value[operand[i]].known;
		o[i] = t->value[operand[i]].bits;
	}
	if (v->known && term->op == SW_OP_CONST)
		v->bits = (uint64_t)term->imm;
	else if (v->known && term->op == SW_OP_PARAM)
		v->known = parameter_value(t, term, &v->bits);
	else if (v->known && term->op == SW_OP_SPECIAL)
		v->known = special_value(t, term->imm, &v->bits);
	else
		v->known = v->known && compute_op(term, o, &v->bits);
	v->bits = low_bits(v->bits, term->width);
}

enum truth { NEVER, PERHAPS, ALWAYS };

/* Do all conditions of a wait or trigger hold for the thread in hand?  PERHAPS: some are not known. */
static enum truth facts_hold(struct threads *t, const struct sw_grid_op *op)
{
	enum truth truth = ALWAYS;
	for (uint32_t i = t->needed; i-- > 0;)
		compute_term(t, t->need[i]);
	for (uint32_t i = 0; i < op->facts; i++) {
		const struct sw_fact *fact = &t->f->fact[op->fact + i];
		const struct value *v = &t->value[fact->term];
		if (!v->known)
			truth = PERHAPS;
		else if ((v->bits & 1) != fact->truth)
			return NEVER;
	}
	return truth;
}

/* How many threads come to an operation. */
struct coming {
	bool all, some; /* all threads; some of each block */
	bool any;	/* perhaps some */
};

/* Counts a 3D index up, x first. */
static void next_index(uint32_t at[3], const uint32_t size[3])
{
	for (int i = 0; i < 3; i++) {
		if (++at[i] < size[i])
			return;
		at[i] = 0;
	}
}

/* Which threads come to this wait or trigger: all of them, some of each block, perhaps some?  Its conditions are
   computed for each thread; beyond MOST_THREADS the answer is "perhaps some". */
static struct coming coming_to(struct threads *t, const struct sw_grid_op *op)
{
	const struct sw_geometry *g = t->g;
	uint64_t threads = 1, blocks = 1;
	struct coming c = {true, true, false};
	if (!op->facts)
		return (struct coming){true, true, true};
	if (!need_terms(t, op))
		return (struct coming){false, false, true};
	if (t->names_thread)
		threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
	if (t->names_block)
		blocks = (uint64_t)g->grid[0] * g->grid[1] * g->grid[2];
	if (!threads || threads > MOST_THREADS || blocks > MOST_THREADS / threads)
		return (struct coming){false, false, true};
	memset(t->ctaid, 0, sizeof t->ctaid);
	for (uint64_t b = 0; b < blocks; b++, next_index(t->ctaid, g->grid)) {
		bool some = false;
		memset(t->tid, 0, sizeof t->tid);
		for (uint64_t i = 0; i < threads; i++, next_index(t->tid, g->block)) {
			enum truth truth = facts_hold(t, op);
			c.all &= truth == ALWAYS;
			c.any |= truth != NEVER;
			some |= truth == ALWAYS;
		}
		c.some &= some;
	}
	return c;
}

void sw_footprint_grid(const struct sw_footprint *f, const struct sw_geometry *g, struct sw_grid_state *out)
{
	struct threads t = {.f = f, .g = g};
	*out = (struct sw_grid_state){0};
	bool conditions = false;
	for (uint32_t i = 0; i < f->grids; i++)
		conditions |= f->grid[i].facts > 0;
	t.value = conditions ? sw_calloc(f->terms + 1u, sizeof *t.value) : NULL;
	for (uint32_t i = 0; i < f->grids; i++) {
		const struct sw_grid_op *op = &f->grid[i];
		struct coming c = coming_to(&t, op);
		uint8_t bit = op->kind == SW_GRID_WAIT && op->number ? (uint8_t)(1u << (op->number - 1)) : 0;
		if (op->kind == SW_GRID_WAIT) {
			out->all |= c.all ? bit : 0;
			out->some |= c.some ? bit : 0;
			out->perhaps |= c.any ? bit : 0;
			out->waits |= c.some;
		}
	}
	for (uint32_t i = 0; i < f->grids; i++) {
		const struct sw_grid_op *op = &f->grid[i];
		if (op->kind != SW_GRID_TRIGGER || !coming_to(&t, op).any)
			continue;
		out->triggers = true;
		out->early |= op->early;
		out->triggers_first |= sw_grid_phase(out, op->order) == SW_BEFORE_WAIT;
	}
	free(t.value);
}

/* Says whether an access with this SW_ORDER_* comes after the grid's wait for the kernel before it
   (griddepcontrol.wait), by what is known of that wait at this launch. */
enum sw_grid_phase sw_grid_phase(const struct sw_grid_state *state, uint32_t order)
{
	uint8_t all = (uint8_t)(order >> SW_ORDER_IF_ALL_SHIFT), some = (uint8_t)(order >> SW_ORDER_IF_SOME_SHIFT);
	uint8_t perhaps = (uint8_t)(order >> SW_ORDER_PERHAPS_SHIFT);
	if (order & SW_ORDER_AFTER || all & state->all || some & state->some)
		return SW_AFTER_WAIT;
	if (order & SW_ORDER_UNSURE || perhaps & state->perhaps)
		return SW_PERHAPS_AFTER_WAIT;
	/* Whether all threads come to a wait may not be known. */
	return all & state->perhaps & (uint8_t)~state->some ? SW_PERHAPS_AFTER_WAIT : SW_BEFORE_WAIT;
}
