/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Algebra of nodes.  Everything is modulo 2^width, so distributing and collecting constants is always right.
 *
 * The forms that other files rely on: a constant operand of a commutative operation is the second; constant addends are
 * outermost; SHL by a constant is a MUL; MULWIDE is a MUL of EXTENDs; SUB of a constant is an ADD; MOV, NOT of COMPARE
 * and EXTEND to the same width do not occur.
 */
#include "footprint/kernel/values/simplify.h"
#include "footprint/rules.h"

#include <string.h>

/* ---- choices within choices */

/*
 * Choices inside of choices by the same condition.  Predicated machine code keeps in a register, on the ways where it
 * is not needed, what another life of the register left there: "@P0 IADD R4 = ..; @P0 SHF R5 = R4 >> R6" is P0 ? (P0 ?
 * new : old) >> R6 : R5, and the old number, perhaps half of a pointer, is never used.
 */

/* Looked at of one branch: operations one inside the other, nodes. */
#define MAX_DEPTH  6
#define MAX_NODES  48
#define MAX_TRUTHS 8
#define TABLE	   128

/* One side of a choice: the conditions that hold there, and the nodes that were looked at, with what they are there. */
struct branch {
	struct sw_graph *graph;
	sw_node truth[MAX_TRUTHS]; /* hold here */
	sw_node seen[MAX_NODES], is[MAX_NODES];
	uint8_t at[TABLE]; /* by node: number in `seen`, + 1; 0: free */
	uint32_t truths, nodes;
};

/* Adds a condition, and the parts of an AND, to those that hold in the branch. */
static void hold_truth(struct branch *b, sw_node condition)
{
	const struct sw_value *v = sw_graph_at(b->graph, condition);
	if (b->truths == MAX_TRUTHS)
		return;
	b->truth[b->truths++] = condition;
	if (v->op != SW_OP_AND || v->width != 1)
		return;
	sw_node both[2] = {v->operand[0], v->operand[1]};
	hold_truth(b, both[0]);
	hold_truth(b, both[1]);
}

/* Does the condition hold in the branch: 1, 0; -1: it may be either. */
static int truth_of(struct branch *b, sw_node condition)
{
	for (uint32_t i = 0; i < b->truths; i++) {
		if (b->truth[i] == condition)
			return 1;
	}
	sw_node other = sw_graph_unary(b->graph, SW_OP_NOT, 1, condition);
	for (uint32_t i = 0; i < b->truths; i++) {
		if (b->truth[i] == other)
			return 0;
	}
	return -1;
}

static sw_node choose_under(struct branch *b, sw_node node, uint32_t depth);

/* The operation again, over its operands as they are in the branch. */
static sw_node operation_under(struct branch *b, sw_node node, uint32_t depth)
{
	const struct sw_value v = *sw_graph_at(b->graph, node); /* a copy: making nodes moves them */
	struct sw_making m = sw_making_of(&v);
	sw_node o[3];
	bool changed = false;
	for (uint32_t i = 0; i < v.n; i++) {
		o[i] = choose_under(b, v.operand[i], depth);
		changed |= o[i] != v.operand[i];
	}
	return changed ? sw_graph_make(b->graph, m, o) : node;
}

/* The value of a node in the branch: choices by its conditions are decided, also within operands, `depth` deep. */
static sw_node choose_under(struct branch *b, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(b->graph, node);
	while (v->op == SW_OP_SELECT) {
		int truth = truth_of(b, v->operand[0]);
		if (truth < 0)
			break;
		node = sw_graph_operand(b->graph, node, truth ? 1 : 2);
		v = sw_graph_at(b->graph, node);
	}
	if (!depth || !v->chooses || !v->n || v->n > 3 || v->op >= SW_OPS || v->op == SW_OP_MIX)
		return node;
	uint32_t slot = node % TABLE;
	for (; b->at[slot]; slot = (slot + 1) % TABLE)
		if (b->seen[b->at[slot] - 1] == node)
			return b->is[b->at[slot] - 1];
	if (b->nodes == MAX_NODES)
		return node;
	uint32_t at = b->nodes++;
	b->at[slot] = (uint8_t)b->nodes;
	b->seen[at] = b->is[at] = node;
	return b->is[at] = operation_under(b, node, depth - 1);
}

