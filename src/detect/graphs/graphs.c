/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/graphs/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "detect/hazards/hazards.h"
#include "detect/hazards/touch.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/collect.h"
#include "detect/model/handlers.h"
#include "detect/model/model.h"
#include "reader/kinds.h"

static void branch_order_free(struct sw_exec *x);

/*
 * Which nodes of a graph are ordered, for as long as the graph is: chains of nodes of which each comes after the one
 * before, and how far along each chain every node knows.
 *
 * A launch plays its nodes one after the other on the lane of its stream.  So that one of two unordered nodes does not
 * take the other's place in shadow memory, they are told apart there.
 */

/* Nodes beyond so many chains count as ordered: each more could be one more use of the same bytes. */
#define SW_MAX_CHAINS 32u
#define NO_CHAIN      UINT32_MAX

struct sw_branch_order {
	uint32_t chains;
	uint32_t *chain, *place; /* by node */
	uint32_t *known;	 /* node * chains + chain: nodes of that chain that come before it */
};

/* The chain that the node can be put at the end of, i.e. whose last node comes before it; a new one if there is none;
   NO_CHAIN: there are too many. */
static uint32_t choose_chain(struct sw_branch_order *order, const struct sw_paths *paths, uint32_t node,
			     const uint32_t *last)
{
	for (uint32_t c = 0; c < order->chains; c++)
		if (sw_paths_before(paths, last[c], node))
			return c;
	return order->chains < SW_MAX_CHAINS ? order->chains++ : NO_CHAIN;
}

