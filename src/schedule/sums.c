/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a run: blocked time, overlap, and how well the replay reproduces the run. */
#include "schedule/nodes.h"

#include <stdlib.h>

/* ---- overlap ----------------------------------------------------------------------------------------------------- */

enum { BUSY, COPY, KERNEL, BLOCKED, SPANS };

struct span {
	uint64_t start, end;
	uint32_t what; /* bits */
};
typedef SW_VEC(struct span) span_vec;

static int by_start(const void *x, const void *y)
{
	const struct span *a = x, *b = y;
	return a->start < b->start ? -1 : a->start > b->start;
}

static uint32_t what_of(const struct sw_schedule_node *n)
{
	bool copy = n->does == SW_DOES_UPLOAD || n->does == SW_DOES_DOWNLOAD;
	bool kernel = n->does == SW_DOES_KERNEL || n->does == SW_DOES_GRAPH;
	return 1u << BUSY | (copy ? 1u << COPY : 0) | (kernel ? 1u << KERNEL : 0);
}

static uint64_t waited_for(const struct sw_window *w, uint32_t node)
{
	uint64_t end = 0;
	for (uint32_t e = w->nodes.at[node].edges; e < sw_edges_end(w, node); e++)
		if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
			end = sw_later(end, w->nodes.at[sw_edge_node(w->edges.at[e])].end);
	return end;
}

static void collect(const struct sw_window *w, span_vec *spans, struct sw_schedule_sums *sums)
{
	for (uint32_t i = 0; i < w->nodes.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[i];
		if (sw_node_on_device(n) && n->end > n->start)
			*sw_vec_push(spans) = (struct span){n->start, n->end, what_of(n)};
		if (n->kind != SW_NODE_RETURN || !(n->flags & SW_NF_HELD))
			continue;
		uint64_t from = w->nodes.at[n->prev].start;
		sums->blocked_ns += sw_less(sw_earlier(waited_for(w, i), n->end), from);
		*sw_vec_push(spans) = (struct span){from, n->end, 1u << BLOCKED};
	}
	if (spans->n)
		qsort(spans->at, spans->n, sizeof *spans->at, by_start);
}

/* Between two starts each of the four is on up to some moment and off after it. */
static void pass_time(struct sw_schedule_sums *sums, const uint64_t until[SPANS], uint64_t from, uint64_t to)
{
	uint64_t on[SPANS];
	for (int i = 0; i < SPANS; i++)
		on[i] = sw_less(sw_earlier(until[i], to), from);
	sums->busy_ns += on[BUSY];
	sums->idle_ns += to - from - on[BUSY];
	sums->idle_blocked_ns += sw_less(on[BLOCKED], on[BUSY]);
	sums->copy_ns += on[COPY];
	sums->kernel_ns += on[KERNEL];
	sums->overlap_ns += sw_earlier(on[COPY], on[KERNEL]);
}

static void sum_window(const struct sw_window *w, struct sw_schedule_sums *sums)
{
	span_vec spans = {0};
	uint64_t until[SPANS] = {0}, now = w->start, copy = sums->copy_ns, kernel = sums->kernel_ns;
	collect(w, &spans, sums);
	for (size_t i = 0; i < spans.n; i++) {
		if (spans.at[i].start > now) {
			pass_time(sums, until, now, spans.at[i].start);
			now = spans.at[i].start;
		}
		for (int k = 0; k < SPANS; k++)
			if (spans.at[i].what >> k & 1)
				until[k] = sw_later(until[k], spans.at[i].end);
	}
	if (w->end > now)
		pass_time(sums, until, now, w->end);
	sums->overlap_possible_ns += sw_earlier(sums->copy_ns - copy, sums->kernel_ns - kernel);
	free(spans.at);
}

static void add_piece(void *arg, const struct sw_stretch *stretch)
{
	struct sw_schedule_sums *sums = arg;
	sums->path_ns[stretch->kind] += stretch->end_ns - stretch->start_ns;
	if (stretch->kind == SW_STRETCH_WORK)
		sums->path_work_ns[stretch->work] += stretch->end_ns - stretch->start_ns;
}

struct sw_schedule_sums sw_schedule_sums(struct sw_schedule *s)
{
	struct sw_schedule_sums sums = {0};
	sw_read_times(s, 0);
	for (uint32_t i = 0; i < s->windows; i++)
		sum_window(&s->window[i], &sums);
	sw_schedule_path(s, add_piece, &sums);
	return sums;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

/* Work that began long after all that it had to wait for. */
#define UNEXPLAINED_NS 100000u

static uint64_t unexplained(const struct sw_window *w)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < w->nodes.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[i];
		if (n->kind != SW_NODE_WORK || !(n->flags & SW_NF_TIMED))
			continue;
		const struct sw_schedule_node *call = &w->nodes.at[n->call];
		uint64_t in_call = (call->flags & SW_NF_OPEN ? w->nodes.at[call->like].end : call->end) - call->start;
		int64_t delay = n->flags & SW_NF_LAG ? n->lag : n->lead - (int64_t)in_call;
		if (delay > (int64_t)UNEXPLAINED_NS)
			sum += (uint64_t)delay;
	}
	return sum;
}

struct sw_schedule_facts sw_schedule_facts(struct sw_schedule *s)
{
	struct sw_schedule_facts f = {.windows = s->windows, .run_ns = s->last_ns - s->first_ns};
	sw_read_times(s, 0);
	for (uint32_t i = 0; i < s->windows; i++) {
		const struct sw_window *w = &s->window[i];
		f.nodes += w->nodes.n;
		f.operations += w->works.n;
		f.kept_ns += w->end - w->start;
		f.replayed_ns += s->length[i];
		f.unexplained_ns += unexplained(w);
		f.dropped_edges += w->dropped;
		for (size_t k = 0; k < w->works.n; k++) {
			uint8_t flags = w->nodes.at[w->works.at[k]].flags;
			f.timed += flags & SW_NF_TIMED ? 1 : 0;
			f.bracketed += (flags & (SW_NF_TIMED | SW_NF_BRACKET)) == SW_NF_BRACKET;
		}
	}
	uint64_t off = f.replayed_ns > f.kept_ns ? f.replayed_ns - f.kept_ns : f.kept_ns - f.replayed_ns;
	if (f.kept_ns)
		f.residual_permille = (uint32_t)sw_earlier(1000, (off + f.unexplained_ns) * 1000 / f.kept_ns);
	f.reliable = f.kept_ns && f.residual_permille <= 50 && (f.timed + f.bracketed || !f.operations);
	return f;
}
