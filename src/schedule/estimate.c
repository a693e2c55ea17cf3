/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of work without time stamps of the device.
 *
 * A row of work on one queue ran between the call that enqueued it and the moment at which the host saw it complete. It
 * took all of that time if the host was blocked by it (the wait ended with it), else at most that time. Known is how
 * long work of a class takes that was seen alone, and roughly how long copies take. The rest is a matter of reading:
 * how the pieces of a row share the time, which of several queues it was that held the host, and whether work took all
 * the time that it may have taken, or none. A gain is the range of what all readings say (sw_readings).
 */
#include "schedule/nodes.h"

#include <stdlib.h>

const struct sw_reading sw_readings[SW_READINGS] = {
	{SW_SHARE_EQUAL, 0, false, false}, {SW_SHARE_FIRST, 0, false, false}, {SW_SHARE_LAST, 0, false, false},
	{SW_SHARE_LAST, 1, true, true},	   {SW_SHARE_FIRST, 2, true, true},   {SW_SHARE_LAST, 2, true, false},
	{SW_SHARE_FIRST, 1, true, false},
};

/* The assumed speed of copies until the run shows another: 53 GB/s on PCIe 5 x16 ("cudaMemcpyAsync H2D pinned
   16777216B", measured on H200 with driver 580), a quarter of that on PCIe 3; copies on the device 13 us for 16 MiB.
   Pageable memory is staged at the speed of the bus or slower: 2.5 GB/s. */
#define COPY_NS_PER_MIB	  19000u
#define SLOW_NS_PER_MIB	  90000u
#define STAGED_NS_PER_MIB 400000u
#define MOVE_NS_PER_MIB	  700u
#define SLOW_MOVES	  4u
#define COPY_BASE_NS	  2000u
/* Copies of at least so many KiB show the speed of the bus. */
#define BUS_KIB 256u

/* Of the moment by which work was done.  LOOSE: the host was not held by it.  SHARED: by it or by other work.  ROUGH:
   by what the call itself did as well. */
#define LOOSE  1u
#define SHARED 2u
#define ROUGH  4u
#define FLAGS  (LOOSE | SHARED | ROUGH)
#define NEVER  (UINT64_MAX - FLAGS)

/* Of a piece that is not known: what comes after it in its row lasts until the row's end anyway. */
#define SW_NF_SPARE SW_NF_HELD
/* Calls and latencies differ by this much. */
#define ABOUT_NS 10000u

/* A call takes at most so many times what is typical of its kind; calls that typically take this long may take any
   time (a stack limit that grows: 0.2 to 16 ms without anything to wait for, measured on H200 with driver 580). */
#define OWN_MOST   4u
#define OWN_ANY_NS 200000u

/* Where less than one of so many pieces of a class was seen alone, the class says nothing in some readings. */
#define FEW_SEEN 8u

/* Work of a queue that shares one observation, counted from its last piece on. */
struct row {
	uint64_t by, known_ns, each_ns;
	uint64_t ends; /* what is known of it would end then if nothing held it up */
	uint32_t unknown;
	uint32_t like; /* of those that are not known */
	bool mixed;    /* they are of several classes */
};

struct pass {
	const struct sw_schedule *s;
	struct sw_window *w;
	const struct sw_reading *how;
	SW_VEC(struct row) rows; /* by queue */
};

uint64_t sw_estimate_pinned(const struct sw_schedule *s, enum sw_work_kind does, uint64_t kib, bool slow)
{
	const struct sw_bus *bus = &s->bus[does == SW_DOES_DOWNLOAD];
	/* The other direction is as fast, or nearly so. */
	if (!bus->slow_ns_per_mib)
		bus = &s->bus[does != SW_DOES_DOWNLOAD];
	uint64_t per_mib = slow ? SLOW_NS_PER_MIB : COPY_NS_PER_MIB;
	if (bus->slow_ns_per_mib)
		per_mib = slow ? bus->slow_ns_per_mib : bus->fast_ns_per_mib;
	return COPY_BASE_NS + (kib * per_mib >> 10);
}