/* How many nodes of a chain come before the node: a part of it from its start on. */
static uint32_t count_before(const struct sw_paths *paths, const uint32_t *member, uint32_t n, uint32_t node)
{
	uint32_t lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (sw_paths_before(paths, member[mid], node))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void sw_branch_order_make(struct sw_exec *x, const struct sw_paths *paths)
{
	struct sw_branch_order *order = sw_calloc(1, sizeof *order);
	uint32_t n[SW_MAX_CHAINS] = {0}, last[SW_MAX_CHAINS] = {0};
	branch_order_free(x);
	order->chain = sw_calloc(paths->n, sizeof *order->chain);
	order->place = sw_calloc(paths->n, sizeof *order->place);
	for (size_t i = 0; i < paths->n; i++) {
		uint32_t node = paths->sorted[i], chain = choose_chain(order, paths, node, last);
		order->chain[node] = chain;
		if (chain == NO_CHAIN)
			continue;
		order->place[node] = n[chain]++;
		last[chain] = node;
	}
	uint32_t *member = sw_calloc(paths->n, sizeof *member), first[SW_MAX_CHAINS] = {0};
	for (uint32_t c = 1; c < order->chains; c++)
		first[c] = first[c - 1] + n[c - 1];
	for (uint32_t node = 0; node < paths->n; node++)
		if (order->chain[node] != NO_CHAIN)
			member[first[order->chain[node]] + order->place[node]] = node;
	order->known = sw_calloc(paths->n * order->chains, sizeof *order->known);
	for (uint32_t node = 0; node < paths->n; node++)
		for (uint32_t c = 0; c < order->chains; c++)
			order->known[node * order->chains + c] = count_before(paths, member + first[c], n[c], node);
	free(member);
	x->branches = order;
}

/* Frees the chains of a graph. */
static void branch_order_free(struct sw_exec *x)
{
	if (!x->branches)
		return;
	free(x->branches->chain);
	free(x->branches->place);
	free(x->branches->known);
	free(x->branches);
	x->branches = NULL;
}

bool sw_branches_apart(void *arg, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	const struct sw_model *m = arg;
	const struct sw_branch_order *order = m->played ? m->played->branches : NULL;
	if (!order || earlier->access.seq != later->access.seq || !earlier->node || !later->node ||
	    earlier->node == later->node)
		return false;
	uint32_t a = earlier->node - 1, b = later->node - 1, chain = order->chain[a];
	return chain != NO_CHAIN && order->chain[b] != NO_CHAIN &&
	       order->place[a] >= order->known[b * order->chains + chain];
}

/*
 * In which order a launch takes the nodes of its graph.
 *
 * A launch is work of one stream, and nodes of one graph are compared elsewhere (graph_launches.c), so any order that
 * follows the dependencies will do; it decides what an event of the graph covers.  A record must cover all that it
 * depends on, and as little else as possible; likewise what follows a wait.  What an order cannot avoid is order that
 * is not there: it is counted.
 */

/* Graphs with more waits and records than this are taken as a whole. */
#define SW_MAX_MARKS 256u

/* Does the node wait for something, or record something, at its place: an event, or a value in memory?  Bits of
   SW_ORDERED_*. */
static uint32_t marks_of(const struct sw_graph_node *node)
{
	const struct sw_rec_mem_op *o = (const struct sw_rec_mem_op *)(const void *)node->work;
	uint32_t marks = 0;
	if (!node->work || node->disabled)
		return 0;
	if (node->work->kind == SW_REC_STREAM_WAIT)
		return SW_ORDERED_WAIT;
	if (node->work->kind == SW_REC_EVENT_RECORD)
		return SW_ORDERED_RECORD;
	for (uint32_t i = 0; node->work->kind == SW_REC_MEM_OP && i < node->work_bytes / sizeof *o; i++)
		marks |= o[i].op == SW_MEMOP_WAIT_VALUE	   ? SW_ORDERED_WAIT
			 : o[i].op == SW_MEMOP_WRITE_VALUE ? SW_ORDERED_RECORD
							   : 0u;
	return marks;
}

struct making {
	struct sw_exec *x;
	const struct sw_paths *paths;
	bool *taken;
	uint64_t *waits; /* bit i: node i waits and was not taken yet */
};

/* Puts the node next in the order of the launch. */
static void take_node(struct making *k, uint32_t node)
{
	k->taken[node] = true;
	k->waits[node / 64] &= ~(1ull << (node % 64));
	*sw_vec_push(&k->x->node_order) = (struct sw_ordered_node){node, SW_ORDERED_ALL};
}

/* Puts the node next in the order of the launch, after all that it depends on. */
static void take_with_all_before(struct making *k, uint32_t node)
{
	for (size_t i = 0; i < k->paths->n; i++) {
		uint32_t at = k->paths->sorted[i];
		if (!k->taken[at] && (at == node || sw_paths_before(k->paths, at, node)))
			take_node(k, at);
	}
}

/* Does the node depend on a wait (of a semaphore or event) that is not in the order of the launch yet, or is it one? */
static bool held_back(const struct making *k, uint32_t node)
{
	const uint64_t *row = k->paths->before + node * k->paths->words;
	for (size_t w = 0; w < k->paths->words; w++)
		if (row[w] & k->waits[w])
			return true;
	return k->waits[node / 64] >> (node % 64) & 1;
}

/* Chooses the order in which a launch takes the nodes: records as early as their dependencies allow, waits as late as
   possible, so that each covers or holds back as little as possible. */
static void take_all(struct making *k, const uint32_t *sorted)
{
	size_t n = k->paths->n;
	while (k->x->node_order.n < n) {
		uint32_t wait = UINT32_MAX;
		for (size_t i = 0; i < n; i++)
			if (!k->taken[sorted[i]] && marks_of(&k->x->nodes.at[sorted[i]]) == SW_ORDERED_RECORD &&
			    !held_back(k, sorted[i]))
				take_with_all_before(k, sorted[i]);
		for (size_t i = 0; i < n; i++) {
			if (k->taken[sorted[i]])
				continue;
			if (!held_back(k, sorted[i]))
				take_node(k, sorted[i]);
			else if (wait == UINT32_MAX)
				wait = sorted[i]; /* all before it was taken: it is the wait itself */
		}
		if (wait != UINT32_MAX)
			take_node(k, wait);
	}
}

/* How many waits hold back something that does not depend on them, or records cover something that they do not depend
   on, in the order that was chosen. */
static uint32_t too_much(const struct sw_exec *x, const struct sw_paths *paths)
{
	uint32_t n = 0;
	for (size_t i = 0; i < x->node_order.n; i++) {
		uint32_t marks = marks_of(&x->nodes.at[x->node_order.at[i].node]);
		bool more = false;
		for (size_t k = 0; marks && k < x->node_order.n && !more; k++) {
			uint32_t at = x->node_order.at[i].node, other = x->node_order.at[k].node;
			more = (k < i && marks & SW_ORDERED_RECORD && !sw_paths_before(paths, other, at)) ||
			       (k > i && marks & SW_ORDERED_WAIT && !sw_paths_before(paths, at, other));
		}
		n += more;
	}
	return n;
}

/* Takes the graph as one: first all waits, then allocations, work and releases, then all records. */
static void take_as_a_whole(struct sw_exec *x)
{
	static const struct {
		uint8_t kind; /* 0: any that has no row */
		uint8_t part;
	} rounds[] = {{0, SW_ORDERED_WAIT},
		      {SW_REC_ALLOC, SW_ORDERED_WORK},
		      {0, SW_ORDERED_WORK},
		      {SW_REC_FREE, SW_ORDERED_WORK},
		      {0, SW_ORDERED_RECORD}};
	for (size_t round = 0; round < sizeof rounds / sizeof *rounds; round++)
		for (uint32_t i = 0; i < x->nodes.n; i++) {
			const struct sw_graph_node *node = &x->nodes.at[i];
			uint8_t kind = node->work ? node->work->kind : 0;
			bool own = kind == SW_REC_ALLOC || kind == SW_REC_FREE;
			bool now = rounds[round].part != SW_ORDERED_WORK ? marks_of(node) & rounds[round].part
									 : rounds[round].kind == (own ? kind : 0);
			if (now)
				*sw_vec_push(&x->node_order) = (struct sw_ordered_node){i, rounds[round].part};
		}
}

void sw_node_order_make(struct sw_exec *x, const struct sw_paths *paths)
{
	struct making k = {.x = x, .paths = paths};
	uint32_t marks = 0;
	x->node_order.n = 0;
	x->bound = 0;
	for (size_t i = 0; i < x->nodes.n; i++)
		marks += marks_of(&x->nodes.at[i]) != 0;
	if (!paths || marks > SW_MAX_MARKS) {
		take_as_a_whole(x);
		x->bound = marks;
		return;
	}
	k.taken = sw_calloc(paths->n, sizeof *k.taken);
	k.waits = sw_calloc(paths->words, sizeof *k.waits);
	for (size_t i = 0; i < x->nodes.n; i++)
		if (marks_of(&x->nodes.at[i]) & SW_ORDERED_WAIT)
			k.waits[i / 64] |= 1ull << (i % 64);
	take_all(&k, paths->sorted);
	x->bound = too_much(x, paths);
	free(k.taken);
	free(k.waits);
}

/*
 * SW204: a capture is isolated from all other work, and the driver returns an error otherwise; most of them also spoil
 * the capture, so that the error that the author sees is that of cuStreamEndCapture.
 */

#define SW_UNJOINED 904

/* CUDA driver API, CUresult, cudaStreamCapture errors: what each status says for certain. */
static const struct {
	uint16_t status;
	enum sw_fix fix;
} refusals[] = {
	{900 /* UNSUPPORTED: not permitted while the stream captures */, SW_FIX_OUTSIDE_CAPTURE},
	{902 /* MERGE: two captures would become one */, SW_FIX_ONE_CAPTURE},
	{903 /* UNMATCHED: ended on another stream than it began on */, SW_FIX_END_WHERE_BEGUN},
	{SW_UNJOINED /* a stream that joined it was not joined back */, SW_FIX_JOIN_ALL},
	{905 /* ISOLATION: captured work would depend on work outside */, SW_FIX_RECORD_IN_CAPTURE},
	{906 /* IMPLICIT: the legacy stream would wait for it */, SW_FIX_NONBLOCKING},
	{907 /* CAPTURED_EVENT: the event belongs to a capture, the call does not */, SW_FIX_RECORD_OUTSIDE},
};

/* For a capture that ended with a stream not joined back: names the last call on that stream in the finding. */
static void add_unjoined(struct sw_model *m, const struct sw_record *r, struct sw_finding *seen, struct sw_access *at)
{
	const struct sw_rec_capture *c = (const struct sw_rec_capture *)(const void *)r->rec;
	struct sw_hb_at where = sw_model_at(m, r, c->stream);
	uint32_t lane;
	const struct sw_lane_state *lane_state = sw_model_lane(m, &where, &lane);
	at->stream = lane_state->stream;
	const struct sw_access *last = sw_origin_last(m, sw_capture_other_stream(m, lane_state));
	if (!last)
		return;
	seen->access[seen->accesses++] = last;
	seen->fix = SW_FIX_JOIN;
}

void sw_isolation_failed(struct sw_model *m, const struct sw_record *r, const struct sw_access *call)
{
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		if (refusals[i].status != r->rec->status)
			continue;
		struct sw_access at = *call;
		struct sw_finding seen = {
			.id = SW_FINDING_CAPTURE_ISOLATION,
			.severity = SW_WARNING,
			.confidence = SW_CERTAIN,
			.basis = SW_BASIS_DOCUMENTED,
			.accesses = 1,
			.access[0] = &at,
			.fix = refusals[i].fix,
			.refused = r->rec->status,
		};
		if (r->rec->kind == SW_REC_CAPTURE && r->rec->status == SW_UNJOINED)
			add_unjoined(m, r, &seen, &at);
		sw_collect_add(&m->collect, &seen, NULL);
		return;
	}
}

