/* SPDX-License-Identifier: Apache-2.0 */
/* Terms as a reader would write them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "footprint/launch/evaluation/eval.h"

/* Operands share sub-terms, so that a text can be exponentially longer than the terms: the room ends it.  What lies
   deeper than this is beyond what anybody reads. */
#define MAX_DEPTH 32

struct text {
	const struct sw_footprint *f;
	char *out;
	size_t n, room; /* room >= 1 */
	bool full;
};

enum { LOOSE, COMPARED, SHIFTED, SUM, PRODUCT, ATOM }; /* how tightly operators bind */

/* Appends text, as printf() does; where the room ends, "..." follows and nothing more is taken. */
__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
	va_list args;
	if (t->full)
		return;
	va_start(args, format);
	int n = vsnprintf(t->out + t->n, t->room - t->n, format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < t->room - t->n) {
		t->n += (size_t)n;
		return;
	}
	t->full = true;
	if (t->room < 4) {
		t->out[0] = '\0';
		return;
	}
	memcpy(t->out + (t->n + 4 > t->room ? t->room - 4 : t->n), "...", 4);
}

/* Writes a byte offset of the parameter block as a parameter: "param 2", "param 2[8]". */
static void put_param(struct text *t, int64_t offset)
{
	for (uint32_t i = 0; i < t->f->params; i++) {
		const struct sw_param *p = &t->f->param[i];
		if (offset < p->offset || offset >= p->offset + p->bytes)
			continue;
		put(t, "param %" PRIu32, i);
		if (offset > p->offset)
			put(t, "[%" PRId64 "]", offset - p->offset);
		return;
	}
	put(t, "param[%" PRId64 "]", offset);
}

static void put_term(struct text *t, uint32_t term, int outer, int depth);

/* Writes an operation on two operands, "a + b", in brackets where the operation around it binds more tightly (outer
   > level). */
static void put_infix(struct text *t, const struct sw_term *x, const char *sign, int level, int outer, int depth)
{
	/* Constants and launch values lead in a product, as people write them. */
	bool turn = level == PRODUCT && x->op != SW_OP_DIV && x->op != SW_OP_REM && t->f->term[x->b].op == SW_OP_CONST;
	put(t, "%s", outer > level ? "(" : "");
	put_term(t, turn ? x->b : x->a, level, depth);
	const struct sw_term *last = &t->f->term[turn ? x->a : x->b];
	if (x->op == SW_OP_ADD && last->op == SW_OP_CONST && last->imm < 0 && last->imm > INT64_MIN) {
		put(t, " - %" PRId64 "%s", -last->imm, outer > level ? ")" : "");
		return;
	}
	put(t, " %s ", sign);
	put_term(t, turn ? x->a : x->b, level + 1, depth);
	put(t, "%s", outer > level ? ")" : "");
}

/* Writes an operation as a function: "min(a, b)". */
static void put_call(struct text *t, const char *name, const uint32_t *terms, uint32_t n, int depth)
{
	put(t, "%s(", name);
	for (uint32_t i = 0; i < n && !t->full; i++) {
		put(t, "%s", i ? ", " : "");
		put_term(t, terms[i], LOOSE, depth);
	}
	put(t, ")");
}

/* Writes a shift by a fixed number as a product or quotient, any other as one. */
static void put_shift(struct text *t, const struct sw_term *x, int outer, int depth)
{
	const struct sw_term *by = &t->f->term[x->b];
	if (by->op != SW_OP_CONST || by->imm < 0 || by->imm > 62) { /* 2^62 is the largest factor of 64 bits, signed */
		put_infix(t, x, x->op == SW_OP_SHL ? "<<" : ">>", SHIFTED, outer, depth);
		return;
	}
	put(t, "%s", outer > PRODUCT ? "(" : "");
	if (x->op == SW_OP_SHL)
		put(t, "%" PRId64 " * ", INT64_C(1) << by->imm);
	put_term(t, x->a, PRODUCT + (x->op == SW_OP_SHL), depth);
	if (x->op == SW_OP_SHR)
		put(t, " / %" PRId64, INT64_C(1) << by->imm);
	put(t, "%s", outer > PRODUCT ? ")" : "");
}

