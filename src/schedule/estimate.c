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
#include <stdlib.h>
#include <string.h>

#include "schedule/nodes.h"

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

/* Flags of a time by which work was done. LOOSE: the host was not held by that work. SHARED: it was held by that work
   or by other work. ROUGH: the call's own work held it as well. */
#define LOOSE  1u
#define SHARED 2u
#define ROUGH  4u
#define FLAGS  (LOOSE | SHARED | ROUGH)
#define NEVER  (UINT64_MAX - FLAGS)

/* A piece of unknown length: what comes after it in its row lasts until the row's end anyway. */
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

/* The usual time (ns) of work whose class was never timed, by its kind and size; 0: nothing is known of its kind. */
static uint64_t guess_time(const struct pass *p, const struct sw_schedule_node *n)
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

/* Were so few pieces of its class seen alone that they say little of the others?  False if none was: then nothing says
   that they differ. */
static bool few_were_seen(const struct pass *p, const struct sw_schedule_node *n)
{
	const struct sw_class *class = n->alike ? &p->s->class_of.at[n->alike - 1] : NULL;
	return class && class->n && class->n < class->pieces / FEW_SEEN;
}

/* How long a piece takes according to the pieces of its class (equal kind and size); 0 unknown. */
static uint64_t class_time(const struct pass *p, const struct sw_schedule_node *n)
{
	const struct sw_class *class = n->alike ? &p->s->class_of.at[n->alike - 1] : NULL;
	if (!class || !class->n)
		return guess_time(p, n);
	if (p->how->share == SW_SHARE_EQUAL)
		return class->sum_ns / class->n;
	if (few_were_seen(p, n))
		return guess_time(p, n);
	return p->how->least ? class->least_ns : class->most_ns;
}

/* Is the node's time unknown, so that it must be estimated? */
static bool is_guessed(const struct sw_schedule_node *n)
{
	return !(n->flags & SW_NF_TIMED) && (n->kind == SW_NODE_WORK || n->kind == SW_NODE_MARK);
}

/* ---- by when was it done ----------------------------------------------------------------------------------------- */

/* Notes that the node was done at this time at the latest; the earliest such time counts. */
static void done_by(struct sw_window *w, uint32_t node, uint64_t by)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	if (is_guessed(n))
		n->end = sw_earlier(n->end, by);
}

/* Does the call wait for work that it enqueued itself: a copy? */
static bool waits_for_own(const struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *r = &w->nodes.at[node];
	for (uint32_t e = r->edges; e < sw_edges_end(w, node); e++)
		if (w->nodes.at[sw_edge_node(w->edges.at[e])].call == r->prev)
			return true;
	return false;
}

/* When the work that a call waited for was done at the latest, with flags of how sure that is: before the call's
   return, less what the call does itself after the wait.  LOOSE where the call's own work may have taken all of its
   time. */
static uint64_t seen_by(const struct sw_window *w, uint32_t node, const struct sw_reading *how)
{
	const struct sw_schedule_node *r = &w->nodes.at[node];
	const struct sw_schedule_node *call = &w->nodes.at[r->prev];
	uint64_t took = r->end - call->start, own = call->own, most = own < OWN_ANY_NS ? OWN_MOST * own : took;
	if (waits_for_own(w, node))
		own = most = SW_TAIL_NS;
	/* The call's own work begins when the wait has ended. */
	uint64_t after = how->least ? most : SW_TAIL_NS;
	if (took <= (how->least ? most : own) + SW_TAIL_NS)
		return r->end | FLAGS;
	return ((r->end - after) & ~(uint64_t)FLAGS) | (own > 2 * SW_TAIL_NS ? ROUGH : 0);
}

/* Was the end of the work that the edge comes from not known when the call began? */
static bool was_pending(const struct sw_window *w, uint32_t edge, const struct sw_schedule_node *call)
{
	const struct sw_schedule_node *from = &w->nodes.at[sw_edge_node(edge)];
	return sw_edge_why(edge) != SW_WHY_NOT && is_guessed(from) && from->end > call->start;
}

