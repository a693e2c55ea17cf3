/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes of a graph are ordered, for as long as the graph is: chains of nodes of which each comes after the one
 * before, and how far along each chain every node knows.
 *
 * A launch plays its nodes one after the other on the lane of its stream.  So that one of two unordered nodes does not
 * take the other's place in shadow memory, they are told apart there.
 */
#include "detect/graphs/graphs.h"

#include <stdlib.h>

#include "detect/memory/shadow_uses.h"
#include "detect/model/model.h"

/* Nodes beyond so many chains count as ordered: each more could be one more use of the same bytes. */
#define SW_MAX_CHAINS 32u
#define NO_CHAIN      UINT32_MAX

struct sw_branch_order {
	uint32_t chains;
	uint32_t *chain, *place; /* by node */
	uint32_t *known;	 /* node * chains + chain: nodes of that chain that come before it */
};

static uint32_t choose_chain(struct sw_branch_order *order, const struct sw_paths *paths, uint32_t node,
			     const uint32_t *last)
{
	for (uint32_t c = 0; c < order->chains; c++)
		if (sw_paths_before(paths, last[c], node))
			return c;
	return order->chains < SW_MAX_CHAINS ? order->chains++ : NO_CHAIN;
}

/* How many nodes of a chain come before the node: a part of it from its start on. */
static uint32_t count_before(const struct sw_paths *paths, const uint32_t *member, uint32_t n, uint32_t node)
{
	uint32_t lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (sw_paths_before(paths, member[mid], node))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void sw_branch_order_make(struct sw_exec *x, const struct sw_paths *paths)
{
	struct sw_branch_order *order = sw_calloc(1, sizeof *order);
	uint32_t n[SW_MAX_CHAINS] = {0}, last[SW_MAX_CHAINS] = {0};
	sw_branch_order_free(x);
	order->chain = sw_calloc(paths->n, sizeof *order->chain);
	order->place = sw_calloc(paths->n, sizeof *order->place);
	for (size_t i = 0; i < paths->n; i++) {
		uint32_t node = paths->sorted[i], chain = choose_chain(order, paths, node, last);
		order->chain[node] = chain;
		if (chain == NO_CHAIN)
			continue;
		order->place[node] = n[chain]++;
		last[chain] = node;
	}
	uint32_t *member = sw_calloc(paths->n, sizeof *member), first[SW_MAX_CHAINS] = {0};
	for (uint32_t c = 1; c < order->chains; c++)
		first[c] = first[c - 1] + n[c - 1];
	for (uint32_t node = 0; node < paths->n; node++)
		if (order->chain[node] != NO_CHAIN)
			member[first[order->chain[node]] + order->place[node]] = node;
	order->known = sw_calloc(paths->n * order->chains, sizeof *order->known);
	for (uint32_t node = 0; node < paths->n; node++)
		for (uint32_t c = 0; c < order->chains; c++)
			order->known[node * order->chains + c] = count_before(paths, member + first[c], n[c], node);
	free(member);
	x->branches = order;
}

void sw_branch_order_free(struct sw_exec *x)
{
	if (!x->branches)
		return;
	free(x->branches->chain);
	free(x->branches->place);
	free(x->branches->known);
	free(x->branches);
	x->branches = NULL;
}

bool sw_branches_apart(void *arg, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	const struct sw_model *m = arg;
	const struct sw_branch_order *order = m->played ? m->played->branches : NULL;
	if (!order || earlier->access.seq != later->access.seq || !earlier->node || !later->node ||
	    earlier->node == later->node)
		return false;
	uint32_t a = earlier->node - 1, b = later->node - 1, chain = order->chain[a];
	return chain != NO_CHAIN && order->chain[b] != NO_CHAIN &&
	       order->place[a] >= order->known[b * order->chains + chain];
}