/* Writes a variable of a loop: start + step * k, k the iterations of that loop. */
static void put_step(struct text *t, const struct sw_term *x, int outer, int depth)
{
	const struct sw_term *start = &t->f->term[x->a], *step = &t->f->term[x->b];
	bool zero = start->op == SW_OP_CONST && !start->imm, one = step->op == SW_OP_CONST && step->imm == 1;
	int level = zero ? one ? ATOM : PRODUCT : SUM;
	put(t, "%s", outer > level ? "(" : "");
	if (!zero) {
		put_term(t, x->a, SUM, depth);
		put(t, " + ");
	}
	if (!one) {
		put_term(t, x->b, PRODUCT, depth);
		put(t, " * ");
	}
	put(t, "k%" PRIu32 "%s", x->c, outer > level ? ")" : "");
}

struct notation {
	const char *sign;
	int level;
};

/* The sign between the operands of an operation, and how tightly it binds; NULL: it has no such sign. */
static const struct notation *notation_of(const struct sw_term *x)
{
	static const struct notation infix[] = {
		[SW_OP_ADD] = {"+", SUM},	  [SW_OP_SUB] = {"-", SUM},	[SW_OP_MUL] = {"*", PRODUCT},
		[SW_OP_MULWIDE] = {"*", PRODUCT}, [SW_OP_DIV] = {"/", PRODUCT}, [SW_OP_REM] = {"%", PRODUCT},
		[SW_OP_AND] = {"&", SHIFTED},	  [SW_OP_OR] = {"|", SHIFTED},	[SW_OP_XOR] = {"^", SHIFTED},
	};
	return x->op < sizeof infix / sizeof *infix && infix[x->op].sign ? &infix[x->op] : NULL;
}

/* Writes the operations that no other function has. */
static void put_other(struct text *t, const struct sw_term *x, int outer, int depth)
{
	static const char *const condition[] = {
		[SW_EQ] = "==", [SW_NE] = "!=", [SW_LT] = "<", [SW_LE] = "<=", [SW_GT] = ">", [SW_GE] = ">="};
	const uint32_t both[2] = {x->a, x->b};
	switch (x->op) {
	case SW_OP_RANGE:
	case SW_TERM_LOADED:
		if (x->imm >= 0 && x->imm2 < INT32_MAX && x->imm <= x->imm2)
			put(t, "[%" PRId64 "..%" PRId64 "]", x->imm, x->imm2);
		else
			put(t, "?");
		break;
	case SW_OP_SYMBOL_ADDRESS:
		put(t, "%s", x->imm >= 0 && x->imm < t->f->symbols ? t->f->string + t->f->symbol[x->imm].name : "?");
		if (x->imm2)
			put(t, " + %" PRId64, x->imm2);
		break;
	case SW_OP_NEG:
	case SW_OP_NOT:
		put(t, "%s", x->op == SW_OP_NEG ? "-" : x->width == 1 ? "not " : "~");
		put_term(t, x->a, ATOM, depth);
		break;
	case SW_OP_MIN:
	case SW_OP_MAX:
	case SW_OP_MULHI:
		put_call(t, sw_op_text((enum sw_op)x->op), both, 2, depth);
		break;
	case SW_OP_ABS:
		put_call(t, "abs", both, 1, depth);
		break;
	case SW_OP_SELECT:
		put(t, "(");
		put_term(t, x->a, COMPARED, depth);
		put(t, " ? ");
		put_term(t, x->b, SHIFTED, depth);
		put(t, " : ");
		put_term(t, x->c, SHIFTED, depth);
		put(t, ")");
		break;
	case SW_OP_COMPARE:
		put_infix(t, x, x->imm >= SW_EQ && x->imm <= SW_GE ? condition[x->imm] : "?", COMPARED, outer, depth);
		break;
	case SW_TERM_ELEMENT:
		put(t, "param[");
		put_term(t, x->a, LOOSE, depth);
		put(t, "]");
		break;
	case SW_TERM_ANY:
		put_call(t, "one of ", t->f->alternative + x->a, x->b, depth);
		break;
	default:
		put(t, "%s", x->op < SW_OPS ? sw_op_text((enum sw_op)x->op) : "?");
	}
}

/* Does the term take the low bits of a wider number, as a mask or a remainder would? */
static bool takes_low_bits(const struct text *t, const struct sw_term *x)
{
	return x->op == SW_OP_EXTEND && !(x->flags & SW_SIGNED) && x->imm > 0 && x->imm < 32 &&
	       x->imm < t->f->term[x->a].width;
}