static uint64_t guess(const struct pass *p, const struct sw_schedule_node *n)
{
	bool slow = p->how->slow_copies;
	uint64_t kib = n->own;
	switch ((enum sw_work_kind)n->does) {
	case SW_DOES_UPLOAD:
	case SW_DOES_DOWNLOAD:
		if (slow && n->flags & SW_NF_STAGED)
			return COPY_BASE_NS + (kib * STAGED_NS_PER_MIB >> 10);
		return sw_estimate_pinned(p->s, (enum sw_work_kind)n->does, kib, slow);
	case SW_DOES_MOVE:
	case SW_DOES_SET:
		return COPY_BASE_NS + (kib * MOVE_NS_PER_MIB >> 10) * (slow ? SLOW_MOVES : 1);
	case SW_DOES_KERNEL:
	case SW_DOES_GRAPH:
	case SW_DOES_HOST:
	case SW_DOES_OTHER:
		break;
	}
	return 0;
}

/* Were too few of its class seen alone for what the others do?  (None: nothing says that they differ.) */
static bool few_were_seen(const struct pass *p, const struct sw_schedule_node *n)
{
	const struct sw_class *class = n->like ? &p->s->class_of.at[n->like - 1] : NULL;
	return class && class->n && class->n < class->pieces / FEW_SEEN;
}

/* How long a piece takes according to its class, 0 unknown. */
static uint64_t usual(const struct pass *p, const struct sw_schedule_node *n)
{
	const struct sw_class *class = n->like ? &p->s->class_of.at[n->like - 1] : NULL;
	if (!class || !class->n)
		return guess(p, n);
	if (p->how->share == SW_SHARE_EQUAL)
		return class->sum_ns / class->n;
	if (few_were_seen(p, n))
		return guess(p, n);
	return p->how->least ? class->least_ns : class->most_ns;
}

static bool guessed(const struct sw_schedule_node *n)
{
	return !(n->flags & SW_NF_TIMED) && (n->kind == SW_NODE_WORK || n->kind == SW_NODE_MARK);
}

/* ---- by when was it done ----------------------------------------------------------------------------------------- */

static void done_by(struct sw_window *w, uint32_t node, uint64_t by)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	if (guessed(n))
		n->end = sw_earlier(n->end, by);
}

/* The call waits for work of its own: a copy. */
static bool waits_for_own(const struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *r = &w->nodes.at[node];
	for (uint32_t e = r->edges; e < sw_edges_end(w, node); e++)
		if (w->nodes.at[sw_edge_node(w->edges.at[e])].call == r->prev)
			return true;
	return false;
}

static uint64_t seen_by(const struct sw_window *w, uint32_t node, const struct sw_reading *how)
{
	const struct sw_schedule_node *r = &w->nodes.at[node];
	const struct sw_schedule_node *call = &w->nodes.at[r->prev];
	uint64_t took = r->end - call->start, own = call->own, most = own < OWN_ANY_NS ? OWN_MOST * own : took;
	if (waits_for_own(w, node))
		own = most = SW_TAIL_NS;
	/* What it does itself, it does when the wait has ended. */
	uint64_t after = how->least ? most : SW_TAIL_NS;
	if (took <= (how->least ? most : own) + SW_TAIL_NS)
		return r->end | FLAGS;
	return ((r->end - after) & ~(uint64_t)FLAGS) | (own > 2 * SW_TAIL_NS ? ROUGH : 0);
}

/* Was the end of this work not known when the call began? */
static bool pending(const struct sw_window *w, uint32_t edge, const struct sw_schedule_node *call)
{
	const struct sw_schedule_node *from = &w->nodes.at[sw_edge_node(edge)];
	return sw_edge_why(edge) != SW_WHY_NOT && guessed(from) && from->end > call->start;
}

/* A wait was held by one of the queues that it covered, and which one is not known. */
static void held_by(struct sw_window *w, uint32_t node, const struct sw_reading *how)
{
	const struct sw_schedule_node *r = &w->nodes.at[node], *call = &w->nodes.at[r->prev];
	uint64_t by = seen_by(w, node, how);
	uint32_t n = 0, at = 0;
	for (uint32_t e = r->edges; e < sw_edges_end(w, node); e++)
		n += pending(w, w->edges.at[e], call);
	for (uint32_t e = r->edges; e < sw_edges_end(w, node); e++) {
		if (!pending(w, w->edges.at[e], call))
			continue;
		bool other = how->critical && at++ != (how->critical - 1u) % n;
		uint64_t seen = other ? r->end | FLAGS : n > 1 && !how->critical ? by | SHARED : by;
		done_by(w, sw_edge_node(w->edges.at[e]), seen);
	}
}