/* Notes, for each piece of work that a wait covered and that was pending, when it was done at the latest.  Which of
   several queues held the wait is not known: the reading says. */
static void held_by(struct sw_window *w, uint32_t node, const struct sw_reading *how)
{
	const struct sw_schedule_node *r = &w->nodes.at[node], *call = &w->nodes.at[r->prev];
	uint64_t by = seen_by(w, node, how);
	uint32_t n = 0, at = 0;
	for (uint32_t e = r->edges; e < sw_edges_end(w, node); e++)
		n += was_pending(w, w->edges.at[e], call);
	for (uint32_t e = r->edges; e < sw_edges_end(w, node); e++) {
		if (!was_pending(w, w->edges.at[e], call))
			continue;
		bool other = how->critical && at++ != (how->critical - 1u) % n;
		uint64_t seen = other ? r->end | FLAGS : n > 1 && !how->critical ? by | SHARED : by;
		done_by(w, sw_edge_node(w->edges.at[e]), seen);
	}
}

/* Passes the latest times by which nodes were done back along their edges.  Edges lead back, so one pass from the end
   does.  how: waits for work bound it, too, as this reading takes
   them; NULL: only what other nodes need bounds it. */
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

/* Finds the latest time by which each piece was done, by the waits that saw it, and leaves it in `end`. */
static void observe_ends(struct sw_window *w, const struct sw_reading *how)
{
	for (size_t i = 0; i < w->others.n; i++)
		if (is_guessed(&w->nodes.at[w->others.at[i]]))
			w->nodes.at[w->others.at[i]].end = NEVER;
	pass_back(w, NULL);
	pass_back(w, how);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The row of work on this queue that is being counted. */
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
		if (!is_guessed(n))
			continue;
		struct row *row = row_of(p, n->lane);
		if (row->by != n->end)
			*row = (struct row){.by = n->end, .each_ns = SW_TIME_MAX};
		uint64_t known = n->kind == SW_NODE_WORK ? class_time(p, n) : 0;
		uint64_t from = p->w->nodes.at[n->call].start + SW_LEAD_NS;
		row->known_ns += known;
		n->flags &= (uint8_t)~SW_NF_SPARE;
		if (n->kind == SW_NODE_WORK && !known) {
			row->mixed |= !n->alike || few_were_seen(p, n) || (row->unknown && row->like != n->alike);
			row->like = n->alike;
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

/* The earliest time at which the piece can start: after its call, the work before it on its queue, and all its
   edges. */
static uint64_t earliest_start(const struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node], *call = &w->nodes.at[n->call];
	uint64_t start = call->start + (n->kind == SW_NODE_WORK ? SW_LEAD_NS : 0);
	if (n->prev != SW_NONE)
		start = sw_later(start, w->nodes.at[n->prev].end);
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++)
		start = sw_later(start, w->nodes.at[sw_edge_node(w->edges.at[e])].end);
	return start;
}

/* The time of a piece whose class is not known: its part of what its row has left (rest), as the reading shares it;
   each: an equal part. */
static uint64_t share_of_rest(const struct pass *p, const struct sw_schedule_node *n, uint64_t rest, uint64_t each)
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

/* How long a piece that starts at `start` took: what its class takes, or its share of its row, or all that is left
   until its row ended if it is the last. */
static uint64_t time_taken(const struct pass *p, const struct sw_schedule_node *n, uint64_t start, uint64_t each)
{
	uint64_t by = n->end, own = class_time(p, n), left = sw_less(by, start);
	if (by == NEVER)
		return own;
	if (!own)
		return share_of_rest(p, n, sw_less(left, (uint64_t)n->lead), each);
	own = sw_earlier(own, left);
	/* The last piece of a row that held the host ends it.  If there are several rows, and all are known, none is
	   stretched. */
	bool last = !n->lag && !(by & (LOOSE | SHARED)) && class_time(p, n) >= (uint64_t)n->lead;
	return last ? left : own;
}

/* Sets start and end of a piece of work as the reading (a set of assumptions) gives them: it starts as early as it can,
   and takes the time of its class where that fits. */
