/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the conditions that hold in each block (path_conditions.h). */
#include "footprint/kernel/flow/path_conditions.h"

#include <stdlib.h>

/* One condition is split into so many at most; lists are compared so far. */
#define MAX_SPLIT  16
#define MAX_COMMON 32
/* Nodes examined to find the inputs of a choice. */
#define MAX_MADE_OF 64
/* Maximum number of paths into a block that are distinguished, and of blocks examined for a path around it. */
#define MAX_WAYS   8
#define MAX_REGION 128

struct finder {
	struct sw_ssa *ssa;
	struct sw_path_conditions *guards;
	uint32_t *seen, mark; /* by block */
};

/* A list that begins with the condition and goes on with `list`. */
static uint32_t push_condition(struct sw_path_conditions *guards, uint32_t list, sw_node node)
{
	*sw_vec_push(&guards->guard) = (struct sw_path_condition){node, list};
	return (uint32_t)guards->guard.n - 1;
}

uint32_t sw_path_conditions_add(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t list, sw_node condition)
{
	sw_node open[MAX_SPLIT];
	uint32_t n = 1;
	open[0] = condition;
	while (n) {
		sw_node node = open[--n];
		struct sw_value v = *sw_graph_at(&ssa->graph, node);
		struct sw_value u = v.op == SW_OP_NOT ? *sw_graph_at(&ssa->graph, v.operand[0]) : v;
		if (v.op == SW_OP_CONST || n + 2 > MAX_SPLIT) {
			if (v.op != SW_OP_CONST)
				list = push_condition(guards, list, node);
		} else if (v.op == SW_OP_AND && v.width == 1) {
			open[n++] = v.operand[1];
			open[n++] = v.operand[0];
		} else if (v.op == SW_OP_NOT && u.op == SW_OP_OR) {
			open[n++] = sw_graph_unary(&ssa->graph, SW_OP_NOT, 1, u.operand[1]);
			open[n++] = sw_graph_unary(&ssa->graph, SW_OP_NOT, 1, u.operand[0]);
		} else {
			list = push_condition(guards, list, node);
		}
	}
	return list;
}

bool sw_path_conditions_are_data(const struct sw_ssa *ssa, sw_node node)
{
	sw_node seen[MAX_MADE_OF];
	uint32_t n = 0, done = 0;
	if (node != SW_NO_NODE)
		seen[n++] = node;
	for (; done < n; done++) {
		const struct sw_value *v = sw_graph_at(&ssa->graph, seen[done]);
		if (v->op == SW_VALUE_LOADED && v->space != SW_CONSTANT && v->space != SW_PARAM_SPACE &&
		    v->space != SW_LOCAL)
			return true;
		if (v->op == SW_OP_MIX && !v->n)
			return true;
		if (v->op == SW_OP_RANGE && v->why == SW_WHY_FLOAT)
			return true;
		for (uint32_t i = 0; i < v->n && n < MAX_MADE_OF; i++) {
			uint32_t k = 0;
			sw_node operand = sw_graph_operand(&ssa->graph, seen[done], i);
			while (k < n && seen[k] != operand)
				k++;
			if (k == n)
				seen[n++] = operand;
		}
	}
	return false;
}

/* An unknown condition that stands for "this edge of the SWITCH is taken", the same one each time.  Each edge
   excludes the others, so where data do not decide it must not be dropped: of the functions that a launch value
   selects from, one is called, and the others touch nothing. */
static sw_node edge_chosen(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t from, uint32_t to)
{
	uint64_t *found = sw_map_put(&guards->chosen, (uint64_t)from << 32 | to);
	if (!*found) {
		bool data = sw_path_conditions_are_data(ssa, ssa->choice[from]);
		struct sw_making m = {.op = SW_OP_RANGE, .width = 1, .imm2 = 1};
		m.why = data ? SW_WHY_LOADED : SW_WHY_COMPUTED;
		sw_node node = sw_graph_make(&ssa->graph, m, NULL);
		sw_ssa_set_block(ssa, node, from);
		*found = node + 1ull;
	}
	return (sw_node)(*found - 1);
}