/* CUgraphNodeType of cuda.h. */
enum { TYPE_KERNEL = 0, TYPE_GRAPH = 4, TYPE_EMPTY = 5, TYPE_SEMAPHORE_SIGNAL = 8, TYPE_SEMAPHORE_WAIT = 9 };

/* CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH */
#define SW_LAUNCHED_BY_KERNELS 4u

struct sw_graphs {
	struct sw_map execs; /* handle -> struct sw_exec */
};

/* ---- the books --------------------------------------------------------------------------------------------------- */

void sw_exec_unlist(struct sw_model *m, struct sw_exec *x)
{
	for (size_t i = 0; i < x->touches.at.n; i++)
		if (x->touches.at.at[i].use)
			sw_use_drop(&m->space.uses, x->touches.at.at[i].use);
	x->touches.at.n = 0;
	x->listed = false;
	branch_order_free(x);
}

/* Forgets all nodes of an executable graph: it is described anew. */
static void exec_empty(struct sw_model *m, struct sw_exec *x)
{
	for (size_t i = 0; i < x->nodes.n; i++) {
		free(x->nodes.at[i].before);
		free(x->nodes.at[i].work);
	}
	x->nodes.n = 0;
	sw_map_free(&x->index);
	sw_exec_unlist(m, x);
}

