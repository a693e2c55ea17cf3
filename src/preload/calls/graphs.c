/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/calls/graphs.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "preload/intercept/hook_state.h"
#include "preload/platform/sys.h"

/* Bounds of a description; a truncated one says so. */
#define MAX_NODES 65536u /* of an executable graph */
#define MAX_DEPTH 16u	 /* child graphs in child graphs */

/* ---- queries of the driver
   ------------------------------------------------------------------------------------------------------ */

struct walk {
	const struct sw_call *call;
	CUgraphExec exec;
	bool write;	/* else counted and hashed only */
	bool lost;	/* some query failed */
	uint32_t nodes; /* so far */
	uint32_t flags; /* SW_NODE_* of the current node */
	uint64_t hash;
	struct scratch *scratch;
};

struct scratch {
	uint64_t room[SW_NODE_BYTES / 8 + 1];
	CUgraphNode before[SW_MAX_BEFORE];
	CUgraphEdgeData edges[SW_MAX_BEFORE];
	uint64_t edge[SW_MAX_BEFORE]; /* with SW_NODE_EDGES: SW_EDGE_OF each */
};

/* Asks the driver on which nodes this one depends, and how (programmatic edges do not wait for the end of the work).
   Fills the scratch; returns how many, 0 also when the driver fails. */