static void estimate_piece(struct pass *p, uint32_t node)
{
	struct sw_schedule_node *n = &p->w->nodes.at[node];
	struct row *row = row_of(p, n->lane);
	if (row->by != n->end)
		*row = (struct row){.by = n->end, .each_ns = n->start};
	uint64_t start = earliest_start(p->w, node);
	if (n->kind == SW_NODE_WORK && n->end != NEVER)
		n->flags |= SW_NF_BRACKET;
	uint64_t took = n->kind == SW_NODE_WORK ? time_taken(p, n, start, row->each_ns) : 0;
	n->start = start;
	n->end = start + took;
	p->w->end = sw_later(p->w->end, n->end);
}

/* Estimates the times of work where the device's are not known, by one of the readings (sets of assumptions). */
static void sw_estimate(struct sw_schedule *s, struct sw_window *w, uint32_t reading)
{
	struct pass p = {.s = s, .w = w, .how = &sw_readings[reading]};
	/* A bound that another reading contradicts may hold in this one. */
	for (size_t i = 0; i < w->edges.n; i++)
		w->edges.at[i] &= ~SW_EDGE_DROPPED;
	w->end = w->recorded_end;
	observe_ends(w, p.how);
	count_rows(&p);
	p.rows.n = 0;
	for (size_t i = 0; i < w->others.n; i++)
		if (is_guessed(&w->nodes.at[w->others.at[i]]))
			estimate_piece(&p, w->others.at[i]);
	free(p.rows.at);
	w->reading = reading;
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

/* Learns the speed of the bus from a copy with pinned memory that was seen alone and took `ns`. */
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

/* Learns how long work of this class takes from a piece that took `ns`. */
static void learn_time(struct sw_schedule *s, const struct sw_schedule_node *n, uint64_t ns)
{
	learn_bus(s, n, ns);
	struct sw_class *class = n->alike ? &s->class_of.at[n->alike - 1] : NULL;
	if (!class)
		return;
	class->least_ns = class->n ? sw_earlier(class->least_ns, ns) : ns;
	class->most_ns = sw_later(class->most_ns, ns);
	class->sum_ns += ns;
	class->n++;
}

/* Is the piece a row of its own, enqueued after all before it on its queue had been seen done?  Then its time is known
   from when it was seen done. */
static bool was_alone(const struct sw_window *w, const struct sw_schedule_node *n)
{
	const struct sw_schedule_node *before = n->prev == SW_NONE ? NULL : &w->nodes.at[n->prev];
	return !(n->end & FLAGS) && n->end != NEVER && (n->lag == 1 || (n->lag == 0 && n->lead)) &&
	       (!before || before->end <= w->nodes.at[n->call].start);
}

/* Learns how long each class takes; before the first estimate, for all windows. */
static void estimate_learn(struct sw_schedule *s, struct sw_window *w)
{
	struct pass p = {.s = s, .w = w, .how = &sw_readings[0]};
	w->recorded_end = w->end;
	observe_ends(w, p.how);
	count_rows(&p);
	for (size_t i = 0; i < w->works.n; i++) {
		const struct sw_schedule_node *n = &w->nodes.at[w->works.at[i]];
		if (n->flags & SW_NF_TIMED)
			learn_time(s, n, n->end - n->start);
		else if (was_alone(w, n) && n->lead == (int64_t)class_time(&p, n))
			learn_time(s, n, sw_less(n->end, w->nodes.at[n->call].start + SW_LEAD_NS));
	}
	free(p.rows.at);
}

/* The gain of the run from a change. */

/* Has all work of the window times of the device? */
static bool all_timed(const struct sw_window *w)
{
	for (size_t i = 0; i < w->works.n; i++)
		if (!(w->nodes.at[w->works.at[i]].flags & SW_NF_TIMED))
			return false;
	return true;
}

/* Scales a time of the windows that were kept to the whole run. */
static uint64_t scale_time(uint64_t ns, uint64_t run, uint64_t kept)
{
	return kept && run > kept ? (uint64_t)((double)ns * (double)run / (double)kept) : ns;
}

/* The place in the program that enqueued the work of this call; SW_NONE not known. */
static uint32_t site_of_work(const struct sw_schedule *s, uint64_t seq)
{
	for (uint32_t i = 0; seq && i < s->windows; i++) {
		const struct sw_window *w = &s->window[i];
		uint32_t node = sw_work_at(w, seq);
		if (node != SW_NONE)
			return w->nodes.at[w->nodes.at[node].call].call;
	}
	return SW_NONE;
}

/* Finds for a part of a wait that stays the place of the work that it is for, and whether the program orders the two
   queues by events anyway. */
static void choose_keep(const struct sw_schedule *s, struct sw_keep *keep)
{
	keep->site = site_of_work(s, keep->seq);
	keep->ordered = sw_map_get(&s->pairs, (uint64_t)keep->queue << 32 | keep->to);
}

/* ---- sets of changes --------------------------------------------------------------------------------------------- */

/* A set that is tried, and what its replays say. */
enum { LEAST, MOST, SURE, REPLAYS }; /* the least gain, the most, and the most that needs nothing of the host's */
struct tried {
	const struct sw_what_ifs *set;
	size_t same; /* the first set with the same changes */
	bool may_need;
	uint64_t low[REPLAYS], high[REPLAYS]; /* the range over the readings so far */
	uint64_t won[REPLAYS], calls;	      /* of this reading */
};

struct trial {
	struct sw_schedule *s;
	struct sw_changed_places places;
	struct tried *tried;
	size_t n;
	struct sw_moments *done;
	uint64_t base[2]; /* length of the window that is replayed without a change; 1: crowded */
};

/* Do two changes change the same calls in the same way? */
static bool same_change(const struct sw_what_if *a, const struct sw_what_if *b)
{
	return a->kind == b->kind && a->needed == b->needed && a->site == b->site && a->keep == b->keep &&
	       a->keeps == b->keeps && a->only_idle == b->only_idle;
}

/* Are two sets the same changes in the same order? */
static bool same_set(const struct sw_what_ifs *a, const struct sw_what_ifs *b)
{
	size_t i = 0;
	while (a->n == b->n && i < a->n && same_change(&a->at[i], &b->at[i]))
		i++;
	return a->n == b->n && i == a->n;
}

/* Is it unknown for some change whether the host needs what its calls wait for? */
static bool host_may_need(const struct sw_what_ifs *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->at[i].needed == SW_NEEDED_MAYBE)
			return true;
	return false;
}

