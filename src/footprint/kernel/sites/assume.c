/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as they are where they are used.
 *
 * Machine code computes an address under a predicate and uses it under the same one: "@P6 IADD3 R46, ...; @P6 ST
 * [R46]". Where P6 is false R46 holds what another life of the register left in it; that is no address of the store.
 */
#include "footprint/kernel/sites/emit.h"
#include "footprint/rules.h"

#include <stdlib.h>
#include <string.h>

/* Looked at for one address: facts, innermost first; nodes; operations one inside the other (the recursion's depth). */
#define MAX_FACTS 64
#define MAX_NODES 512
#define MAX_DEPTH 32
/* Most parts of a condition; most ways into a block, and most conditions on each. */
#define MAX_NESTED 4
#define MAX_WAYS   8
#define MAX_ON_WAY 16
/* Looked at in all, so that what is done for a gigantic kernel takes seconds. */
#define MAX_WORK (1u << 23)

/* Knowledge of a node; each part counts where its mark is the current one. */
struct known {
	uint32_t fact, done;
	sw_node node; /* its value under the facts */
	bool truth;
	uint8_t bit; /* in sets of conditions, + 1; 0: no choice goes by it */
};
/* Sets of conditions, as bits that some of them share.  Which ways lead to a join is looked at for any facts. */
#define JOIN	 (UINT64_C(1) << 63)
#define BITS	 63
#define EACH_BIT (~UINT64_C(0))
struct assumer {
	struct sw_ssa *ssa;
	struct sw_path_conditions *guards;
	uint32_t mark, nodes, work;
	SW_VEC(struct known) known; /* by node */
	SW_VEC(uint64_t) chooses;   /* by node: conditions that the choices go by which it is made of */
	uint64_t facts;		    /* of these, those that are decided, and JOIN */
	uint32_t conditions;
	struct sw_map edges; /* from << 32 | to -> list of guards */
};

/* The place for what is known of a node. */
static struct known *known_of(struct assumer *a, sw_node node)
{
	size_t n = a->known.n;
	if (n <= node) {
		sw_vec_reserve(&a->known, node + 1);
		memset(a->known.at + n, 0, (a->known.room - n) * sizeof *a->known.at);
		a->known.n = a->known.room;
	}
	return &a->known.at[node];
}

/* Nodes that are rewritten: operands come before their users, but for PHIs, of which only joins change. */
static bool is_looked_through(const struct sw_value *v)
{
	return v->op < SW_OPS && v->op != SW_OP_MIX && v->n <= 3;
}

/* The set of conditions, as bits, that truth_of() looks at for this one; each gets a bit when it is first met. */
static uint64_t conditions_of(struct assumer *a, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(&a->ssa->graph, node);
	struct known *k = known_of(a, node);
	if (v->op == SW_OP_CONST)
		return EACH_BIT;
	if (!k->bit)
		k->bit = (uint8_t)(a->conditions++ % BITS + 1);
	uint64_t set = UINT64_C(1) << (k->bit - 1);
	if (k->fact == a->mark)
		a->facts |= set;
	for (uint32_t i = 0; depth && v->width == 1 && i < v->n && i < 2; i++)
		if (v->op == SW_OP_NOT || v->op == SW_OP_AND || v->op == SW_OP_OR)
			set |= conditions_of(a, v->operand[i], depth - 1);
	return set;
}

/* May the facts make another node of this one? */
static bool may_change(struct assumer *a, sw_node node)
{
	const struct sw_graph *g = &a->ssa->graph;
	while (a->chooses.n <= node) {
		const struct sw_value *v = sw_graph_at(g, (sw_node)a->chooses.n);
		uint64_t chooses = 0;
		if (v->op == SW_VALUE_PHI && !a->ssa->flow.block.at[v->imm].header)
			chooses = JOIN;
		else if (v->op == SW_OP_SELECT)
			chooses = conditions_of(a, v->operand[0], MAX_NESTED);
		for (uint32_t i = 0; i < v->n && is_looked_through(v); i++)
			chooses |= a->chooses.at[v->operand[i]];
		*sw_vec_push(&a->chooses) = chooses;
	}
	return a->chooses.at[node] & a->facts;
}

/* Notes that the condition is true, or false, under the facts. */
static void hold_condition(struct assumer *a, sw_node node, bool truth)
{
	struct known *k = known_of(a, node);
	k->fact = a->mark;
	k->truth = truth;
	if (k->bit)
		a->facts |= UINT64_C(1) << (k->bit - 1);
}

/* Makes the conditions of a list the facts, with their negations: of a negation the graph keeps one form only ("a >=
   b" for NOT "a < b"). */
static void assume_condition(struct assumer *a, uint32_t list)
{
	a->mark++;
	a->facts = JOIN;
	for (uint32_t n = 0; list != SW_NO_CONDITION && n < MAX_FACTS; list = a->guards->guard.at[list].next, n++) {
		sw_node node = a->guards->guard.at[list].node;
		hold_condition(a, node, true);
		hold_condition(a, sw_graph_unary(&a->ssa->graph, SW_OP_NOT, 1, node), false);
	}
}

/* Does the condition hold under the facts: 1, 0; -1: it may be either. */
static int truth_of(const struct assumer *a, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(&a->ssa->graph, node);
	if (node < a->known.n && a->known.at[node].fact == a->mark)
		return a->known.at[node].truth;
	if (v->op == SW_OP_CONST)
		return (int)(v->imm & 1);
	if (!depth || v->width != 1)
		return -1;
	if (v->op == SW_OP_NOT) {
		int truth = truth_of(a, v->operand[0], depth - 1);
		return truth < 0 ? truth : !truth;
	}
	if (v->op != SW_OP_AND && v->op != SW_OP_OR)
		return -1;
	int x = truth_of(a, v->operand[0], depth - 1), y = truth_of(a, v->operand[1], depth - 1);
	int decides = v->op == SW_OP_OR;
	if (x == decides || y == decides)
		return decides;
	return x == y ? x : -1;
}