/* Writes the low bits of a value as a rest: "a % 256". */
static void put_low_bits(struct text *t, const struct sw_term *x, int outer, int depth)
{
	put(t, "%s", outer > PRODUCT ? "(" : "");
	put_term(t, x->a, PRODUCT, depth);
	put(t, " %% %" PRId64 "%s", INT64_C(1) << x->imm, outer > PRODUCT ? ")" : "");
}

/* Writes a term.  outer: how tightly the operation around it binds; depth: of terms around it. */
static void put_term(struct text *t, uint32_t term, int outer, int depth)
{
	const struct sw_term *x = &t->f->term[term];
	/* Widening and copying say nothing to a reader. */
	while ((x->op == SW_OP_EXTEND && !takes_low_bits(t, x)) || x->op == SW_OP_MOV)
		x = &t->f->term[x->a];
	if (t->full)
		return;
	if (depth == MAX_DEPTH) {
		put(t, "...");
		return;
	}
	const struct notation *infix = notation_of(x);
	if (infix)
		put_infix(t, x, infix->sign, infix->level, outer, depth + 1);
	else if (x->op == SW_OP_EXTEND)
		put_low_bits(t, x, outer, depth + 1);
	else if (x->op == SW_OP_CONST)
		put(t, "%" PRId64, x->imm);
	else if (x->op == SW_OP_PARAM)
		put_param(t, x->imm);
	else if (x->op == SW_OP_SPECIAL)
		put(t, "%s", sw_special_text(x->imm));
	else if (x->op == SW_OP_SHL || x->op == SW_OP_SHR)
		put_shift(t, x, outer, depth + 1);
	else if (x->op == SW_TERM_STEP)
		put_step(t, x, outer, depth + 1);
	else
		put_other(t, x, outer, depth + 1);
}

void sw_footprint_address_text(const struct sw_footprint *footprint, uint32_t site, char *out, size_t room)
{
	struct text t = {.f = footprint, .out = out, .room = room};
	if (!room)
		return;
	out[0] = '\0';
	if (footprint->site[site].address != SW_NO_TERM)
		put_term(&t, footprint->site[site].address, LOOSE, 0);
}

/* Is a fact of use to a reader?  It mentions what a launch decides, and not several unknowns: those, "?" all of
   them, are clocks and flags that are waited for.  Looks at so many terms at most. */
static bool is_shown(const struct sw_footprint *f, uint32_t term)
{
	uint32_t todo[64] = {term}, n = 1, unknowns = 0;
	bool decided = false;
	for (int seen = 0; n && seen < 256; seen++) {
		const struct sw_term *x = &f->term[todo[--n]];
		if (x->op == SW_OP_PARAM || x->op == SW_OP_SPECIAL || x->op == SW_TERM_STEP || x->op == SW_TERM_ELEMENT)
			decided = true;
		unknowns += sw_term_is_unknown(x);
		uint32_t operand[3] = {x->a, x->b, x->c};
		uint32_t operands = sw_term_operands(x);
		for (uint32_t i = 0; i < operands && n < 64; i++)
			todo[n++] = operand[i];
	}
	return decided && unknowns < 2;
}

/* Writes a condition that is known to be true, or false: then its opposite. */
static void put_fact(struct text *t, const struct sw_fact *fact)
{
	static const char *const negated[] = {
		[SW_EQ] = "!=", [SW_NE] = "==", [SW_LT] = ">=", [SW_LE] = ">", [SW_GT] = "<=", [SW_GE] = "<"};
	const struct sw_term *x = &t->f->term[fact->term];
	if (!fact->truth && x->op == SW_OP_COMPARE && x->imm >= SW_EQ && x->imm <= SW_GE) {
		put_infix(t, x, negated[x->imm], COMPARED, LOOSE, 0);
		return;
	}
	put(t, "%s", fact->truth ? "" : "not ");
	put_term(t, fact->term, fact->truth ? COMPARED : ATOM, 0);
}

void sw_footprint_facts_text(const struct sw_footprint *footprint, uint32_t site, char *out, size_t room)
{
	struct text t = {.f = footprint, .out = out, .room = room};
	const struct sw_access_site *s = &footprint->site[site];
	if (!room)
		return;
	out[0] = '\0';
	for (uint32_t i = 0; i < s->facts && !t.full; i++) {
		const struct sw_fact *fact = &footprint->fact[s->fact + i];
		if (!is_shown(footprint, fact->term))
			continue;
		put(&t, "%s", t.n ? " and " : "");
		put_fact(&t, fact);
	}
}
