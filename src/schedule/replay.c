/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the steps of a window, each as early as its edges let it: for several replays at once.  What a node
 * waits for, and how long, is the same to all replays in which nothing concerns its call; the others are corrected one
 * by one.
 */
#include "schedule/nodes.h"

#include <stdlib.h>

/* Work enqueued on a queue after this node waits until then, for an event instead of the host. */
struct gate {
	uint32_t behind; /* node, SW_NONE: nothing waits */
	uint64_t until;
};

struct pass {
	const struct sw_schedule *s;
	const struct sw_window *w;
	const struct sw_changed_places *places;
	struct sw_replay *how;
	uint32_t n;
	struct sw_moments *done; /* by node: its end */
	bool crowded[SW_TOGETHER];
	uint32_t *mask;		     /* by row of `places`: replays with a change there */
	bool kind[SW_IF_PINNED + 1]; /* some replay has such a change */
	struct gate *gates;	     /* by queue and replay; NULL: no change needs them */
};

#define NO_EDGE (INT64_MIN / 2)

/* With the machine's wide registers where the compiler and the loader can choose: half of the time. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default"), flatten))
#else
#define WIDE
#endif

/* The later of two moments. */
static inline int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* Replays in which a change may apply to this call: bits. */
static uint32_t replays_affected(const struct pass *p, const struct sw_schedule_node *call)
{
	uint32_t row = p->mask ? p->places->row[call->call] : 0;
	return row ? p->mask[row] : 0;
}

/* The change that applies to this call in replay k, NULL: none. */
static const struct sw_what_if *change_of(const struct pass *p, uint32_t k, const struct sw_schedule_node *call)
{
	if (!(replays_affected(p, call) >> k & 1))
		return NULL;
	const struct sw_replay *how = &p->how[k];
	uint32_t index = p->places->change[p->places->row[call->call] * p->places->sets + how->number];
	const struct sw_what_if *change = &how->set->at[index - 1];
	bool held = call->flags & SW_NF_HAS_RETURN && p->w->nodes.at[call->return_node].flags & SW_NF_HELD;
	return change->only_idle && held ? NULL : change;
}

/* Does this replay assume that the host needs what it waited for?  Its use of the memory is not recorded: one replay
   assumes that it does, the other that it does not. */
static bool host_needs(const struct sw_replay *how, const struct sw_what_if *change)
{
	return change->needed == SW_NEEDED || (change->needed == SW_NEEDED_MAYBE && how->needed);
}

/* Does a change of this kind apply to the call in replay k? */
static bool is_changed(const struct pass *p, uint32_t k, const struct sw_schedule_node *call, enum sw_what_if_kind kind)
{
	const struct sw_what_if *change = change_of(p, k, call);
	return change && change->kind == kind;
}

