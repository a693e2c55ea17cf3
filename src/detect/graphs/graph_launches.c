/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of executable graphs.  What the nodes touch is listed at the first launch after a description; a launch
 * then plays the list as work of its stream.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/calls/allocations.h"
#include "detect/calls/copies.h"
#include "detect/calls/streams.h"
#include "detect/graphs/graphs.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/touch.h"
#include "detect/hazards/stored_values.h"
#include "detect/kernels/launches.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/handlers.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

/*
 * SW107: two nodes of one graph that no path joins, and that conflict.
 *
 * Each node has a set of bits: the nodes that come before it.  The sets are filled in an order in which each node
 * follows those that it depends on.  A child graph is part of the graph: its nodes follow what the child graph's node
 * depends on, and that node is its end.
 */

/* Beyond these, branches are not compared (128 MiB of bits), or not all of them. */
#define SW_MAX_BRANCH_NODES 32768u
#define SW_MAX_BRANCH_PAIRS (1u << 22)

typedef SW_VEC(uint32_t) index_vec;

/* Lists the nodes that node i depends on, by their places in x; false: one is not part of the graph. */
static bool depends_on(const struct sw_exec *x, size_t i, index_vec *out)
{
	const struct sw_graph_node *node = &x->nodes.at[i];
	out->n = 0;
	for (const struct sw_graph_node *at = node; at;) {
		for (uint32_t k = 0; k < at->n; k++) {
			uint64_t place = sw_map_get(&x->index, at->before[k]);
			if (!place)
				return false;
			*sw_vec_push(out) = (uint32_t)(place - 1);
		}
		/* Parents are described before what they hold, so this ends. */
		uint64_t parent = at->parent ? sw_map_get(&x->index, at->parent) : 0;
		if (at->parent && (!parent || &x->nodes.at[parent - 1] >= at))
			return false;
		at = parent ? &x->nodes.at[parent - 1] : NULL;
	}
	return true;
}

struct degree {
	index_vec *after; /* node -> nodes that depend on it */
	uint32_t *open;	  /* dependencies that are not placed yet */
};

/* Fills in, for each node, which nodes depend on it and how many it depends on.  False: a dependency is on a node that
   is not part of the graph. */
static bool count_degrees(const struct sw_exec *x, struct degree *d)
{
	index_vec on = {0};
	bool known = true;
	for (size_t i = 0; known && i < x->nodes.n; i++) {
		const struct sw_graph_node *node = &x->nodes.at[i];
		known = depends_on(x, i, &on);
		for (size_t k = 0; known && k < on.n; k++) {
			*sw_vec_push(&d->after[on.at[k]]) = (uint32_t)i;
			d->open[i]++;
		}
		if (known && node->parent) { /* the end of the child graph follows all in it */
			size_t parent = sw_map_get(&x->index, node->parent) - 1;
			*sw_vec_push(&d->after[i]) = (uint32_t)parent;
			d->open[parent]++;
		}
	}
	free(on.at);
	return known;
}

/* Notes that all that comes before node `from`, and `from` itself, come before node `to`. */
static void pass_on(const struct sw_paths *p, uint32_t from, uint32_t to)
{
	const uint64_t *row = p->before + from * p->words;
	uint64_t *into = p->before + to * p->words;
	for (size_t w = 0; w < p->words; w++)
		into[w] |= row[w];
	into[from / 64] |= 1ull << (from % 64);
}

/* Sorts the nodes so that each follows those it depends on, and finds all that come before each.  False: there is a
   cycle, or a node is missing. */
static bool follow_edges(const struct sw_exec *x, struct sw_paths *p)
{
	struct degree d = {sw_calloc(p->n, sizeof *d.after), sw_calloc(p->n, sizeof *d.open)};
	index_vec ready = {0};
	size_t placed = 0;
	bool known = count_degrees(x, &d);
	for (size_t i = 0; known && i < p->n; i++)
		if (!d.open[i])
			*sw_vec_push(&ready) = (uint32_t)i;
	while (known && ready.n) {
		uint32_t from = ready.at[--ready.n];
		p->sorted[placed++] = from;
		for (size_t k = 0; k < d.after[from].n; k++) {
			uint32_t to = d.after[from].at[k];
			pass_on(p, from, to);
			if (!--d.open[to])
				*sw_vec_push(&ready) = to;
		}
	}
	for (size_t i = 0; i < p->n; i++)
		free(d.after[i].at);
	free(d.after);
	free(d.open);
	free(ready.at);
	return known && placed == p->n;
}

