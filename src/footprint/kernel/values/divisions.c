/* SPDX-License-Identifier: Apache-2.0 */
/* Divisions that machine code computes from a reciprocal, as one operation. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "footprint/kernel/values/simplify.h"
#include "footprint/rules.h"

/* ---- 32 bits */

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

/* A division of 32 bits, of which the parts are found or made one after the other. */
struct division {
	struct sw_graph *g;
	sw_node a, b, n;		/* n: before it is corrected */
	bool minus_b;			/* the rest is a + n * -b, not a + b * -n */
	sw_node corrected, rest, again; /* n and rest after the first correction; whether there is a second one */
};

/* The value of a node. */
static const struct sw_value *value_at(const struct division *d, sw_node node)
{
	return sw_graph_at(d->g, node);
}

/* Is the node this operation? */
static bool is_op(const struct division *d, sw_node node, enum sw_op op, uint32_t width)
{
	return value_at(d, node)->op == op && value_at(d, node)->width == width;
}

/* The node of an operation on two operands, in the width of this division. */
static sw_node make_binary(const struct division *d, enum sw_op op, uint8_t width, sw_node a, sw_node b)
{
	return sw_graph_binary(d->g, op, width, 0, a, b);
}

static sw_node make_constant(const struct division *d, uint8_t width, int64_t imm)
{
	return sw_graph_const(d->g, width, imm);
}

/* The node, of 32 bits, extended to 64 with zeros. */
static sw_node make_wide(const struct division *d, sw_node node)
{
	return sw_graph_extend(d->g, 64, 32, 0, node);
}

/* Is the node a number of 32 bits that was widened with zeros? */
static bool is_widened(const struct division *d, sw_node node, sw_node *narrow)
{
	const struct sw_value *v = value_at(d, node);
	if (v->op != SW_OP_EXTEND || v->width != 64 || v->imm != 32 || v->flags & SW_SIGNED)
		return false;
	*narrow = v->operand[0];
	return value_at(d, *narrow)->width == 32;
}

/* The upper 32 bits of a product or a sum of 64. */
static sw_node upper_half(const struct division *d, sw_node node)
{
	return make_binary(d, SW_OP_SHR, 64, node, make_constant(d, 32, 32));
}

/* Is the node the reciprocal of d->b that Newton's step gives?  Makes the step of the estimate q that the node has
   in it, and compares. */
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

/* Finds d->a: d->n is the upper half of its product with b's reciprocal.  False: d->n is no such half. */
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

/* Makes all that follows from n and b: the rest, and both after the first correction.  False: n is no such quotient. */
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

/* Are the operands of a SELECT "again ? n + 1 : n", where n was corrected once already?  Then d->a and d->b are what
   is divided. */
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

/* Finds the divisor b and the quotient n of a rest that code computes as a + b * -n or a + n * -b; n is the one that
   is the upper half of a product. */
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

/* Are the operands of a SELECT "again ? rest - b : rest", where the rest was corrected once already? */
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
	if (SW_RULE_IS_OFF(reciprocal_division))
		return SW_NO_NODE;
	if (!graph->whole || first->op != SW_OP_SELECT || first->width != 32 || condition->op != SW_OP_COMPARE ||
	    condition->imm2 != 32 || condition->flags & SW_SIGNED)
		return SW_NO_NODE;
	bool quotient = sw_graph_at(graph, operands[1])->op == SW_OP_ADD && is_quotient(&d, operands);
	if (quotient || is_rest(&d, operands))
		return sw_graph_binary(graph, quotient ? SW_OP_DIV : SW_OP_REM, 32, 0, d.a, d.b);
	return SW_NO_NODE;
}

/* ---- 64 bits */

/*
 * Division of 64-bit numbers that are known at run time only.  Machine code has a routine for it that every kernel with
 * a `%` of two `long` contains (nvcc 11 to 13, sm_75 to sm_120): two steps of Newton's method in pieces of 32 bits,
 * some two hundred operations that differ from one compiler to the next.  It ends as the one of 32 bits does:
 *
 *     rest = a - b * n                                     n is a / b, or one or two less
 *     if (rest >= b) { rest -= b; n++; }                   twice
 *
 * These ends are compared.  What is before them is tried instead: with numbers for all that goes in, and with b's
 * reciprocal, not quite exact, where a float became a number.  Only what gives a % b, or a / b, with all of them is
 * taken for it.
 */

#define MOST_NODES 1024
#define TRIALS	   256 /* with other numbers, at most */
#define ENOUGH	   8   /* with a quotient that is not 0; so many of the others are tried, too */