/* Prepares the part of a wait that stays, and notes the place of its work for sw_steps_make(). */
static void keep_order(struct trial *t, struct sw_keep *kept)
{
	choose_keep(t->s, kept);
	if (!t->places.kept)
		t->places.kept = sw_calloc(t->s->site_n + 1, sizeof *t->places.kept);
	if (kept->site != SW_NONE)
		t->places.kept[kept->site] = true;
}

/* Notes which change of the set holds for each place in the program; of two for one place the first. */
static void choose_changes(struct trial *t, size_t number)
{
	const struct sw_what_ifs *set = t->tried[number].set;
	for (size_t i = set->n; i-- > 0;) {
		uint64_t index = sw_map_get(&t->s->sites, set->at[i].site);
		if (index)
			t->places.change[t->places.row[index - 1] * t->places.sets + number] = (uint32_t)i + 1;
		for (uint32_t k = 0; k < set->at[i].keeps; k++)
			keep_order(t, &set->at[i].keep[k]);
	}
}

/* Room for the ends of the nodes of any window, in each of the replays that are made together. */
static struct sw_moments *new_moments(const struct sw_schedule *s)
{
	size_t most = 1;
	for (uint32_t i = 0; i < s->windows; i++)
		most = s->window[i].nodes.n > most ? s->window[i].nodes.n : most;
	return sw_alloc(most * sizeof(struct sw_moments));
}

/* Prepares the replays of several sets of changes in one pass: which sets are equal, and which sites any of them
   changes. */