/* Frees an executable graph. */
static void exec_free(struct sw_model *m, struct sw_exec *x)
{
	exec_empty(m, x);
	free(x->nodes.at);
	free(x->touches.at.at);
	free(x->node_order.at);
	free(x);
}

struct sw_graphs *sw_graphs_new(void)
{
	return sw_calloc(1, sizeof(struct sw_graphs));
}

void sw_graphs_free(struct sw_model *m)
{
	sw_graphs_forget(m);
	free(m->graphs);
}

void sw_graphs_forget(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->graphs->execs, i, &slot));)
		exec_free(m, (struct sw_exec *)(uintptr_t)slot.value);
	sw_map_free(&m->graphs->execs);
}

struct sw_exec *sw_exec_of(struct sw_model *m, uint64_t handle)
{
	struct sw_exec *x = sw_map_ptr(&m->graphs->execs, handle);
	if (!x) {
		x = sw_calloc(1, sizeof *x);
		x->handle = handle;
		x->unknown = true; /* until it is described */
		sw_map_put_ptr(&m->graphs->execs, handle, x);
	}
	return x;
}

/* Notes the call that made or updated the executable graph. */
static void take_instance(struct sw_model *m, const struct sw_rec_graph *g, const struct sw_access *call)
{
	struct sw_exec *x = sw_exec_of(m, g->exec);
	x->made = *call;
	if (g->op != SW_GRAPH_INSTANTIATE)
		return;
	x->flags = g->flags;
	/* Work that kernels launch is not seen.  It orders nothing that is: no finding of this context is in doubt. */
	if (g->flags & SW_LAUNCHED_BY_KERNELS) {
		struct sw_finding seen = {.id = SW_FINDING_UNCLASSIFIED_CALL,
					  .severity = SW_NOTE,
					  .confidence = SW_CERTAIN,
					  .accesses = 1,
					  .access[0] = call};
		m->j->coverage.unclassified_calls++;
		sw_collect_add(&m->collect, &seen, NULL);
	}
}