/* A node of what is tried: with which numbers it is computed, and as what. */
struct step {
	sw_node node;
	uint32_t operand[3]; /* steps */
	int64_t value;
};

/* The steps that a, b and the three operands of the last choice need, operands before what is made of them. */
struct trial {
	const struct sw_graph *g;
	SW_VEC(struct step) step;
	struct sw_map place; /* node -> its step, + 1 */
	uint32_t a, b, choice[3];
	uint32_t estimate[2], estimates; /* the halves of the reciprocal, or all of it */
	uint32_t width;
};

/* May sw_fold() know what comes out? */
static bool is_computed(const struct sw_value *v)
{
	return v->n && v->n <= 3 && v->op < SW_OPS && v->op != SW_OP_MIX;
}

/* Adds a node to those that are computed, unless it is there. */
static void add_step(struct trial *t, sw_node node)
{
	uint64_t *place = sw_map_put(&t->place, node);
	if (*place)
		return;
	*sw_vec_push(&t->step) = (struct step){.node = node};
	*place = t->step.n;
}

/* Adds a node and all that it is computed from; false: they are too many. */
static bool add_steps_of(struct trial *t, sw_node from)
{
	size_t i = t->step.n;
	add_step(t, from);
	for (; i < t->step.n; i++) {
		const struct sw_value *v = sw_graph_at(t->g, t->step.at[i].node);
		for (uint32_t k = 0; is_computed(v) && k < v->n; k++)
			add_step(t, v->operand[k]);
		if (t->step.n > MOST_NODES)
			return false;
	}
	return true;
}

/* qsort() by node: operands have smaller numbers than their users. */
static int by_number(const void *a, const void *b)
{
	sw_node x = ((const struct step *)a)->node, y = ((const struct step *)b)->node;
	return (x > y) - (x < y);
}

/* The step that computes the node. */
static uint32_t place_of(const struct trial *t, sw_node node)
{
	return (uint32_t)sw_map_get(&t->place, node) - 1;
}

/* Puts the steps in an order in which operands come first, and links each to its operands' steps. */
static void sort_steps(struct trial *t)
{
	qsort(t->step.at, t->step.n, sizeof *t->step.at, by_number);
	for (size_t i = 0; i < t->step.n; i++)
		*sw_map_put(&t->place, t->step.at[i].node) = i + 1;
	for (size_t i = 0; i < t->step.n; i++) {
		const struct sw_value *v = sw_graph_at(t->g, t->step.at[i].node);
		for (uint32_t k = 0; is_computed(v) && k < v->n; k++)
			t->step.at[i].operand[k] = place_of(t, v->operand[k]);
	}
}

/* Lists the steps that compute a, b and the choice, and finds the estimate of the reciprocal among them: the only
   unknown numbers that are not among what goes into a and b.  False: it is no such division. */
static bool prepare_trial(struct trial *t, sw_node a, sw_node b, const sw_node *choice)
{
	sw_node estimate[2];
	if (!add_steps_of(t, a) || !add_steps_of(t, b))
		return false;
	size_t inputs = t->step.n;
	if (!add_steps_of(t, choice[0]) || !add_steps_of(t, choice[1]) || !add_steps_of(t, choice[2]))
		return false;
	for (size_t i = inputs; i < t->step.n; i++) {
		const struct sw_value *v = sw_graph_at(t->g, t->step.at[i].node);
		uint64_t most = v->width == 64 ? UINT64_MAX : (UINT64_C(1) << v->width) - 1;
		if (v->op != SW_OP_RANGE || v->imm || (uint64_t)v->imm2 != most) /* no float that became a number */
			continue;
		if (t->estimates == 2)
			return false;
		estimate[t->estimates++] = t->step.at[i].node;
	}
	if (!t->estimates || sw_graph_at(t->g, estimate[0])->width != (t->estimates == 2 ? 32 : 64))
		return false;
	sort_steps(t);
	t->a = place_of(t, a);
	t->b = place_of(t, b);
	for (uint32_t i = 0; i < 3; i++)
		t->choice[i] = place_of(t, choice[i]);
	for (uint32_t i = 0; i < t->estimates; i++)
		t->estimate[i] = place_of(t, estimate[i]);
	return true;
}

/* A number for a trial, of any length up to `most` bits, often of full length: a long number divided by a short one
   shows how exact a reciprocal is. */
static uint64_t some_bits(uint64_t seed, uint32_t most)
{
	uint64_t random = sw_hash_u64(seed), kind = sw_hash_u64(random);
	uint64_t length = kind % 3 && most ? 1 + kind / 3 % most : most;
	return length >= 64 ? random : random & ((UINT64_C(1) << length) - 1);
}

