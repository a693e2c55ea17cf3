/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order a launch takes the nodes of its graph.
 *
 * A launch is work of one stream, and nodes of one graph are compared elsewhere (branch_races.c), so any order that
 * follows the dependencies will do; it decides what an event of the graph covers.  A record must cover all that it
 * depends on, and as little else as possible; likewise what follows a wait.  What an order cannot avoid is order that
 * is not there: it is counted.
 */
#include "detect/graphs/graphs.h"

#include <stdlib.h>

/* Graphs with more waits and records than this are taken as a whole. */
#define SW_MAX_MARKS 256u

static uint32_t marks_of(const struct sw_graph_node *node)
{
	const struct sw_rec_mem_op *o = (const struct sw_rec_mem_op *)(const void *)node->work;
	uint32_t marks = 0;
	if (!node->work || node->disabled)
		return 0;
	if (node->work->kind == SW_REC_STREAM_WAIT)
		return SW_ORDERED_WAIT;
	if (node->work->kind == SW_REC_EVENT_RECORD)
		return SW_ORDERED_RECORD;
	for (uint32_t i = 0; node->work->kind == SW_REC_MEM_OP && i < node->work_bytes / sizeof *o; i++)
		marks |= o[i].op == SW_MEMOP_WAIT_VALUE	   ? SW_ORDERED_WAIT
			 : o[i].op == SW_MEMOP_WRITE_VALUE ? SW_ORDERED_RECORD
							   : 0u;
	return marks;
}

struct making {
	struct sw_exec *x;
	const struct sw_paths *paths;
	bool *taken;
	uint64_t *waits; /* bit i: node i waits and was not taken yet */
};

static void take(struct making *k, uint32_t node)
{
	k->taken[node] = true;
	k->waits[node / 64] &= ~(1ull << (node % 64));
	*sw_vec_push(&k->x->node_order) = (struct sw_ordered_node){node, SW_ORDERED_ALL};
}

static void take_with_all_before(struct making *k, uint32_t node)
{
	for (size_t i = 0; i < k->paths->n; i++) {
		uint32_t at = k->paths->sorted[i];
		if (!k->taken[at] && (at == node || sw_paths_before(k->paths, at, node)))
			take(k, at);
	}
}

/* It waits, or depends on a wait, that was not taken yet. */
static bool held_back(const struct making *k, uint32_t node)
{
	const uint64_t *row = k->paths->before + node * k->paths->words;
	for (size_t w = 0; w < k->paths->words; w++)
		if (row[w] & k->waits[w])
			return true;
	return k->waits[node / 64] >> (node % 64) & 1;
}

/* Records as early, waits as late as can be. */
static void take_all(struct making *k, const uint32_t *sorted)
{
	size_t n = k->paths->n;
	while (k->x->node_order.n < n) {
		uint32_t wait = UINT32_MAX;
		for (size_t i = 0; i < n; i++)
			if (!k->taken[sorted[i]] && marks_of(&k->x->nodes.at[sorted[i]]) == SW_ORDERED_RECORD &&
			    !held_back(k, sorted[i]))
				take_with_all_before(k, sorted[i]);
		for (size_t i = 0; i < n; i++) {
			if (k->taken[sorted[i]])
				continue;
			if (!held_back(k, sorted[i]))
				take(k, sorted[i]);
			else if (wait == UINT32_MAX)
				wait = sorted[i]; /* all before it was taken: it is the wait itself */
		}
		if (wait != UINT32_MAX)
			take(k, wait);
	}
}

/* Waits after which something comes that does not depend on them, records before which something comes that they do not
   depend on. */
static uint32_t too_much(const struct sw_exec *x, const struct sw_paths *paths)
{
	uint32_t n = 0;
	for (size_t i = 0; i < x->node_order.n; i++) {
		uint32_t marks = marks_of(&x->nodes.at[x->node_order.at[i].node]);
		bool more = false;
		for (size_t k = 0; marks && k < x->node_order.n && !more; k++) {
			uint32_t at = x->node_order.at[i].node, other = x->node_order.at[k].node;
			more = (k < i && marks & SW_ORDERED_RECORD && !sw_paths_before(paths, other, at)) ||
			       (k > i && marks & SW_ORDERED_WAIT && !sw_paths_before(paths, at, other));
		}
		n += more;
	}
	return n;
}

/* The graph as a whole: all waits, allocations before work, releases after it, all records. */
static void take_as_a_whole(struct sw_exec *x)
{
	static const struct {
		uint8_t kind; /* 0: any that has no row */
		uint8_t part;
	} rounds[] = {{0, SW_ORDERED_WAIT},
		      {SW_REC_ALLOC, SW_ORDERED_WORK},
		      {0, SW_ORDERED_WORK},
		      {SW_REC_FREE, SW_ORDERED_WORK},
		      {0, SW_ORDERED_RECORD}};
	for (size_t round = 0; round < sizeof rounds / sizeof *rounds; round++)
		for (uint32_t i = 0; i < x->nodes.n; i++) {
			const struct sw_graph_node *node = &x->nodes.at[i];
			uint8_t kind = node->work ? node->work->kind : 0;
			bool own = kind == SW_REC_ALLOC || kind == SW_REC_FREE;
			bool now = rounds[round].part != SW_ORDERED_WORK ? marks_of(node) & rounds[round].part
									 : rounds[round].kind == (own ? kind : 0);
			if (now)
				*sw_vec_push(&x->node_order) = (struct sw_ordered_node){i, rounds[round].part};
		}
}

void sw_node_order_make(struct sw_exec *x, const struct sw_paths *paths)
{
	struct making k = {.x = x, .paths = paths};
	uint32_t marks = 0;
	x->node_order.n = 0;
	x->bound = 0;
	for (size_t i = 0; i < x->nodes.n; i++)
		marks += marks_of(&x->nodes.at[i]) != 0;
	if (!paths || marks > SW_MAX_MARKS) {
		take_as_a_whole(x);
		x->bound = marks;
		return;
	}
	k.taken = sw_calloc(paths->n, sizeof *k.taken);
	k.waits = sw_calloc(paths->words, sizeof *k.waits);
	for (size_t i = 0; i < x->nodes.n; i++)
		if (marks_of(&x->nodes.at[i]) & SW_ORDERED_WAIT)
			k.waits[i / 64] |= 1ull << (i % 64);
	take_all(&k, paths->sorted);
	x->bound = too_much(x, paths);
	free(k.taken);
	free(k.waits);
}
