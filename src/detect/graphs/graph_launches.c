/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of executable graphs.  What the nodes touch is listed at the first launch after a description; a launch
 * then plays the list as work of its stream.
 */
#include "detect/model/handlers.h"

#include "detect/calls/allocations.h"
#include "detect/calls/stream_values.h"
#include "detect/calls/streams.h"
#include "detect/graphs/graphs.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/host_knowledge.h"
#include "detect/hazards/listing.h"
#include "detect/hazards/touch.h"
#include "detect/hazards/uploads.h"
#include "detect/kernels/launches.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/events.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

/* CUgraphNodeType of cuda.h, of nodes that have no work of their own. */
enum { TYPE_GRAPH = 4, TYPE_EMPTY = 5, TYPE_SEMAPHORE_SIGNAL = 8, TYPE_SEMAPHORE_WAIT = 9, TYPE_CONDITIONAL = 13 };

/* CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH: "Automatically free memory allocated in a graph before relaunching".
 */
#define SW_AUTO_FREE 1u

/* ---- what nodes touch -------------------------------------------------------------------------------------------- */

static sw_handler *const touches[256] = {
	[SW_REC_LAUNCH] = sw_launch_touches,
	[SW_REC_COPY_ND] = sw_copy_touches,
	[SW_REC_SET] = sw_set_touches,
};

/* The access of a node: of the call that made it, else of the launch; its own kernel. */
static struct sw_access access_of(const struct sw_graph_node *node, const struct sw_access *launch)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)node->work;
	struct sw_access what = node->made.seq ? node->made : *launch;
	what.role = SW_CALL;
	what.node = node->made.seq;
	what.function = 0;
	if (node->work && node->work->kind == SW_REC_LAUNCH) {
		what.kind = SW_REC_LAUNCH; /* reported by the kernel's name, whichever call made the node */
		what.function = l->function;
	}
	return what;
}

static void node_list(struct sw_model *m, struct sw_graph_node *node)
{
	const struct sw_record *outer = m->record;
	struct sw_access call = m->wait->what;
	sw_handler *touch = touches[node->work->kind];
	if (!touch)
		return;
	struct sw_record r = sw_node_record(outer, node);
	m->record = &r;
	if (node->work->kind == SW_REC_LAUNCH)
		node->grid = sw_launch_grid(m, &r);
	m->wait->what = access_of(node, &call);
	touch(m, &r, m->wait);
	m->wait->what = call;
	m->record = outer;
}

/* Nodes without work that do nothing to memory: what they hold is listed by itself. */
static bool is_silent(const struct sw_graph_node *node)
{
	return node->type == TYPE_GRAPH || node->type == TYPE_EMPTY || node->type == TYPE_CONDITIONAL ||
	       node->type == TYPE_SEMAPHORE_SIGNAL || node->type == TYPE_SEMAPHORE_WAIT;
}

static void nodes_list(struct sw_model *m, struct sw_exec *x)
{
	m->listing = &x->touches;
	for (size_t i = 0; i < x->nodes.n; i++) {
		struct sw_graph_node *node = &x->nodes.at[i];
		x->touches.node = (uint32_t)i;
		x->touches.perhaps = node->perhaps;
		x->touches.unknown = x->touches.blind = x->touches.follows = false;
		if (node->work && !node->disabled)
			node_list(m, node);
		else if (!node->work && !is_silent(node))
			x->touches.unknown = true;
		node->unknown = x->touches.unknown;
		node->blind = x->touches.blind;
		node->follows = x->touches.follows;
	}
	m->listing = NULL;
}

