/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a window, each node as early as its edges let it. */
#include "schedule/nodes.h"

struct pass {
	const struct sw_schedule *s;
	const struct sw_window *w;
	struct sw_replay *how;
	struct sw_resources resources;
};

/* The change that applies to this call, NULL: none. */
static const struct sw_what_if *change_of(const struct pass *p, const struct sw_schedule_node *call)
{
	if (!p->how->changes || !p->how->by_site[call->call])
		return NULL;
	const struct sw_what_if *change = &p->how->changes[p->how->by_site[call->call] - 1];
	bool held = call->flags & SW_NF_OPEN && p->w->nodes.at[call->like].flags & SW_NF_HELD;
	return change->only_idle && held ? NULL : change;
}

/* What the host does with the memory that it waited for is not recorded: one replay assumes that it needs it, the other
   that it does not. */
static bool host_needs(const struct pass *p, const struct sw_what_if *change)
{
	return change->needed == SW_NEEDED || (change->needed == SW_NEEDED_MAYBE && p->how->needed);
}

static bool changed(const struct pass *p, const struct sw_schedule_node *call, enum sw_what_if_kind kind)
{
	const struct sw_what_if *change = change_of(p, call);
	return change && change->kind == kind;
}

/* The time of a call that waits for nothing.  change: of the call; NULL: none. */
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

/* Work that the change takes out of the order of the legacy stream. */
static bool off_legacy(const struct pass *p, uint32_t node)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node];
	return p->s->queues.at[n->lane].kind == SW_QUEUE_LEGACY &&
	       changed(p, &p->w->nodes.at[n->call], SW_IF_NO_LEGACY);
}

/* A barrier of a call that is made at another time. */
static bool loads_elsewhere(const struct pass *p, uint32_t node)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node];
	return n->kind == SW_NODE_MARK && changed(p, &p->w->nodes.at[n->call], SW_IF_NO_CALL);
}

static bool edge_holds(const struct pass *p, uint32_t node, uint32_t edge)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node];
	switch (sw_edge_why(edge)) {
	case SW_WHY_NOT:
		return false;
	case SW_WHY_LEGACY:
		return !off_legacy(p, node) && !off_legacy(p, sw_edge_node(edge));
	case SW_WHY_LOAD:
		return !loads_elsewhere(p, node) && !loads_elsewhere(p, sw_edge_node(edge));
	case SW_WHY_UNTIL: {
		const struct sw_what_if *change = change_of(p, &p->w->nodes.at[n->prev]);
		if (!change)
			return true;
		if (change->kind == SW_IF_NO_WAIT || change->kind == SW_IF_PINNED)
			return host_needs(p, change);
		return change->kind == SW_IF_NO_LEGACY;
	}
	case SW_WHY_EVENT:
	case SW_WHY_HANDOVER:
		break;
	}
	return true;
}

static int64_t last_edge(const struct pass *p, uint32_t node, int64_t none)
{
	int64_t last = none;
	for (uint32_t e = p->w->nodes.at[node].edges, end = sw_edges_end(p->w, node); e < end; e++) {
		uint32_t edge = p->w->edges.at[e];
		int64_t done = (int64_t)p->w->done[sw_edge_node(edge)];
		if (done > last && edge_holds(p, node, edge))
			last = done;
	}
	return last;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

#define NO_EDGE INT64_MIN

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static uint64_t moment(int64_t t)
{
	return t > 0 ? (uint64_t)t : 0;
}

static uint64_t pass_call(struct pass *p, uint32_t node)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node];
	int64_t before = (int64_t)(n->prev == SW_NONE ? p->w->start : p->w->done[n->prev]);
	int64_t other = last_edge(p, node, NO_EDGE);
	const struct sw_what_if *change = change_of(p, n);
	p->how->calls += change != NULL;
	before += n->lead;
	if (other != NO_EDGE)
		before = later(before, other + n->lag);
	return moment(before) + call_takes(n, change);
}

/* The last work of a queue up to this node, of the place that is needed; the node itself where that is not known. */
#define LOOK_BACK 64

static uint32_t needed(const struct pass *p, uint32_t tail, uint32_t site)
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