/* CUgraphDependencyType and CU_GRAPH_KERNEL_NODE_PORT_* of cuda.h. */
enum { PROGRAMMATIC = 1, PORT_PROGRAMMATIC = 1, PORT_LAUNCH_ORDER = 2 };

/* Adds all of a row (a bit for each node) to another. */
static void join_row(uint64_t *into, const uint64_t *row, size_t words)
{
	for (size_t w = 0; w < words; w++)
		into[w] |= row[w];
}

/* Adds to the nodes that come before the start of `node` (before its griddepcontrol.wait) those that one of its
   dependencies puts there: all before node `from` or before its start, and `from` itself unless the dependency is
   programmatic.  True: the rest of `from` comes before the start too, as measured, since it triggers after its last
   access. */
static bool begin_after(const struct sw_exec *x, struct sw_paths *p, uint32_t node, uint32_t from, uint64_t edge)
{
	uint64_t *begin = p->begin + node * p->words;
	const struct sw_hb_grid *grid = &x->nodes.at[from].grid;
	bool at_start = SW_EDGE_FROM_PORT(edge) == PORT_LAUNCH_ORDER;
	bool full = SW_EDGE_TYPE(edge) != PROGRAMMATIC || (!at_start && !grid->triggers);
	bool first = at_start || grid->triggers_first;
	join_row(begin, (first && !full ? p->begin : p->before) + from * p->words, p->words);
	if (full)
		begin[from / 64] |= 1ull << (from % 64);
	return full || (grid->late && !at_start);
}

/* Finds what the starts of nodes come after: `grid` of all nodes is known. */
static void paths_find_starts(const struct sw_exec *x, struct sw_paths *p)
{
	bool any = false;
	for (size_t i = 0; i < p->n; i++)
		any |= x->nodes.at[i].overlaps && !x->nodes.at[i].disabled;
	if (!any)
		return;
	p->begin = sw_alloc(p->n * p->words * sizeof *p->begin);
	p->late = sw_calloc(p->n, sizeof *p->late);
	memcpy(p->begin, p->before, p->n * p->words * sizeof *p->begin);
	for (size_t i = 0; i < p->n; i++) {
		const uint32_t number = p->sorted[i];
		const struct sw_graph_node *node = &x->nodes.at[number];
		const struct sw_graph_node *parent = sw_node_parent(x, node);
		uint64_t *begin = p->begin + number * p->words;
		if (!node->overlaps || node->disabled)
			continue;
		memset(begin, 0, p->words * sizeof *begin);
		/* All that the child graph's node depends on. */
		if (parent)
			join_row(begin, p->before + (size_t)(parent - x->nodes.at) * p->words, p->words);
		p->late[number] = true;
		for (uint32_t k = 0; k < node->n; k++) {
			uint64_t from = sw_map_get(&x->index, node->before[k]);
			if (from)
				p->late[number] &=
					begin_after(x, p, number, (uint32_t)from - 1, node->before[node->n + k]);
		}
	}
}

/* Has the graph too many nodes to find which come before which? */
static bool paths_too_many(const struct sw_exec *exec)
{
	return exec->nodes.n > SW_MAX_BRANCH_NODES;
}

static void paths_free(struct sw_paths *paths)
{
	free(paths->before);
	free(paths->begin);
	free(paths->late);
	free(paths->sorted);
	*paths = (struct sw_paths){0};
}

/* Finds which nodes come before which.  False: there are too many nodes, a circle, or a dependency on a node that is
   not there. */
static bool paths_find(const struct sw_exec *exec, struct sw_paths *paths)
{
	struct sw_paths p = {.n = exec->nodes.n, .words = (exec->nodes.n + 63) / 64};
	if (p.n < 2 || paths_too_many(exec))
		return false;
	p.before = sw_calloc(p.n * p.words, sizeof *p.before);
	p.sorted = sw_alloc(p.n * sizeof *p.sorted);
	bool known = follow_edges(exec, &p);
	if (known)
		*paths = p;
	else
		paths_free(&p);
	return known;
}

/* Are the two nodes in two bodies of one conditional node?  At most one of them runs at a time (CUDA driver API,
   CUgraphConditionalNodeType), and inside a loop one pass follows the other. */