static void exec_list(struct sw_model *m, struct sw_exec *x)
{
	struct sw_paths paths = {0};
	bool known = !x->unknown && x->nodes.n == x->expected && sw_paths_find(x, &paths);
	sw_exec_unlist(m, x);
	nodes_list(m, x);
	if (known) {
		sw_paths_find_starts(x, &paths);
		for (size_t i = 0; i < x->nodes.n; i++)
			m->j->coverage.unsure_overlaps += x->nodes.at[i].overlaps && x->nodes.at[i].grid.unsure;
	}
	x->listed = true;
	if (known)
		sw_branch_order_make(x, &paths);
	m->j->coverage.uncompared_graphs += sw_paths_too_many(x);
	if (known)
		sw_branches_judge(m, x, &paths, &x->touches);
	sw_node_order_make(x, known ? &paths : NULL);
	sw_paths_free(&paths);
	for (size_t i = 0; i < x->touches.at.n; i++) {
		struct sw_listed *l = &x->touches.at.at[i];
		if (l->use)
			sw_use_drop(&m->space.uses, l->use);
		l->use = NULL;
	}
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

uint64_t sw_exec_node_order(const struct sw_exec *x)
{
	/* Handles are pointers to structures, so no event of the program has an odd one. */
	return x->handle | 1;
}

/* A launch while its steps are made: one step of its stream, or several where events cover parts of it. */
struct run {
	struct sw_model *m;
	struct sw_exec *x;
	struct sw_hb_at at;
	bool open;	     /* the last step can take more work */
	bool first;	     /* since the description */
	bool unknown, blind; /* what some node touches is not known; some node may have written anywhere */
	size_t next;	     /* in the listing: its entries come by node */
};

static void step(struct run *run)
{
	struct sw_model *m = run->m;
	struct sw_point *point = &m->wait->what.point;
	if (run->open)
		return;
	*point = sw_hb_enqueue(m->hb, &run->at);
	struct sw_lane_state *lane_state = sw_model_lane_state(m, point->lane);
	lane_state->work = point->tick;
	sw_pending_push(m, lane_state, m->record->seq, point->tick);
	run->open = true;
}

static struct sw_access placed(const struct sw_access *what, const struct sw_access *launch)
{
	struct sw_access at = *what;
	at.seq = launch->seq;
	at.launch_api = launch->api;
	at.launch_stack = launch->stack;
	at.t_ns = launch->t_ns;
	at.dur_ns = launch->dur_ns;
	at.point = launch->point;
	at.stream = launch->stream;
	at.device = launch->device;
	return at;
}

static void wait_for_event(struct run *run, const struct sw_graph_node *node)
{
	const struct sw_rec_stream_wait *s = (const struct sw_rec_stream_wait *)(const void *)node->work;
	struct sw_hb_event_state state;
	sw_hb_stream_wait(run->m->hb, &run->at, s->event, 0, &state);
	run->open = false;
}

static void record_event(struct run *run, const struct sw_graph_node *node)
{
	struct sw_model *m = run->m;
	const struct sw_rec_event_record *e = (const struct sw_rec_event_record *)(const void *)node->work;
	struct sw_access what = m->wait->what;
	what.role = SW_RECORD;
	sw_event_recorded(m, &what, &run->at, e->event, 0);
	((struct sw_event_state *)sw_event_find(m, e->event))->in_graph = false;
	run->open = false;
}

static void alloc_node(struct run *run, const struct sw_graph_node *node)
{
	struct sw_model *m = run->m;
	const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)node->work;
	struct sw_access what = access_of(node, &m->wait->what);
	uint64_t offset;
	step(run);
	what = placed(&what, &m->wait->what);
	if (sw_space_find_outer(&m->space, a->address, &offset)) {
		if (!(run->x->flags & SW_AUTO_FREE))
			return; /* still there from the launch before */
		what.role = SW_FREE;
		sw_block_freed(m, a->address, &what);
	}
	what.role = SW_ALLOC;
	sw_block_made(m, a, &what);
}

/* So that what the nodes do to memory of the graph's own can be listed. */
static void allocate(struct run *run)
{
	struct sw_model *m = run->m;
	uint64_t offset;
	for (size_t i = 0; i < run->x->nodes.n; i++) {
		const struct sw_graph_node *node = &run->x->nodes.at[i];
		const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)node->work;
		if (!a || a->h.kind != SW_REC_ALLOC || node->disabled)
			continue;
		const struct sw_block *block = sw_space_find_outer(&m->space, a->address, &offset);
		struct sw_access what = access_of(node, &m->wait->what);
		what = placed(&what, &m->wait->what);
		what.role = SW_ALLOC;
		if (!block || block->bytes - offset < a->bytes)
			sw_block_made(m, a, &what);
	}
}

static void free_node(struct run *run, const struct sw_graph_node *node)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)node->work;
	struct sw_access what = access_of(node, &run->m->wait->what);
	step(run);
	what = placed(&what, &run->m->wait->what);
	what.role = SW_FREE;
	sw_block_freed(run->m, f->address, &what);
}

static void host_node(struct run *run, const struct sw_graph_node *node)
{
	(void)node;
	step(run);
	struct sw_point point = run->m->wait->what.point;
	struct sw_lane_state *lane_state = sw_model_lane_state(run->m, point.lane);
	lane_state->visible = point.tick;
	lane_state->visible_seq = run->m->record->seq;
	sw_host_signalled(run->m, point);
	sw_host_flag_written(run->m, point); /* it may tell another thread */
	sw_host_func_add_unseen(run->m, point);
}

static void values(struct run *run, const struct sw_graph_node *node, bool waits)
{
	struct sw_model *m = run->m;
	const struct sw_rec_mem_op *o = (const struct sw_rec_mem_op *)(const void *)node->work;
	for (uint32_t i = 0; i < node->work_bytes / sizeof *o; i++)
		if (waits && o[i].op == SW_MEMOP_WAIT_VALUE) {
			sw_value_waited(m, &run->at, &o[i]);
			run->open = false;
		} else if (!waits && o[i].op == SW_MEMOP_WRITE_VALUE) {
			step(run);
			sw_value_written(m, m->wait->what.point, &o[i]);
			run->open = false;
		}
	sw_wide_poison(m);
}

static void values_waited(struct run *run, const struct sw_graph_node *node)
{
	values(run, node, true);
}

static void values_written(struct run *run, const struct sw_graph_node *node)
{
	values(run, node, false);
}