/* The node where the condition holds: the other sides of choices by it are left out. */
static sw_node choice_under(struct sw_graph *graph, sw_node node, sw_node condition)
{
	struct branch b;
	/* Halves first become numbers of 64 bits: only one of them may hold a choice.  What is made again is not looked
	   through again. */
	bool outer = graph->whole && !graph->choosing;
	if (SW_RULE_IS_OFF(nested_choice))
		return node;
	if (outer ? !sw_graph_at(graph, node)->chooses : sw_graph_at(graph, node)->op != SW_OP_SELECT)
		return node;
	b.graph = graph;
	b.truths = b.nodes = 0;
	memset(b.at, 0, sizeof b.at);
	graph->choosing |= outer;
	hold_truth(&b, condition);
	node = choose_under(&b, node, outer ? MAX_DEPTH : 0);
	graph->choosing &= !outer;
	return node;
}

/* ---- predicate bits */

/*
 * Predicates that machine code keeps as bits of a register: "@P2 LOP3 R80 = R80 | 0x4000 ... LOP3 P5, RZ, R80 &
 * 0x4000". Kernels of cuBLAS keep thirty of them so; the bit is the predicate again.
 */

/* Operations looked through: three for each bit.  Compared with the path through a register's history a look is short.
 */
#define MAX_HISTORY 128
#define MAX_ASIDE   6

/* Is the number known to have 0 in these bits, because it was masked or widened? */
static bool has_cleared(const struct sw_graph *g, sw_node node, uint64_t bits)
{
	const struct sw_value *v = sw_graph_at(g, node);
	int64_t mask;
	if (v->op == SW_OP_EXTEND) /* that of the uppermost bit */
		return !(v->flags & SW_SIGNED) && v->imm < 64 && !(bits & ((UINT64_C(1) << v->imm) - 1));
	return v->op == SW_OP_AND && sw_graph_is_const(g, v->operand[1], &mask) && !((uint64_t)mask & bits);
}

/* Is the node "x | bits", also as a sum of numbers without a common bit? */
static bool is_or(const struct sw_graph *g, sw_node node, sw_node *x, uint64_t *bits)
{
	const struct sw_value *v = sw_graph_at(g, node);
	int64_t c;
	if ((v->op != SW_OP_OR && v->op != SW_OP_ADD) || !sw_graph_is_const(g, v->operand[1], &c))
		return false;
	if (v->op == SW_OP_ADD && !has_cleared(g, v->operand[0], sw_fold_unsigned(c, v->width)))
		return false;
	*x = v->operand[0];
	*bits = (uint64_t)c;
	return true;
}

/* Both ways of an operation that are looked at, in all. */
#define MAX_FORKS 24

struct look {
	struct sw_graph *g;
	uint32_t forks; /* left */
};

static sw_node bit_of(struct look *l, sw_node node, uint32_t bit, uint32_t depth);

/* A bit of a choice or logical operation, from that bit of both operands.  As "condition ? yes : no", yes is mostly
   no with a bit more; CUTLASS puts the guards of a tile's rows together by logical operations. */
static sw_node of_two(struct look *l, const struct sw_value *v, uint32_t bit)
{
	bool select = v->op == SW_OP_SELECT;
	if (!l->forks || v->width == 1)
		return SW_NO_NODE;
	l->forks--;
	sw_node a = bit_of(l, v->operand[select], bit, MAX_ASIDE);
	sw_node b = a == SW_NO_NODE ? a : bit_of(l, v->operand[select + 1], bit, MAX_ASIDE);
	if (b == SW_NO_NODE)
		return SW_NO_NODE;
	return select ? sw_graph_select(l->g, 1, v->operand[0], a, b)
		      : sw_graph_binary(l->g, (enum sw_op)v->op, 1, 0, a, b);
}

/* Goes from a number to the one that it is a shift or the inverse of, where the bit is in another place; false: it
   is neither.  *turned: the bit was inverted. */
static bool step_aside(const struct sw_graph *g, sw_node *node, uint32_t *bit, bool *turned)
{
	const struct sw_value *v = sw_graph_at(g, *node), *inner = sw_graph_at(g, v->n ? v->operand[0] : *node);
	int64_t c;
	if (v->op == SW_OP_MUL && sw_graph_is_const(g, v->operand[1], &c) && c > 0 && !(c & (c - 1)) &&
	    (uint32_t)__builtin_ctzll((uint64_t)c) <= *bit) {
		*bit -= (uint32_t)__builtin_ctzll((uint64_t)c);
		*node = v->operand[0];
		return true;
	}
	/* -x - 1 */
	if (v->op == SW_OP_ADD && inner->op == SW_OP_NEG && sw_graph_is_const(g, v->operand[1], &c) && c == -1) {
		*node = inner->operand[0];
	} else if (v->op == SW_OP_NOT && v->width > 1) {
		*node = v->operand[0];
	} else if (v->op == SW_OP_SUB && sw_graph_is_const(g, v->operand[0], &c) && c == -1) {
		*node = v->operand[1];
	} else {
		return false;
	}
	*turned = !*turned;
	return true;
}