static bool bodies_exclude(const struct sw_exec *x, const struct sw_graph_node *a, const struct sw_graph_node *b)
{
	if (!a->perhaps || !b->perhaps)
		return false;
	for (; a; a = sw_node_parent(x, a))
		for (const struct sw_graph_node *at = b; a->body && at; at = sw_node_parent(x, at))
			if (at->body && at != a && at->parent == a->parent)
				return true;
	return false;
}

/* Does no path join the two nodes, so that they may run at the same time? */
static bool nodes_unordered(const struct sw_exec *x, const struct sw_paths *p, uint32_t a, uint32_t b)
{
	return a != b && !sw_paths_before(p, a, b) && !sw_paths_before(p, b, a) &&
	       !bodies_exclude(x, &x->nodes.at[a], &x->nodes.at[b]);
}

/* Does node a come before the rest of node b, but not before this access of b at its start, before its wait? */
static bool start_unordered(const struct sw_exec *x, const struct sw_paths *p, const struct sw_listed *a,
			    const struct sw_listed *b)
{
	return p->begin && x->nodes.at[b->node].overlaps && b->range.phase != SW_AFTER_WAIT &&
	       sw_paths_before(p, a->node, b->node) && !sw_paths_before_start(p, a->node, b->node);
}

/* Weakens the verdict by how sure it is that the start of kernel b overlaps kernel a. */
static struct sw_verdict weigh_start(const struct sw_exec *x, const struct sw_paths *p, const struct sw_listed *a,
				     const struct sw_listed *b, struct sw_verdict verdict)
{
	if (x->nodes.at[a->node].grid.unsure || x->nodes.at[b->node].grid.unsure ||
	    b->range.phase == SW_PERHAPS_AFTER_WAIT)
		return (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	if (p->late[b->node] && verdict.severity == SW_ERROR)
		verdict.severity = SW_WARNING;
	return verdict;
}

/* Adds a finding for two conflicting accesses of unordered nodes.  p: only the start of the second one is unordered, by
   these paths; NULL: the nodes are. */
static void branch_race(struct sw_model *m, const struct sw_exec *x, const struct sw_paths *p,
			const struct sw_listed *a, const struct sw_listed *b)
{
	struct sw_block *block = a->use->block;
	struct sw_verdict verdict = sw_matrix(&a->use->range, &b->use->range, sw_block_crowding(block));
	if (p)
		verdict = weigh_start(x, p, a, b, verdict);
	struct sw_access side[2] = {a->use->access, b->use->access};
	struct sw_finding seen = {
		.id = SW_FINDING_GRAPH_BRANCH_RACE,
		.severity = verdict.severity,
		.confidence = verdict.confidence,
		.basis = SW_BASIS_DOCUMENTED,
		.accesses = 2,
		.access = {&side[0], &side[1]},
		.fix = SW_FIX_DEPEND,
	};
	sw_hazard_lower(m, &seen, m->record->rec->ctx);
	if (sw_hazard_is_dropped(m, &seen))
		return;
	/* Nodes of a capture come with the streams that they were captured on. */
	if (side[0].stream && side[1].stream && side[0].stream != side[1].stream) {
		seen.fix = SW_FIX_EVENT_CAPTURED;
		seen.fix_stream = side[0].stream;
		seen.fix_call.seq = side[0].seq;
	}
	if (p) {
		seen.id = SW_FINDING_PROGRAMMATIC_RACE;
		seen.fix = SW_FIX_GRID_WAIT;
		seen.measured_order = p->late[b->node];
		seen.basis = seen.measured_order ? SW_BASIS_MEASURED : SW_BASIS_DOCUMENTED;
	}
	side[0].allocation = side[1].allocation = sw_model_mention(m, block);
	const struct sw_node_pair nodes = sw_exec_find_dependency(x, a->node, b->node);
	sw_collect_nodes(&m->collect, sw_collect_add(&m->collect, &seen, NULL), &nodes);
}

/* For qsort(): by allocation, then by address. */
static int by_place(const void *x, const void *y)
{
	const struct sw_shadow_use *a = (*(const struct sw_listed *const *)x)->use,
				   *b = (*(const struct sw_listed *const *)y)->use;
	if (a->block != b->block)
		return a->block->number < b->block->number ||
				       (a->block->number == b->block->number && a->block->address < b->block->address)
			       ? -1
			       : 1;
	if (a->range.address != b->range.address)
		return a->range.address < b->range.address ? -1 : 1;
	return 0;
}

/* Compares the listed accesses, which are sorted by place, with those that begin before they end, and reports conflicts
   of unordered nodes. */
static void compare_listed(struct sw_model *m, const struct sw_exec *x, const struct sw_paths *p,
			   const struct sw_listed **at, size_t n)
{
	size_t pairs = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n && pairs < SW_MAX_BRANCH_PAIRS; j++, pairs++) {
			const struct sw_listed *a = at[i], *b = at[j];
			if (a->use->block != b->use->block || b->use->range.address >= a->use->end)
				break;
			/* In the order of their descriptions. */
			if (a->node > b->node)
				a = at[j], b = at[i];
			if (nodes_unordered(x, p, a->node, b->node) && sw_use_conflicts(a->use, b->use))
				branch_race(m, x, NULL, a, b);
			else if (start_unordered(x, p, a, b) && sw_use_conflicts(a->use, b->use))
				branch_race(m, x, p, a, b);
			else if (start_unordered(x, p, b, a) && sw_use_conflicts(b->use, a->use))
				branch_race(m, x, p, b, a);
		}
	m->j->coverage.uncompared_graphs += pairs == SW_MAX_BRANCH_PAIRS;
}