static void compose_trial(struct trial *t, struct sw_schedule *s, const struct sw_what_ifs *sets, size_t n)
{
	*t = (struct trial){.s = s, .n = n, .done = new_moments(s)};
	t->tried = sw_calloc(n + 1, sizeof *t->tried);
	t->places.row = sw_calloc(s->site_n + 1, sizeof *t->places.row);
	t->places.sets = n;
	for (size_t i = 0; i < n; i++) {
		t->tried[i] = (struct tried){.set = &sets[i], .may_need = host_may_need(&sets[i])};
		while (!same_set(&sets[t->tried[i].same], &sets[i]))
			t->tried[i].same++;
		for (size_t k = 0; k < sets[i].n; k++) {
			uint64_t index = sw_map_get(&s->sites, sets[i].at[k].site);
			if (index && !t->places.row[index - 1])
				t->places.row[index - 1] = ++t->places.rows;
		}
	}
	t->places.change = sw_calloc((t->places.rows + 1) * n + 1, sizeof *t->places.change);
	for (size_t i = 0; i < n; i++)
		choose_changes(t, i);
}

/* Frees what compose_trial() made. */
static void forget_trial(struct trial *t)
{
	free(t->places.row);
	free(t->places.change);
	free(t->places.kept);
	free(t->tried);
	free(t->done);
}

/* ---- replays ----------------------------------------------------------------------------------------------------- */

/* Replays of one window and one reading, made in groups. */
struct group {
	struct sw_replay how[SW_TOGETHER];
	uint32_t n, window;
};

/* Makes the replays of the group together, and adds what each gains to its set. */
static void replay_group(struct trial *t, struct group *g)
{
	struct sw_schedule *s = t->s;
	sw_replay(s, &s->window[g->window], &t->places, g->how, g->n, t->done);
	for (uint32_t k = 0; k < g->n; k++) {
		const struct sw_replay *how = &g->how[k];
		struct tried *tried = &t->tried[how->number];
		if (!how->set) {
			t->base[how->crowded] = how->length;
			continue;
		}
		int replay = how->crowded ? LEAST : how->needed ? SURE : MOST;
		tried->won[replay] += sw_less(t->base[how->crowded], how->length);
		tried->calls += replay == MOST ? how->calls : 0;
	}
	g->n = 0;
}

/* Adds one replay of a set of changes to the group; a full group is replayed first. */
static void add_replay(struct trial *t, struct group *g, size_t number, int replay)
{
	bool least = replay == LEAST;
	if (g->n == SW_TOGETHER)
		replay_group(t, g);
	g->how[g->n++] = (struct sw_replay){.set = t->tried[number].set,
					    .number = number,
					    .crowded = least,
					    .slow = least,
					    .needed = replay != MOST};
}

/* Replays one window: without changes, crowded and not, and with each set. */
static void try_window(struct trial *t, uint32_t window)
{
	struct group g = {.window = window, .n = 2, .how = {{.crowded = false}, {.crowded = true}}};
	sw_steps_make(t->s, &t->s->window[window], &t->places);
	for (size_t i = 0; i < t->n; i++)
		for (int replay = 0; replay < REPLAYS && t->tried[i].same == i; replay++)
			if (replay != SURE || t->tried[i].may_need)
				add_replay(t, &g, i, replay);
	replay_group(t, &g);
}

/* Replays all windows with the times of one reading, and widens the range of what each set gains. */
static void try_reading(struct trial *t, bool first)
{
	for (size_t i = 0; i < t->n; i++) {
		memset(t->tried[i].won, 0, sizeof t->tried[i].won);
		t->tried[i].calls = 0;
	}
	for (uint32_t i = 0; i < t->s->windows; i++)
		try_window(t, i);
	for (size_t i = 0; i < t->n; i++) {
		struct tried *tried = &t->tried[i];
		if (!tried->may_need)
			tried->won[SURE] = tried->won[MOST];
		for (int replay = 0; replay < REPLAYS; replay++) {
			uint64_t won = tried->won[replay];
			tried->low[replay] = first ? won : sw_earlier(tried->low[replay], won);
			tried->high[replay] = first ? won : sw_later(tried->high[replay], won);
		}
	}
}