/* How long a call that waits for nothing takes in a replay with this change; NULL: with none. */
static uint64_t call_takes(const struct sw_schedule_node *call, const struct sw_what_if *change)
{
	uint64_t took = call->end - call->start;
	if (change && change->kind == SW_IF_NO_CALL)
		return 0;
	if (change && change->kind == SW_IF_PINNED && call->flags & SW_NF_STAGED)
		return sw_earlier(took, SW_BARE_CALL_NS);
	return took;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* The CALL that enqueued the node. */
static const struct sw_schedule_node *call_of(const struct pass *p, uint32_t node)
{
	return &p->w->nodes.at[p->w->nodes.at[node].call];
}

/* Is the node on the legacy stream, and does replay k move its call's work off it? */
static bool off_legacy(const struct pass *p, uint32_t k, uint32_t node)
{
	return p->s->queues.at[p->w->nodes.at[node].lane].kind == SW_QUEUE_LEGACY &&
	       is_changed(p, k, call_of(p, node), SW_IF_NO_LEGACY);
}

/* Is the node a barrier of a call that replay k leaves out, since its code is loaded at another time? */
static bool loads_elsewhere(const struct pass *p, uint32_t k, uint32_t node)
{
	return p->w->nodes.at[node].kind == SW_NODE_MARK && is_changed(p, k, call_of(p, node), SW_IF_NO_CALL);
}

/* Does the edge hold in replay k? A change may remove waits of its call, or move work off the legacy stream. */
static bool edge_holds(const struct pass *p, uint32_t k, uint32_t node, uint32_t edge)
{
	switch (sw_edge_why(edge)) {
	case SW_WHY_NOT:
		return false;
	case SW_WHY_LEGACY:
		return !off_legacy(p, k, node) && !off_legacy(p, k, sw_edge_node(edge));
	case SW_WHY_LOAD:
		return !loads_elsewhere(p, k, node) && !loads_elsewhere(p, k, sw_edge_node(edge));
	case SW_WHY_UNTIL: {
		const struct sw_what_if *change = change_of(p, k, &p->w->nodes.at[p->w->nodes.at[node].prev]);
		if (!change)
			return true;
		if (change->kind == SW_IF_NO_WAIT || change->kind == SW_IF_PINNED)
			return host_needs(&p->how[k], change);
		return change->kind == SW_IF_NO_LEGACY;
	}
	case SW_WHY_EVENT:
	case SW_WHY_HANDOVER:
		break;
	}
	return true;
}

/* In which replays the edge may not hold, since a change takes away its reason (the legacy stream, a wait): a bit for
   each. */
static uint32_t replays_doubtful(const struct pass *p, uint32_t node, uint32_t edge)
{
	switch (sw_edge_why(edge)) {
	case SW_WHY_LEGACY:
	case SW_WHY_LOAD:
		if (!p->kind[sw_edge_why(edge) == SW_WHY_LOAD ? SW_IF_NO_CALL : SW_IF_NO_LEGACY])
			return 0;
		return replays_affected(p, call_of(p, node)) | replays_affected(p, call_of(p, sw_edge_node(edge)));
	case SW_WHY_UNTIL:
		return replays_affected(p, &p->w->nodes.at[p->w->nodes.at[node].prev]);
	case SW_WHY_EVENT:
	case SW_WHY_HANDOVER:
	case SW_WHY_NOT:
		break;
	}
	return 0;
}

/* For each replay the end of what the node waits for last by its edges; NO_EDGE: it waits for nothing. */
static void last_edges(const struct pass *p, uint32_t node, struct sw_moments *last)
{
	sw_moments_set(last, NO_EDGE);
	for (uint32_t e = p->w->nodes.at[node].edges, end = sw_edges_end(p->w, node); e < end; e++) {
		uint32_t edge = p->w->edges.at[e];
		if (sw_edge_why(edge) == SW_WHY_NOT)
			continue;
		const struct sw_moments *done = &p->done[sw_edge_node(edge)];
		uint32_t except = replays_doubtful(p, node, edge);
		if (!except)
			sw_moments_keep_latest(last, done);
		for (uint32_t k = 0; k < p->n && except; k++)
			if (!(except >> k & 1) || edge_holds(p, k, node, edge))
				last->at[k] = later_of(last->at[k], done->at[k]);
	}
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* Waits of a call: for the call before it, and for other work. */
struct call_waits {
	struct sw_moments before, lead, other, took;
};

/* When a call begins or returns: after the call before it and its own lead, and after the work that it waits for and
   the lag; then it takes its time. */
static void pass_host(struct sw_moments *end, const struct call_waits *from, int64_t lag)
{
	SW_IN_EACH
	for (uint32_t k = 0; k < SW_TOGETHER; k++)
		end->at[k] = later_of(later_of(from->before.at[k] + from->lead.at[k], from->other.at[k] + lag), 0) +
			     from->took.at[k];
}

/* Computes when a call ends, or begins to wait, in each replay.  before: the node before it on its thread, SW_NONE:
   none. */
static void pass_call(struct pass *p, uint32_t node, uint32_t before)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node];
	struct call_waits from;
	uint32_t changes = replays_affected(p, n);
	last_edges(p, node, &from.other);
	sw_moments_set(&from.lead, n->lead);
	sw_moments_set(&from.took, (int64_t)(n->end - n->start));
	if (before == SW_NONE)
		sw_moments_set(&from.before, (int64_t)p->w->start);
	else
		from.before = p->done[before];
	for (uint32_t k = 0; changes; k++, changes >>= 1) {
		const struct sw_what_if *change = changes & 1 ? change_of(p, k, n) : NULL;
		p->how[k].calls += change != NULL;
		from.took.at[k] = (int64_t)call_takes(n, change);
	}
	pass_host(&p->done[node], &from, n->lag);
}

