/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: nodes that share their work with the operations made from them; execution. */
#include "simcuda/sim.h"

#include <stdlib.h>
#include <string.h>

/* An empty graph; graphs belong to no context. */
struct sw_sim_graph *sw_sim_graph_new(void)
{
	struct sw_sim_graph *graph = sw_calloc(1, sizeof *graph);
	sw_sim_object_add(graph, SW_SIM_GRAPH, NULL);
	return graph;
}

/* Ends one node; edges to it must be gone. */
static void node_free(struct sw_sim_node *node)
{
	sw_sim_object_remove(node);
	sw_sim_work_put(node->work);
	free(node->before.at);
	free(node->edge.at);
	free(node);
}

/* Frees a graph with its nodes and the user objects that it holds. */
void sw_sim_graph_free(struct sw_sim_graph *graph)
{
	for (size_t i = 0; i < graph->nodes.n; i++)
		node_free(graph->nodes.at[i]);
	free(graph->nodes.at);
	sw_sim_held_free(graph);
	sw_sim_object_remove(graph);
	free(graph);
}

/* Adds a node without dependencies; the work is taken over. */
struct sw_sim_node *sw_sim_graph_add(struct sw_sim_graph *graph, struct sw_sim_work *work)
{
	struct sw_sim_node *node = sw_calloc(1, sizeof *node);
	sw_sim_object_add(node, SW_SIM_NODE, NULL);
	node->graph = graph;
	node->work = work;
	*sw_vec_push(&graph->nodes) = node;
	return node;
}

/* Lets the node wait for another one, once.  Edge NULL: a plain dependency. */
void sw_sim_node_depend(struct sw_sim_node *node, struct sw_sim_node *before, const CUgraphEdgeData *edge)
{
	static const CUgraphEdgeData plain;
	for (size_t i = 0; i < node->before.n; i++)
		if (node->before.at[i] == before)
			return;
	*sw_vec_push(&node->before) = before;
	*sw_vec_push(&node->edge) = edge ? *edge : plain;
}

/* Removes a dependency; false: there is none. */
bool sw_sim_node_undepend(struct sw_sim_node *node, const struct sw_sim_node *before)
{
	for (size_t i = 0; i < node->before.n; i++) {
		if (node->before.at[i] != before)
			continue;
		size_t rest = --node->before.n - i;
		node->edge.n--;
		memmove(&node->before.at[i], &node->before.at[i + 1], rest * sizeof *node->before.at);
		memmove(&node->edge.at[i], &node->edge.at[i + 1], rest * sizeof *node->edge.at);
		return true;
	}
	return false;
}

/* Removes a node, and the dependencies on it. */
void sw_sim_graph_remove(struct sw_sim_node *node)
{
	struct sw_sim_graph *graph = node->graph;
	size_t kept = 0;
	for (size_t i = 0; i < graph->nodes.n; i++) {
		struct sw_sim_node *other = graph->nodes.at[i];
		sw_sim_node_undepend(other, node);
		if (other != node)
			graph->nodes.at[kept++] = other;
	}
	graph->nodes.n = kept;
	node_free(node);
}

/* Copies a graph: nodes share their work.  `link`: each node of the copy knows which one it was made of, for
   cuGraphNodeFindInClone() and changes of executable graphs. */
struct sw_sim_graph *sw_sim_graph_copy(const struct sw_sim_graph *from, bool link)
{
	struct sw_sim_graph *to = sw_sim_graph_new();
	for (size_t i = 0; i < from->nodes.n; i++) {
		struct sw_sim_node *node = from->nodes.at[i];
		node->twin = sw_sim_graph_add(to, sw_sim_work_get(node->work));
		node->twin->disabled = node->disabled;
		node->twin->origin = link ? node : NULL;
	}
	for (size_t i = 0; i < from->nodes.n; i++)
		for (size_t j = 0; j < from->nodes.at[i]->before.n; j++)
			sw_sim_node_depend(from->nodes.at[i]->twin, from->nodes.at[i]->before.at[j]->twin,
					   &from->nodes.at[i]->edge.at[j]);
	sw_sim_held_copy(to, from);
	return to;
}