/* Intervals of which times of the device would leave less than a half say little: those that matter are marked. */
#define VAGUE_RUN 100u

/* Computes the gain of a set of changes from the ranges of its replays over all readings. */
static void conclude_gain(struct sw_gain *gain, const struct tried *tried, const struct sw_schedule_facts *facts)
{
	gain->low_ns = sw_earlier(tried->low[LEAST], tried->low[SURE]);
	gain->sure_ns = sw_later(tried->high[LEAST], tried->high[SURE]);
	gain->high_ns = sw_later(gain->sure_ns, tried->high[MOST]);
	for (int replay = 0; replay < REPLAYS; replay++) {
		uint64_t open = tried->high[replay] - tried->low[replay];
		gain->vague |= open > tried->high[replay] / 2 && open > facts->kept_ns / VAGUE_RUN;
	}
	gain->known = gain->calls && (gain->timed || facts->timed + facts->bracketed || !facts->operations);
	gain->low_ns = scale_time(gain->low_ns, facts->run_ns, facts->kept_ns);
	gain->sure_ns = scale_time(gain->sure_ns, facts->run_ns, facts->kept_ns);
	gain->high_ns = scale_time(gain->high_ns, facts->run_ns, facts->kept_ns);
}

/* The error of a replay although all times are known: runs of one program differ, and each call that changes has
   latencies of its own (tests/schedule/study.c; doc/waits.md has the same for programs on H200).  Without times of the
   device, the latencies are not known either. */
#define OFF_PART	 20u
#define OFF_CALL_NS	 5000u
#define OFF_CALL_HOST_NS 10000u
/* A replay that gains less than this gains nothing. */
#define NOTHING_NS 5000u

void sw_gain_widen(struct sw_gain *gain)
{
	uint64_t calls = gain->calls * (gain->timed ? OFF_CALL_NS : OFF_CALL_HOST_NS);
	gain->nothing = gain->high_ns < NOTHING_NS;
	gain->low_ns = sw_less(gain->low_ns - gain->low_ns / OFF_PART, calls);
	gain->sure_ns += gain->sure_ns / OFF_PART + calls;
	gain->high_ns += gain->high_ns / OFF_PART + calls;
}

void sw_read_times(struct sw_schedule *s, uint32_t reading)
{
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		if (w->order && w->reading == reading)
			continue;
		sw_estimate(s, w, reading);
		sw_calibrate(s, w);
	}
}

/* Finds by replays how much shorter the run would be with each of n sets of changes. */
void sw_schedule_try(struct sw_schedule *s, const struct sw_what_ifs *sets, struct sw_gain *gains, size_t n)
{
	struct sw_schedule_facts facts = sw_schedule_facts(s);
	struct trial t;
	bool timed = true;
	for (uint32_t i = 0; i < s->windows; i++)
		timed &= all_timed(&s->window[i]);
	compose_trial(&t, s, sets, n);
	for (uint32_t reading = 0; reading < (timed ? 1 : SW_READINGS); reading++) {
		sw_read_times(s, reading);
		try_reading(&t, !reading);
	}
	for (size_t i = 0; i < n; i++) {
		const struct tried *tried = &t.tried[t.tried[i].same];
		gains[i] = (struct sw_gain){.timed = timed, .calls = tried->calls};
		conclude_gain(&gains[i], tried, &facts);
	}
	forget_trial(&t);
}

void sw_schedule_finish(struct sw_schedule *s)
{
	/* The window that is being filled may be one that is passed over. */
	if (!s->keep && s->windows > 1)
		s->windows--;
	sw_thin_out(s);
	for (uint32_t i = 0; i < s->windows; i++)
		estimate_learn(s, &s->window[i]);
	sw_read_times(s, 0);
	struct sw_moments *done = new_moments(s);
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_replay how = {0};
		sw_steps_make(s, &s->window[i], NULL);
		sw_replay(s, &s->window[i], NULL, &how, 1, done);
		s->length[i] = how.length;
	}
	free(done);
}