/* Is the node a multiple of a power of two above the bit, so that the bit is 0? */
static bool is_above(const struct sw_graph *g, sw_node node, uint32_t bit)
{
	const struct sw_value *v = sw_graph_at(g, node);
	return v->op == SW_OP_MUL && sw_known_zeros(g, node, 1) > bit;
}

/* A bit of a node as a node of width 1, found by following extensions, masks and shifts, `depth` of them, down to
   where the bit comes from.  *turned: its inverse is meant.  SW_NO_NODE: it does not come from one place. */
static sw_node straight_bit_of(struct look *l, sw_node node, uint32_t bit, uint32_t depth, bool *turned)
{
	struct sw_graph *g = l->g;
	for (; depth; depth--) {
		const struct sw_value v = *sw_graph_at(g, node);
		uint64_t bits;
		int64_t c;
		sw_node x;
		if (v.op == SW_OP_CONST)
			return sw_graph_const(g, 1, v.imm >> bit & 1);
		if ((v.op == SW_OP_EXTEND && bit >= v.imm && !(v.flags & SW_SIGNED)) || is_above(g, node, bit))
			return sw_graph_const(g, 1, 0);
		if (v.op == SW_OP_EXTEND && sw_graph_at(g, v.operand[0])->width == 1)
			return v.operand[0];
		if (v.op == SW_OP_EXTEND) {
			bit = bit >= v.imm ? (uint32_t)v.imm - 1 : bit;
			node = v.operand[0];
		} else if (is_or(g, node, &x, &bits)) {
			if (bits >> bit & 1)
				return sw_graph_const(g, 1, 1);
			node = x;
		} else if (v.op == SW_OP_AND && sw_graph_is_const(g, v.operand[1], &c)) {
			if (!(c >> bit & 1))
				return sw_graph_const(g, 1, 0);
			node = v.operand[0];
		} else if (v.op == SW_OP_SELECT && is_or(g, v.operand[1], &x, &bits) && x == v.operand[2] &&
			   !(bits >> bit & 1)) {
			node = x;
		} else if (v.op == SW_OP_SELECT || v.op == SW_OP_AND || v.op == SW_OP_OR) {
			return of_two(l, &v, bit);
		} else if (!step_aside(g, &node, &bit, turned)) {
			return SW_NO_NODE;
		}
	}
	return SW_NO_NODE;
}

/* straight_bit_of(), and the inverse where that is meant. */
static sw_node bit_of(struct look *l, sw_node node, uint32_t bit, uint32_t depth)
{
	bool turned = false;
	sw_node is = straight_bit_of(l, node, bit, depth, &turned);
	return turned && is != SW_NO_NODE ? sw_graph_unary(l->g, SW_OP_NOT, 1, is) : is;
}

/* "(register & bit) == 0", where the bit is a predicate that was put there: the predicate, or SW_NO_NODE. */
static sw_node predicate_bit_test(struct sw_graph *g, const struct sw_making *m, const sw_node *o)
{
	const struct sw_value v = *sw_graph_at(g, o[0]);
	int64_t with, mask = 1;
	if (SW_RULE_IS_OFF(predicate_bits))
		return SW_NO_NODE;
	if ((m->imm != SW_EQ && m->imm != SW_NE) || !sw_graph_is_const(g, o[1], &with) || with)
		return SW_NO_NODE;
	if (v.op == SW_OP_EXTEND ? v.imm != 1 || v.flags & SW_SIGNED || sw_graph_at(g, v.operand[0])->width == 1
				 : v.op != SW_OP_AND || !sw_graph_is_const(g, v.operand[1], &mask))
		return SW_NO_NODE;
	uint64_t bits = sw_fold_unsigned(mask, v.width);
	if (!bits || bits & (bits - 1))
		return SW_NO_NODE;
	struct look look = {g, MAX_FORKS};
	sw_node is = bit_of(&look, v.operand[0], (uint32_t)__builtin_ctzll(bits), MAX_HISTORY);
	return is == SW_NO_NODE || m->imm == SW_NE ? is : sw_graph_unary(g, SW_OP_NOT, 1, is);
}

/* ---- rules */

/* A rule of one operation: a simpler node for it, or SW_NO_NODE; it may reorder operands and change *m. */
typedef sw_node rule(struct sw_graph *g, struct sw_making *m, sw_node *o);

static bool is_op(const struct sw_graph *g, sw_node node, enum sw_op op)
{
	return sw_graph_at(g, node)->op == op;
}

