/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Division of 32-bit numbers that are known at run time only, as machine code has it (nvcc 11 to 13, sm_75 to sm_120):
 *
 *     q = F2I(MUFU.RCP(I2F(b)) + 0x0ffffffe)               some number, here
 *     r = q + mulhi(q, -q * b)                             b's reciprocal: one step of Newton's method; or q * -b
 *     n = mulhi(r, a); rest = a - b * n                    n is a / b, or one or two less; a + b * -n or a + n * -b
 *     if (rest >= b) { rest -= b; n++; }                   twice
 *
 * Everything but the first line is compared, so that nothing else is taken for it.  The result is n, or rest.
 */
#include "footprint/kernel/values/simplify.h"

struct division {
	struct sw_graph *g;
	sw_node a, b, n;		/* n: before it is corrected */
	bool minus_b;			/* the rest is a + n * -b, not a + b * -n */
	sw_node corrected, rest, again; /* n and rest after the first correction; whether there is a second one */
};

static const struct sw_value *value_at(const struct division *d, sw_node node)
{
	return sw_graph_at(d->g, node);
}

static bool is_op(const struct division *d, sw_node node, enum sw_op op, uint32_t width)
{
	return value_at(d, node)->op == op && value_at(d, node)->width == width;
}

static sw_node make_binary(const struct division *d, enum sw_op op, uint8_t width, sw_node a, sw_node b)
{
	return sw_graph_binary(d->g, op, width, 0, a, b);
}

static sw_node make_constant(const struct division *d, uint8_t width, int64_t imm)
{
	return sw_graph_const(d->g, width, imm);
}

static sw_node make_wide(const struct division *d, sw_node node)
{
	return sw_graph_extend(d->g, 64, 32, 0, node);
}

/* A number of 32 bits that was widened with zeros. */
static bool is_widened(const struct division *d, sw_node node, sw_node *narrow)
{
	const struct sw_value *v = value_at(d, node);
	if (v->op != SW_OP_EXTEND || v->width != 64 || v->imm != 32 || v->flags & SW_SIGNED)
		return false;
	*narrow = v->operand[0];
	return value_at(d, *narrow)->width == 32;
}

/* The upper half of a product or a sum. */
static sw_node upper_half(const struct division *d, sw_node node)
{
	return make_binary(d, SW_OP_SHR, 64, node, make_constant(d, 32, 32));
}

/* Is it the reciprocal of b? */
static bool is_reciprocal(const struct division *d, sw_node node)
{
	int64_t by;
	sw_node q = SW_NO_NODE;
	if (!is_op(d, node, SW_OP_SHR, 64) || !is_op(d, value_at(d, node)->operand[0], SW_OP_ADD, 64))
		return false;
	const struct sw_value *sum = value_at(d, value_at(d, node)->operand[0]);
	for (int i = 0; i < 2 && q == SW_NO_NODE; i++) {
		const struct sw_value *part = value_at(d, sum->operand[i]);
		if (part->op == SW_OP_MUL && sw_graph_is_const(d->g, part->operand[1], &by) && by == INT64_C(1) << 32 &&
		    !is_widened(d, part->operand[0], &q))
			q = SW_NO_NODE;
	}
	if (q == SW_NO_NODE || value_at(d, q)->op != SW_OP_RANGE)
		return false;
	sw_node shifted = make_binary(d, SW_OP_MUL, 64, make_wide(d, q), make_constant(d, 64, INT64_C(1) << 32));
	bool same = false;
	for (int i = 0; i < 2 && !same; i++) { /* -q * b or q * -b */
		sw_node error =
			make_binary(d, SW_OP_MUL, 32, sw_graph_unary(d->g, SW_OP_NEG, 32, i ? d->b : q), i ? q : d->b);
		sw_node step = make_binary(d, SW_OP_ADD, 64, shifted,
					   make_binary(d, SW_OP_MUL, 64, make_wide(d, q), make_wide(d, error)));
		same = upper_half(d, step) == node;
	}
	return same;
}

/* n = mulhi(reciprocal of b, a) */
static bool find_dividend(struct division *d)
{
	if (!is_op(d, d->n, SW_OP_EXTEND, 32) || value_at(d, d->n)->imm != 32)
		return false;
	sw_node high = value_at(d, d->n)->operand[0];
	if (!is_op(d, high, SW_OP_SHR, 64) || !is_op(d, value_at(d, high)->operand[0], SW_OP_MUL, 64))
		return false;
	sw_node product = value_at(d, high)->operand[0];
	for (int i = 0; i < 2; i++) {
		sw_node a = value_at(d, product)->operand[i], r = value_at(d, product)->operand[!i];
		if (is_widened(d, a, &d->a) && is_reciprocal(d, r) && upper_half(d, product) == high)
			return true;
	}
	return false;
}

