/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a replay, and what part of each delay belongs to which edge, so that a replay without changes reproduces
 * every recorded time.
 */
#include "schedule/nodes.h"

#include <stdlib.h>
#include <string.h>

/* A thread that was silent for longer than this may have waited for another one. */
#define SILENCE_NS 100000u

/* ---- edges that the times contradict ----------------------------------------------------------------------------- */

/* The work had not ended when the call returned, so the call did not wait for it; or the other way round. */
static void drop_contradictions(struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++) {
		uint32_t *edge = &w->edges.at[e];
		const struct sw_schedule_node *from = &w->nodes.at[sw_edge_node(*edge)];
		if (sw_edge_why(*edge) == SW_WHY_NOT || from->end <= n->start + SW_CLOCK_ERROR_NS)
			continue;
		*edge = sw_edge(SW_WHY_NOT, sw_edge_node(*edge));
		w->dropped++;
	}
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

#define DIGIT_BITS 11u

/* By key, those of one key by number: digit after digit, which takes a tenth of what comparisons do. */
static void sort_nodes(uint32_t *order, size_t n, const uint64_t *key)
{
	uint32_t *other = sw_alloc((n + 1) * sizeof *other), *from = order, *to = other;
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)i;
		least = sw_earlier(least, key[i]);
		most = sw_later(most, key[i]);
	}
	for (unsigned shift = 0; n && shift < 64 && (most - least) >> shift; shift += DIGIT_BITS) {
		uint32_t start[1u << DIGIT_BITS] = {0}, sum = 0, mask = (1u << DIGIT_BITS) - 1;
		for (size_t i = 0; i < n; i++)
			start[(key[i] - least) >> shift & mask]++;
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
	if (from != order)
		memcpy(order, from, n * sizeof *order);
	free(other);
}

/* By start, but never before what an edge comes from: clocks of host and device differ by microseconds. */
static void put_in_order(struct sw_window *w)
{
	uint64_t *key = sw_alloc((w->nodes.n + 1) * sizeof *key);
	w->order = sw_realloc(w->order, w->nodes.n + 1, sizeof *w->order);
	for (uint32_t i = 0; i < w->nodes.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[i];
		key[i] = n->start;
		if (n->prev != SW_NONE)
			key[i] = sw_later(key[i], key[n->prev]);
		if (n->kind == SW_NODE_WORK || n->kind == SW_NODE_MARK)
			key[i] = sw_later(key[i], key[n->call]);
		for (uint32_t e = n->edges; e < sw_edges_end(w, i); e++)
			if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
				key[i] = sw_later(key[i], key[sw_edge_node(w->edges.at[e])]);
	}
	sort_nodes(w->order, w->nodes.n, key);
	free(key);
}

static uint64_t edges_end(const struct sw_window *w, uint32_t node)
{
	uint64_t end = 0;
	for (uint32_t e = w->nodes.at[node].edges; e < sw_edges_end(w, node); e++)
		if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
			end = sw_later(end, w->nodes.at[sw_edge_node(w->edges.at[e])].end);
	return end;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/*
 * A thread makes no calls, another one makes calls meanwhile and stops before the first continues: they take turns (a
 * library passes work to its thread and waits), and the first continued because the second was done. Threads that run
 * independently do not show this pattern for long. Without records of the host's own synchronisation there is no other
 * evidence.
 */
static void hand_over(struct sw_window *w, uint32_t node, const uint32_t *last, size_t threads, const uint32_t *next)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	uint64_t silent_from = n->prev == SW_NONE ? 0 : w->nodes.at[n->prev].end, best_end = silent_from;
	uint32_t best = SW_NONE;
	if (n->start - silent_from < SILENCE_NS && n->prev != SW_NONE)
		return;
	for (size_t t = 0; t < threads; t++) {
		if (last[t] == SW_NONE || t == n->lane)
			continue;
		const struct sw_schedule_node *other = &w->nodes.at[last[t]];
		uint64_t goes_on = next[last[t]] == SW_NONE ? UINT64_MAX : w->nodes.at[next[last[t]]].start;
		if (other->end <= n->start && other->end > best_end && sw_less(goes_on, other->end) >= SILENCE_NS) {
			best = last[t];
			best_end = other->end;
		}
	}
	if (best != SW_NONE)
		w->edges.at[n->edges] = sw_edge(SW_WHY_HANDOVER, best);
}

static void find_turns(struct sw_schedule *s, struct sw_window *w)
{
	size_t threads = s->threads.n;
	uint32_t *last = sw_alloc((threads + 1) * sizeof *last), *next = sw_alloc((w->nodes.n + 1) * sizeof *next);
	for (size_t i = 0; i < threads; i++)
		last[i] = SW_NONE;
	for (size_t i = 0; i < w->nodes.n; i++)
		next[i] = SW_NONE;
	for (uint32_t i = 0; i < w->nodes.n; i++)
		if (w->nodes.at[i].kind == SW_NODE_CALL && w->nodes.at[i].prev != SW_NONE)
			next[w->nodes.at[i].prev] = i;
	for (size_t i = 0; i < w->nodes.n && threads < 256; i++) {
		uint32_t node = w->order[i];
		const struct sw_schedule_node *n = &w->nodes.at[node];
		if (n->kind != SW_NODE_CALL && n->kind != SW_NODE_RETURN)
			continue;
		if (n->kind == SW_NODE_CALL)
			hand_over(w, node, last, threads, next);
		last[n->lane] = node;
	}
	free(last);
	free(next);
}