/* By what the node does; what it touches is separate. */
static const struct {
	void (*wait)(struct run *run, const struct sw_graph_node *node);
	void (*work)(struct run *run, const struct sw_graph_node *node);
	void (*record)(struct run *run, const struct sw_graph_node *node);
} plays[256] = {
	[SW_REC_STREAM_WAIT] = {.wait = wait_for_event}, [SW_REC_EVENT_RECORD] = {.record = record_event},
	[SW_REC_ALLOC] = {.work = alloc_node},		 [SW_REC_FREE] = {.work = free_node},
	[SW_REC_HOST_FUNC] = {.work = host_node},	 [SW_REC_MEM_OP] = {values_waited, NULL, values_written},
};

/* The first entry of a node, or of one after it. */
static size_t first_of(const struct sw_listing *list, uint32_t node)
{
	size_t lo = 0, hi = list->at.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (list->at.at[mid].node < node)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void touch(struct run *run, uint32_t node)
{
	struct sw_model *m = run->m;
	const struct sw_listing *list = &run->x->touches;
	/* Turns come in another order than nodes where events are bound to parts. */
	if (run->next >= list->at.n || list->at.at[run->next].node != node)
		run->next = first_of(list, node);
	for (; run->next < list->at.n && list->at.at[run->next].node == node; run->next++) {
		const struct sw_listed *l = &list->at.at[run->next];
		step(run);
		struct sw_access what = placed(&l->what, &m->wait->what);
		struct sw_touch how = {.array = l->array, .guess = l->guess, .handle = l->handle};
		sw_model_touch(m, &what, &l->range, &how);
	}
}

/* What the node touches at this launch. */
static void work(struct run *run, uint32_t number)
{
	struct sw_model *m = run->m;
	const struct sw_graph_node *node = &run->x->nodes.at[number];
	bool copies = node->work && node->work->kind == SW_REC_COPY_ND, followed = false;
	struct sw_access what = access_of(node, &m->wait->what);
	if (node->follows && sw_contents_any(m->contents)) {
		step(run);
		what = placed(&what, &m->wait->what);
		followed = sw_node_follow(m, node, &what);
	}
	if (run->first) {
		m->j->coverage.indirect_kernels += node->follows && !followed;
		m->j->coverage.followed_kernels += followed;
	}
	if (followed)
		return;
	touch(run, number);
	run->unknown |= node->unknown;
	run->blind |= node->blind;
	/* Programs fill the table anew before they launch again. */
	if (copies && run->first) {
		step(run);
		what = placed(&what, &m->wait->what);
		sw_node_upload(m, node, &what);
	}
}

static void play(struct run *run, const struct sw_ordered_node *turn)
{
	const struct sw_graph_node *node = &run->x->nodes.at[turn->node];
	run->m->played = run->x;
	run->m->played_node = turn->node + 1;
	run->m->branches_apart = run->x->branches ? sw_branches_apart : NULL;
	uint8_t kind = node->work ? node->work->kind : 0;
	if (node->disabled)
		return;
	if (turn->parts & SW_ORDERED_WAIT && plays[kind].wait)
		plays[kind].wait(run, node);
	if (turn->parts & SW_ORDERED_WORK) {
		if (plays[kind].work)
			plays[kind].work(run, node);
		work(run, turn->node);
		if (node->type == TYPE_SEMAPHORE_SIGNAL || node->type == TYPE_SEMAPHORE_WAIT)
			sw_value_not_followed(run->m, node->made.seq ? &node->made : &run->m->wait->what);
	}
	if (turn->parts & SW_ORDERED_RECORD && plays[kind].record)
		plays[kind].record(run, node);
}

/* Steps of its stream that touch what its nodes touch: "Each launch is ordered behind both any previous work in hStream
   and any previous launches of hGraphExec" (CUDA driver API, cuGraphLaunch). */
void sw_on_graph_launch(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_graph_launch *g = (const struct sw_rec_graph_launch *)(const void *)r->rec;
	struct run run = {.m = m, .x = sw_exec_of(m, g->exec), .at = sw_model_at(m, r, g->stream), .open = true};
	struct sw_exec *x = run.x;
	struct sw_hb_event_state last;
	if (!sw_model_captured(m, &run.at)) {
		sw_hb_event_state(m->hb, sw_exec_node_order(x), &last);
		if (last.recorded)
			sw_hb_stream_wait(m->hb, &run.at, sw_exec_node_order(x), 0, &last);
	}
	if (!sw_model_enqueue(m, r, g->stream))
		return;
	m->j->coverage.graph_launches++;
	if (!x->listed) {
		run.first = true;
		allocate(&run);
		exec_list(m, x);
	}
	for (size_t i = 0; i < x->node_order.n; i++)
		play(&run, &x->node_order.at[i]);
	m->played = NULL;
	m->played_node = 0;
	m->branches_apart = NULL;
	if (x->unknown || run.unknown || run.blind)
		sw_uploads_forget(m);
	m->j->coverage.edges_for_safety += x->bound;
	if (x->unknown || run.unknown || x->nodes.n != x->expected) {
		sw_host_unclear(m, w->what.point, true);
		sw_wide_poison(m);
		m->j->coverage.unknown_graph_launches++;
	}
	sw_hb_event_record(m->hb, sw_exec_node_order(x), &run.at, 0, NULL);
}