/* The part of a wait that stays: the host waits until this moment, queues get their gates. */
static int64_t keep(struct pass *p, uint32_t node, const struct sw_what_if *change)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node];
	int64_t until = NO_EDGE;
	for (uint32_t e = n->edges; e < sw_edges_end(p->w, node); e++) {
		uint32_t edge = p->w->edges.at[e], tail = sw_edge_node(edge);
		for (uint32_t k = 0; k < change->keeps && sw_edge_why(edge) == SW_WHY_UNTIL; k++) {
			const struct sw_keep *kept = &change->keep[k];
			if (kept->queue != p->w->nodes.at[tail].lane)
				continue;
			uint64_t done = p->w->done[needed(p, tail, kept->site)];
			if (kept->to == SW_KEEP_HOST) {
				if (host_needs(p, change))
					until = later(until, (int64_t)done);
			} else if (kept->to < p->s->queues.n && (p->how->slow || !kept->ordered)) {
				/* Which work of the queue it is that the other one needs is not known: the last of it,
				   in the one reading; in the other the program's own events see to it where it has
				   some. */
				struct sw_gate *gate = &p->how->gates[kept->to];
				gate->behind = node;
				gate->until = sw_later(gate->until, done + SW_LAG_NS);
			}
		}
	}
	return until;
}

static uint64_t pass_return(struct pass *p, uint32_t node)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node], *call = &p->w->nodes.at[n->prev];
	int64_t begin = (int64_t)p->w->done[n->prev], own = n->lead, other = last_edge(p, node, NO_EDGE);
	const struct sw_what_if *change = change_of(p, call);
	if (change && change->kind == SW_IF_NO_CALL)
		own = 0;
	else if (change && change->kind == SW_IF_PINNED && call->flags & SW_NF_STAGED)
		own = own < SW_BARE_CALL_NS ? own : SW_BARE_CALL_NS;
	if (change && change->kind == SW_IF_LESS)
		other = keep(p, node, change);
	int64_t end = begin + own;
	if (other != NO_EDGE)
		end = later(end, other + n->lag);
	return moment(end);
}

static uint64_t takes(const struct pass *p, const struct sw_schedule_node *n, const struct sw_schedule_node *call,
		      const struct sw_what_if *change)
{
	uint64_t took = n->end - n->start;
	if (!change || change->kind != SW_IF_PINNED || !(call->flags & SW_NF_STAGED))
		return took;
	return sw_earlier(took, sw_estimate_pinned(p->s, (enum sw_work_kind)n->does, n->own, p->how->slow));
}

static uint64_t pass_work(struct pass *p, uint32_t node)
{
	const struct sw_schedule_node *n = &p->w->nodes.at[node], *call = &p->w->nodes.at[n->call];
	struct sw_resource *r = sw_resource_of(&p->resources, p->s, n);
	int64_t lead = n->lead, lag = n->lag, ready = last_edge(p, node, NO_EDGE);
	uint64_t seen;
	const struct sw_what_if *change = change_of(p, call);
	/* The first bytes of a pageable copy are staged when the work before it is done. */
	if (change && change->kind == SW_IF_PINNED && lag > SW_LAG_NS)
		lag = SW_LAG_NS;
	if (change && change->kind != SW_IF_NO_LEGACY && lead > SW_LEAD_NS)
		lead = SW_LEAD_NS;
	if (n->prev != SW_NONE)
		ready = later(ready, (int64_t)p->w->done[n->prev]);
	int64_t start = (int64_t)sw_less(p->w->done[n->call], call_takes(call, change)) + lead;
	if (ready != NO_EDGE)
		start = later(start, ready + lag);
	if (p->how->gates && p->how->gates[n->lane].behind < node)
		start = later(start, (int64_t)p->how->gates[n->lane].until);
	if (r) {
		int64_t taken = (int64_t)sw_resource_free(r, n, &seen);
		if (n->flags & SW_NF_HELD)
			start = later(start, taken + n->lag);
		else if (p->how->crowded || (n->does != SW_DOES_KERNEL && n->does != SW_DOES_GRAPH))
			start = later(start, taken);
	}
	uint64_t end = moment(start) + takes(p, n, call, change);
	if (r)
		sw_resource_take(r, n, end);
	return end;
}

uint64_t sw_replay(const struct sw_schedule *s, const struct sw_window *w, struct sw_replay *how)
{
	struct pass p = {.s = s, .w = w, .how = how};
	uint64_t last = w->start;
	for (size_t i = 0; i < w->nodes.n; i++) {
		uint32_t node = w->order[i];
		switch ((enum sw_node_kind)w->nodes.at[node].kind) {
		case SW_NODE_CALL:
			w->done[node] = pass_call(&p, node);
			break;
		case SW_NODE_RETURN:
			w->done[node] = pass_return(&p, node);
			break;
		case SW_NODE_WORK:
		case SW_NODE_MARK:
			w->done[node] = pass_work(&p, node);
			break;
		}
		last = sw_later(last, w->done[node]);
	}
	return last - w->start;
}