/* The last work of a queue up to this node, of the place that is needed; the node itself where that is not known. */
#define LOOK_BACK 64

/* The last work of the queue up to `tail` that came from this place in the program; `tail` itself where the place is
   not known or not found near. */
static uint32_t last_needed_work(const struct pass *p, uint32_t tail, uint32_t site)
{
	uint32_t at = tail;
	for (int i = 0; i < LOOK_BACK && at != SW_NONE && site != SW_NONE; i++) {
		const struct sw_schedule_node *n = &p->w->nodes.at[at];
		if (n->kind == SW_NODE_WORK && p->w->nodes.at[n->call].call == site)
			return at;
		at = n->prev;
	}
	return tail;
}

/* For a wait that replay k makes narrower: until when the host still waits, NO_EDGE: not at all.  Queues that the
 * advice makes wait instead get a gate: work that is enqueued on them from here on waits until the needed work is done.
 */
static int64_t kept_until(struct pass *p, uint32_t k, uint32_t node, const struct sw_what_if *change)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node];
	int64_t until = NO_EDGE;
	for (uint32_t e = n->edges; e < sw_edges_end(p->w, node); e++) {
		uint32_t edge = p->w->edges.at[e], tail = sw_edge_node(edge);
		for (uint32_t i = 0; i < change->keeps && sw_edge_why(edge) == SW_WHY_UNTIL; i++) {
			const struct sw_keep *kept = &change->keep[i];
			if (kept->queue != p->w->nodes.at[tail].lane)
				continue;
			int64_t done = p->done[last_needed_work(p, tail, kept->site)].at[k];
			if (kept->to == SW_KEEP_HOST) {
				if (host_needs(&p->how[k], change))
					until = later_of(until, done);
			} else if (kept->to < p->s->queues.n && (p->how[k].slow || !kept->ordered)) {
				/* Which work of the queue it is that the other one needs is not known: the last of it,
				   in the one reading; in the other the program's own events see to it where it has
				   some. */
				struct gate *gate = &p->gates[kept->to * SW_TOGETHER + k];
				gate->behind = node;
				gate->until = sw_later(gate->until, (uint64_t)done + SW_LAG_NS);
			}
		}
	}
	return until;
}

/* Computes when a call that waits returns, in each replay. */
static void pass_return(struct pass *p, uint32_t node)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node], *call = &p->w->nodes.at[n->prev];
	struct call_waits from = {.before = p->done[n->prev]};
	uint32_t changes = replays_affected(p, call);
	last_edges(p, node, &from.other);
	sw_moments_set(&from.lead, n->lead);
	for (uint32_t k = 0; changes; k++, changes >>= 1) {
		const struct sw_what_if *change = changes & 1 ? change_of(p, k, call) : NULL;
		if (change && change->kind == SW_IF_NO_CALL)
			from.lead.at[k] = 0;
		else if (change && change->kind == SW_IF_PINNED && call->flags & SW_NF_STAGED)
			from.lead.at[k] = n->lead < SW_BARE_CALL_NS ? n->lead : SW_BARE_CALL_NS;
		else if (change && change->kind == SW_IF_LESS)
			from.other.at[k] = kept_until(p, k, node, change);
	}
	pass_host(&p->done[node], &from, n->lag);
}

/* The time of a piece of work, and the waits of its start. */
struct work_times {
	int64_t lead, lag, took, call_took;
};