/* Looks for unordered nodes that conflict, among the listed accesses. */
static void branches_judge(struct sw_model *m, const struct sw_exec *exec, const struct sw_paths *paths,
			   const struct sw_listing *listing)
{
	SW_VEC(const struct sw_listed *) at = {0};
	for (size_t i = 0; i < listing->at.n; i++)
		if (listing->at.at[i].use)
			*sw_vec_push(&at) = &listing->at.at[i];
	if (at.n > 1) {
		qsort(at.at, at.n, sizeof *at.at, by_place);
		compare_listed(m, exec, paths, at.at, at.n);
	}
	free(at.at);
}

/*
 * Tables of pointers in graphs: what copy nodes upload, and where kernel nodes find it.
 *
 * The content of a copy node's source was read when the graph was described.  The host may have changed it since, so
 * what follows from it is likely at most, and it counts for the first launch only: who copies from the host in a graph
 * does so to launch again with something else there.
 */

/* The work of a node as if it were a record of its own, made where the graph is launched. */
static struct sw_record node_as_record(const struct sw_record *launch, const struct sw_graph_node *node)
{
	struct sw_record r = *launch;
	node->work->ctx = launch->rec->ctx;
	r.rec = node->work;
	if (node->work->kind == SW_REC_LAUNCH) {
		const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)node->work;
		r.params = l->param_bytes ? l + 1 : NULL;
		r.param_bytes = l->param_bytes;
	}
	return r;
}

/* Touches what a kernel node that follows pointers in memory reaches at this launch; false: not all of the pointers are
   known, and nothing was touched. */
static bool node_follow(struct sw_model *m, const struct sw_graph_node *node, const struct sw_access *what)
{
	const struct sw_record *launch = m->record;
	struct sw_record r = node_as_record(launch, node);
	struct sw_access call = m->wait->what;
	m->record = &r;
	m->wait->what = *what;
	bool followed = sw_launch_follow(m, node->perhaps);
	m->wait->what = call;
	m->record = launch;
	return followed;
}

/* Notes the content that a copy node has uploaded, as a copy outside of a graph does. */
static void node_upload(struct sw_model *m, const struct sw_graph_node *node, const struct sw_access *what)
{
	const struct sw_record *launch = m->record;
	struct sw_record r = node_as_record(launch, node);
	m->record = &r;
	sw_copy_uploads(m, &r, what);
	m->record = launch;
}

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

/* The access of a node: made by the call that added it, else by the launch; with its own kernel. */
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

/* Lists the memory that a node touches, by the handler of its kind, which judges nothing while the model is listing. */
static void node_list(struct sw_model *m, struct sw_graph_node *node)
{
	const struct sw_record *outer = m->record;
	struct sw_access call = m->wait->what;
	sw_handler *touch = touches[node->work->kind];
	if (!touch)
		return;
	struct sw_record r = node_as_record(outer, node);
	m->record = &r;
	if (node->work->kind == SW_REC_LAUNCH)
		node->grid = sw_launch_grid(m, &r);
	m->wait->what = access_of(node, &call);
	touch(m, &r, m->wait);
	m->wait->what = call;
	m->record = outer;
}