/* Handles the making, the update and the end of an executable graph, and calls that add nodes. */
void sw_on_graph(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_graph *g = (const struct sw_rec_graph *)(const void *)r->rec;
	struct sw_exec *x = sw_map_ptr(&m->graphs->execs, g->exec);
	if (g->op == SW_GRAPH_ADD_NODE) {
		sw_origin_remember(m, &w->what);
	} else if (g->op == SW_GRAPH_EXEC_DESTROY && x) {
		sw_hb_event_destroy(m->hb, sw_exec_node_order(x));
		sw_map_delete(&m->graphs->execs, g->exec);
		exec_free(m, x);
	} else if (g->op == SW_GRAPH_INSTANTIATE || g->op == SW_GRAPH_EXEC_UPDATE) {
		take_instance(m, g, &w->what);
	}
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

/* Bytes of the dependencies in a node's record, which lie before the work of the node. */
static size_t edge_bytes(const struct sw_rec_graph_node *n)
{
	return (n->flags & SW_NODE_EDGES ? 16ull : 8ull) * n->before;
}

/* A copy of the record inside a node's record, which says what the node does; NULL: there is none, or it is damaged. */
static struct sw_rec *work_of(const struct sw_rec_graph_node *n)
{
	size_t room = n->h.words * 8u - sizeof *n, edges = edge_bytes(n);
	if (edges > room || n->work_bytes > room - edges || n->work_bytes < sizeof(struct sw_rec))
		return NULL;
	struct sw_rec *work = sw_alloc(n->work_bytes);
	memcpy(work, (const char *)(n + 1) + edges, n->work_bytes);
	work->flags = 0; /* the work alone, no call */
	size_t least = sw_kind_bytes(work);
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)work;
	bool whole = sw_kind_is_operation(work->kind) && least && least <= n->work_bytes &&
		     (work->kind != SW_REC_LAUNCH || l->param_bytes <= n->work_bytes - sizeof *l);
	if (whole)
		return work;
	free(work);
	return NULL;
}

/* Gives a captured kernel node the function handle of its launch: the driver may return another one for the node, whose
   code is not known. */
static void name_kernel(const struct sw_model *m, const struct sw_graph_node *node)
{
	struct sw_rec_launch *l = (struct sw_rec_launch *)(void *)node->work;
	if (!l || l->h.kind != SW_REC_LAUNCH || l->function == node->made.function)
		return;
	const struct sw_trace_function *recorded = sw_reader_function(m->reader, l->function);
	const struct sw_trace_function *launched = sw_reader_function(m->reader, node->made.function);
	if (recorded && launched && *recorded->name && !strcmp(recorded->name, launched->name))
		l->function = node->made.function;
}

/* Adds a node of an executable graph from its record: its work, and the nodes that it comes after. */
static void node_add(struct sw_model *m, struct sw_exec *x, const struct sw_rec_graph_node *n)
{
	size_t edges = edge_bytes(n);
	if (edges > n->h.words * 8u - sizeof *n) {
		x->unknown = true;
		return;
	}
	struct sw_graph_node node = {.handle = n->node, .parent = n->parent, .type = n->type, .n = n->before};
	node.work = work_of(n);
	node.work_bytes = n->work_bytes;
	node.body = node.perhaps = n->flags & SW_NODE_BODY;
	node.overlaps = n->flags & SW_NODE_EDGES && n->flags & SW_NODE_WEAK && n->type == TYPE_KERNEL;
	if (n->flags & SW_NODE_WEAK && !node.overlaps) /* counted as full dependencies */
		m->j->coverage.edges_for_safety++;
	node.before = edges ? sw_alloc(edges) : NULL;
	if (edges)
		memcpy(node.before, n + 1, edges);
	const struct sw_access *origin = sw_origin_find(m, n->origin);
	if (origin)
		node.made = *origin;
	name_kernel(m, &node);
	/* A child's nodes were copied into the graph by the call that added the child. */
	size_t parent = sw_map_get(&x->index, n->parent);
	if (!node.made.seq && parent)
		node.made = x->nodes.at[parent - 1].made;
	if (parent)
		node.perhaps |= x->nodes.at[parent - 1].perhaps;
	*sw_vec_push(&x->nodes) = node;
	*sw_map_put(&x->index, n->node) = x->nodes.n;
}

/* Removes the nodes that a child graph's node held, at any depth: nodes lie after those that hold them, so one pass
   finds all. */