/* Is the node this constant? */
static bool is_number(const struct sw_graph *g, sw_node node, int64_t imm)
{
	int64_t has;
	return sw_graph_is_const(g, node, &has) && has == imm;
}

/* Is the node a sum x + constant?  Finds both. */
static bool is_sum(const struct sw_graph *g, sw_node node, sw_node *x, int64_t *imm)
{
	if (!is_op(g, node, SW_OP_ADD) || !sw_graph_is_const(g, sw_graph_operand(g, node, 1), imm))
		return false;
	*x = sw_graph_operand(g, node, 0);
	return true;
}

/* Constants second, else the older node first, so that a + b is b + a. */
static void order_operands(const struct sw_graph *g, sw_node *o)
{
	bool c0 = is_op(g, o[0], SW_OP_CONST), c1 = is_op(g, o[1], SW_OP_CONST);
	if (c0 > c1 || (c0 == c1 && o[0] > o[1])) {
		sw_node swap = o[0];
		o[0] = o[1];
		o[1] = swap;
	}
}

/* ---- rules by operation ---------------------------------------------------------------------------------------- */

/* A copy is what it copies. */
static sw_node simplify_mov(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	(void)g, (void)m;
	return o[0];
}

/* The address of a parameter, local slot or module variable, moved by some bytes; SW_NO_NODE: it is none. */
static sw_node displace_address(struct sw_graph *g, sw_node node, int64_t by)
{
	struct sw_value v = *sw_graph_at(g, node);
	struct sw_making m = {.op = v.op, .width = v.width, .imm = v.imm, .imm2 = v.imm2};
	if (v.op == SW_OP_PARAM_ADDRESS)
		m.imm = (int64_t)((uint64_t)m.imm + (uint64_t)by);
	else if (v.op == SW_OP_LOCAL_ADDRESS || v.op == SW_OP_SYMBOL_ADDRESS)
		m.imm2 = (int64_t)((uint64_t)m.imm2 + (uint64_t)by);
	else if (v.op != SW_OP_SHARED_ADDRESS)
		return SW_NO_NODE;
	return sw_graph_make(g, m, NULL);
}

static sw_node add_constant(struct sw_graph *g, uint8_t width, sw_node x, int64_t imm)
{
	return sw_graph_binary(g, SW_OP_ADD, width, 0, x, sw_graph_const(g, width, imm));
}

/* A sum in its simplest form: constants are added up and stand last, x + (y - x) is y. SW_NO_NODE: it is in that form.
 */
static sw_node simplify_add(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	sw_node x, at;
	int64_t c, d;
	order_operands(g, o);
	if (sw_graph_is_const(g, o[1], &c)) {
		if (!c)
			return o[0];
		if (is_sum(g, o[0], &x, &d))
			return add_constant(g, m->width, x, (int64_t)((uint64_t)c + (uint64_t)d));
		return (at = displace_address(g, o[0], c));
	}
	for (int i = 0; i < 2; i++) {
		if (is_sum(g, o[i], &x, &c)) {
			sw_node sum = sw_graph_binary(g, SW_OP_ADD, m->width, 0, x, o[!i]);
			return add_constant(g, m->width, sum, c);
		}
		if (is_op(g, o[i], SW_OP_NEG))
			return sw_graph_binary(g, SW_OP_SUB, m->width, 0, o[!i], sw_graph_operand(g, o[i], 0));
		if (is_op(g, o[i], SW_OP_SUB) && sw_graph_operand(g, o[i], 1) == o[!i])
			return sw_graph_operand(g, o[i], 0);
	}
	return SW_NO_NODE;
}

/* A difference in its simplest form: with a constant it is a sum, constants stand last, x + y - y is x. */
static sw_node simplify_sub(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	sw_node x;
	int64_t c;
	if (o[0] == o[1])
		return sw_graph_const(g, m->width, 0);
	if (sw_graph_is_const(g, o[1], &c))
		return add_constant(g, m->width, o[0], (int64_t)(0 - (uint64_t)c));
	if (is_number(g, o[0], 0))
		return sw_graph_unary(g, SW_OP_NEG, m->width, o[1]);
	if (sw_graph_is_const(g, o[0], &c)) { /* constants are outermost: c - x is -x + c */
		sw_node minus = sw_graph_unary(g, SW_OP_NEG, m->width, o[1]);
		return add_constant(g, m->width, minus, c);
	}
	if (is_sum(g, o[0], &x, &c))
		return add_constant(g, m->width, sw_graph_binary(g, SW_OP_SUB, m->width, 0, x, o[1]), c);
	if (is_sum(g, o[1], &x, &c))
		return add_constant(g, m->width, sw_graph_binary(g, SW_OP_SUB, m->width, 0, o[0], x),
				    (int64_t)(0 - (uint64_t)c));
	if (is_op(g, o[1], SW_OP_NEG))
		return sw_graph_binary(g, SW_OP_ADD, m->width, 0, o[0], sw_graph_operand(g, o[1], 0));
	for (int i = 0; i < 2 && is_op(g, o[0], SW_OP_ADD); i++)
		if (sw_graph_operand(g, o[0], (uint32_t)i) == o[1])
			return sw_graph_operand(g, o[0], (uint32_t)!i);
	/* The bits that a mask leaves out: tid.x - (tid.x & -32), the lane as machine code has it. */
	if (is_op(g, o[1], SW_OP_AND) && sw_graph_operand(g, o[1], 0) == o[0] &&
	    sw_graph_is_const(g, sw_graph_operand(g, o[1], 1), &c))
		return sw_graph_binary(g, SW_OP_AND, m->width, 0, o[0], sw_graph_const(g, m->width, ~c));
	return SW_NO_NODE;
}