/* Sorts every node after its dependencies; false: there is a cycle. */
static bool sort_nodes(struct sw_sim_graph *graph)
{
	struct sw_map placed = {0};
	SW_VEC(struct sw_sim_node *) sorted = {0};
	sw_vec_reserve(&sorted, graph->nodes.n);
	for (size_t before = ~(size_t)0; sorted.n < graph->nodes.n && before != sorted.n;) {
		before = sorted.n;
		for (size_t i = 0; i < graph->nodes.n; i++) {
			struct sw_sim_node *node = graph->nodes.at[i];
			bool ready = !sw_map_find(&placed, (uintptr_t)node);
			for (size_t j = 0; ready && j < node->before.n; j++)
				ready = sw_map_find(&placed, (uintptr_t)node->before.at[j]) != NULL;
			if (ready) {
				*sw_map_put(&placed, (uintptr_t)node) = 1;
				*sw_vec_push(&sorted) = node;
			}
		}
	}
	bool all = sorted.n == graph->nodes.n;
	sw_map_free(&placed);
	if (all) {
		free(graph->nodes.at);
		graph->nodes.at = sorted.at;
		graph->nodes.room = sorted.room;
	} else {
		free(sorted.at);
	}
	return all;
}

/* Sorts the bodies of conditional nodes, which are filled after their node was made; false: there is a cycle. */
static bool sort_bodies(const struct sw_sim_graph *graph)
{
	bool sorted = true;
	for (size_t i = 0; i < graph->nodes.n; i++) {
		const struct sw_sim_work *work = graph->nodes.at[i]->work;
		for (unsigned k = 0; work->bodies && k < work->parts; k++)
			sorted = sorted && sort_nodes(work->bodies[k]) && sort_bodies(work->bodies[k]);
	}
	return sorted;
}

/* Instantiates a graph: copies it and sorts the nodes, so that each comes after those that it depends on.  A cycle
   fails. */
CUresult sw_sim_exec_new(struct sw_sim_graph *graph, unsigned long long flags, struct sw_sim_exec **out)
{
	struct sw_sim_graph *copy = sw_sim_graph_copy(graph, true);
	if (!sort_nodes(copy) || !sort_bodies(copy)) {
		sw_sim_graph_free(copy);
		return CUDA_ERROR_INVALID_VALUE;
	}
	struct sw_sim_exec *exec = sw_calloc(1, sizeof *exec);
	exec->graph = copy;
	exec->flags = flags;
	sw_sim_object_add(exec, SW_SIM_EXEC, NULL);
	*out = exec;
	return CUDA_SUCCESS;
}

/* Takes the sorted graph out of an executable graph that was never launched. */
struct sw_sim_graph *sw_sim_exec_take(struct sw_sim_exec *exec)
{
	struct sw_sim_graph *graph = exec->graph;
	graph->owned = true;
	sw_sim_object_remove(exec);
	free(exec);
	return graph;
}

static struct sw_sim_op *run_nodes(struct sw_sim_graph *graph, struct sw_sim_op *first);

/* The operation that stands for a node; unsubmitted, ordered after nothing yet. */
static struct sw_sim_op *node_begin(const struct sw_sim_node *node)
{
	struct sw_sim_work *work = node->work;
	bool bare = node->disabled || work->type == CU_GRAPH_NODE_TYPE_EMPTY ||
		    work->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT || work->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ||
		    work->type == CU_GRAPH_NODE_TYPE_GRAPH;
	return sw_sim_op_new(bare ? NULL : sw_sim_work_get(work));
}

