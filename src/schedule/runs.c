/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of nodes that a replay passes in one step.  Where a thread makes calls and a queue does their work, and nothing
 * else concerns either, the end of the last call is that of the call before the run and the time that its calls take;
 * the end of the last work is the later of two sums, one from that call and one from the work before the run.  Maxima
 * of sums of whole numbers: each replay ends at the same nanosecond as node by node.
 *
 * A run ends at what a change concerns, at an edge, at work that keeps out of the way of other queues', and at nodes
 * whose own end something else asks for.
 */
#include "schedule/nodes.h"

#include <stdlib.h>

/* Earlier than any sum: there is no work in the run yet. */
#define NO_WORK (INT64_MIN / 2)

struct runs {
	const struct sw_schedule *s;
	struct sw_window *w;
	struct sw_ordered *o;
	const struct sw_changed_places *places;
	uint32_t *last_host, *last_work; /* by thread, by queue: the node that was added last */
	bool *asked;			 /* by node: its own end is needed */
	/* Returns from waits that may become narrower: queues may get their gates there (replay.c). */
	uint32_t gates, last_gate; /* so far; the node of the highest number */
	uint32_t *passed;	   /* by queue: of these, the ones that its work was held by already */
	struct sw_run run;	   /* being made; host SW_NONE: none */
};

static bool is_host(const struct sw_schedule_node *n)
{
	return n->kind == SW_NODE_CALL || n->kind == SW_NODE_RETURN;
}

static uint32_t *last_of(const struct runs *r, const struct sw_schedule_node *n)
{
	return is_host(n) ? &r->last_host[n->lane] : &r->last_work[n->lane];
}

static uint32_t taken_from(const struct runs *r, uint32_t place)
{
	return place ? r->o->taken_end[place - 1] : 0;
}

/* ---- nodes whose own end is needed ------------------------------------------------------------------------------- */

/* The end of what came last on a thread or queue is at hand, whether it is in a run or not. */
static void ask(struct runs *r, uint32_t node)
{
	if (node != SW_NONE && *last_of(r, &r->w->nodes.at[node]) != node)
		r->asked[node] = true;
}

static void ask_for_needs(struct runs *r, const struct sw_step *step)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[step->node];
	ask(r, n->kind == SW_NODE_CALL ? step->before : n->prev);
	for (uint32_t e = n->edges; e < sw_edges_end(r->w, step->node); e++)
		if (sw_edge_why(r->w->edges.at[e]) != SW_WHY_NOT)
			ask(r, sw_edge_node(r->w->edges.at[e]));
	if (is_host(n))
		return;
	ask(r, n->call);
	for (uint32_t i = taken_from(r, step->place); i < r->o->taken_end[step->place]; i++)
		ask(r, r->o->taken.at[i]);
	if (r->places && r->places->kept && r->places->kept[r->w->nodes.at[n->call].call])
		r->asked[step->node] = true;
}

static void find_asked(struct runs *r)
{
	for (size_t i = 0; i < r->o->single.n; i++) {
		const struct sw_step *step = &r->o->single.at[i];
		ask_for_needs(r, step);
		*last_of(r, &r->w->nodes.at[step->node]) = step->node;
	}
}

/* ---- nodes that may be in a run ---------------------------------------------------------------------------------- */

static bool has_edges(const struct sw_window *w, uint32_t node)
{
	for (uint32_t e = w->nodes.at[node].edges; e < sw_edges_end(w, node); e++)
		if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
			return true;
	return false;
}

static bool is_changed(const struct runs *r, const struct sw_schedule_node *call)
{
	return r->places && r->places->row[call->call];
}

static void note_gate(struct runs *r, uint32_t node)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[node];
	if (n->kind != SW_NODE_RETURN || !r->passed || !is_changed(r, &r->w->nodes.at[n->prev]))
		return;
	r->gates++;
	r->last_gate = r->last_gate == SW_NONE || node > r->last_gate ? node : r->last_gate;
}

/* What is held by a gate holds what comes after it on the queue. */
static bool passes_gate(struct runs *r, uint32_t node)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[node];
	if (!r->passed || r->passed[n->lane] == r->gates)
		return false;
	if (node > r->last_gate)
		r->passed[n->lane] = r->gates;
	return true;
}