uint32_t sw_path_conditions_on_edge(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t from, uint32_t to)
{
	const struct sw_basic_block *b = &ssa->flow.block.at[from];
	sw_node condition = ssa->condition[from];
	uint32_t list = guards->of[from];
	const struct sw_insn *last = b->end > b->first ? &ssa->body.insn.at[b->end - 1] : NULL;
	if (last && last->op == SW_OP_SWITCH && b->succs > 1)
		return sw_path_conditions_add(ssa, guards, list, edge_chosen(ssa, guards, from, to));
	if (condition == SW_NO_NODE || b->succs > 2)
		return list;
	bool jump = last->op == SW_OP_JUMP;
	if (jump && b->succs != 2)
		return list; /* both ways lead to the same block */
	if (jump && ssa->flow.edge.at[b->succ] != to)
		condition = sw_graph_unary(&ssa->graph, SW_OP_NOT, 1, condition);
	return sw_path_conditions_add(ssa, guards, list, condition);
}

uint32_t sw_path_conditions_unknown(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t list)
{
	if (!guards->unknown)
		guards->unknown = sw_graph_range(&ssa->graph, 1, SW_WHY_COMPLEX) + 1;
	return push_condition(guards, list, guards->unknown - 1);
}

/* Has the list more than `most` conditions up to `end`? */
static bool is_longer(const struct sw_path_conditions *guards, uint32_t list, uint32_t end, uint32_t most)
{
	for (; list != end && list != SW_NO_CONDITION && most; most--)
		list = guards->guard.at[list].next;
	return list != end && list != SW_NO_CONDITION;
}

uint32_t sw_path_conditions_common(struct sw_ssa *ssa, struct sw_path_conditions *guards, uint32_t a, uint32_t b,
				   uint32_t end)
{
	uint32_t list = end, i = 0;
	if (a == b)
		return a;
	if (is_longer(guards, a, end, MAX_COMMON) || is_longer(guards, b, end, MAX_COMMON))
		list = sw_path_conditions_unknown(ssa, guards, list);
	for (; a != end && a != SW_NO_CONDITION && i < MAX_COMMON; a = guards->guard.at[a].next, i++) {
		uint32_t k = 0;
		for (uint32_t q = b; q != end && q != SW_NO_CONDITION && k < MAX_COMMON;
		     q = guards->guard.at[q].next, k++)
			if (guards->guard.at[q].node == guards->guard.at[a].node) {
				list = push_condition(guards, list, guards->guard.at[a].node);
				break;
			}
	}
	return list;
}

/* ---- joins ------------------------------------------------------------------------------------------------------ */

/* Can a thread that comes to the block `decides`, the join's immediate dominator, end or loop without reaching the
   join? Then conditions of the ways say something about who comes there.  Too large a region counts as yes. */
static bool may_pass_by(struct finder *f, uint32_t decides, uint32_t join)
{
	const struct sw_flow *flow = &f->ssa->flow;
	uint32_t stack[MAX_REGION], n = 0, seen = 0;
	stack[n++] = decides;
	f->mark++;
	while (n) {
		uint32_t at = stack[--n];
		const struct sw_basic_block *b = &flow->block.at[at];
		if (!b->succs && !sw_body_insn_aborts(&f->ssa->body, b->end - 1))
			return true;
		for (uint32_t s = 0; s < b->succs; s++) {
			uint32_t to = flow->edge.at[b->succ + s];
			if (to == join || f->seen[to] == f->mark)
				continue;
			if (sw_flow_retreats(at, to) && (to == decides || !sw_flow_dominates(flow, decides, to)))
				return true;
			if (++seen > MAX_REGION || n == MAX_REGION)
				return true;
			f->seen[to] = f->mark;
			stack[n++] = to;
		}
	}
	return false;
}