/* A word of the parameter block for a trial.  Nodes that are parts of one word get the bits of the same number. */
static uint64_t some_parameter(uint64_t seed, uint64_t offset)
{
	uint64_t word = some_bits(seed + offset / 8, 64), next = some_bits(seed + offset / 8 + 1, 64);
	uint32_t bits = (uint32_t)(offset % 8) * 8;
	return bits ? word >> bits | next << (64 - bits) : word;
}

/* A number for a trial that the node can be, by its known bits and bounds. */
static int64_t some_number(const struct sw_graph *g, sw_node node, uint64_t seed)
{
	const struct sw_value *v = sw_graph_at(g, node);
	uint32_t bits = sw_known_bits(g, node, 3), zeros = sw_known_zeros(g, node, 3);
	uint64_t own = seed ^ sw_hash_u64(v->op == SW_OP_SPECIAL ? (uint64_t)v->imm : node + (UINT64_C(1) << 32));
	uint64_t span = (uint64_t)v->imm2 - (uint64_t)v->imm, number = some_bits(own, bits);
	sw_node low, high;
	if (v->op == SW_OP_CONST)
		return v->imm;
	if (v->op == SW_OP_PARAM)
		number = some_parameter(seed, (uint64_t)v->imm);
	else if (v->op == SW_OP_RANGE && span < UINT32_MAX)
		number = (uint64_t)v->imm + number % (span + 1);
	else if (v->op == SW_VALUE_PHI && sw_graph_phi_halves(g, node, &low, &high))
		number = (uint32_t)some_number(g, low, seed) | (uint64_t)some_number(g, high, seed) << 32;
	else
		number = zeros < 64 ? number >> zeros << zeros : 0;
	return sw_fold_canonical((int64_t)number, v->width);
}

/* Computes the first n steps from numbers that depend on the seed.  reciprocal: the estimate's halves; NULL: none. */
static void compute_steps(struct trial *t, uint32_t n, uint64_t seed, const uint64_t *reciprocal)
{
	for (uint32_t i = 0; i < n; i++) {
		struct step *step = &t->step.at[i];
		const struct sw_value *v = sw_graph_at(t->g, step->node);
		struct sw_making making = sw_making_of(v);
		int64_t operand[3];
		for (uint32_t k = 0; is_computed(v) && k < v->n; k++)
			operand[k] = t->step.at[step->operand[k]].value;
		if (!is_computed(v) || !sw_fold(&making, operand, &step->value))
			step->value = some_number(t->g, step->node, seed);
		for (uint32_t k = 0; reciprocal && k < t->estimates; k++) {
			if (t->estimate[k] == i)
				step->value = sw_fold_canonical((int64_t)reciprocal[k], v->width);
		}
	}
}

/* 2^64 / b as MUFU.RCP gives it: some 22 bits are right, and it is not too large.  high_first: which of the
   estimate's nodes is the upper half. */
static void reciprocal_of(const struct trial *t, uint64_t b, bool high_first, uint64_t out[2])
{
	uint64_t whole = UINT64_MAX / b;
	whole -= (whole >> 22) + (whole > 1);
	out[0] = high_first ? whole >> 32 : whole;
	out[1] = high_first ? whole : whole >> 32;
	if (t->estimates == 1)
		out[0] = whole;
}

/* Does the choice give a % b (rest), or else a / b, with all numbers that are tried? */
static bool always_gives(struct trial *t, bool rest, bool high_first)
{
	uint32_t useful = 0, others = 0, inputs = (t->a > t->b ? t->a : t->b) + 1;
	for (uint64_t i = 1; i <= TRIALS && useful < ENOUGH; i++) {
		const uint64_t seed = sw_hash_u64(i);
		uint64_t reciprocal[2];
		compute_steps(t, inputs, seed, NULL);
		uint64_t a = (uint64_t)t->step.at[t->a].value, b = (uint64_t)t->step.at[t->b].value;
		if (!b || (a < b && ++others > ENOUGH))
			continue;
		reciprocal_of(t, b, high_first, reciprocal);
		compute_steps(t, (uint32_t)t->step.n, seed, reciprocal);
		int64_t result = t->step.at[t->choice[t->step.at[t->choice[0]].value & 1 ? 1 : 2]].value;
		uint64_t wanted = rest ? a % b : a / b;
		if (sw_fold_unsigned(result, t->width) != sw_fold_unsigned((int64_t)wanted, t->width))
			return false;
		useful += a >= b;
	}
	return useful == ENOUGH;
}

