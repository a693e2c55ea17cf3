/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/graphs/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/captures.h"
#include "detect/model/collect.h"
#include "detect/model/handlers.h"
#include "detect/model/model.h"
#include "reader/kinds.h"

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
	sw_branch_order_free(x);
}

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

static void instantiated(struct sw_model *m, const struct sw_rec_graph *g, const struct sw_access *call)
{
	struct sw_exec *x = sw_exec_of(m, g->exec);
	x->made = *call;
	if (g->op != SW_GRAPH_INSTANTIATE)
		return;
	x->flags = g->flags;
	/* What kernels launch is not seen.  It orders nothing that is: no finding of this context is in doubt. */
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
		instantiated(m, g, &w->what);
	}
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

/* Bytes of the dependencies, which lie before the work of a node. */
static size_t edge_bytes(const struct sw_rec_graph_node *n)
{
	return (n->flags & SW_NODE_EDGES ? 16ull : 8ull) * n->before;
}

/* The record inside a node's record, NULL when there is none or it is damaged. */
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

/* The driver may return another handle for the kernel of a node than the captured launch had, without known code: then
   the handle of the launch is used. */
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

/* What a child graph's node held goes; nodes lie after those that hold them. */
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
	free(node->work);
	node->work = work_of(n);
	node->work_bytes = n->work_bytes;
	x->unknown |= !node->work && !semaphore;
}

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