/* A product by a constant: constants are multiplied, and those of a sum taken out of it. */
static sw_node simplify_mul(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	sw_node x;
	int64_t c, d;
	order_operands(g, o);
	if (!sw_graph_is_const(g, o[1], &c))
		return SW_NO_NODE;
	if (!c)
		return o[1];
	if (c == 1)
		return o[0];
	if (is_op(g, o[0], SW_OP_MUL) && sw_graph_is_const(g, sw_graph_operand(g, o[0], 1), &d))
		return sw_graph_binary(g, SW_OP_MUL, m->width, 0, sw_graph_operand(g, o[0], 0),
				       sw_graph_const(g, m->width, (int64_t)((uint64_t)c * (uint64_t)d)));
	if (is_sum(g, o[0], &x, &d))
		return add_constant(g, m->width, sw_graph_binary(g, SW_OP_MUL, m->width, 0, x, o[1]),
				    (int64_t)((uint64_t)c * (uint64_t)d));
	return SW_NO_NODE;
}

/* A product of two numbers of half the width is a plain product of the widened numbers. */
static sw_node simplify_mulwide(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	uint8_t half = m->width / 2;
	return sw_graph_binary(g, SW_OP_MUL, m->width, 0, sw_graph_extend(g, m->width, half, m->flags, o[0]),
			       sw_graph_extend(g, m->width, half, m->flags, o[1]));
}

/* x / 1 and x % 1. */
static sw_node simplify_division(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	if (is_number(g, o[1], 1) && m->width > 1)
		return m->op == SW_OP_DIV ? o[0] : sw_graph_const(g, m->width, 0);
	return SW_NO_NODE;
}

/* MIN and MAX: of two equal numbers either one. */
static sw_node simplify_extreme(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	(void)m;
	order_operands(g, o);
	return o[0] == o[1] ? o[0] : SW_NO_NODE;
}

/* -(-x) is x, -(x - y) is y - x; constants stand last. */
static sw_node simplify_neg(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	struct sw_value v = *sw_graph_at(g, o[0]);
	int64_t c;
	sw_node x;
	if (v.op == SW_OP_NEG)
		return v.operand[0];
	if (v.op == SW_OP_SUB)
		return sw_graph_binary(g, SW_OP_SUB, m->width, 0, v.operand[1], v.operand[0]);
	if (is_sum(g, o[0], &x, &c))
		return add_constant(g, m->width, sw_graph_unary(g, SW_OP_NEG, m->width, x), (int64_t)(0 - (uint64_t)c));
	return SW_NO_NODE;
}

/* Condition b as it is where a is known to be `truth`, one level deep. */
static sw_node given_truth(struct sw_graph *g, sw_node b, sw_node a, bool truth)
{
	sw_node not_a = sw_graph_unary(g, SW_OP_NOT, 1, a);
	struct sw_value v = *sw_graph_at(g, b);
	if (b == a || b == not_a)
		return sw_graph_const(g, 1, (b == a) == truth);
	if ((v.op != SW_OP_AND && v.op != SW_OP_OR) || v.width != 1)
		return b;
	for (int i = 0; i < 2; i++) {
		if (v.operand[i] != a && v.operand[i] != not_a)
			continue;
		bool is = (v.operand[i] == a) == truth;
		/* true AND x, false OR x: x; else the constant */
		return is == (v.op == SW_OP_AND) ? v.operand[!i] : sw_graph_const(g, 1, is);
	}
	return b;
}