/* ---- delays ------------------------------------------------------------------------------------------------------ */

static int32_t short_of(uint64_t to, uint64_t from)
{
	int64_t d = (int64_t)(to - from);
	return d > INT32_MAX ? INT32_MAX : d < INT32_MIN ? INT32_MIN : (int32_t)d;
}

static void bind_call(struct sw_window *w, uint32_t node)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	uint64_t other = edges_end(w, node), before = n->prev == SW_NONE ? w->start : w->nodes.at[n->prev].end;
	if (other > before) {
		n->lead = 0;
		n->lag = short_of(n->start, other);
		n->flags |= SW_NF_LAG;
	} else {
		n->lead = (int64_t)(n->start - before);
	}
}

static void bind_return(struct sw_window *w, uint32_t node)
{
	struct sw_schedule_node *n = &w->nodes.at[node], *call = &w->nodes.at[n->prev];
	uint64_t took = n->end - call->start, done = edges_end(w, node), staged = 0;
	uint64_t own = sw_earlier(took, call->own);
	/* A call that moves bytes itself began to when the work before its own was done.  One that leaves that to the
	   device has nothing to do itself. */
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++) {
		const struct sw_schedule_node *work = &w->nodes.at[sw_edge_node(w->edges.at[e])];
		if (work->call != n->prev)
			continue;
		if (!(work->flags & SW_NF_STAGED)) {
			own = sw_earlier(own, SW_BARE_CALL_NS);
			continue;
		}
		uint64_t before = work->prev == SW_NONE ? 0 : w->nodes.at[work->prev].end;
		staged = took - sw_earlier(took, sw_less(before, call->start));
	}
	own = sw_later(own, staged);
	if (done <= call->start + own) {
		n->lead = (int64_t)took;
		/* What it does itself comes after what it waits for (cudaFree of 1 GiB after a kernel of 25 ms: 25.6
		   ms, without the kernel 0.6 ms, measured on H200). */
		n->lag = short_of(n->end, sw_later(done, call->start));
		return;
	}
	n->flags |= SW_NF_LAG | SW_NF_HELD;
	n->lead = (int64_t)own;
	n->lag = short_of(n->end, done);
}

static void bind_work(struct sw_window *w, uint32_t node, uint64_t taken)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	const struct sw_schedule_node *call = &w->nodes.at[n->call];
	uint64_t ready = edges_end(w, node), lead = n->kind == SW_NODE_WORK ? SW_LEAD_NS : 0;
	uint64_t since_call = sw_less(n->start, call->start);
	if (n->prev != SW_NONE)
		ready = sw_later(ready, w->nodes.at[n->prev].end);
	if (taken > ready && n->start - taken < SW_CLOCK_ERROR_NS && taken > call->start + lead &&
	    sw_less(n->start, ready) > SW_CLOCK_ERROR_NS) {
		n->flags |= SW_NF_HELD;
		ready = taken;
	}
	if (ready > call->start + lead) {
		n->lead = (int64_t)sw_earlier(since_call, lead);
		n->lag = short_of(n->start, ready);
		n->flags |= SW_NF_LAG;
		return;
	}
	n->lead = (int64_t)n->start - (int64_t)call->start;
	n->lag = (int32_t)sw_earlier(SW_LAG_NS, sw_less(n->start, ready));
}

void sw_calibrate(struct sw_schedule *s, struct sw_window *w)
{
	struct sw_resources *resources = sw_calloc(1, sizeof *resources);
	w->dropped = 0;
	for (uint32_t i = 0; i < w->nodes.n; i++)
		drop_contradictions(w, i);
	put_in_order(w);
	find_turns(s, w);
	for (size_t i = 0; i < w->nodes.n; i++) {
		uint32_t node = w->order[i];
		struct sw_schedule_node *n = &w->nodes.at[node];
		n->flags &= (uint8_t) ~(SW_NF_LAG | SW_NF_HELD | SW_NF_PATH | SW_NF_BODY);
		if (n->kind == SW_NODE_CALL) {
			bind_call(w, node);
		} else if (n->kind == SW_NODE_RETURN) {
			bind_return(w, node);
		} else {
			struct sw_resource *r = sw_resource_of(resources, s, n);
			bind_work(w, node, r ? sw_resource_free(r, n, NULL) : 0);
			if (r)
				sw_resource_take(r, n, NULL);
		}
	}
	free(resources);
}