/* Is it a node that does nothing to memory by itself?  The nodes of a child graph, or of a body, are listed by
   themselves. */
static bool is_silent(const struct sw_graph_node *node)
{
	return node->type == TYPE_GRAPH || node->type == TYPE_EMPTY || node->type == TYPE_CONDITIONAL ||
	       node->type == TYPE_SEMAPHORE_SIGNAL || node->type == TYPE_SEMAPHORE_WAIT;
}

/* Lists what all nodes of the graph touch, and what is not known of it. */
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

/* Prepares an executable graph for its launches: lists what its nodes touch, compares branches that no path orders, and
   chooses the order in which launches take the nodes. */
static void exec_list(struct sw_model *m, struct sw_exec *x)
{
	struct sw_paths paths = {0};
	bool known = !x->unknown && x->nodes.n == x->expected && paths_find(x, &paths);
	sw_exec_unlist(m, x);
	nodes_list(m, x);
	if (known) {
		paths_find_starts(x, &paths);
		for (size_t i = 0; i < x->nodes.n; i++)
			m->j->coverage.unsure_overlaps += x->nodes.at[i].overlaps && x->nodes.at[i].grid.unsure;
	}
	x->listed = true;
	if (known)
		sw_branch_order_make(x, &paths);
	m->j->coverage.uncompared_graphs += paths_too_many(x);
	if (known) {
		branches_judge(m, x, &paths, &x->touches);
		sw_exec_judge_allocations(m, x, &paths);
	}
	sw_node_order_make(x, known ? &paths : NULL);
	paths_free(&paths);
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

/* Makes a step of the stream for the work that follows, unless the last one can take it too. */
static void enqueue_node(struct run *run)
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

/* The access of a node, made by this launch: its order and time are those of the launch. */
static struct sw_access access_at_launch(const struct sw_access *what, const struct sw_access *launch)
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

/* Runs a node that waits for an event: work after it is another step, ordered after the event. */
static void wait_for_event(struct run *run, const struct sw_graph_node *node)
{
	const struct sw_rec_stream_wait *s = (const struct sw_rec_stream_wait *)(const void *)node->work;
	struct sw_hb_event_state state;
	sw_hb_stream_wait(run->m->hb, &run->at, s->event, 0, &state);
	run->open = false;
}

/* Runs a node that records an event: it stands for the steps of this launch so far. */
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

/* Runs a node that allocates memory: the block begins with this launch; one that is still there was not freed. */
static void alloc_node(struct run *run, const struct sw_graph_node *node)
{
	struct sw_model *m = run->m;
	const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)node->work;
	struct sw_access what = access_of(node, &m->wait->what);
	uint64_t offset;
	enqueue_node(run);
	what = access_at_launch(&what, &m->wait->what);
	if (sw_space_find_outer(&m->space, a->address, &offset)) {
		if (!(run->x->flags & SW_AUTO_FREE))
			return; /* still there from the launch before */
		what.role = SW_FREE;
		sw_block_freed(m, a->address, &what);
	}
	what.role = SW_ALLOC;
	sw_block_made(m, a, &what);
}

/* Makes the blocks of the graph's own allocation nodes, so that what its other nodes do to that memory can be
   listed. */
static void list_allocations(struct run *run)
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
		what = access_at_launch(&what, &m->wait->what);
		what.role = SW_ALLOC;
		if (!block || block->bytes - offset < a->bytes)
			sw_block_made(m, a, &what);
	}
}

/* Runs a node that frees memory: judged as a free in stream order. */
static void free_node(struct run *run, const struct sw_graph_node *node)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)node->work;
	struct sw_access what = access_of(node, &run->m->wait->what);
	enqueue_node(run);
	what = access_at_launch(&what, &run->m->wait->what);
	what.role = SW_FREE;
	sw_block_freed(run->m, f->address, &what);
}

/* Runs a host function's node: what it does is not seen, so the host may have made accesses in it. */
static void host_node(struct run *run, const struct sw_graph_node *node)
{
	(void)node;
	enqueue_node(run);
	struct sw_point point = run->m->wait->what.point;
	struct sw_lane_state *lane_state = sw_model_lane_state(run->m, point.lane);
	lane_state->visible = point.tick;
	lane_state->visible_seq = run->m->record->seq;
	sw_host_signalled(run->m, point);
	sw_host_flag_written(run->m, point); /* it may tell another thread */
	sw_host_func_add_unseen(run->m, point);
}

