/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and work become nodes and edges. */
#include "schedule/nodes.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of a window, unless the options say otherwise. */
#define DEFAULT_WINDOW 262144u

/* An empty schedule; options NULL: windows of DEFAULT_WINDOW nodes. */
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

/* The window that nodes are added to. */
static struct sw_window *window_filling(struct sw_schedule *s)
{
	return &s->window[s->windows - 1];
}

/* Forgets everything that refers to nodes of the window: a later one has no edges to it. */
static void forget_window(struct sw_schedule *s)
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

/* Drops every other window of the run that is kept for replays when there is one too many, and skips twice as many from
   now on. */
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

/* Starts another window: earlier calls and work can no longer be referred to. */
static void window_next(struct sw_schedule *s)
{
	struct sw_window *w = window_filling(s);
	forget_window(s);
	s->passed++;
	if (!s->keep) {
		w->nodes.n = w->edges.n = w->works.n = w->others.n = 0;
	} else {
		sw_thin_out(s);
		s->windows++;
	}
	w = window_filling(s);
	w->start = w->end = 0;
	s->place[s->windows - 1] = s->passed;
	s->keep = s->passed % s->stride == 0;
}

void sw_schedule_break(struct sw_schedule *s)
{
	if (window_filling(s)->nodes.n)
		window_next(s);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* Adds a node without times or edges to the window that is filled; *index: its number. */
static struct sw_schedule_node *node_push(struct sw_schedule *s, enum sw_node_kind kind, uint64_t seq, uint32_t lane,
					  uint32_t *index)
{
	struct sw_window *w = window_filling(s);
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

/* Adds an edge of the node that was pushed last, from `node`; SW_NONE: adds none. */
static void edge_push(struct sw_schedule *s, enum sw_edge_why why, uint32_t node)
{
	if (node != SW_NONE)
		*sw_vec_push(&window_filling(s)->edges) = sw_edge(why, node);
}

/* Makes the window, and the run, reach to this time at least. */
static void window_reach(struct sw_schedule *s, uint64_t t_ns)
{
	struct sw_window *w = window_filling(s);
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

/* Sets the recorded times of the work of this call if the window has it: the hull of all its pieces. */
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

#define MOST_OPEN    1024u /* calls in flight: more means that their ends were lost */
#define MOST_CLASSES 65536u
/* Waits that cover the same work: a replay may remove the first ones, call site by call site, and then the next one
   orders. After this many waits of different call sites, one more is not needed. */
#define WAITS_KEPT 8u

/* The index of the key, which gets the next one if it is new. */
static uint32_t index_of(struct sw_map *map, uint64_t key, uint32_t next)
{
	uint64_t *slot = sw_map_put(map, key);
	if (!*slot)
		*slot = next + 1;
	return (uint32_t)*slot - 1;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The call in progress with this number; NULL: none. */
static struct sw_open_call *open_of(struct sw_schedule *s, uint64_t seq)
{
	for (size_t i = s->open.n; i-- > 0;)
		if (s->open.at[i].taken && s->open.at[i].seq == seq)
			return &s->open.at[i];
	return NULL;
}

/* Room for a call that begins, which is the current one from now on. */
static struct sw_open_call *open_new(struct sw_schedule *s)
{
	for (size_t i = 0; i < s->open.n; i++)
		if (!s->open.at[i].taken) {
			s->current = (uint32_t)i;
			return &s->open.at[i];
		}
	size_t room = s->open.room;
	s->current = (uint32_t)s->open.n;
	struct sw_open_call *call = sw_vec_push(&s->open);
	if (s->open.room != room) {
		call = &s->open.at[s->current];
		memset(s->open.at + room, 0, (s->open.room - room) * sizeof *s->open.at);
	}
	return call;
}

/* The last node of the thread, for reading and changing. */
static uint32_t *last_of_thread(struct sw_schedule *s, uint32_t thread)
{
	while (s->threads.n <= thread)
		*sw_vec_push(&s->threads) = SW_NONE;
	return &s->threads.at[thread];
}

/* The value as 32 bits, the largest one where it does not fit. */
static uint32_t saturate_u32(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

void sw_schedule_enter(struct sw_schedule *s, const struct sw_schedule_call *call)
{
	if (window_filling(s)->nodes.n >= s->most || s->open.n >= MOST_OPEN)
		window_next(s);
	uint32_t node, *last = last_of_thread(s, call->thread);
	struct sw_schedule_node *n = node_push(s, SW_NODE_CALL, call->seq, call->thread, &node);
	n->start = n->end = sw_earlier(call->t_ns, SW_TIME_MAX);
	n->prev = *last;
	n->call = index_of(&s->sites, call->site, s->site_n);
	n->own = saturate_u32(call->own_ns);
	if (n->call == s->site_n)
		s->site_n++;
	/* A slot for the call of another thread that this one continued. */
	*sw_vec_push(&window_filling(s)->edges) = sw_edge(SW_WHY_NOT, 0);
	*last = node;
	struct sw_open_call *open = open_new(s);
	open->seq = call->seq;
	open->node = node;
	open->thread = call->thread;
	open->work = SW_NONE;
	open->taken = true;
	open->until.n = 0;
	window_reach(s, n->start);
}

/* Adds a node for the end of a call that waited for work, with an edge from each piece of that work.  So a replay can
   move the end apart from the begin.  The thread's next call comes after it. */
static void push_return(struct sw_schedule *s, const struct sw_open_call *call, uint64_t end)
{
	uint32_t node;
	struct sw_schedule_node *n = node_push(s, SW_NODE_RETURN, call->seq, call->thread, &node);
	n->start = n->end = end;
	n->prev = call->node;
	for (size_t i = 0; i < call->until.n; i++)
		edge_push(s, SW_WHY_UNTIL, call->until.at[i]);
	struct sw_schedule_node *begin = &window_filling(s)->nodes.at[call->node];
	begin->flags |= SW_NF_HAS_RETURN;
	begin->return_node = node;
	*last_of_thread(s, call->thread) = node;
}

/* Ends a call `dur_ns` after its begin; one that waited for work gets a node of its own for the end. */
void sw_schedule_leave(struct sw_schedule *s, uint64_t seq, uint64_t dur_ns)
{
	struct sw_open_call *call = open_of(s, seq);
	if (!call)
		return;
	struct sw_schedule_node *n = &window_filling(s)->nodes.at[call->node];
	uint64_t end = n->start + sw_earlier(dur_ns, SW_TIME_MAX);
	if (call->until.n)
		push_return(s, call, end);
	else
		n->end = end;
	call->taken = false;
	while (s->open.n && !s->open.at[s->open.n - 1].taken)
		s->open.n--;
	s->current = s->open.n ? (uint32_t)s->open.n - 1 : SW_NONE;
	window_reach(s, end);
}

/* ---- queues ------------------------------------------------------------------------------------------------------ */

/* Describes a queue (stream): how the legacy default stream orders it, its context and device. */
void sw_schedule_queue(struct sw_schedule *s, uint32_t queue, enum sw_queue_kind kind, uint8_t ctx, int device)
{
	while (s->queues.n <= queue)
		*sw_vec_push(&s->queues) =
			(struct sw_queue){.tail = SW_NONE, .joined = SW_NONE, .taken = SW_NONE, .behind = SW_NONE};
	struct sw_queue *q = &s->queues.at[queue];
	q->kind = kind;
	q->ctx = ctx;
	q->device = device;
	if (kind != SW_QUEUE_LEGACY)
		return;
	for (size_t i = 0; i < s->legacy.n; i++)
		if (s->legacy.at[i] == queue)
			return;
	*sw_vec_push(&s->legacy) = queue;
}

/* The queue of this number, made if it was not described. */
static struct sw_queue *queue_at(struct sw_schedule *s, uint32_t queue)
{
	if (s->queues.n <= queue)
		sw_schedule_queue(s, queue, SW_QUEUE_FREE, 0, 0);
	return &s->queues.at[queue];
}

/* The queue that is the legacy default stream of the context; NULL: it was not used. */
static struct sw_queue *legacy_of(struct sw_schedule *s, uint8_t ctx)
{
	for (size_t i = 0; i < s->legacy.n; i++)
		if (s->queues.at[s->legacy.at[i]].ctx == ctx)
			return &s->queues.at[s->legacy.at[i]];
	return NULL;
}

/* Adds the order that the legacy stream makes.  CUDA Runtime API, "Stream synchronization behavior": it waits for all
   blocking streams, and these for it. */
static void join_legacy(struct sw_schedule *s, struct sw_queue *q)
{
	if (q->kind == SW_QUEUE_LEGACY) {
		for (size_t i = 0; i < s->live.n; i++) {
			struct sw_queue *other = &s->queues.at[s->live.at[i]];
			if (other->kind != SW_QUEUE_BLOCKING || other->ctx != q->ctx || other->taken == other->tail)
				continue;
			other->taken = other->tail;
			edge_push(s, SW_WHY_LEGACY, other->tail);
		}
	} else if (q->kind == SW_QUEUE_BLOCKING) {
		struct sw_queue *legacy = legacy_of(s, q->ctx);
		if (!legacy || legacy->tail == SW_NONE || legacy->tail == q->joined)
			return;
		q->joined = legacy->tail;
		edge_push(s, SW_WHY_LEGACY, legacy->tail);
	}
}

/* The last barrier of the device, i.e. work that held back everything after it (a lazy load of code). */
static uint32_t *barrier_of(struct sw_schedule *s, int device)
{
	while (s->barriers.n <= ((uint32_t)device & 63u))
		*sw_vec_push(&s->barriers) = SW_NONE;
	return &s->barriers.at[(uint32_t)device & 63u];
}

/* Makes the next work of the queue wait for the last barrier of its device. */
static void join_barrier(struct sw_schedule *s, struct sw_queue *q)
{
	uint32_t barrier = *barrier_of(s, q->device);
	if (barrier == q->behind)
		return;
	q->behind = barrier;
	edge_push(s, SW_WHY_LOAD, barrier);
}

/* Makes the node the last work of the queue: no wait of the host has covered it. */
static void advance_tail(struct sw_schedule *s, uint32_t queue, uint32_t node)
{
	struct sw_queue *q = &s->queues.at[queue];
	q->tail = node;
	q->waited = q->waiter = 0;
	if (!q->live) {
		q->live = true;
		*sw_vec_push(&s->live) = queue;
	}
}

/* The class of work that shares this likeness, + 1; 0: it is like nothing, or there are too many classes. */
static uint32_t class_of(struct sw_schedule *s, uint64_t like)
{
	if (!like || (s->class_of.n >= MOST_CLASSES && !sw_map_get(&s->classes, like)))
		return 0;
	uint32_t index = index_of(&s->classes, like, (uint32_t)s->class_of.n);
	if (index == s->class_of.n)
		*sw_vec_push(&s->class_of) = (struct sw_class){0};
	return index + 1;
}

/* Adds a piece of work of an open call to the end of its queue (stream), with edges from the work that it waits for. */
void sw_schedule_work(struct sw_schedule *s, const struct sw_schedule_work *work)
{
	struct sw_open_call *call = open_of(s, work->seq);
	struct sw_queue *q = queue_at(s, work->queue);
	uint32_t node;
	if (!call)
		return;
	struct sw_schedule_node *n = node_push(s, SW_NODE_WORK, work->seq, work->queue, &node);
	n->prev = q->tail;
	n->call = call->node;
	n->does = (uint8_t)work->kind;
	n->quarters = (uint8_t)(work->quarters ? work->quarters : 4);
	n->own = saturate_u32((work->bytes + 1023) / 1024);
	n->alike = class_of(s, work->like);
	if (n->alike)
		s->class_of.at[n->alike - 1].pieces++;
	n->flags = work->staged ? SW_NF_STAGED : 0;
	*sw_vec_push(&window_filling(s)->works) = node;
	call->work = node;
	if (work->staged && (work->kind == SW_DOES_UPLOAD || work->kind == SW_DOES_DOWNLOAD))
		window_filling(s)->nodes.at[call->node].flags |= SW_NF_STAGED;
	join_legacy(s, q);
	join_barrier(s, q);
	advance_tail(s, work->queue, node);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Makes what comes next on the queue wait for node `event`, by a node without time; false: no call is open. */
static bool mark_event(struct sw_schedule *s, uint32_t queue, uint32_t event)
{
	struct sw_queue *q = queue_at(s, queue);
	uint32_t node;
	if (s->current == SW_NONE)
		return false;
	const struct sw_open_call *call = &s->open.at[s->current];
	struct sw_schedule_node *n = node_push(s, SW_NODE_MARK, call->seq, queue, &node);
	n->prev = q->tail;
	n->call = call->node;
	edge_push(s, SW_WHY_EVENT, event);
	join_legacy(s, q);
	join_barrier(s, q);
	advance_tail(s, queue, node);
	return true;
}

void sw_schedule_record(struct sw_schedule *s, uint32_t queue, uint64_t event)
{
	struct sw_queue *q = queue_at(s, queue);
	/* On the legacy stream a record is a command, which comes after all blocking streams. */
	if (q->kind == SW_QUEUE_LEGACY && !mark_event(s, queue, SW_NONE))
		return;
	q = queue_at(s, queue);
	if (q->tail == SW_NONE)
		sw_map_delete(&s->events, event);
	else
		*sw_map_put(&s->events, event) = (uint64_t)q->tail + 1;
}

/* Makes the queue wait for an event: an edge from what it recorded last. */
void sw_schedule_wait(struct sw_schedule *s, uint32_t queue, uint64_t event)
{
	uint64_t node = sw_map_get(&s->events, event);
	if (!node)
		return;
	*sw_map_put(&s->pairs, (uint64_t)window_filling(s)->nodes.at[node - 1].lane << 32 | queue) = 1;
	mark_event(s, queue, (uint32_t)node - 1);
}

void sw_schedule_barrier(struct sw_schedule *s, uint32_t queue)
{
	int device = queue_at(s, queue)->device;
	if (!mark_event(s, queue, SW_NONE))
		return;
	uint32_t node = s->queues.at[queue].tail;
	for (size_t i = 0; i < s->live.n; i++) {
		struct sw_queue *other = &s->queues.at[s->live.at[i]];
		if (other->device == device && other->tail != node)
			edge_push(s, SW_WHY_LOAD, other->tail);
	}
	s->queues.at[queue].behind = *barrier_of(s, device) = node;
}

/* ---- waits of the host ------------------------------------------------------------------------------------------- */

/* Lets the open call return after this node. */
static void until_node(struct sw_open_call *call, uint32_t node)
{
	if (node != SW_NONE && node != call->node)
		*sw_vec_push(&call->until) = node;
}

/* Does a wait of this kind (of `which`: a context, a device, or a queue) cover the queue? */
static bool covers_queue(const struct sw_schedule *s, enum sw_until what, uint64_t which, const struct sw_queue *q)
{
	if (what == SW_UNTIL_CONTEXT)
		return q->ctx == which;
	if (what == SW_UNTIL_DEVICE)
		return q->device == (int)which;
	const struct sw_queue *of = &s->queues.at[which];
	return of->kind == SW_QUEUE_LEGACY && q->kind == SW_QUEUE_BLOCKING && q->ctx == of->ctx;
}

/* Lets the open call return when the queues that the wait covers are done.  A queue whose tail was waited for
   WAITS_KEPT times is not listed any more. */
static void until_queues(struct sw_schedule *s, struct sw_open_call *call, enum sw_until what, uint64_t which)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->live.n; i++) {
		struct sw_queue *q = &s->queues.at[s->live.at[i]];
		if ((what == SW_UNTIL_QUEUE && s->live.at[i] == which) || covers_queue(s, what, which, q)) {
			/* The first of consecutive waits of one call site is enough: they are kept or removed
			   together. */
			uint32_t place = window_filling(s)->nodes.at[call->node].call + 1;
			if (q->waiter != place)
				until_node(call, q->tail);
			q->waited += q->waiter != place;
			q->waiter = place;
		}
		q->live = q->waited < WAITS_KEPT;
		if (q->live)
			s->live.at[kept++] = s->live.at[i];
	}
	s->live.n = kept;
}

/* Lets the open call `seq` return when this is done: a context, device, event or queue (`which`), or its own work. */
void sw_schedule_until(struct sw_schedule *s, uint64_t seq, enum sw_until what, uint64_t which)
{
	struct sw_open_call *call = open_of(s, seq);
	if (!call)
		return;
	switch (what) {
	case SW_UNTIL_OWN:
		until_node(call, call->work);
		break;
	case SW_UNTIL_EVENT:
		until_node(call, (uint32_t)sw_map_get(&s->events, which) - 1);
		break;
	case SW_UNTIL_QUEUE: {
		struct sw_queue *q = queue_at(s, (uint32_t)which);
		struct sw_queue *legacy = q->kind == SW_QUEUE_BLOCKING ? legacy_of(s, q->ctx) : NULL;
		if (legacy)
			until_node(call, legacy->tail);
		until_queues(s, call, what, which);
		break;
	}
	case SW_UNTIL_CONTEXT:
	case SW_UNTIL_DEVICE:
		until_queues(s, call, what, which);
		break;
	}
}
