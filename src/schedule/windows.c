/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of the run that are kept for replays, and their nodes and edges. */
#include "schedule/nodes.h"

#include <stdlib.h>

#define DEFAULT_WINDOW 262144u

struct sw_schedule *sw_schedule_new(const struct sw_schedule_options *options)
{
	struct sw_schedule *s = sw_calloc(1, sizeof *s);
	s->most = options && options->window ? options->window : DEFAULT_WINDOW;
	s->stride = 1;
	s->windows = 1;
	s->keep = true;
	s->current = SW_NONE;
	return s;
}

static void free_window(struct sw_window *w)
{
	free(w->nodes.at);
	free(w->edges.at);
	free(w->works.at);
	free(w->others.at);
	free(w->order);
	sw_ordered_free(&w->ordered);
	*w = (struct sw_window){0};
}

void sw_schedule_free(struct sw_schedule *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i <= SW_WINDOWS; i++)
		free_window(&s->window[i]);
	for (size_t i = 0; i < s->open.room; i++)
		free(s->open.at[i].until.at);
	free(s->open.at);
	free(s->queues.at);
	free(s->live.at);
	free(s->legacy.at);
	free(s->barriers.at);
	free(s->threads.at);
	free(s->class_of.at);
	sw_map_free(&s->events);
	sw_map_free(&s->pairs);
	sw_map_free(&s->sites);
	sw_map_free(&s->classes);
	free(s);
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

struct sw_window *sw_window_filling(struct sw_schedule *s)
{
	return &s->window[s->windows - 1];
}

/* Earlier calls and work can no longer be referred to. */
static void forget(struct sw_schedule *s)
{
	for (size_t i = 0; i < s->queues.n; i++) {
		struct sw_queue *q = &s->queues.at[i];
		q->tail = q->joined = q->taken = q->behind = SW_NONE;
		q->live = false;
	}
	s->live.n = s->barriers.n = 0;
	for (size_t i = 0; i < s->threads.n; i++)
		s->threads.at[i] = SW_NONE;
	for (size_t i = 0; i < s->open.n; i++)
		s->open.at[i].taken = false;
	s->open.n = 0;
	s->current = SW_NONE;
	sw_map_free(&s->events);
}

/* Five windows are one too many: drop every other one, and skip twice as many from now on. */
void sw_thin_out(struct sw_schedule *s)
{
	uint32_t kept = 0;
	if (s->windows <= SW_WINDOWS)
		return;
	s->stride *= 2;
	for (uint32_t i = 0; i < s->windows; i++) {
		if (s->place[i] % s->stride) {
			free_window(&s->window[i]);
			continue;
		}
		if (kept != i) {
			s->window[kept] = s->window[i];
			s->place[kept] = s->place[i];
			s->window[i] = (struct sw_window){0};
		}
		kept++;
	}
	s->windows = kept;
}

void sw_window_next(struct sw_schedule *s)
{
	struct sw_window *w = sw_window_filling(s);
	forget(s);
	s->passed++;
	if (!s->keep) {
		w->nodes.n = w->edges.n = w->works.n = w->others.n = 0;
	} else {
		sw_thin_out(s);
		s->windows++;
	}
	w = sw_window_filling(s);
	w->start = w->end = 0;
	s->place[s->windows - 1] = s->passed;
	s->keep = s->passed % s->stride == 0;
}

void sw_schedule_break(struct sw_schedule *s)
{
	if (sw_window_filling(s)->nodes.n)
		sw_window_next(s);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

struct sw_schedule_node *sw_node_push(struct sw_schedule *s, enum sw_node_kind kind, uint64_t seq, uint32_t lane,
				      uint32_t *index)
{
	struct sw_window *w = sw_window_filling(s);
	*index = (uint32_t)w->nodes.n;
	struct sw_schedule_node *n = sw_vec_push(&w->nodes);
	*n = (struct sw_schedule_node){.seq = seq,
				       .kind = (uint8_t)kind,
				       .lane = lane,
				       .prev = SW_NONE,
				       .call = SW_NONE,
				       .edges = (uint32_t)w->edges.n};
	if (kind != SW_NODE_CALL)
		*sw_vec_push(&w->others) = *index;
	return n;
}

/* Belongs to the node pushed last. */
void sw_edge_push(struct sw_schedule *s, enum sw_edge_why why, uint32_t node)
{
	if (node != SW_NONE)
		*sw_vec_push(&sw_window_filling(s)->edges) = sw_edge(why, node);
}

void sw_window_reach(struct sw_schedule *s, uint64_t t_ns)
{
	struct sw_window *w = sw_window_filling(s);
	if (!w->start || t_ns < w->start)
		w->start = t_ns;
	w->end = sw_later(w->end, t_ns);
	if (!s->first_ns || t_ns < s->first_ns)
		s->first_ns = t_ns;
	s->last_ns = sw_later(s->last_ns, t_ns);
}

/* ---- times of the device ----------------------------------------------------------------------------------------- */

uint32_t sw_work_at(const struct sw_window *w, uint64_t seq)
{
	size_t low = 0, high = w->works.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (w->nodes.at[w->works.at[middle]].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == w->works.n || w->nodes.at[w->works.at[low]].seq != seq)
		return SW_NONE;
	return w->works.at[low];
}

static void set_times(struct sw_window *w, uint64_t seq, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t node = sw_work_at(w, seq);
	if (node == SW_NONE)
		return;
	struct sw_schedule_node *n = &w->nodes.at[node];
	bool known = n->flags & SW_NF_TIMED;
	n->start = known ? sw_earlier(n->start, start_ns) : start_ns;
	n->end = known ? sw_later(n->end, end_ns) : end_ns;
	n->flags |= SW_NF_TIMED;
	w->end = sw_later(w->end, end_ns);
}

void sw_schedule_times(struct sw_schedule *s, uint64_t seq, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns < start_ns || end_ns > SW_TIME_MAX)
		return;
	for (uint32_t i = 0; i < s->windows; i++)
		set_times(&s->window[i], seq, start_ns, end_ns);
}