/* The delays and the duration of a piece of work in a replay; change: that of its call, NULL: none. */
static struct work_times work_times(const struct pass *p, const struct sw_schedule_node *n, const struct sw_replay *how,
				    const struct sw_what_if *change)
{
	const struct sw_schedule_node *call = &p->w->nodes.at[n->call];
	struct work_times t = {n->lead, n->lag, (int64_t)(n->end - n->start), (int64_t)call_takes(call, change)};
	if (!change)
		return t;
	if (change->kind != SW_IF_NO_LEGACY && t.lead > SW_LEAD_NS)
		t.lead = SW_LEAD_NS;
	if (change->kind != SW_IF_PINNED)
		return t;
	/* The first bytes of a pageable copy are staged when the work before it is done. */
	if (t.lag > SW_LAG_NS)
		t.lag = SW_LAG_NS;
	uint64_t pinned = sw_estimate_pinned(p->s, (enum sw_work_kind)n->does, n->own, how->slow);
	if (call->flags & SW_NF_STAGED)
		t.took = (int64_t)sw_earlier((uint64_t)t.took, pinned);
	return t;
}

/* Moments that one piece of work waits for. */
struct work_waits {
	const struct sw_moments *call;
	struct sw_moments ready, gate, taken;
};

/* When a piece of work ends in replay k. */
static inline int64_t work_end(const struct work_waits *from, const struct work_times *t, bool held, uint32_t k)
{
	int64_t start = later_of(later_of(from->call->at[k] - t->call_took, 0) + t->lead, from->ready.at[k] + t->lag);
	start = later_of(start, later_of(from->gate.at[k], from->taken.at[k] + (held ? t->lag : 0)));
	return later_of(start, 0) + t->took;
}

/* For each replay the moment until which a narrowed wait (kept_until()) holds this work back; NO_EDGE: none does. */
static void find_gates(const struct pass *p, uint32_t node, struct sw_moments *moment)
{
	sw_moments_set(moment, NO_EDGE);
	for (uint32_t k = 0; k < p->n && p->gates; k++) {
		const struct gate *gate = &p->gates[p->w->nodes.at[node].lane * SW_TOGETHER + k];
		if (gate->behind < node)
			moment->at[k] = (int64_t)gate->until;
	}
}

/* For each replay the latest end of earlier work that keeps this work from starting: work of its kind on the same
   device. */
static void find_taken(const struct pass *p, const struct sw_step *step, struct sw_moments *taken)
{
	const struct sw_ordered *o = &p->w->ordered;
	uint32_t i = step->place ? o->taken_end[step->place - 1] : 0, end = o->taken_end[step->place];
	sw_moments_set(taken, NO_EDGE);
	if (i == end)
		return;
	for (; i < end; i++)
		sw_moments_keep_latest(taken, &p->done[o->taken.at[i]]);
	if (sw_taken_when_crowded(&p->w->nodes.at[step->node]))
		for (uint32_t k = 0; k < SW_TOGETHER; k++)
			taken->at[k] = p->crowded[k] ? taken->at[k] : NO_EDGE;
}

/* Computes when a piece of work starts and ends in each of the replays. */
static void pass_work(struct pass *p, const struct sw_step *step)
{
	uint32_t node = step->node;
	const struct sw_schedule_node *n = &p->w->nodes.at[node], *call = &p->w->nodes.at[n->call];
	struct sw_moments *end = &p->done[node];
	struct work_waits from = {.call = &p->done[n->call]};
	uint32_t changes = replays_affected(p, call);
	struct work_times t = work_times(p, n, NULL, NULL);
	bool held = n->flags & SW_NF_HELD;
	last_edges(p, node, &from.ready);
	if (n->prev != SW_NONE)
		sw_moments_keep_latest(&from.ready, &p->done[n->prev]);
	find_gates(p, node, &from.gate);
	find_taken(p, step, &from.taken);
	SW_IN_EACH
	for (uint32_t k = 0; k < SW_TOGETHER; k++)
		end->at[k] = work_end(&from, &t, held, k);
	for (uint32_t k = 0; changes; k++, changes >>= 1) {
		const struct sw_what_if *change = changes & 1 ? change_of(p, k, call) : NULL;
		if (!change)
			continue;
		t = work_times(p, n, &p->how[k], change);
		end->at[k] = work_end(&from, &t, held, k);
	}
}