/* a AND b is a AND (b where a is true); a OR b is a OR (b where a is false). */
static sw_node simplify_conditions(struct sw_graph *g, const struct sw_making *m, const sw_node *o)
{
	for (int i = 0; m->width == 1 && i < 2; i++) {
		sw_node rest = given_truth(g, o[!i], o[i], m->op == SW_OP_AND);
		if (rest != o[!i])
			return sw_graph_binary(g, m->op, 1, 0, o[i], rest);
	}
	return SW_NO_NODE;
}

/* A mask without the bits that are 0 anyway; one of low bits only is an EXTEND. */
static sw_node simplify_and(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	int64_t c;
	order_operands(g, o);
	if (o[0] == o[1])
		return o[0];
	if (!sw_graph_is_const(g, o[1], &c))
		return simplify_conditions(g, m, o);
	if (!c)
		return o[1];
	if (c == sw_fold_canonical(-1, m->width))
		return o[0];
	uint64_t mask = sw_fold_unsigned(c, m->width);
	uint32_t bits = sw_known_bits(g, o[0], 3);
	uint64_t all = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	if (all & ~mask ? mask & ~all : bits < m->width) /* of bits that are 0 anyway the mask says nothing */
		return sw_graph_binary(g, SW_OP_AND, m->width, 0, o[0],
				       sw_graph_const(g, m->width, all & ~mask ? (int64_t)(mask & all) : -1));
	if (!(mask & (mask + 1))) /* the low bits only */
		return sw_graph_extend(g, m->width, (uint8_t)(64 - __builtin_clzll(mask)), 0, o[0]);
	return SW_NO_NODE;
}

/* OR of numbers without a common bit is a sum; of conditions, see simplify_conditions(). */
static sw_node simplify_or(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	int64_t c;
	order_operands(g, o);
	if (o[0] == o[1])
		return o[0];
	if (sw_graph_is_const(g, o[1], &c)) {
		if (!c)
			return o[0];
		if (c == sw_fold_canonical(-1, m->width))
			return o[1];
	}
	/* No common bit: compilers use this for sums ("or.b32 %r2, %r1, 1" for an even r1). */
	if (m->width > 1 && (sw_known_bits(g, o[1], 3) <= sw_known_zeros(g, o[0], 3) ||
			     sw_known_bits(g, o[0], 3) <= sw_known_zeros(g, o[1], 3)))
		return sw_graph_binary(g, SW_OP_ADD, m->width, 0, o[0], o[1]);
	return simplify_conditions(g, m, o);
}

/* x ^ x is 0, and of all ones NOT x; with a mask of high bits, where x has no others, a difference. */
static sw_node simplify_xor(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	int64_t c;
	order_operands(g, o);
	if (o[0] == o[1])
		return sw_graph_const(g, m->width, 0);
	if (!sw_graph_is_const(g, o[1], &c))
		return SW_NO_NODE;
	if (!c)
		return o[0];
	if (c == sw_fold_canonical(-1, m->width))
		return sw_graph_unary(g, SW_OP_NOT, m->width, o[0]);
	/* All bits that may be set change, and all above: -2^k - x. */
	uint64_t up = 0 - (uint64_t)c;
	if (c < 0 && !(up & (up - 1)) && sw_known_zeros(g, o[0], 3) >= (uint32_t)__builtin_ctzll(up))
		return sw_graph_binary(g, SW_OP_SUB, m->width, 0, o[1], o[0]);
	return SW_NO_NODE;
}

/* NOT NOT x is x; the inverse of a comparison is the opposite one. */
static sw_node simplify_not(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	static const uint8_t opposite[] = {
		[SW_EQ] = SW_NE, [SW_NE] = SW_EQ, [SW_LT] = SW_GE, [SW_LE] = SW_GT, [SW_GT] = SW_LE, [SW_GE] = SW_LT};
	struct sw_value v = *sw_graph_at(g, o[0]);
	(void)m;
	if (v.op == SW_OP_NOT)
		return v.operand[0];
	if (v.op == SW_OP_COMPARE)
		return sw_graph_compare(g, opposite[v.imm], (uint8_t)v.imm2, v.flags, v.operand[0], v.operand[1]);
	return SW_NO_NODE;
}

/* A shift by a constant is a product. */
static sw_node shift_left(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	int64_t c;
	if (!sw_graph_is_const(g, o[1], &c))
		return SW_NO_NODE;
	uint64_t n = sw_fold_unsigned(c, 32);
	return sw_graph_binary(g, SW_OP_MUL, m->width, 0, o[0],
			       sw_graph_const(g, m->width, n >= m->width ? 0 : (int64_t)(1ull << n)));
}

/* x << k >> n: the low bits of x, shifted by the rest.  An index that was an int, cut out of 64 bits, times its size.
 */
