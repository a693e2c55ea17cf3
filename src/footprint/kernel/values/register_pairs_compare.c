/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of 64 bits, which machine code makes of one for each half. */
#include "footprint/kernel/values/register_pairs.h"

/* A comparison of 32 bits: a <condition> b. */
struct comparison {
	enum sw_condition condition;
	bool is_signed;
	sw_node a, b;
};

/* Reads a node as a comparison of 32 bits, also if it is the inverse of one; false: it is none. */
static bool as_comparison(const struct sw_register_pairs *p, sw_node n, struct comparison *c)
{
	const struct sw_value *v = sw_register_pairs_at(p, n);
	bool inverted = v->op == SW_OP_NOT && v->width == 1;
	if (inverted) {
		n = sw_register_pairs_operand(p, n, 0);
		v = sw_register_pairs_at(p, n);
	}
	if (v->op != SW_OP_COMPARE || v->imm2 != 32 || v->imm < SW_EQ || v->imm > SW_GE)
		return false;
	static const uint8_t inverse[] = {
		[SW_EQ] = SW_NE, [SW_NE] = SW_EQ, [SW_LT] = SW_GE, [SW_LE] = SW_GT, [SW_GT] = SW_LE, [SW_GE] = SW_LT};
	c->condition = inverted ? (enum sw_condition)inverse[v->imm] : (enum sw_condition)v->imm;
	c->is_signed = v->flags & SW_SIGNED;
	c->a = sw_register_pairs_operand(p, n, 0);
	c->b = sw_register_pairs_operand(p, n, 1);
	return true;
}

/* a < b becomes b > a. */
static void swap_sides(struct comparison *c)
{
	static const uint8_t swapped[] = {
		[SW_EQ] = SW_EQ, [SW_NE] = SW_NE, [SW_LT] = SW_GT, [SW_LE] = SW_GE, [SW_GT] = SW_LT, [SW_GE] = SW_LE};
	sw_node a = c->a;
	c->a = c->b;
	c->b = a;
	c->condition = (enum sw_condition)swapped[c->condition];
}

/* Reads a node as the strict comparison (<, >) of the upper halves that *equal compares for equality.  As they are
   not equal where it counts, x <= y is x < y there, and without a sign x != 0 is x > 0.  False: it is none. */
static bool strict_of(struct sw_register_pairs *p, sw_node n, const struct comparison *equal, struct comparison *c)
{
	int64_t truth;
	*c = *equal;
	if (sw_graph_is_const(p->graph, n, &truth)) { /* x < 0 without a sign; x > 0 turned round */
		bool zero_b = sw_graph_is_const(p->graph, c->b, &truth) && !truth;
		if (!zero_b)
			swap_sides(c);
		if (!sw_graph_is_const(p->graph, c->b, &truth) || truth)
			return false;
		sw_graph_is_const(p->graph, n, &truth);
		c->condition = truth ? SW_GT : SW_LT;
		c->is_signed = false;
		return true;
	}
	if (!as_comparison(p, n, c))
		return false;
	if (c->condition == SW_NE && c->a == equal->a && c->b == equal->b) {
		c->condition = SW_GT;
		c->is_signed = false;
		return sw_graph_is_const(p->graph, c->b, &truth) && !truth;
	}
	if (c->a == equal->b && c->b == equal->a)
		swap_sides(c);
	/* Where they are not equal, or-equal is strict. */
	if (c->condition == SW_LE || c->condition == SW_LT)
		c->condition = SW_LT;
	else if (c->condition == SW_GE || c->condition == SW_GT)
		c->condition = SW_GT;
	else
		return false;
	return c->a == equal->a && c->b == equal->b;
}