/* Edges lead back, so one pass from the end does.  First the latest end of each piece, whatever was held by it. */
static void pass_back(struct sw_window *w, const struct sw_reading *how)
{
	for (size_t k = w->others.n; k-- > 0;) {
		const uint32_t i = w->others.at[k];
		const struct sw_schedule_node *n = &w->nodes.at[i];
		if (n->kind == SW_NODE_RETURN && how) {
			held_by(w, i, how);
			continue;
		}
		uint64_t by = n->flags & SW_NF_TIMED ? n->start | FLAGS : n->end;
		for (uint32_t e = n->edges; e < sw_edges_end(w, i); e++)
			if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
				done_by(w, sw_edge_node(w->edges.at[e]), by | FLAGS);
		if (n->kind != SW_NODE_RETURN && n->prev != SW_NONE)
			done_by(w, n->prev, by);
	}
}

/* Leaves in `end` by when each piece was done. */
static void observe(struct sw_window *w, const struct sw_reading *how)
{
	for (size_t i = 0; i < w->others.n; i++)
		if (guessed(&w->nodes.at[w->others.at[i]]))
			w->nodes.at[w->others.at[i]].end = NEVER;
	pass_back(w, NULL);
	pass_back(w, how);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static struct row *row_of(struct pass *p, uint32_t lane)
{
	while (p->rows.n <= lane)
		*sw_vec_push(&p->rows) = (struct row){0};
	return &p->rows.at[lane];
}

/*
 * Leaves in `lead` what the pieces of its row from here on are known to take, in `lag` how many are not known (less
 * than 0 when these are of several classes, so that nothing says how they share the time), in `start` what each of
 * these takes when all take as long: as much as lets the row end in time.
 */
static void count_rows(struct pass *p)
{
	p->rows.n = 0;
	for (size_t i = p->w->others.n; i-- > 0;) {
		struct sw_schedule_node *n = &p->w->nodes.at[p->w->others.at[i]];
		if (!guessed(n))
			continue;
		struct row *row = row_of(p, n->lane);
		if (row->by != n->end)
			*row = (struct row){.by = n->end, .each_ns = SW_TIME_MAX};
		uint64_t known = n->kind == SW_NODE_WORK ? usual(p, n) : 0;
		uint64_t from = p->w->nodes.at[n->call].start + SW_LEAD_NS;
		row->known_ns += known;
		n->flags &= (uint8_t)~SW_NF_SPARE;
		if (n->kind == SW_NODE_WORK && !known) {
			row->mixed |= !n->like || few_were_seen(p, n) || (row->unknown && row->like != n->like);
			row->like = n->like;
			n->flags |= row->ends + ABOUT_NS > n->end ? SW_NF_SPARE : 0;
			row->unknown++;
			row->each_ns = sw_earlier(row->each_ns, sw_less(n->end, from + row->known_ns) / row->unknown);
		}
		row->ends = sw_later(row->ends, known ? from + row->known_ns : 0);
		n->lead = (int64_t)row->known_ns;
		n->lag = row->unknown > 1 && row->mixed ? -(int32_t)row->unknown : (int32_t)row->unknown;
		n->start = row->each_ns;
	}
}

static uint64_t earliest(const struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node], *call = &w->nodes.at[n->call];
	uint64_t start = call->start + (n->kind == SW_NODE_WORK ? SW_LEAD_NS : 0);
	if (n->prev != SW_NONE)
		start = sw_later(start, w->nodes.at[n->prev].end);
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++)
		start = sw_later(start, w->nodes.at[sw_edge_node(w->edges.at[e])].end);
	return start;
}

/* A piece of no known class. */
static uint64_t share(const struct pass *p, const struct sw_schedule_node *n, uint64_t rest, uint64_t each)
{
	bool mixed = n->lag < 0;
	if ((n->end & LOOSE || n->flags & SW_NF_SPARE) && p->how->least)
		return 0;
	if (mixed && p->how->share == SW_SHARE_FIRST)
		return rest;
	if (mixed && p->how->share == SW_SHARE_LAST)
		return 0;
	if (n->lag == 1 && !(n->end & LOOSE))
		return rest;
	return sw_earlier(rest, each);
}