/* Is the choice, in all or in its low `width` bits, a % b (rest), or else a / b? */
static bool is_division(const struct sw_graph *g, bool rest, uint8_t width, sw_node a, sw_node b, const sw_node *choice)
{
	struct trial t = {.g = g, .width = width};
	bool any = prepare_trial(&t, a, b, choice) && (always_gives(&t, rest, false) || always_gives(&t, rest, true));
	free(t.step.at);
	sw_map_free(&t.place);
	return any;
}

/* Is the condition "b <= rest", without signs?  Finds both. */
static bool is_too_large(const struct sw_graph *g, sw_node condition, sw_node *b, sw_node *rest)
{
	const struct sw_value *v = sw_graph_at(g, condition);
	if (v->op != SW_OP_COMPARE || v->imm2 != 64 || v->flags & SW_SIGNED || (v->imm != SW_LE && v->imm != SW_GE))
		return false;
	*b = v->operand[v->imm == SW_GE];
	*rest = v->operand[v->imm == SW_LE];
	return true;
}

/* Is the node a product of b and something? */
static bool is_product_of(const struct sw_graph *g, sw_node node, sw_node b)
{
	const struct sw_value *v = sw_graph_at(g, node);
	return v->op == SW_OP_MUL && (v->operand[0] == b || v->operand[1] == b);
}

/* The dividend a of a rest a - b * n, where constants, and numbers that are taken away, may be outermost;
   SW_NO_NODE: it is no such rest. */
static sw_node find_wide_dividend(struct sw_graph *g, sw_node rest, sw_node b, int depth)
{
	const struct sw_value v = *sw_graph_at(g, rest);
	if (v.width != 64 || (v.op != SW_OP_SUB && v.op != SW_OP_ADD) || depth > 3)
		return SW_NO_NODE;
	if (v.op == SW_OP_SUB && is_product_of(g, v.operand[1], b))
		return v.operand[0];
	for (int i = 0; i <= (v.op == SW_OP_ADD); i++) {
		sw_node a = find_wide_dividend(g, v.operand[i], b, depth + 1);
		if (a != SW_NO_NODE)
			return sw_graph_binary(g, (enum sw_op)v.op, 64, 0, i ? v.operand[0] : a, i ? a : v.operand[1]);
	}
	return SW_NO_NODE;
}

/* How a SELECT under this condition corrects its last operand: DIV: by + 1, REM: by - b; SW_OP_CONST: in another
   way. */
static enum sw_op correction_op(struct sw_graph *g, sw_node condition, const sw_node *choice, sw_node b)
{
	uint8_t width = sw_graph_at(g, choice[2])->width;
	if (choice[0] != condition)
		return SW_OP_CONST;
	if (choice[1] == sw_graph_binary(g, SW_OP_ADD, width, 0, choice[2], sw_graph_const(g, width, 1)))
		return SW_OP_DIV;
	sw_node less = sw_graph_binary(g, SW_OP_SUB, width, 0, choice[2], sw_graph_fit(g, b, width));
	return choice[1] == less ? SW_OP_REM : SW_OP_CONST;
}

/* Compares the end of the picture at "64 bits", the last line first, and tries what is before it.  The operands are
   those of the second correction, under the condition b <= once, where `once` is the rest after the first correction.
   `first` is the choice that corrected the rest, `before` the one that gave what is corrected now: n or the rest, or
   the low half of either. */
sw_node sw_wide_division(struct sw_graph *graph, uint8_t width, const sw_node *operands)
{
	sw_node b, b_before, once, rest;
	if (SW_RULE_IS_OFF(wide_division))
		return SW_NO_NODE;
	if (!graph->whole || !is_too_large(graph, operands[0], &b, &once) ||
	    sw_graph_at(graph, once)->op != SW_OP_SELECT || sw_graph_at(graph, operands[2])->op != SW_OP_SELECT)
		return SW_NO_NODE;
	struct sw_value first = *sw_graph_at(graph, once), before = *sw_graph_at(graph, operands[2]);
	if (!is_too_large(graph, first.operand[0], &b_before, &rest) || b_before != b || first.operand[2] != rest)
		return SW_NO_NODE;
	enum sw_op op = correction_op(graph, operands[0], operands, b);
	if (op == SW_OP_CONST || correction_op(graph, first.operand[0], before.operand, b) != op ||
	    correction_op(graph, first.operand[0], first.operand, b) != SW_OP_REM)
		return SW_NO_NODE;
	sw_node a = find_wide_dividend(graph, rest, b, 0);
	if (a == SW_NO_NODE || !is_division(graph, op == SW_OP_REM, width, a, b, operands))
		return SW_NO_NODE;
	return sw_graph_fit(graph, sw_graph_binary(graph, op, 64, 0, a, b), width);
}
