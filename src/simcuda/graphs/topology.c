/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as a whole: made, copied, asked for their nodes and edges, updated. */
#include "simcuda/sim.h"

#include <stdlib.h>
#include <string.h>

typedef SW_VEC(struct sw_sim_node *) node_list;

/* Answers a query for a list of nodes as all of them do: without an array only *count is set; a longer array is filled
   up with NULL. */
static CUresult give_nodes(const struct sw_sim_node *const *nodes, size_t n, CUgraphNode *out, size_t *count)
{
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; out && i < *count; i++)
		out[i] = i < n ? (CUgraphNode)(uintptr_t)nodes[i] : NULL;
	if (!out || *count > n)
		*count = n;
	return CUDA_SUCCESS;
}

#define GIVE(list, out, count) give_nodes((const struct sw_sim_node *const *)(list)->at, (list)->n, out, count)

CUresult cuGraphCreate(CUgraph *out, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUgraph)sw_sim_graph_new();
	return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	if (!graph || graph->owned)
		return CUDA_ERROR_INVALID_VALUE;
	sw_sim_graph_free(graph);
	return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *out, CUgraph handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	if (!graph || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUgraph)sw_sim_graph_copy(graph, true);
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	for (size_t i = 0; out && graph && i < graph->nodes.n; i++)
		if (graph->nodes.at[i]->origin == (struct sw_sim_node *)original) {
			*out = (CUgraphNode)graph->nodes.at[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphDestroyNode(CUgraphNode handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	sw_sim_graph_remove(node);
	return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *out, size_t *count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	return graph ? GIVE(&graph->nodes, out, count) : CUDA_ERROR_INVALID_VALUE;
}

/* Nodes that depend on no other. */
CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode *out, size_t *count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	node_list roots = {0};
	for (size_t i = 0; graph && i < graph->nodes.n; i++)
		if (!graph->nodes.at[i]->before.n)
			*sw_vec_push(&roots) = graph->nodes.at[i];
	CUresult result = graph ? GIVE(&roots, out, count) : CUDA_ERROR_INVALID_VALUE;
	free(roots.at);
	return result;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode *out, size_t *count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	return node ? GIVE(&node->before, out, count) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *out, CUgraphEdgeData *edges, size_t *count)
{
	CUresult result = cuGraphNodeGetDependencies(handle, out, count);
	if (result || !edges)
		return result;
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	for (size_t i = 0; node && i < *count && i < node->edge.n; i++)
		edges[i] = node->edge.at[i];
	return CUDA_SUCCESS;
}

/* Nodes that depend on this one. */
CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode *out, size_t *count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	node_list later = {0};
	for (size_t i = 0; node && i < node->graph->nodes.n; i++)
		for (size_t j = 0; j < node->graph->nodes.at[i]->before.n; j++)
			if (node->graph->nodes.at[i]->before.at[j] == node)
				*sw_vec_push(&later) = node->graph->nodes.at[i];
	CUresult result = node ? GIVE(&later, out, count) : CUDA_ERROR_INVALID_VALUE;
	free(later.at);
	return result;
}

/* As cuGraphNodeGetDependentNodes(), with the edges to them. */
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *out, CUgraphEdgeData *edges, size_t *count)
{
	CUresult result = cuGraphNodeGetDependentNodes(handle, out, count);
	if (result || !edges)
		return result;
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_node *node = sw_sim_object_get(handle, SW_SIM_NODE);
	size_t n = 0;
	for (size_t i = 0; node && i < node->graph->nodes.n; i++)
		for (size_t j = 0; j < node->graph->nodes.at[i]->before.n && n < *count; j++)
			if (node->graph->nodes.at[i]->before.at[j] == node)
				edges[n++] = node->graph->nodes.at[i]->edge.at[j];
	return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	if (!graph || !count || !from != !to)
		return CUDA_ERROR_INVALID_VALUE;
	node_list before = {0}, after = {0};
	for (size_t i = 0; i < graph->nodes.n; i++)
		for (size_t j = 0; j < graph->nodes.at[i]->before.n; j++) {
			*sw_vec_push(&before) = graph->nodes.at[i]->before.at[j];
			*sw_vec_push(&after) = graph->nodes.at[i];
		}
	size_t same = *count;
	CUresult result = GIVE(&before, from, count);
	if (!result)
		result = GIVE(&after, to, &same);
	free(before.at);
	free(after.at);
	return result;
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges, size_t *count)
{
	CUresult result = cuGraphGetEdges(handle, from, to, count);
	if (result || !edges)
		return result;
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	size_t n = 0;
	for (size_t i = 0; graph && i < graph->nodes.n; i++)
		for (size_t j = 0; j < graph->nodes.at[i]->before.n && n < *count; j++)
			edges[n++] = graph->nodes.at[i]->edge.at[j];
	return CUDA_SUCCESS;
}