static uint64_t take(const struct pass *p, const struct sw_schedule_node *n, uint64_t start, uint64_t each)
{
	uint64_t by = n->end, own = usual(p, n), left = sw_less(by, start);
	if (by == NEVER)
		return own;
	if (!own)
		return share(p, n, sw_less(left, (uint64_t)n->lead), each);
	own = sw_earlier(own, left);
	/* The last piece of a row that held the host ends it; of several rows all of which are known, none is
	   stretched. */
	bool last = !n->lag && !(by & (LOOSE | SHARED)) && usual(p, n) >= (uint64_t)n->lead;
	return last ? left : own;
}

static void estimate(struct pass *p, uint32_t node)
{
	struct sw_schedule_node *n = &p->w->nodes.at[node];
	struct row *row = row_of(p, n->lane);
	if (row->by != n->end)
		*row = (struct row){.by = n->end, .each_ns = n->start};
	uint64_t start = earliest(p->w, node);
	if (n->kind == SW_NODE_WORK && n->end != NEVER)
		n->flags |= SW_NF_BRACKET;
	uint64_t took = n->kind == SW_NODE_WORK ? take(p, n, start, row->each_ns) : 0;
	n->start = start;
	n->end = start + took;
	p->w->end = sw_later(p->w->end, n->end);
}

void sw_estimate(struct sw_schedule *s, struct sw_window *w, uint32_t reading)
{
	struct pass p = {.s = s, .w = w, .how = &sw_readings[reading]};
	/* What another reading contradicts may hold in this one. */
	for (size_t i = 0; i < w->edges.n; i++)
		w->edges.at[i] &= ~SW_EDGE_DROPPED;
	w->end = w->recorded_end;
	observe(w, p.how);
	count_rows(&p);
	p.rows.n = 0;
	for (size_t i = 0; i < w->others.n; i++)
		if (guessed(&w->nodes.at[w->others.at[i]]))
			estimate(&p, w->others.at[i]);
	free(p.rows.at);
	w->reading = reading;
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

static void learn_bus(struct sw_schedule *s, const struct sw_schedule_node *n, uint64_t ns)
{
	struct sw_bus *bus = &s->bus[n->does == SW_DOES_DOWNLOAD];
	bool copy = n->does == SW_DOES_UPLOAD || n->does == SW_DOES_DOWNLOAD;
	if (!copy || n->flags & SW_NF_STAGED || n->own < BUS_KIB || ns <= COPY_BASE_NS)
		return;
	uint64_t per_mib = ((ns - COPY_BASE_NS) << 10) / n->own;
	bus->fast_ns_per_mib = bus->slow_ns_per_mib ? sw_earlier(bus->fast_ns_per_mib, per_mib) : per_mib;
	bus->slow_ns_per_mib = sw_later(bus->slow_ns_per_mib, per_mib);
}

static void learn(struct sw_schedule *s, const struct sw_schedule_node *n, uint64_t ns)
{
	learn_bus(s, n, ns);
	struct sw_class *class = n->like ? &s->class_of.at[n->like - 1] : NULL;
	if (!class)
		return;
	class->least_ns = class->n ? sw_earlier(class->least_ns, ns) : ns;
	class->most_ns = sw_later(class->most_ns, ns);
	class->sum_ns += ns;
	class->n++;
}

/* A piece that is a row of its own, and was enqueued after all before it on its queue had been seen done. */
static bool alone(const struct sw_window *w, const struct sw_schedule_node *n)
{
	const struct sw_schedule_node *before = n->prev == SW_NONE ? NULL : &w->nodes.at[n->prev];
	return !(n->end & FLAGS) && n->end != NEVER && (n->lag == 1 || (n->lag == 0 && n->lead)) &&
	       (!before || before->end <= w->nodes.at[n->call].start);
}

void sw_estimate_learn(struct sw_schedule *s, struct sw_window *w)
{
	struct pass p = {.s = s, .w = w, .how = &sw_readings[0]};
	w->recorded_end = w->end;
	observe(w, p.how);
	count_rows(&p);
	for (size_t i = 0; i < w->works.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[w->works.at[i]];
		if (n->flags & SW_NF_TIMED)
			learn(s, n, n->end - n->start);
		else if (alone(w, n) && n->lead == (int64_t)usual(&p, n))
			learn(s, n, sw_less(n->end, w->nodes.at[n->call].start + SW_LEAD_NS));
	}
	free(p.rows.at);
}