sw_node sw_register_pairs_select(struct sw_register_pairs *p, sw_node equal, sw_node lower, sw_node strict)
{
	struct comparison e, l, s;
	int64_t truth;
	if (!as_comparison(p, equal, &e))
		return SW_NO_NODE;
	if (e.condition == SW_NE) { /* turned round */
		sw_node other = lower;
		lower = strict;
		strict = other;
		e.condition = SW_EQ;
	}
	if (e.condition != SW_EQ || !strict_of(p, strict, &e, &s))
		return SW_NO_NODE;
	uint8_t flags = s.is_signed ? SW_SIGNED : 0;
	if (sw_graph_is_const(p->graph, lower, &truth)) {
		enum sw_condition c = truth ? (s.condition == SW_LT ? SW_LE : SW_GE) : s.condition;
		return sw_graph_compare(p->graph, c, 32, flags, s.a, s.b);
	}
	if (!as_comparison(p, lower, &l) || (l.is_signed && l.condition > SW_NE))
		return SW_NO_NODE;
	bool less = s.condition == SW_LT;
	for (int turn = 0; turn < 2; turn++, swap_sides(&l)) {
		bool fits = less ? l.condition == SW_LT || l.condition == SW_LE
				 : l.condition == SW_GT || l.condition == SW_GE;
		if (!fits)
			continue;
		sw_node a = sw_register_pairs_join(p, l.a, s.a), b = sw_register_pairs_join(p, l.b, s.b);
		if (a == SW_NO_NODE && b == SW_NO_NODE)
			continue;
		a = a == SW_NO_NODE ? sw_register_pairs_joined(p, l.a, s.a) : a;
		b = b == SW_NO_NODE ? sw_register_pairs_joined(p, l.b, s.b) : b;
		return sw_graph_compare(p->graph, l.condition, 64, flags, a, b);
	}
	return SW_NO_NODE;
}

/* One comparison of 64 bits for those of both halves, where both sides are known to be values of 64 bits: two
   conditions on their own stay two.  SW_NO_NODE: they are. */
static sw_node pair_equality(struct sw_register_pairs *p, sw_node a, sw_node b, enum sw_condition condition)
{
	struct comparison x, y;
	if (!as_comparison(p, a, &x) || !as_comparison(p, b, &y) || x.condition != condition ||
	    y.condition != condition)
		return SW_NO_NODE;
	for (int turn = 0; turn < 4; turn++) {
		if (turn & 1)
			swap_sides(&y);
		const struct comparison *l = turn & 2 ? &y : &x, *h = turn & 2 ? &x : &y;
		sw_node left = sw_register_pairs_join(p, l->a, h->a);
		sw_node right = left == SW_NO_NODE ? left : sw_register_pairs_join(p, l->b, h->b);
		if (right == SW_NO_NODE || sw_register_pairs_at(p, left)->op == SW_VALUE_PHI)
			continue; /* any two PHIs make a pair */
		if (sw_register_pairs_at(p, left)->op == SW_OP_CONST ||
		    sw_register_pairs_at(p, left)->op == SW_OP_EXTEND)
			continue; /* so does any value with a constant */
		return sw_graph_compare(p->graph, condition, 64, 0, left, right);
	}
	return SW_NO_NODE;
}

/* The number of 64 bits whose halves both PHIs are, if some address or other value is made from it; else SW_NO_NODE. */
static sw_node known_pair(const struct sw_register_pairs *p, sw_node low, sw_node high)
{
	if (sw_register_pairs_at(p, low)->op != SW_VALUE_PHI || sw_register_pairs_at(p, high)->op != SW_VALUE_PHI)
		return SW_NO_NODE;
	return sw_graph_phi_pair_known(p->graph, low, high);
}

sw_node sw_register_pairs_is_zero(struct sw_graph *graph, sw_node node)
{
	const struct sw_register_pairs p = {graph, NULL};
	const struct sw_value *v = sw_graph_at(graph, node);
	struct comparison x, y;
	int64_t a, b;
	if (v->width != 1 || (v->op != SW_OP_AND && v->op != SW_OP_OR) || !as_comparison(&p, v->operand[0], &x) ||
	    !as_comparison(&p, v->operand[1], &y))
		return SW_NO_NODE;
	enum sw_condition condition = v->op == SW_OP_AND ? SW_EQ : SW_NE;
	if (x.condition != condition || y.condition != condition || !sw_graph_is_const(graph, x.b, &a) || a ||
	    !sw_graph_is_const(graph, y.b, &b) || b)
		return SW_NO_NODE;
	sw_node pair = known_pair(&p, x.a, y.a);
	if (pair == SW_NO_NODE)
		pair = known_pair(&p, y.a, x.a);
	return pair == SW_NO_NODE ? pair
				  : sw_graph_compare(graph, condition, 64, 0, pair, sw_graph_const(graph, 64, 0));
}

sw_node sw_register_pairs_both(struct sw_register_pairs *p, sw_node a, sw_node b)
{
	return pair_equality(p, a, b, SW_EQ);
}

sw_node sw_register_pairs_either(struct sw_register_pairs *p, sw_node a, sw_node b)
{
	return pair_equality(p, a, b, SW_NE);
}