/* The AND of all conditions of a list up to `end`; SW_NO_NODE: they are too many. */
static sw_node conjoin_list(struct sw_ssa *ssa, const struct sw_path_conditions *guards, uint32_t list, uint32_t end)
{
	sw_node all = sw_graph_const(&ssa->graph, 1, 1);
	uint32_t n = 0;
	for (; list != end && list != SW_NO_CONDITION; list = guards->guard.at[list].next) {
		if (++n > MAX_SPLIT)
			return SW_NO_NODE;
		all = sw_graph_binary(&ssa->graph, SW_OP_AND, 1, 0, guards->guard.at[list].node, all);
	}
	return all;
}

/* Adds that one of the ways into the block was taken: if (a || b).  A condition that is too complex becomes an
   unknown one: it must not count as no condition. */
static uint32_t add_disjunction(struct finder *f, uint32_t block, uint32_t list, uint32_t end)
{
	struct sw_ssa *ssa = f->ssa;
	const struct sw_basic_block *b = &ssa->flow.block.at[block];
	sw_node any = sw_graph_const(&ssa->graph, 1, 0);
	for (uint32_t i = 0; i < b->preds && any != SW_NO_NODE; i++) {
		uint32_t from = ssa->flow.edge.at[b->pred + i];
		if (sw_flow_retreats(from, block))
			continue;
		sw_node way = b->preds > MAX_WAYS
				      ? SW_NO_NODE
				      : conjoin_list(ssa, f->guards,
						     sw_path_conditions_on_edge(ssa, f->guards, from, block), end);
		any = way == SW_NO_NODE ? way : sw_graph_binary(&ssa->graph, SW_OP_OR, 1, 0, any, way);
	}
	return any == SW_NO_NODE ? sw_path_conditions_unknown(ssa, f->guards, list)
				 : sw_path_conditions_add(ssa, f->guards, list, any);
}

/* The conditions common to all ways into a block, except back edges: values known before a loop do not change in it. */
static uint32_t at_join(struct finder *f, uint32_t block)
{
	struct sw_ssa *ssa = f->ssa;
	struct sw_path_conditions *guards = f->guards;
	const struct sw_basic_block *b = &ssa->flow.block.at[block];
	uint32_t end = guards->of[b->idom], list = SW_NO_CONDITION;
	uint32_t ways = 0;
	bool first = true;
	for (uint32_t i = 0; i < b->preds; i++)
		ways += !sw_flow_retreats(ssa->flow.edge.at[b->pred + i], block);
	if (b->irregular || ways > MAX_COMMON)
		return sw_path_conditions_unknown(ssa, guards, end);
	for (uint32_t i = 0; i < b->preds; i++) {
		uint32_t from = ssa->flow.edge.at[b->pred + i];
		if (sw_flow_retreats(from, block))
			continue;
		uint32_t edge = sw_path_conditions_on_edge(ssa, guards, from, block);
		list = first ? edge : sw_path_conditions_common(ssa, guards, list, edge, end);
		first = false;
	}
	if (first)
		list = end;
	return ways > 1 && may_pass_by(f, b->idom, block) ? add_disjunction(f, block, list, end) : list;
}

void sw_path_conditions_find(struct sw_ssa *ssa, struct sw_path_conditions *guards)
{
	uint32_t n = (uint32_t)ssa->flow.block.n;
	*guards = (struct sw_path_conditions){0};
	guards->of = sw_alloc((size_t)n * sizeof *guards->of);
	guards->of[0] = SW_NO_CONDITION;
	struct finder f = {ssa, guards, sw_calloc(n, sizeof *f.seen), 0};
	for (uint32_t b = 1; b < n; b++)
		guards->of[b] = ssa->flat ? SW_NO_CONDITION : at_join(&f, b);
	free(f.seen);
}

void sw_path_conditions_free(struct sw_path_conditions *guards)
{
	free(guards->guard.at);
	free(guards->of);
	sw_map_free(&guards->chosen);
	*guards = (struct sw_path_conditions){0};
}
