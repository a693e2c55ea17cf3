/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a replay, and what part of each delay belongs to which edge, so that a replay without changes reproduces
 * every recorded time.
 */
#include <stdlib.h>
#include <string.h>

#include "schedule/nodes.h"

/*
 * Nodes by time.  A reading moves work and what waits for it, hardly ever a call: both are sorted for themselves, and
 * calls only if they are not in order already.
 */

#define DIGIT_BITS 11u

/* Are the nodes in the order of their times already? */
static bool is_sorted(const struct sw_ordered *o, const uint32_t *node, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (!sw_order_before(o, node[i - 1], node[i]))
			return false;
	return true;
}

/* Sorts the nodes by their keys (times), one digit of DIGIT_BITS after the other, which takes a tenth of what
   comparisons do.  The nodes come by number, so those with one key stay in that order. */
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

/* Lists the window's CALL nodes. */
static void list_calls(const struct sw_window *w, uint32_t *call)
{
	for (uint32_t i = 0; i < w->nodes.n; i++)
		if (w->nodes.at[i].kind == SW_NODE_CALL)
			*call++ = i;
}

/* Makes room for the order of a window's nodes, before the first reading of its times is calibrated. */
static void order_prepare(struct sw_window *w)
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

/* The time by which a node is put in order: its start, but never before what an edge comes from: clocks of host and
   device differ by microseconds. */
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

/* Sorts the calls, and the other nodes, each by their keys. */
static void order_parts(struct sw_window *w)
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

/* Merges calls and other nodes of a window, each in order, into one order of all nodes. */
static void order_whole(struct sw_window *w)
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

/*
 * Resources that work of several queues shares. Copies of one direction use one engine; kernels share the
 * multiprocessors. In a replay, pieces that do not fit on the device together, and did not overlap in the run, keep
 * their order.
 *
 * Which pieces a piece waits for depends on recorded times alone, so it is listed once for all replays.  Most need not
 * be listed: work on a queue waits for the work before it there, and so for all that that one waited for.
 */

/* Beyond it the row that ended first is forgotten. */
#define MOST_ROWS 128u

/* The state of all copy engines and multiprocessors at the begin of a window; each queue's work is a row of its own. */
static struct sw_resources *resources_new(const struct sw_schedule *s)
{
	struct sw_resources *r = sw_calloc(1, sizeof *r);
	r->queues = s->queues.n;
	r->row = sw_alloc((r->queues + 1) * sizeof *r->row);
	for (size_t i = 0; i < r->queues; i++)
		r->row[i] = r->rows++;
	return r;
}

/* Frees what resources_new() made. */
static void resources_free(struct sw_resources *r)
{
	for (size_t i = 0; i < sizeof r->at / sizeof *r->at; i++) {
		for (size_t q = 0; q < 5; q++)
			free(r->at[i].ended[q].at);
		free(r->at[i].counted);
	}
	free(r->row);
	free(r);
}

/* The resources of a device that work occupies. */
enum { UPLOADS, DOWNLOADS, KERNELS };

/* The copy engine or the multiprocessors of the device that a piece of work occupies; NULL: none, since moves and sets,
   and work of the host, overlap with everything.  Eight devices are told apart: a further one shares the resources of
   one of them. */
static struct sw_resource *resource_of(struct sw_resources *r, const struct sw_schedule *s,
				       const struct sw_schedule_node *n)
{
	uint32_t which;
	if (n->kind != SW_NODE_WORK)
		return NULL;
	switch ((enum sw_work_kind)n->does) {
	case SW_DOES_UPLOAD:
		which = UPLOADS;
		break;
	case SW_DOES_DOWNLOAD:
		which = DOWNLOADS;
		break;
	case SW_DOES_KERNEL:
	case SW_DOES_GRAPH:
		which = KERNELS;
		break;
	case SW_DOES_MOVE:
	case SW_DOES_SET:
	case SW_DOES_HOST:
	case SW_DOES_OTHER:
	default:
		return NULL;
	}
	uint32_t device = (uint32_t)s->queues.at[n->lane].device & 7u;
	return &r->at[device * SW_RESOURCES + which];
}

/* ---- pieces that run --------------------------------------------------------------------------------------------- */

/* Notes, by how many quarters of the device the piece took, the last one that ended of its row (work of a queue, one
   after the other); the oldest row of too many is forgotten. */