static void empty_child(struct sw_exec *x, uint64_t child)
{
	struct sw_map gone = {0};
	size_t kept = 0;
	*sw_map_put(&gone, child) = 1;
	sw_map_free(&x->index);
	for (size_t i = 0; i < x->nodes.n; i++) {
		struct sw_graph_node *node = &x->nodes.at[i];
		if (node->parent && sw_map_get(&gone, node->parent)) {
			*sw_map_put(&gone, node->handle) = 1;
			free(node->before);
			free(node->work);
			continue;
		}
		x->nodes.at[kept++] = *node;
		*sw_map_put(&x->index, x->nodes.at[kept - 1].handle) = kept;
	}
	x->expected -= (uint32_t)(x->nodes.n - kept);
	x->nodes.n = kept;
	sw_map_free(&gone);
}

/* Takes the other work that the program gave a node of the executable graph, or the other graph of a child node. */
static void work_change(struct sw_exec *x, struct sw_graph_node *node, const struct sw_rec_graph_node *n)
{
	bool semaphore = node->type == TYPE_SEMAPHORE_SIGNAL || node->type == TYPE_SEMAPHORE_WAIT;
	node->made = x->made;
	if (node->type == TYPE_GRAPH && n->type == TYPE_GRAPH) {
		x->unknown |= n->flags & SW_NODE_INCOMPLETE;
		empty_child(x, n->node); /* `node` may have moved */
		x->expected += n->nodes > UINT32_MAX ? UINT32_MAX : (uint32_t)n->nodes;
		return;
	}
	/* A kernel that had none is one that other kernels change: what it is given now may be changed again. */
	if (node->type == TYPE_KERNEL && !node->work && !x->unknown)
		return;
	free(node->work);
	node->work = work_of(n);
	node->work_bytes = n->work_bytes;
	x->unknown |= !node->work && !semaphore;
}

/* Takes a change of a node of the executable graph, or that it was enabled or disabled. */
static void node_change(struct sw_exec *x, const struct sw_rec_graph_node *n)
{
	size_t place = sw_map_get(&x->index, n->node);
	if (!place) /* of a graph that this exec was updated from meanwhile */
		x->unknown = true;
	else if (n->flags & SW_NODE_CHANGED)
		work_change(x, &x->nodes.at[place - 1], n);
	else
		x->nodes.at[place - 1].disabled = n->flags & SW_NODE_DISABLED;
}

/* Handles the description of a node of an executable graph, or of its change, after a head that says how many nodes
   follow. */
void sw_on_graph_node(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_graph_node *n = (const struct sw_rec_graph_node *)(const void *)r->rec;
	struct sw_exec *x = sw_exec_of(m, n->exec);
	(void)w;
	sw_exec_unlist(m, x);
	if (n->flags & SW_NODE_HEAD) {
		exec_empty(m, x);
		x->expected = n->nodes > UINT32_MAX ? UINT32_MAX : (uint32_t)n->nodes;
		x->unknown = n->flags & SW_NODE_INCOMPLETE;
	} else if (n->flags & (SW_NODE_CHANGED | SW_NODE_ENABLED | SW_NODE_DISABLED)) {
		node_change(x, n);
	} else {
		node_add(m, x, n);
	}
}

/* The call that made the node.  Where the other node is in another graph: the call that made the node around it (a
   child graph, a conditional node) in the graph that holds both, since dependencies are between nodes of one graph. seq
   0: it is not known. */
static struct sw_named_call sibling(const struct sw_exec *x, const struct sw_graph_node *node,
				    const struct sw_graph_node *other)
{
	for (; node; node = sw_node_parent(x, node))
		for (const struct sw_graph_node *at = other; at; at = sw_node_parent(x, at))
			if (at->parent == node->parent && at != node)
				return (struct sw_named_call){node->made.seq, node->made.stack, node->made.api,
							      node->made.flags};
	return (struct sw_named_call){0};
}

struct sw_node_pair sw_exec_find_dependency(const struct sw_exec *x, uint32_t a, uint32_t b)
{
	const struct sw_named_call one = sibling(x, &x->nodes.at[a], &x->nodes.at[b]);
	const struct sw_named_call other = sibling(x, &x->nodes.at[b], &x->nodes.at[a]);
	return other.seq < one.seq ? (struct sw_node_pair){other, one} : (struct sw_node_pair){one, other};
}