static size_t ask_before(struct walk *walk, CUgraphNode node)
{
	__typeof__(&cuGraphNodeGetDependencies_v2) ask = SW_REAL(cuGraphNodeGetDependencies_v2);
	__typeof__(&cuGraphNodeGetDependencies) ask_old = SW_REAL(cuGraphNodeGetDependencies);
	struct scratch *scratch = walk->scratch;
	size_t n = 0, room = SW_MAX_BEFORE;
	CUresult status = CUDA_ERROR_NOT_FOUND;

	if (ask)
		status = ask(node, NULL, NULL, &n);
	else if (ask_old)
		status = ask_old(node, NULL, &n);
	if (status == CUDA_SUCCESS && n && n <= room) {
		room = n;
		status =
			ask ? ask(node, scratch->before, scratch->edges, &room) : ask_old(node, scratch->before, &room);
		n = room < n ? room : n;
	}
	if (status != CUDA_SUCCESS || n > SW_MAX_BEFORE) {
		walk->lost = true;
		return 0;
	}
	for (size_t i = 0; ask && i < n; i++) {
		const CUgraphEdgeData *e = &scratch->edges[i];

		scratch->edge[i] = SW_EDGE_OF(e->type, e->from_port, e->to_port);
		if (e->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
			walk->flags |= SW_NODE_WEAK;
		if (scratch->edge[i])
			walk->flags |= SW_NODE_EDGES;
	}
	return n;
}

/* Begins a GRAPH_NODE record with `more` bytes after its structure; all fields but exec are 0.  NULL: lost. */
static struct sw_rec_graph_node *node_begin(const struct sw_call *call, CUgraphExec exec, size_t more)
{
	struct sw_rec_graph_node *r = sw_describe(SW_REC_GRAPH_NODE, sizeof *r + more, true);

	if (!r)
		return NULL;
	memset(&r->h + 1, 0, sizeof *r - sizeof r->h);
	r->h.ctx = call->ctx;
	r->exec = SW_WORD(exec);
	return r;
}

/* Writes one node: where it lies in the graph (`parent`: the node that holds it), on how many nodes it depends
   (`before`), and its work (`bytes`), which are in the scratch. */
static void node_write(struct walk *walk, CUgraphNode node, CUgraphNodeType type, uint64_t parent, size_t before,
		       size_t bytes)
{
	const size_t edges = before * sizeof(uint64_t), kinds = walk->flags & SW_NODE_EDGES ? edges : 0;
	struct sw_rec_graph_node *r = node_begin(walk->call, walk->exec, edges + kinds + bytes);

	if (!r)
		return;
	r->node = SW_WORD(node);
	r->parent = parent;
	r->origin = sw_table_get(&sw_state()->by_node, SW_WORD(node));
	r->type = type;
	r->flags = walk->flags;
	r->before = (uint32_t)before;
	r->work_bytes = (uint32_t)bytes;
	memcpy(r + 1, walk->scratch->before, edges);
	memcpy((char *)(r + 1) + edges, walk->scratch->edge, kinds);
	memcpy((char *)(r + 1) + edges + kinds, walk->scratch->room, bytes);
	sw_describe_done(r);
}

/* Adds a node to the hash of the graph, its dependencies as distances instead of handles: a graph that is captured
   again in every round has other handles, and is equal if its nodes are, in their order. */
static void node_hash(struct walk *walk, const CUgraphNode *nodes, size_t at, CUgraphNodeType type, size_t before,
		      size_t bytes)
{
	walk->hash = sw_hash_u64(walk->hash ^ (uint64_t)type << 32 ^ before);
	for (size_t i = 0; i < before; i++) {
		size_t back = 1;

		while (back <= at && nodes[at - back] != walk->scratch->before[i])
			back++;
		/* A node that comes later in the list is identified by its handle. */
		walk->hash = sw_hash_u64(walk->hash ^ (back <= at ? back : SW_WORD(walk->scratch->before[i])));
		if (walk->flags & SW_NODE_EDGES)
			walk->hash = sw_hash_u64(walk->hash ^ walk->scratch->edge[i]);
	}
	if (bytes)
		walk->hash = sw_hash_u64(walk->hash ^ sw_hash_words(walk->scratch->room, bytes));
}

static void graph_walk(struct walk *walk, CUgraph graph, uint64_t parent, unsigned int depth);

/* Bodies of a conditional node: each is recorded as a node of its own that holds its nodes. */
static void bodies_walk(struct walk *walk, CUgraphNode node, unsigned int depth)
{
	const struct sw_table *known = &sw_state()->by_node;
	const uint64_t n = sw_table_get(known, sw_graphs_body(SW_WORD(node), 0));

	walk->lost |= !n;
	for (uint32_t i = 1; i <= n; i++) {
		const CUgraph body = (CUgraph)(uintptr_t)sw_table_get(known, sw_graphs_body(SW_WORD(node), i));

		if (!body || walk->nodes >= MAX_NODES) {
			walk->lost = true;
			return;
		}
		walk->nodes++;
		walk->flags = SW_NODE_BODY;
		if (walk->write)
			node_write(walk, (CUgraphNode)body, CU_GRAPH_NODE_TYPE_GRAPH, SW_WORD(node), 0, 0);
		else
			node_hash(walk, NULL, 0, CU_GRAPH_NODE_TYPE_GRAPH, 0, 0);
		graph_walk(walk, body, SW_WORD(body), depth + 1);
	}
}

/* Visits node `at` of the list and, if it holds a child graph or bodies, the nodes in them. */
static void node_walk(struct walk *walk, const CUgraphNode *nodes, size_t at, uint64_t parent, unsigned int depth)
{
	const CUgraphNode node = nodes[at];
	__typeof__(&cuGraphNodeGetType) ask = SW_REAL(cuGraphNodeGetType);
	__typeof__(&cuGraphChildGraphNodeGetGraph) child_of = SW_REAL(cuGraphChildGraphNodeGetGraph);
	CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
	CUgraph child = NULL;
	size_t before, bytes;

	if (!ask || ask(node, &type) != CUDA_SUCCESS || walk->nodes >= MAX_NODES) {
		walk->lost = true;
		return;
	}
	walk->nodes++;
	walk->flags = 0;
	before = ask_before(walk, node);
	bytes = sw_node_ask(node, type, walk->scratch->room);
	if (walk->write)
		node_write(walk, node, type, parent, before, bytes);
	else
		node_hash(walk, nodes, at, type, before, bytes);
	if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		bodies_walk(walk, node, depth);
	if (type != CU_GRAPH_NODE_TYPE_GRAPH)
		return;
	if (child_of && child_of(node, &child) == CUDA_SUCCESS)
		graph_walk(walk, child, SW_WORD(node), depth + 1);
	else
		walk->lost = true;
}

/* Visits all nodes of a graph: hashes them, or writes them (walk->write).  `parent`: the node that holds the graph, 0:
   none; what cannot be asked sets walk->lost. */
static void graph_walk(struct walk *walk, CUgraph graph, uint64_t parent, unsigned int depth)
{
	__typeof__(&cuGraphGetNodes) ask = SW_REAL(cuGraphGetNodes);
	CUgraphNode *nodes;
	size_t n = 0, got;
	int error;

	if (!ask || depth > MAX_DEPTH || ask(graph, NULL, &n) != CUDA_SUCCESS || n > MAX_NODES) {
		walk->lost = true;
		return;
	}
	if (!n)
		return;
	nodes = sw_sys_map(-1, 0, n * sizeof *nodes, &error);
	got = n;
	if (!nodes || ask(graph, nodes, &got) != CUDA_SUCCESS)
		walk->lost = true;
	else
		for (size_t i = 0; i < got && i < n; i++)
			node_walk(walk, nodes, i, parent, depth);
	if (nodes)
		sw_sys_unmap(nodes, n * sizeof *nodes);
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

/* Keeps the hash of what an executable graph consists of; 0: forgets it. */
static void exec_remember(CUgraphExec exec, uint64_t hash)
{
	struct sw_state *state = sw_state();
	const uint64_t mask = sw_state_lock(state);

	if (hash)
		sw_table_put(&state->by_exec, SW_WORD(exec), hash);
	else
		sw_table_delete(&state->by_exec, SW_WORD(exec));
	sw_state_unlock(state, mask);
}

/* Writes the nodes of a graph that was instantiated or updated.  An update to equal nodes, the usual one, writes
   nothing; `fresh`: the handle is new, so it always writes. */
static void exec_describe(const struct sw_call *call, CUgraph graph, CUgraphExec exec, bool fresh)
{
	struct walk walk = {.call = call, .exec = exec, .hash = 1};
	struct sw_rec_graph_node *head;
	int error;

	walk.scratch = sw_sys_map(-1, 0, sizeof *walk.scratch, &error);
	if (walk.scratch)
		graph_walk(&walk, graph, 0, 0);
	else
		walk.lost = true;
	if (fresh || sw_table_get(&sw_state()->by_exec, SW_WORD(exec)) != walk.hash) {
		head = node_begin(call, exec, 0);
		if (head) {
			head->flags = SW_NODE_HEAD | (walk.lost ? SW_NODE_INCOMPLETE : 0);
			head->nodes = walk.nodes;
			sw_describe_done(head);
		}
		walk.write = true;
		walk.nodes = 0;
		if (walk.scratch)
			graph_walk(&walk, graph, 0, 0);
		exec_remember(exec, walk.lost ? 0 : walk.hash);
	}
	if (walk.scratch)
		sw_sys_unmap(walk.scratch, sizeof *walk.scratch);
}

/* The nodes of a clone have the origins (the calls that made them) of the original's. */
static void clone_remember(CUgraph clone, CUgraph original)
{
	__typeof__(&cuGraphGetNodes) ask = SW_REAL(cuGraphGetNodes);
	__typeof__(&cuGraphNodeFindInClone) find = SW_REAL(cuGraphNodeFindInClone);
	CUgraphNode *nodes, twin;
	size_t n = 0, got;
	int error;

	if (!ask || !find || ask(original, NULL, &n) != CUDA_SUCCESS || !n || n > MAX_NODES)
		return;
	nodes = sw_sys_map(-1, 0, n * sizeof *nodes, &error);
	got = n;
	if (!nodes)
		return;
	if (ask(original, nodes, &got) == CUDA_SUCCESS)
		for (size_t i = 0; i < got && i < n; i++)
			if (find(&twin, nodes[i], clone) == CUDA_SUCCESS)
				sw_graphs_origin(SW_WORD(twin), sw_table_get(&sw_state()->by_node, SW_WORD(nodes[i])));
	sw_sys_unmap(nodes, n * sizeof *nodes);
}

/* After a call that made, copied, instantiated, updated or destroyed a graph: describes the nodes of executable graphs,
   and keeps what clones and handles stand for. */
void sw_graphs_changed(const struct sw_call *call, enum sw_graph_op op, uint64_t graph, uint64_t exec)
{
	const CUgraph g = (CUgraph)(uintptr_t)graph;
	const CUgraphExec x = (CUgraphExec)(uintptr_t)exec;
	const int saved = errno;

	if (op == SW_GRAPH_CLONE)
		clone_remember(g, (CUgraph)x);
	else if (op == SW_GRAPH_INSTANTIATE || op == SW_GRAPH_EXEC_UPDATE)
		exec_describe(call, g, x, op == SW_GRAPH_INSTANTIATE);
	else if (op == SW_GRAPH_EXEC_DESTROY)
		exec_remember(x, 0);
	errno = saved;
}

/* Records the node's new work.  What was remembered of the executable graph's description does not hold any more. */
void sw_graphs_node_changed(const struct sw_call *call, CUgraphExec exec, CUgraphNode node,
			    const struct sw_node_work *work)
{
	uint64_t room[SW_NODE_BYTES / 8 + 1];
	const size_t bytes = sw_node_record(work, room);
	struct sw_rec_graph_node *r = node_begin(call, exec, bytes);

	if (r) {
		r->node = SW_WORD(node);
		r->type = work->type;
		r->flags = SW_NODE_CHANGED;
		r->work_bytes = (uint32_t)bytes;
		memcpy(r + 1, room, bytes);
		sw_describe_done(r);
	}
	exec_remember(exec, 0);
}

/* Records the new child graph of a node.  The graph is walked through twice: to count its nodes, since their number
   comes first, then to write them. */
void sw_graphs_child_changed(const struct sw_call *call, CUgraphExec exec, CUgraphNode node, CUgraph child)
{
	struct walk walk = {.call = call, .exec = exec, .hash = 1};
	struct sw_rec_graph_node *r;
	int error;
	const int saved = errno;

	walk.scratch = sw_sys_map(-1, 0, sizeof *walk.scratch, &error);
	if (walk.scratch)
		graph_walk(&walk, child, SW_WORD(node), 1);
	r = node_begin(call, exec, 0);
	if (r) {
		r->node = SW_WORD(node);
		r->type = CU_GRAPH_NODE_TYPE_GRAPH;
		r->flags = SW_NODE_CHANGED | (walk.lost || !walk.scratch ? SW_NODE_INCOMPLETE : 0);
		r->nodes = walk.nodes;
		sw_describe_done(r);
	}
	walk.write = true;
	walk.nodes = 0;
	if (walk.scratch) {
		graph_walk(&walk, child, SW_WORD(node), 1);
		sw_sys_unmap(walk.scratch, sizeof *walk.scratch);
	}
	exec_remember(exec, 0);
	errno = saved;
}

/* Records the change of a node of any type, for cuGraphExecNodeSetParams(). */
void sw_graphs_any_changed(const struct sw_call *call, CUgraphExec exec, CUgraphNode node,
			   const CUgraphNodeParams *params)
{
	if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
		sw_graphs_child_changed(call, exec, node, params->graph.graph);
	else
		sw_graphs_node_changed(call, exec, node, &(struct sw_node_work){params->type, sw_node_params(params)});
}

/* Records that a node of an executable graph is skipped from now on, or is not any more. */
void sw_graphs_node_enabled(const struct sw_call *call, CUgraphExec exec, CUgraphNode node, bool enabled)
{
	struct sw_rec_graph_node *r = node_begin(call, exec, 0);

	if (r) {
		r->node = SW_WORD(node);
		r->flags = enabled ? SW_NODE_ENABLED : SW_NODE_DISABLED;
		sw_describe_done(r);
	}
	exec_remember(exec, 0);
}