static void end_piece(struct sw_resource *r, uint32_t quarters, struct sw_ended ended)
{
	size_t n = r->ended[quarters].n, at = 0, first = 0;
	while (at < n && r->ended[quarters].at[at].row != ended.row) {
		if (r->ended[quarters].at[at].number < r->ended[quarters].at[first].number)
			first = at;
		at++;
	}
	if (at < n) {
		struct sw_ended *same = &r->ended[quarters].at[at];
		/* Pieces that are retired together come in no order: of a row, the later node ended last. */
		same->node = ended.node > same->node ? ended.node : same->node;
		same->number = ended.number;
	} else if (n == MOST_ROWS) {
		r->ended[quarters].at[first] = ended;
	} else {
		*sw_vec_push(&r->ended[quarters]) = ended;
	}
}

/* Piece number i of those that run has ended: it no longer takes its share of the device.  By how many quarters of the
   device it took, the latest end is kept, and the piece as the last one of its row. */
static void retire_work(struct sw_resource *r, uint32_t i)
{
	uint32_t q = r->running[i].quarters;
	r->seen[q] = sw_later(r->seen[q], r->running[i].seen);
	end_piece(r, q, (struct sw_ended){r->running[i].node, r->running[i].row, ++r->ends});
	r->running[i] = r->running[--r->n];
}

/* Ends the pieces that were seen to end by time t. */
static void retire_until(struct sw_resource *r, uint64_t t)
{
	if (r->n && r->next > t)
		return;
	r->next = UINT64_MAX;
	for (uint32_t i = 0; i < r->n;)
		if (r->running[i].seen <= t)
			retire_work(r, i);
		else
			r->next = sw_earlier(r->next, r->running[i++].seen);
}

/* How many quarters of the device other work must occupy, at least, so that this piece had to keep out of its way:
   together more than four. */
static uint32_t least_quarters(const struct sw_schedule_node *n)
{
	return 5u - n->quarters;
}

/* When the last piece that n had to keep out of the way of ended, as recorded. */
static uint64_t resource_free(struct sw_resource *r, const struct sw_schedule_node *n)
{
	uint64_t seen = 0;
	retire_until(r, n->start);
	for (uint32_t q = least_quarters(n); q <= 4; q++)
		seen = sw_later(seen, r->seen[q]);
	return seen;
}

/* ---- what waits for them ----------------------------------------------------------------------------------------- */

/* Passes a piece of work of a queue.  If its delay is negative, the work after it may end before it in a replay: then a
   new row begins, since its end no longer stands for those before it. */
static void resources_pass(struct sw_resources *r, const struct sw_window *w, const struct sw_schedule_node *n)
{
	/* In a replay a copy from pageable memory may take no time. */
	bool staged = w->nodes.at[n->call].flags & SW_NF_STAGED;
	int64_t took = staged ? 0 : (int64_t)(n->end - n->start);
	if (n->lag + took < 0 || took < 0)
		r->row[n->lane] = r->rows++;
}

/* Up to which ends the queue has waited for this resource; begun anew when the queue's work is of another row. */
static struct sw_counted *counted_of(struct sw_resources *all, struct sw_resource *r, uint32_t queue)
{
	if (!r->counted)
		r->counted = sw_calloc(all->queues + 1, sizeof *r->counted);
	if (r->counted[queue].row != all->row[queue])
		r->counted[queue] = (struct sw_counted){.row = all->row[queue]};
	return &r->counted[queue];
}

/* Adds to the window's list the pieces whose ends this one waits for, but for those that earlier work of its queue has
   waited for already. */
static void list_ended(struct sw_resources *all, struct sw_resource *r, struct sw_window *w,
		       const struct sw_schedule_node *n)
{
	struct sw_counted *counted = counted_of(all, r, n->lane);
	bool crowded = sw_taken_when_crowded(n);
	for (uint32_t q = least_quarters(n); q <= 4; q++) {
		uint64_t from = crowded ? counted->crowded[q] : counted->everywhere[q];
		for (size_t i = 0; i < r->ended[q].n; i++) {
			const struct sw_ended *ended = &r->ended[q].at[i];
			/* Work that starts before the end of the work before it waits for less than that one did. */
			if (n->lag < 0 || (ended->number > from && ended->row != all->row[n->lane]))
				*sw_vec_push(&w->ordered.taken) = ended->node;
		}
		counted->crowded[q] = r->ends;
		if (!crowded)
			counted->everywhere[q] = r->ends;
	}
}