/* ---- memory of the graph ----------------------------------------------------------------------------------------- */

/* Is every byte of the use touched, whatever the data? */
static bool is_sure(const struct sw_range *range)
{
	return !range->perhaps &&
	       (range->evidence == SW_EV_EXACT ||
		(range->evidence == SW_EV_FOOTPRINT && range->bounded && !range->loose && !range->polls));
}

/* Reports a use that no path leads to from the node that allocates the memory. */
static void report_unborn(struct sw_model *m, const struct sw_graph_node *alloc, const struct sw_listed *use)
{
	const bool known = alloc->made.seq;
	struct sw_access side[2] = {known ? alloc->made : use->use->block->born, use->use->access};
	struct sw_finding seen = {
		.id = SW_FINDING_USE_BEFORE_ALLOC,
		.severity = SW_ERROR,
		.confidence = SW_CERTAIN,
		.basis = SW_BASIS_DOCUMENTED,
		.accesses = 2,
		.access = {&side[0], &side[1]},
		.fix = known && side[0].stream && side[1].stream ? SW_FIX_EVENT_CAPTURED : SW_FIX_USE_NODE_LATER,
		.fix_stream = side[0].stream,
		.fix_call.seq = side[0].seq,
	};
	side[0].role = SW_ALLOC;
	side[0].node = alloc->made.seq;
	sw_hazard_lower(m, &seen, m->record->rec->ctx);
	if (sw_hazard_is_dropped(m, &seen))
		return;
	side[0].allocation = side[1].allocation = sw_model_mention(m, use->use->block);
	sw_collect_nodes(&m->collect, sw_collect_add(&m->collect, &seen, NULL),
			 &(struct sw_node_pair){
				 {side[0].node, side[0].stack, side[0].api, side[0].flags},
				 {side[1].node, side[1].stack, side[1].api, side[1].flags},
			 });
}

bool sw_exec_allocates(const struct sw_exec *x, uint64_t address)
{
	for (size_t i = 0; x && x->branches && i < x->nodes.n; i++) {
		const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)x->nodes.at[i].work;
		if (a && a->h.kind == SW_REC_ALLOC && a->address == address)
			return true;
	}
	return false;
}

typedef SW_VEC(uint32_t) node_vec;

/* The first of these nodes that allocates the memory of the use, NULL: none does.  *ordered: one of them comes before
   the use.  CUDA may give memory that the graph has freed to a later node of it, at the same address. */
static const struct sw_graph_node *allocation_of(const struct sw_exec *x, const struct sw_paths *paths,
						 const node_vec *allocs, const struct sw_listed *l, bool *ordered)
{
	const struct sw_graph_node *first = NULL;
	*ordered = false;
	for (size_t i = 0; i < allocs->n; i++) {
		const struct sw_graph_node *node = &x->nodes.at[allocs->at[i]];
		const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)node->work;
		if (a->address != l->use->block->address)
			continue;
		*ordered |= node->perhaps || node->disabled || sw_paths_before(paths, allocs->at[i], l->node);
		first = first ? first : node;
	}
	return first;
}

/* So many are compared with each use. */
#define SW_MAX_GRAPH_ALLOCS 1024u

void sw_exec_judge_allocations(struct sw_model *m, const struct sw_exec *x, const struct sw_paths *paths)
{
	node_vec allocs = {0};
	for (size_t i = 0; i < x->nodes.n && allocs.n <= SW_MAX_GRAPH_ALLOCS; i++)
		if (x->nodes.at[i].work && x->nodes.at[i].work->kind == SW_REC_ALLOC)
			*sw_vec_push(&allocs) = (uint32_t)i;
	if (allocs.n > SW_MAX_GRAPH_ALLOCS)
		m->j->coverage.uncompared_graphs++;
	for (size_t k = 0; allocs.n && allocs.n <= SW_MAX_GRAPH_ALLOCS && k < x->touches.at.n; k++) {
		const struct sw_listed *l = &x->touches.at.at[k];
		bool ordered;
		if (!l->use || !is_sure(&l->use->range) || x->nodes.at[l->node].perhaps)
			continue;
		const struct sw_graph_node *alloc = allocation_of(x, paths, &allocs, l, &ordered);
		if (alloc && !ordered)
			report_unborn(m, alloc, l);
	}
	free(allocs.at);
}