/* Adds or removes `n` edges. */
static CUresult change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
			     const CUgraphEdgeData *data, size_t n, bool add)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	if (!graph || (n && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) {
		struct sw_sim_node *before = sw_sim_object_get(from[i], SW_SIM_NODE);
		struct sw_sim_node *after = sw_sim_object_get(to[i], SW_SIM_NODE);
		if (!before || !after || before == after || before->graph != graph || after->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
		if (add)
			sw_sim_node_depend(after, before, data ? &data[i] : NULL);
		else if (!sw_sim_node_undepend(after, before))
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	return change_edges(graph, from, to, NULL, n, true);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				   const CUgraphEdgeData *data, size_t n)
{
	return change_edges(graph, from, to, data, n, true);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	return change_edges(graph, from, to, NULL, n, false);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				      const CUgraphEdgeData *data, size_t n)
{
	return change_edges(graph, from, to, data, n, false);
}

/* ---- updating an executable graph from another graph of the same shape ---- */

/* Have two sorted graphs the same nodes and edges in the same order?  *different: the first node of b that does not
   fit. */
static bool same_shape(const struct sw_sim_graph *a, const struct sw_sim_graph *b, const struct sw_sim_node **different)
{
	*different = NULL;
	if (a->nodes.n != b->nodes.n)
		return false;
	for (size_t i = 0; i < a->nodes.n; i++)
		a->nodes.at[i]->twin = b->nodes.at[i];
	for (size_t i = 0; i < a->nodes.n; i++) {
		const struct sw_sim_node *x = a->nodes.at[i], *y = b->nodes.at[i];
		bool same = x->work->type == y->work->type && x->before.n == y->before.n;
		for (size_t j = 0; same && j < x->before.n; j++)
			same = x->before.at[j]->twin == y->before.at[j];
		if (!same) {
			*different = y;
			return false;
		}
	}
	return true;
}

/* Replaces the executable graph's nodes by those of a graph of the same shape; else an error that names a node. */
CUresult cuGraphExecUpdate_v2(CUgraphExec exec_handle, CUgraph handle, CUgraphExecUpdateResultInfo *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_exec *exec = sw_sim_object_get(exec_handle, SW_SIM_EXEC), *fresh;
	struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	const struct sw_sim_node *different;
	if (!exec || !graph || !out)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sw_sim_exec_new(graph, 0, &fresh);
	if (result)
		return result;
	struct sw_sim_graph *sorted = sw_sim_exec_take(fresh);
	bool same = same_shape(exec->graph, sorted, &different);
	*out = (CUgraphExecUpdateResultInfo){.result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS
							    : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
					     .errorNode = different ? (CUgraphNode)different->origin : NULL};
	if (same) { /* nodes keep answering for those they were made from first */
		for (size_t i = 0; i < sorted->nodes.n; i++)
			sorted->nodes.at[i]->origin = exec->graph->nodes.at[i]->origin;
		struct sw_sim_graph *old = exec->graph;
		sw_sim_held_until(old, exec->last);
		exec->graph = sorted;
		sorted = old;
	}
	sw_sim_graph_free(sorted);
	return same ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node, CUgraphExecUpdateResult *out)
{
	CUgraphExecUpdateResultInfo info = {0};
	CUresult result = cuGraphExecUpdate_v2(exec, graph, &info);
	if (node)
		*node = info.errorNode;
	if (out)
		*out = info.result;
	return result;
}