/* Lists which ends this piece of work waits for, then occupies the resource until its end. */
static void resource_take(struct sw_resources *all, struct sw_resource *r, struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	list_ended(all, r, w, n);
	/* More at once than a device runs: the piece that ends first has ended. */
	if (r->n == SW_RUNNING) {
		uint32_t first = 0;
		for (uint32_t i = 1; i < r->n; i++)
			if (r->running[i].seen < r->running[first].seen)
				first = i;
		retire_work(r, first);
	}
	r->next = r->n ? sw_earlier(r->next, n->end) : n->end;
	r->running[r->n].seen = n->end;
	r->running[r->n].node = node;
	r->running[r->n].row = all->row[n->lane];
	r->running[r->n++].quarters = n->quarters;
}

/*
 * Threads that take turns: a thread makes no calls, another one makes calls meanwhile and stops before the first
 * continues (a library passes work to its thread and waits), and the first continued because the second was done.
 * Threads that run independently do not show this pattern for long.  Without records of the host's own synchronisation
 * there is no other evidence.
 */

/* A thread that was silent for longer than this may have waited for another one. */
#define SILENCE_NS 100000u
/* With more threads nothing is looked for. */
#define MOST_THREADS 255u

/* When the thread last ended something before this call; 0: this is its first. */
static uint64_t silent_from(const struct sw_window *w, const struct sw_schedule_node *n)
{
	return n->prev == SW_NONE ? 0 : w->nodes.at[n->prev].end;
}

/* Is it the begin or the end of a call, not work? */
static bool of_host(const struct sw_schedule_node *n)
{
	return n->kind == SW_NODE_CALL || n->kind == SW_NODE_RETURN;
}

/* Lists the CALL and RETURN nodes of each thread, as they were added. */
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

/* Lists the calls before which their thread was silent for long, in order: something outside of CUDA may have held
   it. */
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

/* When the thread whose node is at this place of its list makes its next call; UINT64_MAX: never, or it is still in a
   call. */
static uint64_t goes_on(const struct sw_window *w, size_t thread, uint32_t place)
{
	const struct sw_ordered *o = &w->ordered;
	if (place + 1 == o->thread_first[thread + 1])
		return UINT64_MAX;
	const struct sw_schedule_node *next = &w->nodes.at[o->thread_node[place + 1]];
	return next->kind == SW_NODE_CALL && next->prev == o->thread_node[place] ? next->start : UINT64_MAX;
}

/* Makes the call wait for the last node of another thread, if that one stopped then and during this one's silence: the
   thread that stopped last may have let this one continue.  passed: by thread, the place after its last node before
   this one. */
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

/* Forgets the edges between threads that another reading of the times found. */
static void forget_thread_waits(struct sw_window *w)
{
	for (size_t i = 0; i < w->ordered.gap.n; i++)
		w->edges.at[w->nodes.at[w->ordered.gap.at[i]].edges] = sw_edge(SW_WHY_NOT, 0);
}

/* Adds edges from one host thread to another: calls before which their thread was silent for long may have waited for
   another thread.  Finds the last calls of the others before each, and adds an edge where that explains the silence. */
static void find_thread_waits(const struct sw_schedule *s, struct sw_window *w)
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

/* ---- edges that the times contradict ----------------------------------------------------------------------------- */

/* Drops the edges of a node that its times contradict: what it should have waited for ended later, by more than the
   clocks may differ. */
static void drop_contradictions(struct sw_window *w, uint32_t node)
{
	const struct sw_schedule_node *n = &w->nodes.at[node];
	for (uint32_t e = n->edges; e < sw_edges_end(w, node); e++) {
		uint32_t *edge = &w->edges.at[e];
		const struct sw_schedule_node *from = &w->nodes.at[sw_edge_node(*edge)];
		if (sw_edge_why(*edge) == SW_WHY_NOT || from->end <= n->start + SW_CLOCK_ERROR_NS)
			continue;
		*edge |= SW_EDGE_DROPPED;
		w->dropped++;
	}
}

/* ---- delays ------------------------------------------------------------------------------------------------------ */

