/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that take turns: a thread makes no calls, another one makes calls meanwhile and stops before the first
 * continues (a library passes work to its thread and waits), and the first continued because the second was done.
 * Threads that run independently do not show this pattern for long.  Without records of the host's own synchronisation
 * there is no other evidence.
 */
#include "schedule/nodes.h"

#include <stdlib.h>

/* A thread that was silent for longer than this may have waited for another one. */
#define SILENCE_NS 100000u
/* With more threads nothing is looked for. */
#define MOST_THREADS 255u

static uint64_t silent_from(const struct sw_window *w, const struct sw_schedule_node *n)
{
	return n->prev == SW_NONE ? 0 : w->nodes.at[n->prev].end;
}

static bool of_host(const struct sw_schedule_node *n)
{
	return n->kind == SW_NODE_CALL || n->kind == SW_NODE_RETURN;
}

/* CALL and RETURN nodes of each thread, as they were added. */
static void list_threads(struct sw_window *w, size_t threads)
{
	struct sw_ordered *o = &w->ordered;
	size_t n = 0;
	o->thread_first = sw_calloc(threads + 2, sizeof *o->thread_first);
	for (uint32_t i = 0; i < w->nodes.n; i++)
		if (of_host(&w->nodes.at[i])) {
			o->thread_first[w->nodes.at[i].lane + 2]++;
			n++;
		}
	o->thread_node = sw_alloc((n + 1) * sizeof *o->thread_node);
	for (size_t t = 0; t < threads; t++)
		o->thread_first[t + 1] += o->thread_first[t];
	for (uint32_t i = 0; i < w->nodes.n; i++)
		if (of_host(&w->nodes.at[i]))
			o->thread_node[o->thread_first[w->nodes.at[i].lane + 1]++] = i;
}

static void list_gaps(struct sw_window *w)
{
	struct sw_ordered *o = &w->ordered;
	o->gap.n = 0;
	for (size_t i = 0; i < o->calls; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[o->call[i]];
		if (n->prev == SW_NONE || n->start - silent_from(w, n) >= SILENCE_NS)
			*sw_vec_push(&o->gap) = o->call[i];
	}
}

/* When the thread that made this call made its next one; UINT64_MAX: never. */
static uint64_t goes_on(const struct sw_window *w, size_t thread, uint32_t place)
{
	const struct sw_ordered *o = &w->ordered;
	if (place + 1 == o->thread_first[thread + 1])
		return UINT64_MAX;
	const struct sw_schedule_node *next = &w->nodes.at[o->thread_node[place + 1]];
	return next->kind == SW_NODE_CALL && next->prev == o->thread_node[place] ? next->start : UINT64_MAX;
}

/* passed: by thread, the place after its last node before this one. */
static void hand_over(struct sw_window *w, uint32_t node, const uint32_t *passed, size_t threads)
{
	const struct sw_ordered *o = &w->ordered;
	const struct sw_schedule_node *n = &w->nodes.at[node];
	uint64_t best_end = silent_from(w, n);
	uint32_t best = SW_NONE;
	for (size_t t = 0; t < threads; t++) {
		if (passed[t] == o->thread_first[t] || t == n->lane)
			continue;
		uint32_t last = o->thread_node[passed[t] - 1];
		uint64_t end = w->nodes.at[last].end;
		if (end <= n->start && end > best_end && sw_less(goes_on(w, t, passed[t] - 1), end) >= SILENCE_NS) {
			best = last;
			best_end = end;
		}
	}
	if (best != SW_NONE)
		w->edges.at[n->edges] = sw_edge(SW_WHY_HANDOVER, best);
}

void sw_turns_forget(struct sw_window *w)
{
	for (size_t i = 0; i < w->ordered.gap.n; i++)
		w->edges.at[w->nodes.at[w->ordered.gap.at[i]].edges] = sw_edge(SW_WHY_NOT, 0);
}

void sw_turns_find(const struct sw_schedule *s, struct sw_window *w)
{
	struct sw_ordered *o = &w->ordered;
	size_t threads = s->threads.n;
	if (threads < 2 || threads > MOST_THREADS)
		return;
	if (!o->thread_first)
		list_threads(w, threads);
	if (o->moved)
		list_gaps(w);
	o->moved = false;
	uint32_t *passed = sw_alloc(threads * sizeof *passed);
	for (size_t t = 0; t < threads; t++)
		passed[t] = o->thread_first[t];
	for (size_t i = 0; i < o->gap.n; i++) {
		for (size_t t = 0; t < threads; t++)
			while (passed[t] < o->thread_first[t + 1] &&
			       sw_order_before(o, o->thread_node[passed[t]], o->gap.at[i]))
				passed[t]++;
		hand_over(w, o->gap.at[i], passed, threads);
	}
	free(passed);
}