/* Runs a node of memory operations: its waits for values, or the values that it writes. */
static void follow_values(struct run *run, const struct sw_graph_node *node, bool waits)
{
	struct sw_model *m = run->m;
	const struct sw_rec_mem_op *o = (const struct sw_rec_mem_op *)(const void *)node->work;
	for (uint32_t i = 0; i < node->work_bytes / sizeof *o; i++)
		if (waits && o[i].op == SW_MEMOP_WAIT_VALUE) {
			sw_value_waited(m, &run->at, &o[i]);
			run->open = false;
		} else if (!waits && o[i].op == SW_MEMOP_WRITE_VALUE) {
			enqueue_node(run);
			sw_value_written(m, m->wait->what.point, &o[i]);
			run->open = false;
		}
	sw_wide_poison(m);
}

static void values_waited(struct run *run, const struct sw_graph_node *node)
{
	follow_values(run, node, true);
}

static void values_written(struct run *run, const struct sw_graph_node *node)
{
	follow_values(run, node, false);
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

/* Index of the first listed access of the node, or of a node after it. */
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

/* Judges the listed accesses of a node, as accesses of this launch of the graph. */
static void touch_listed(struct run *run, uint32_t node)
{
	struct sw_model *m = run->m;
	const struct sw_listing *list = &run->x->touches;
	/* Turns come in another order than nodes where events are bound to parts. */
	if (run->next >= list->at.n || list->at.at[run->next].node != node)
		run->next = first_of(list, node);
	for (; run->next < list->at.n && list->at.at[run->next].node == node; run->next++) {
		const struct sw_listed *l = &list->at.at[run->next];
		enqueue_node(run);
		struct sw_access what = access_at_launch(&l->what, &m->wait->what);
		struct sw_touch how = {.array = l->array, .guess = l->guess, .handle = l->handle};
		sw_model_touch(m, &what, &l->range, &how);
	}
}

/* Judges what a node touches at this launch: where it follows pointers and the tables are known, by those; else as
   listed. */
static void touch_node(struct run *run, uint32_t number)
{
	struct sw_model *m = run->m;
	const struct sw_graph_node *node = &run->x->nodes.at[number];
	bool copies = node->work && node->work->kind == SW_REC_COPY_ND, followed = false;
	struct sw_access what = access_of(node, &m->wait->what);
	if (node->follows && sw_contents_any(m->contents)) {
		enqueue_node(run);
		what = access_at_launch(&what, &m->wait->what);
		followed = node_follow(m, node, &what);
	}
	if (run->first) {
		m->j->coverage.indirect_kernels += node->follows && !followed;
		m->j->coverage.followed_kernels += followed;
	}
	if (followed)
		return;
	touch_listed(run, number);
	run->unknown |= node->unknown;
	run->blind |= node->blind;
	/* Programs fill the table anew before they launch again. */
	if (copies && run->first) {
		enqueue_node(run);
		what = access_at_launch(&what, &m->wait->what);
		node_upload(m, node, &what);
	}
}

/* Takes one node of a launch, or the part of it that is due: its wait, its work, its record of an event. */
static void run_node(struct run *run, const struct sw_ordered_node *turn)
{
	const struct sw_graph_node *node = &run->x->nodes.at[turn->node];
	run->m->played = run->x;
	run->m->played_allocates = sw_exec_allocates;
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
		touch_node(run, turn->node);
		if (node->type == TYPE_SEMAPHORE_SIGNAL || node->type == TYPE_SEMAPHORE_WAIT)
			sw_value_not_followed(run->m, node->made.seq ? &node->made : &run->m->wait->what);
	}
	if (turn->parts & SW_ORDERED_RECORD && plays[kind].record)
		plays[kind].record(run, node);
}

/* Handles the launch of a graph: steps of its stream that touch what its nodes touch.  "Each launch is ordered behind
   both any previous work in hStream and any previous launches of hGraphExec" (CUDA driver API, cuGraphLaunch). */
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
		list_allocations(&run);
		exec_list(m, x);
	}
	for (size_t i = 0; i < x->node_order.n; i++)
		run_node(&run, &x->node_order.at[i]);
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