/* to - from as 32 bits, at the nearest bound where it does not fit. */
static int32_t short_of(uint64_t to, uint64_t from)
{
	int64_t d = (int64_t)(to - from);
	return d > INT32_MAX ? INT32_MAX : d < INT32_MIN ? INT32_MIN : (int32_t)d;
}

/* Splits the delay of a call's begin: if something other than its thread's call before it ended last, it began so long
   after that (lag), else after the call before it (lead). */
static void bind_call(struct sw_window *w, uint32_t node)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	uint64_t other = sw_sources_end(w, node), before = n->prev == SW_NONE ? w->start : w->nodes.at[n->prev].end;
	n->flags &= (uint8_t)~SW_NF_LAG;
	if (other > before) {
		n->lead = 0;
		n->lag = short_of(n->start, other);
		n->flags |= SW_NF_LAG;
	} else {
		n->lead = (int64_t)(n->start - before);
	}
}

/* Splits the time of a call that waited: its own work (lead), and how long after the end of the work that it waited for
   it returned (lag). */
static void bind_return(struct sw_window *w, uint32_t node)
{
	struct sw_schedule_node *n = &w->nodes.at[node], *call = &w->nodes.at[n->prev];
	uint64_t took = n->end - call->start, done = sw_sources_end(w, node), staged = 0;
	uint64_t own = sw_earlier(took, call->own);
	/* A call that moves bytes itself (STAGED) began to move them when the work before its own was done.  A call
	   that leaves the moving to the device has nothing to do itself. */
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
		/* A call's own work comes after the work that it waits for (cudaFree of 1 GiB after a kernel of 25 ms:
		   25.6 ms, without the kernel 0.6 ms, measured on H200). */
		n->lag = short_of(n->end, sw_later(done, call->start));
		return;
	}
	n->flags |= SW_NF_LAG | SW_NF_HELD;
	n->lead = (int64_t)own;
	n->lag = short_of(n->end, done);
}

/* Splits the delay of a piece of work: it started so long after the work before it, or after its call, whichever came
   last.  taken: the latest end of other work that it had to keep out of the way of.  Replays keep these delays. */
static void bind_work(struct sw_window *w, uint32_t node, uint64_t taken)
{
	struct sw_schedule_node *n = &w->nodes.at[node];
	const struct sw_schedule_node *call = &w->nodes.at[n->call];
	uint64_t ready = sw_sources_end(w, node), lead = n->kind == SW_NODE_WORK ? SW_LEAD_NS : 0;
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

/* Splits the delay of each call's begin. */
static void bind_calls(struct sw_window *w)
{
	for (uint32_t i = 0; i < w->nodes.n; i++)
		if (w->nodes.at[i].kind == SW_NODE_CALL)
			bind_call(w, i);
}

/* Orders the nodes of a window by the times of the reading in hand, and finds which part of each delay belongs to which
   edge. */
void sw_calibrate(struct sw_schedule *s, struct sw_window *w)
{
	struct sw_resources *resources = resources_new(s);
	w->dropped = 0;
	if (!w->ordered.key) {
		order_prepare(w);
		bind_calls(w);
	}
	for (size_t i = 0; i < w->others.n; i++)
		drop_contradictions(w, w->others.at[i]);
	forget_thread_waits(w);
	order_parts(w);
	if (!w->reading)
		order_whole(w);
	find_thread_waits(s, w);
	for (size_t i = 0; i < w->ordered.gap.n; i++)
		bind_call(w, w->ordered.gap.at[i]);
	w->ordered.taken.n = 0;
	for (size_t i = 0; i < w->others.n; i++) {
		uint32_t node = w->ordered.other[i];
		struct sw_schedule_node *n = &w->nodes.at[node];
		n->flags &= (uint8_t) ~(SW_NF_LAG | SW_NF_HELD | SW_NF_PATH | SW_NF_BODY);
		if (n->kind == SW_NODE_RETURN) {
			bind_return(w, node);
		} else {
			struct sw_resource *r = resource_of(resources, s, n);
			bind_work(w, node, r ? resource_free(r, n) : 0);
			resources_pass(resources, w, n);
			if (r)
				resource_take(resources, r, w, node);
		}
		w->ordered.taken_end[i] = (uint32_t)w->ordered.taken.n;
	}
	resources_free(resources);
}