/* Computes the ends of a run of calls and work that nothing else concerns, by two sums (runs.c). */
static void pass_run(const struct pass *p, const struct sw_run *run, struct sw_moments *last)
{
	const struct sw_moments host = p->done[run->host];
	if (run->last_work != SW_NONE) {
		const struct sw_moments *before = &p->done[run->work];
		struct sw_moments *work = &p->done[run->last_work];
		SW_IN_EACH
		for (uint32_t k = 0; k < SW_TOGETHER; k++)
			work->at[k] = later_of(host.at[k] + run->work_after_host, before->at[k] + run->work_after_work);
		sw_moments_keep_latest(last, work);
	}
	if (run->last_call == SW_NONE)
		return;
	struct sw_moments *call = &p->done[run->last_call];
	SW_IN_EACH
	for (uint32_t k = 0; k < SW_TOGETHER; k++)
		call->at[k] = host.at[k] + run->calls;
	sw_moments_keep_latest(last, call);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Prepares the changes of the replays of this pass: which replays change a place (mask, by row), which kinds there
   are, and room for gates, which waits that stay in part give to queues. */
static void find_changes(struct pass *p)
{
	const struct sw_changed_places *places = p->places;
	p->mask = places ? sw_calloc(places->rows + 1, sizeof *p->mask) : NULL;
	for (uint32_t k = 0; k < p->n; k++) {
		const struct sw_replay *how = &p->how[k];
		p->crowded[k] = how->crowded;
		for (uint32_t row = 1; how->set && row <= places->rows; row++)
			if (places->change[row * places->sets + how->number])
				p->mask[row] |= 1u << k;
		for (size_t i = 0; how->set && i < how->set->n; i++)
			p->kind[how->set->at[i].kind] = true;
	}
	if (!p->kind[SW_IF_LESS])
		return;
	p->gates = sw_alloc((p->s->queues.n + 1) * SW_TOGETHER * sizeof *p->gates);
	for (size_t i = 0; i < p->s->queues.n * SW_TOGETHER; i++)
		p->gates[i] = (struct gate){SW_NONE, 0};
}

/* A step takes less time than memory, so what a later one needs is asked for now. */
#define AHEAD 8u

/* Asks the processor for the memory of a later step. */
static void prefetch_step(const struct pass *p, const struct sw_step *step)
{
	if (step->node == SW_NONE) {
		__builtin_prefetch(&p->w->ordered.runs.at[step->before]);
		return;
	}
	__builtin_prefetch(&p->w->nodes.at[step->node]);
	__builtin_prefetch(&p->done[step->node], 1);
}

/* Computes the end of each node, in order; *last: the latest of each replay. */
static WIDE void pass_all(struct pass *p, struct sw_moments *last)
{
	for (size_t i = 0; i < p->w->ordered.steps.n; i++) {
		const struct sw_step *step = &p->w->ordered.steps.at[i];
		uint32_t node = step->node;
		if (i + AHEAD < p->w->ordered.steps.n)
			prefetch_step(p, step + AHEAD);
		if (node == SW_NONE) {
			pass_run(p, &p->w->ordered.runs.at[step->before], last);
			continue;
		}
		switch ((enum sw_node_kind)p->w->nodes.at[node].kind) {
		case SW_NODE_CALL:
			pass_call(p, node, step->before);
			break;
		case SW_NODE_RETURN:
			pass_return(p, node);
			break;
		case SW_NODE_WORK:
		case SW_NODE_MARK:
			pass_work(p, step);
			break;
		}
		sw_moments_keep_latest(last, &p->done[node]);
	}
}

void sw_replay(const struct sw_schedule *s, const struct sw_window *w, const struct sw_changed_places *places,
	       struct sw_replay *how, uint32_t n, struct sw_moments *done)
{
	struct pass p = {.s = s, .w = w, .places = places, .how = how, .n = n, .done = done};
	struct sw_moments last;
	find_changes(&p);
	sw_moments_set(&last, (int64_t)w->start);
	pass_all(&p, &last);
	for (uint32_t k = 0; k < n; k++)
		how[k].length = (uint64_t)last.at[k] - w->start;
	free(p.mask);
	free(p.gates);
}