static bool fits_run(struct runs *r, const struct sw_step *step)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[step->node];
	bool plain = n->lead >= 0 && n->end >= n->start && !has_edges(r->w, step->node);
	if (n->kind == SW_NODE_RETURN)
		return false;
	if (n->kind == SW_NODE_CALL)
		return plain && step->before != SW_NONE && !is_changed(r, n);
	/* Asked in any case: this is the queue's next work. */
	bool gate = passes_gate(r, step->node);
	const struct sw_schedule_node *call = &r->w->nodes.at[n->call];
	return plain && !gate && n->prev != SW_NONE && n->lag >= 0 && !is_changed(r, call) &&
	       call->end >= call->start && taken_from(r, step->place) == r->o->taken_end[step->place];
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static uint32_t host_now(const struct sw_run *run)
{
	return run->last_call != SW_NONE ? run->last_call : run->host;
}

/* False: it does not go on where the run ends. */
static bool joins(const struct runs *r, const struct sw_step *step)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[step->node];
	const struct sw_run *run = &r->run;
	if (n->kind == SW_NODE_CALL)
		return step->before == host_now(run);
	return n->call == host_now(run) && (run->work == SW_NONE || n->prev == run->last_work);
}

static void start(struct runs *r, const struct sw_step *step)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[step->node];
	r->run = (struct sw_run){.host = n->kind == SW_NODE_CALL ? step->before : n->call,
				 .work = SW_NONE,
				 .last_call = SW_NONE,
				 .last_work = SW_NONE,
				 .work_after_host = NO_WORK};
}

static void extend(struct runs *r, uint32_t node)
{
	const struct sw_schedule_node *n = &r->w->nodes.at[node];
	struct sw_run *run = &r->run;
	int64_t took = (int64_t)(n->end - n->start);
	if (n->kind == SW_NODE_CALL) {
		run->last_call = node;
		run->calls += n->lead + took;
		return;
	}
	const struct sw_schedule_node *call = &r->w->nodes.at[n->call];
	int64_t after_call = run->calls - (int64_t)(call->end - call->start) + n->lead;
	int64_t after_work = run->work_after_host + n->lag;
	if (run->work == SW_NONE)
		run->work = n->prev;
	run->last_work = node;
	run->work_after_host = (after_call > after_work ? after_call : after_work) + took;
	run->work_after_work += n->lag + took;
}

static void finish(struct runs *r)
{
	if (r->run.host == SW_NONE)
		return;
	*sw_vec_push(&r->o->steps) = (struct sw_step){SW_NONE, (uint32_t)r->o->runs.n, 0};
	*sw_vec_push(&r->o->runs) = r->run;
	r->run.host = SW_NONE;
}

static void add(struct runs *r, const struct sw_step *step)
{
	note_gate(r, step->node);
	if (!fits_run(r, step)) {
		finish(r);
		*sw_vec_push(&r->o->steps) = *step;
		return;
	}
	if (r->run.host != SW_NONE && !joins(r, step))
		finish(r);
	if (r->run.host == SW_NONE)
		start(r, step);
	extend(r, step->node);
	if (r->asked[step->node])
		finish(r);
}

static uint32_t *none_of(size_t n)
{
	uint32_t *at = sw_alloc((n + 1) * sizeof *at);
	for (size_t i = 0; i < n; i++)
		at[i] = SW_NONE;
	return at;
}

void sw_runs_make(const struct sw_schedule *s, struct sw_window *w, const struct sw_changed_places *places)
{
	struct runs r = {.s = s, .w = w, .o = &w->ordered, .places = places, .last_gate = SW_NONE};
	r.run.host = SW_NONE;
	r.last_host = none_of(s->threads.n);
	r.last_work = none_of(s->queues.n);
	r.asked = sw_calloc(w->nodes.n + 1, sizeof *r.asked);
	r.passed = places && places->kept ? sw_calloc(s->queues.n + 1, sizeof *r.passed) : NULL;
	r.o->steps.n = r.o->runs.n = 0;
	find_asked(&r);
	for (size_t i = 0; i < r.o->single.n; i++)
		add(&r, &r.o->single.at[i]);
	finish(&r);
	free(r.last_host);
	free(r.last_work);
	free(r.asked);
	free(r.passed);
}