static sw_node node_under(struct assumer *a, sw_node node, uint32_t depth);

/* Does some condition on the way by this edge, from the block that decides, contradict the facts? */
static bool is_barred(struct assumer *a, uint32_t from, uint32_t to)
{
	uint64_t *known = sw_map_put(&a->edges, (uint64_t)from << 32 | to);
	uint32_t end = a->guards->of[a->ssa->flow.block.at[to].idom], n = 0;
	if (!*known)
		*known = sw_path_conditions_on_edge(a->ssa, a->guards, from, to) + 1ull;
	for (uint32_t list = (uint32_t)(*known - 1); list != end && list != SW_NO_CONDITION && n < MAX_ON_WAY; n++) {
		if (!truth_of(a, a->guards->guard.at[list].node, MAX_NESTED))
			return true;
		list = a->guards->guard.at[list].next;
	}
	a->work += n;
	return false;
}

/* A PHI under the facts: ways that were not taken contribute nothing.  PHIs of loops are not changed: facts are
   about this iteration. */
static sw_node phi_under(struct assumer *a, sw_node phi, uint32_t depth)
{
	struct sw_graph *g = &a->ssa->graph;
	const struct sw_value v = *sw_graph_at(g, phi);
	const struct sw_basic_block *b = &a->ssa->flow.block.at[v.imm];
	sw_node in[MAX_WAYS], one = SW_NO_NODE;
	bool barred[MAX_WAYS], changed = false, differ = false;
	if (b->header || b->irregular || v.n != b->preds || !v.n || v.n > MAX_WAYS)
		return phi;
	for (uint32_t i = 0; i < v.n; i++) {
		barred[i] = is_barred(a, a->ssa->flow.edge.at[b->pred + i], (uint32_t)v.imm);
		changed |= barred[i];
	}
	for (uint32_t i = 0; i < v.n; i++) {
		sw_node was = sw_graph_operand(g, phi, i);
		if (barred[i])
			continue;
		in[i] = sw_graph_fit(g, node_under(a, was, depth), v.width);
		changed |= in[i] != was;
		differ |= one != SW_NO_NODE && in[i] != one;
		one = in[i];
	}
	if (!changed || one == SW_NO_NODE) /* never executed, if all are barred */
		return phi;
	if (!differ)
		return one;
	for (uint32_t i = 0; i < v.n; i++)
		if (barred[i])
			in[i] = one;
	sw_node made = sw_graph_phi(g, v.width, (uint32_t)v.imm);
	sw_graph_phi_set(g, made, in, v.n);
	return made;
}

/* An operation under the facts: a choice that they decide is its one side, others are made again of their operands. */
static sw_node operation_under(struct assumer *a, sw_node node, uint32_t depth)
{
	struct sw_graph *g = &a->ssa->graph;
	const struct sw_value v = *sw_graph_at(g, node);
	struct sw_making m = sw_making_of(&v);
	sw_node o[3];
	bool changed = false;
	if (v.op == SW_OP_SELECT) {
		int truth = truth_of(a, v.operand[0], MAX_NESTED);
		if (truth >= 0)
			return node_under(a, v.operand[truth ? 1 : 2], depth);
	}
	for (uint32_t i = 0; i < v.n; i++) {
		o[i] = node_under(a, v.operand[i], depth);
		changed |= o[i] != v.operand[i];
	}
	return changed ? sw_graph_make(g, m, o) : node;
}

/* The node's value where the facts hold, looking `depth` operations deep. */
static sw_node node_under(struct assumer *a, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(&a->ssa->graph, node);
	if (!v->n || !depth || !may_change(a, node))
		return node;
	if (node < a->known.n && a->known.at[node].done == a->mark)
		return a->known.at[node].node;
	if (++a->nodes > MAX_NODES || ++a->work > MAX_WORK)
		return node;
	sw_node is = node;
	if (v->op == SW_VALUE_PHI)
		is = phi_under(a, node, depth - 1);
	else if (is_looked_through(v))
		is = operation_under(a, node, depth - 1);
	known_of(a, node)->done = a->mark;
	a->known.at[node].node = is;
	return is;
}

void sw_assume_facts(struct sw_ssa *ssa, struct sw_path_conditions *guards)
{
	struct assumer a = {.ssa = ssa, .guards = guards};
	uint32_t block = SW_NO_BLOCK;
	sw_node guard = SW_NO_NODE;
	if (SW_RULE_IS_OFF(assumed_facts))
		return;
	for (size_t u = 0; u < ssa->use.n && !ssa->flat; u++) {
		struct sw_memory_op *use = &ssa->use.at[u];
		if (use->address == SW_NO_NODE)
			continue;
		if (use->block != block || use->guard != guard) {
			uint32_t list = guards->of[use->block];
			if (use->guard != SW_NO_NODE)
				list = sw_path_conditions_add(ssa, guards, list, use->guard);
			assume_condition(&a, list);
			block = use->block;
			guard = use->guard;
		}
		a.nodes = 0;
		use->address = node_under(&a, use->address, MAX_DEPTH);
	}
	sw_ssa_finish_pairs(ssa);
	free(a.known.at);
	free(a.chooses.at);
	sw_map_free(&a.edges);
}