static sw_node shift_back(struct sw_graph *g, const struct sw_making *m, const sw_node *o)
{
	struct sw_value v = *sw_graph_at(g, o[0]);
	int64_t by, n;
	if (v.op != SW_OP_MUL || v.width != m->width || !sw_graph_is_const(g, o[1], &n) ||
	    !sw_graph_is_const(g, v.operand[1], &by))
		return SW_NO_NODE;
	uint64_t factor = sw_fold_unsigned(by, m->width), right = sw_fold_unsigned(n, 32);
	if (factor < 2 || factor & (factor - 1) || right >= m->width)
		return SW_NO_NODE;
	uint32_t left = (uint32_t)__builtin_ctzll(factor);
	sw_node low = sw_graph_extend(g, m->width, (uint8_t)(m->width - left), m->flags, v.operand[0]);
	if (right > left)
		return sw_graph_binary(g, SW_OP_SHR, m->width, m->flags, low, sw_graph_const(g, 32, right - left));
	return sw_graph_binary(g, SW_OP_MUL, m->width, 0, low,
			       sw_graph_const(g, m->width, (int64_t)(1ull << (left - right))));
}

/* x >> n: a part of x where x was shifted left before; a number that is known not to be negative loses the sign. */
static sw_node shift_right(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	uint32_t bits = sw_known_bits(g, o[0], 3);
	int64_t c;
	if (is_number(g, o[1], 0))
		return o[0];
	sw_node back = shift_back(g, m, o);
	if (back != SW_NO_NODE)
		return back;
	if (bits >= m->width)
		return SW_NO_NODE;
	m->flags = 0; /* not negative: machine code divides tid.x with a sign that it never has */
	return sw_graph_is_const(g, o[1], &c) && sw_fold_unsigned(c, 32) >= bits ? sw_graph_const(g, m->width, 0)
										 : SW_NO_NODE;
}

/* Extends only as many bits as count: nothing where the bits are those already, one EXTEND for two, and without a
   sign where the number is known not to be negative. */
static sw_node simplify_extend(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	struct sw_value v = *sw_graph_at(g, o[0]);
	int64_t from = m->imm < v.width ? m->imm : v.width; /* bits that count */
	if (from >= m->width) {
		from = m->width;
		m->flags = 0;
	}
	m->imm = from;
	if (v.width == m->width && (from == v.width || (!(m->flags & SW_SIGNED) && sw_known_bits(g, o[0], 3) <= from)))
		return o[0];
	if (from == v.width && m->width > v.width && m->flags && sw_known_bits(g, o[0], 3) < v.width)
		m->flags = 0; /* not negative */
	if (v.op != SW_OP_EXTEND)
		return SW_NO_NODE;
	if (from <= v.imm)
		return sw_graph_extend(g, m->width, (uint8_t)from, m->flags, v.operand[0]);
	if (!(v.flags & SW_SIGNED) || m->flags & SW_SIGNED || from == m->width)
		return sw_graph_extend(g, m->width, (uint8_t)v.imm, v.flags, v.operand[0]);
	return SW_NO_NODE;
}

/* SELECT(a < b, a, b) and its variants as MIN or MAX; SW_NO_NODE: it is none. */
static sw_node select_extreme(struct sw_graph *g, const struct sw_making *m, const sw_node *o)
{
	struct sw_value c = *sw_graph_at(g, o[0]);
	if (c.op != SW_OP_COMPARE || c.imm2 != m->width || c.imm == SW_EQ || c.imm == SW_NE)
		return SW_NO_NODE;
	bool straight = c.operand[0] == o[1] && c.operand[1] == o[2];
	if (!straight && !(c.operand[0] == o[2] && c.operand[1] == o[1]))
		return SW_NO_NODE;
	bool less = c.imm == SW_LT || c.imm == SW_LE;
	return sw_graph_binary(g, less == straight ? SW_OP_MIN : SW_OP_MAX, m->width, c.flags, o[1], o[2]);
}

/* A choice in its simplest form: without choices by the same condition within it, as a minimum or a division where it
   is one, by AND and OR where it has one bit. SW_NO_NODE: it is in that form. */
