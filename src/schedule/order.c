/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes by time.  A reading moves work and what waits for it, hardly ever a call: both are sorted for themselves, and
 * calls only if they are not in order already.
 */
#include "schedule/nodes.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11u

static bool is_sorted(const struct sw_ordered *o, const uint32_t *node, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (!sw_order_before(o, node[i - 1], node[i]))
			return false;
	return true;
}

/* Digit after digit, which takes a tenth of what comparisons do.  The nodes come by number, so those of one key stay
   so. */
static void sort_nodes(const uint64_t *key, uint32_t *node, size_t n)
{
	uint32_t *other = sw_alloc((n + 1) * sizeof *other), *from = node, *to = other;
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < n; i++) {
		least = sw_earlier(least, key[node[i]]);
		most = sw_later(most, key[node[i]]);
	}
	for (unsigned shift = 0; n && shift < 64 && (most - least) >> shift; shift += DIGIT_BITS) {
		uint32_t start[1u << DIGIT_BITS] = {0}, sum = 0, mask = (1u << DIGIT_BITS) - 1;
		for (size_t i = 0; i < n; i++)
			start[(key[from[i]] - least) >> shift & mask]++;
		for (uint32_t digit = 0; digit <= mask; digit++) {
			uint32_t here = start[digit];
			start[digit] = sum;
			sum += here;
		}
		for (size_t i = 0; i < n; i++)
			to[start[(key[from[i]] - least) >> shift & mask]++] = from[i];
		uint32_t *sorted = to;
		to = from;
		from = sorted;
	}
	if (from != node)
		memcpy(node, from, n * sizeof *node);
	free(other);
}

static void list_calls(const struct sw_window *w, uint32_t *call)
{
	for (uint32_t i = 0; i < w->nodes.n; i++)
		if (w->nodes.at[i].kind == SW_NODE_CALL)
			*call++ = i;
}

void sw_order_prepare(struct sw_window *w)
{
	struct sw_ordered *o = &w->ordered;
	o->calls = w->nodes.n - w->others.n;
	o->key = sw_alloc((w->nodes.n + 1) * sizeof *o->key);
	o->call = sw_alloc((o->calls + 1) * sizeof *o->call);
	o->other = sw_alloc((w->others.n + 1) * sizeof *o->other);
	o->taken_end = sw_alloc((w->others.n + 1) * sizeof *o->taken_end);
	list_calls(w, o->call);
	o->moved = true;
}

/* By start, but never before what an edge comes from: clocks of host and device differ by microseconds. */
static uint64_t key_of(const struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	const uint64_t *key = w->ordered.key;
	uint64_t own = n->start;
	if (n->prev != SW_NONE)
		own = sw_later(own, key[n->prev]);
	if (n->kind == SW_NODE_WORK || n->kind == SW_NODE_MARK)
		own = sw_later(own, key[n->call]);
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++)
		if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
			own = sw_later(own, key[sw_edge_node(w->edges.at[e])]);
	return own;
}

void sw_order_parts(struct sw_window *w)
{
	struct sw_ordered *o = &w->ordered;
	for (uint32_t i = 0; i < w->nodes.n; i++)
		o->key[i] = key_of(w, i);
	if (!is_sorted(o, o->call, o->calls)) {
		list_calls(w, o->call);
		sort_nodes(o->key, o->call, o->calls);
		o->moved = true;
	}
	if (w->others.n)
		memcpy(o->other, w->others.at, w->others.n * sizeof *o->other);
	sort_nodes(o->key, o->other, w->others.n);
}

void sw_order_whole(struct sw_window *w)
{
	const struct sw_ordered *o = &w->ordered;
	size_t call = 0, other = 0;
	w->order = sw_realloc(w->order, w->nodes.n + 1, sizeof *w->order);
	for (size_t i = 0; i < w->nodes.n; i++) {
		bool is_call =
			other == w->others.n || (call < o->calls && sw_order_before(o, o->call[call], o->other[other]));
		w->order[i] = is_call ? o->call[call++] : o->other[other++];
	}
}

void sw_ordered_free(struct sw_ordered *o)
{
	free(o->key);
	free(o->call);
	free(o->other);
	free(o->thread_first);
	free(o->thread_node);
	free(o->needed);
	free(o->gap.at);
	free(o->taken.at);
	free(o->taken_end);
	free(o->pulled.at);
	free(o->single.at);
	free(o->steps.at);
	free(o->runs.at);
	*o = (struct sw_ordered){0};
}