/* Submits a node's operation: waits for, or becomes, its event; a child graph runs after it. */
static void node_submit(struct sw_sim_node *node, struct sw_sim_op *op)
{
	struct sw_sim_work *work = node->work;
	bool names_event = work->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT || work->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
	/* The event may have been destroyed since: then the node does nothing. */
	struct sw_sim_event *event =
		names_event && !node->disabled ? sw_sim_object_get(work->event, SW_SIM_EVENT) : NULL;
	if (event && work->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
		sw_sim_op_after(op, event->op);
	sw_sim_op_submit(op);
	if (event && work->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
		sw_sim_op_set(&event->op, op);
	node->op = op;
	if (work->type == CU_GRAPH_NODE_TYPE_GRAPH && work->child && !node->disabled) {
		node->op = run_nodes(work->child, op);
		sw_sim_op_put(op);
	}
}

/* Submits all nodes of a sorted graph after `first`; the result (a reference) ends when all of them have ended. */
static struct sw_sim_op *run_nodes(struct sw_sim_graph *graph, struct sw_sim_op *first)
{
	struct sw_sim_op *last = sw_sim_op_new(NULL);
	sw_sim_op_after(last, first);
	for (size_t i = 0; i < graph->nodes.n; i++) {
		struct sw_sim_node *node = graph->nodes.at[i];
		struct sw_sim_op *op = node_begin(node);
		sw_sim_op_after(op, first);
		for (size_t j = 0; j < node->before.n; j++)
			sw_sim_op_after(op, node->before.at[j]->op);
		node_submit(node, op);
		sw_sim_op_after(last, node->op);
	}
	for (size_t i = 0; i < graph->nodes.n; i++)
		sw_sim_op_set(&graph->nodes.at[i]->op, NULL);
	sw_sim_op_submit(last);
	return last;
}

/* Loads the kernels of a graph that is about to be launched, with those of its child graphs. */
static void load_code(const struct sw_sim_graph *graph, struct sw_sim_ctx *ctx)
{
	for (size_t i = 0; i < graph->nodes.n; i++) {
		struct sw_sim_work *work = graph->nodes.at[i]->work;
		if (work->type == CU_GRAPH_NODE_TYPE_KERNEL)
			sw_sim_function_load(work->launch.function, ctx);
		else if (work->type == CU_GRAPH_NODE_TYPE_GRAPH && work->child)
			load_code(work->child, ctx);
	}
}

/* Launches an executable graph after the work of the stream and after its own last launch: launches of one never
   overlap (CUDA C++ Programming Guide, "Creating a Graph Using Graph APIs"). */
static void exec_launch(struct sw_sim_exec *exec, struct sw_sim_stream *s)
{
	load_code(exec->graph, s->object.ctx);
	struct sw_sim_op *first = sw_sim_stream_begin(s, NULL);
	sw_sim_op_after(first, exec->last);
	sw_sim_op_submit(first);
	struct sw_sim_op *last = run_nodes(exec->graph, first);
	sw_sim_op_set(&exec->last, last);
	sw_sim_stream_advance(s, last);
	sw_sim_op_put(first);
	sw_sim_op_put(last);
}

/* ---- the API: instantiation and launch ---- */

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph handle, unsigned long long flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_graph *graph = sw_sim_object_get(handle, SW_SIM_GRAPH);
	struct sw_sim_exec *exec;
	if (!graph || !out)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = sw_sim_exec_new(graph, flags, &exec);
	if (!result)
		*out = (CUgraphExec)exec;
	return result;
}

/* Which node caused an error is not told. */
CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = cuGraphInstantiateWithFlags(out, handle, params->flags);
	params->hErrNode_out = NULL;
	params->result_out = result ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return result;
}

CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph handle, CUgraphNode *error, char *log, size_t log_bytes)
{
	if (error)
		*error = NULL;
	if (log && log_bytes)
		*log = 0;
	return cuGraphInstantiateWithFlags(out, handle, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph handle, CUgraphNode *error, char *log, size_t log_bytes)
{
	return cuGraphInstantiate_v2(out, handle, error, log, log_bytes);
}

/* cuGraphLaunch() or cuGraphUpload(), which only takes its time; in a capture the launch becomes a child graph. */
static CUresult in_stream(CUgraphExec handle, CUstream stream, bool launch)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	struct sw_sim_exec *exec = sw_sim_object_get(handle, SW_SIM_EXEC);
	CUresult result = sw_sim_stream_find(stream, &s);
	if (result || !exec)
		return exec ? result : CUDA_ERROR_INVALID_VALUE;
	if (!launch)
		return sw_sim_submit(s, sw_sim_work_new(CU_GRAPH_NODE_TYPE_EMPTY, 1000), NULL);
	if (s->capture) { /* becomes a child graph */
		struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_GRAPH, 0);
		work->child = sw_sim_graph_copy(exec->graph, false);
		work->child->owned = true;
		return sw_sim_submit(s, work, NULL);
	}
	if (s->legacy && (result = sw_sim_capture_legacy(s->object.ctx)))
		return result;
	if (!sw_sim_graph_claim(exec->graph, exec->flags))
		return CUDA_ERROR_INVALID_VALUE;
	exec_launch(exec, s);
	return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream)
{
	return in_stream(handle, stream, true);
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream)
{
	return in_stream(handle, stream, false);
}

/* A launch that is under way goes on: its operations hold the work, and user objects are kept until it ends. */
CUresult cuGraphExecDestroy(CUgraphExec handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_exec *exec = sw_sim_object_get(handle, SW_SIM_EXEC);
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	sw_sim_object_remove(exec);
	sw_sim_held_until(exec->graph, exec->last);
	sw_sim_graph_free(exec->graph);
	sw_sim_op_put(exec->last);
	free(exec);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_exec *exec = sw_sim_object_get(handle, SW_SIM_EXEC);
	if (!exec || !flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = exec->flags;
	return CUDA_SUCCESS;
}