static sw_node simplify_select(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	int64_t c;
	if (sw_graph_is_const(g, o[0], &c))
		return c & 1 ? o[1] : o[2];
	o[1] = choice_under(g, o[1], o[0]);
	o[2] = choice_under(g, o[2], sw_graph_unary(g, SW_OP_NOT, 1, o[0]));
	if (o[1] == o[2])
		return o[1];
	if (is_op(g, o[0], SW_OP_NOT))
		return sw_graph_select(g, m->width, sw_graph_operand(g, o[0], 0), o[2], o[1]);
	if (m->width > 1) {
		sw_node simple = select_extreme(g, m, o);
		if (simple == SW_NO_NODE && m->width == 32)
			simple = sw_reciprocal_division(g, o);
		return simple == SW_NO_NODE ? sw_wide_division(g, m->width, o) : simple;
	}
	sw_node other = sw_graph_unary(g, SW_OP_NOT, 1, o[0]);
	if (sw_graph_is_const(g, o[1], &c))
		return sw_graph_binary(g, c ? SW_OP_OR : SW_OP_AND, 1, 0, c ? o[0] : other, o[2]);
	if (sw_graph_is_const(g, o[2], &c))
		return sw_graph_binary(g, c ? SW_OP_OR : SW_OP_AND, 1, 0, c ? other : o[0], o[1]);
	return SW_NO_NODE;
}

/* (condition ? 1 : 0) compared with a number is the condition again. */
static sw_node compare_choice(struct sw_graph *g, const struct sw_making *m, const sw_node *o)
{
	struct sw_value v = *sw_graph_at(g, o[0]);
	int64_t yes, no, with;
	if (!sw_graph_is_const(g, o[1], &with))
		return SW_NO_NODE;
	if (v.op == SW_OP_EXTEND && sw_graph_at(g, v.operand[0])->width == 1) {
		yes = v.flags & SW_SIGNED ? -1 : 1;
		no = 0;
	} else if (v.op != SW_OP_SELECT || !sw_graph_is_const(g, v.operand[1], &yes) ||
		   !sw_graph_is_const(g, v.operand[2], &no)) {
		return SW_NO_NODE;
	}
	int64_t imm[2] = {yes, with}, if_yes, if_no;
	sw_fold(m, imm, &if_yes);
	imm[0] = no;
	sw_fold(m, imm, &if_no);
	if (if_yes == if_no)
		return sw_graph_const(g, 1, if_yes);
	return if_yes ? v.operand[0] : sw_graph_unary(g, SW_OP_NOT, 1, v.operand[0]);
}

/* A comparison in its simplest form, with a constant last; that of a choice between two constants, or of a predicate
   bit in a register, is the condition itself. */
static sw_node simplify_compare(struct sw_graph *g, struct sw_making *m, sw_node *o)
{
	static const uint8_t mirrored[] = {
		[SW_EQ] = SW_EQ, [SW_NE] = SW_NE, [SW_LT] = SW_GT, [SW_LE] = SW_GE, [SW_GT] = SW_LT, [SW_GE] = SW_LE};
	sw_node before = o[0];
	if (o[0] == o[1])
		return sw_graph_const(g, 1, m->imm == SW_EQ || m->imm == SW_LE || m->imm == SW_GE);
	order_operands(g, o);
	if (o[0] != before)
		m->imm = mirrored[m->imm];
	if (m->imm == SW_EQ || m->imm == SW_NE)
		m->flags = 0;
	if (m->imm2 == 1 && sw_graph_at(g, o[1])->op == SW_OP_CONST && (m->imm == SW_EQ || m->imm == SW_NE))
		return (m->imm == SW_EQ) == is_number(g, o[1], 1) ? o[0] : sw_graph_unary(g, SW_OP_NOT, 1, o[0]);
	sw_node choice = compare_choice(g, m, o);
	return choice != SW_NO_NODE ? choice : predicate_bit_test(g, m, o);
}

sw_node sw_simplify(struct sw_graph *graph, struct sw_making *making, sw_node *operands)
{
	static rule *const rules[SW_OPS] = {
		[SW_OP_MOV] = simplify_mov,	    [SW_OP_ADD] = simplify_add,
		[SW_OP_SUB] = simplify_sub,	    [SW_OP_MUL] = simplify_mul,
		[SW_OP_MULWIDE] = simplify_mulwide, [SW_OP_DIV] = simplify_division,
		[SW_OP_REM] = simplify_division,    [SW_OP_MIN] = simplify_extreme,
		[SW_OP_MAX] = simplify_extreme,	    [SW_OP_NEG] = simplify_neg,
		[SW_OP_AND] = simplify_and,	    [SW_OP_OR] = simplify_or,
		[SW_OP_XOR] = simplify_xor,	    [SW_OP_NOT] = simplify_not,
		[SW_OP_SHL] = shift_left,	    [SW_OP_SHR] = shift_right,
		[SW_OP_EXTEND] = simplify_extend,   [SW_OP_SELECT] = simplify_select,
		[SW_OP_COMPARE] = simplify_compare,
	};
	rule *apply = making->op < SW_OPS ? rules[making->op] : NULL;
	return apply ? apply(graph, making, operands) : SW_NO_NODE;
}