/* What follows from n and b; false: n is no such quotient. */
static bool complete_division(struct division *d)
{
	if (!find_dividend(d))
		return false;
	sw_node plus = d->minus_b ? d->n : d->b, minus = d->minus_b ? d->b : d->n;
	sw_node part = make_binary(d, SW_OP_MUL, 32, plus, sw_graph_unary(d->g, SW_OP_NEG, 32, minus));
	sw_node rest = make_binary(d, SW_OP_ADD, 32, d->a, part);
	sw_node once = sw_graph_compare(d->g, SW_LE, 32, 0, d->b, rest);
	d->corrected =
		sw_graph_select(d->g, 32, once, make_binary(d, SW_OP_ADD, 32, d->n, make_constant(d, 32, 1)), d->n);
	d->rest = sw_graph_select(d->g, 32, once, make_binary(d, SW_OP_SUB, 32, rest, d->b), rest);
	d->again = sw_graph_compare(d->g, SW_LE, 32, 0, d->b, d->rest);
	return true;
}

/* again ? n + 1 : n, where n was corrected once. */
static bool is_quotient(struct division *d, const sw_node *o)
{
	if (make_binary(d, SW_OP_ADD, 32, o[2], make_constant(d, 32, 1)) != o[1])
		return false;
	struct sw_value first = *value_at(d, o[2]);
	struct sw_value once = *value_at(d, first.operand[0]);
	for (int i = 0; once.op == SW_OP_COMPARE && i < 4; i++) {
		d->b = once.operand[i & 1];
		d->n = first.operand[2];
		d->minus_b = i >> 1;
		if (value_at(d, d->b)->width == 32 && complete_division(d) && d->again == o[0] && d->corrected == o[2])
			return true;
	}
	return false;
}

/* b * -n of a sum, n not a number but the upper half of a product; or n * -b. */
static bool find_part(struct division *d, sw_node rest)
{
	for (int depth = 0; depth < 2 && is_op(d, rest, SW_OP_ADD, 32); depth++) {
		const struct sw_value v = *value_at(d, rest);
		for (int i = 0; i < 4; i++) { /* which operand of the sum, of the product */
			const struct sw_value *product = value_at(d, v.operand[i & 1]);
			if (product->op != SW_OP_MUL || value_at(d, product->operand[i >> 1])->op != SW_OP_NEG)
				continue;
			sw_node plus = product->operand[!(i >> 1)],
				minus = value_at(d, product->operand[i >> 1])->operand[0];
			d->minus_b = is_op(d, plus, SW_OP_EXTEND, 32) && value_at(d, plus)->imm == 32;
			d->b = d->minus_b ? minus : plus;
			d->n = d->minus_b ? plus : minus;
			return true;
		}
		rest = v.operand[0]; /* constants are outermost */
	}
	return false;
}

/* again ? rest - b : rest, where rest was corrected once. */
static bool is_rest(struct division *d, const sw_node *o)
{
	sw_node rest = value_at(d, o[2])->operand[2];
	return find_part(d, rest) && complete_division(d) && d->again == o[0] && d->rest == o[2] &&
	       make_binary(d, SW_OP_SUB, 32, o[2], d->b) == o[1];
}

sw_node sw_reciprocal_division(struct sw_graph *graph, const sw_node *operands)
{
	struct division d = {.g = graph};
	const struct sw_value *first = sw_graph_at(graph, operands[2]), *condition = sw_graph_at(graph, operands[0]);
	if (!graph->whole || first->op != SW_OP_SELECT || first->width != 32 || condition->op != SW_OP_COMPARE ||
	    condition->imm2 != 32 || condition->flags & SW_SIGNED)
		return SW_NO_NODE;
	bool quotient = sw_graph_at(graph, operands[1])->op == SW_OP_ADD && is_quotient(&d, operands);
	if (quotient || is_rest(&d, operands))
		return sw_graph_binary(graph, quotient ? SW_OP_DIV : SW_OP_REM, 32, 0, d.a, d.b);
	return SW_NO_NODE;
}
