/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model.h"

#include <stdlib.h>
#include <string.h>

#include "reader/kinds.h"

/* Calls that became nodes and may still be named by a description. */
#define SW_MAX_ORIGINS 65536u

/* CUgraphNodeType, as far as a node without work of its own is harmless. */
enum { TYPE_GRAPH = 4, TYPE_EMPTY = 5 };

/* ---- where nodes come from --------------------------------------------------------------------------------------- */

void sw_origin_remember(struct sw_model *m, const struct sw_access *what)
{
	struct sw_graphs *g = &m->graphs;
	size_t place = g->next;
	if (g->origin.n < SW_MAX_ORIGINS)
		sw_vec_push(&g->origin);
	else
		sw_map_delete(&g->origins, g->origin.at[place].seq);
	g->origin.at[place] = *what;
	*sw_map_put(&g->origins, what->seq) = place + 1;
	g->next = (place + 1) % SW_MAX_ORIGINS;
}

const struct sw_access *sw_origin_last(const struct sw_model *m, uint32_t stream)
{
	const struct sw_graphs *g = &m->graphs;
	for (size_t n = 0; stream && n < g->origin.n; n++) {
		const struct sw_access *at = &g->origin.at[(g->next + g->origin.n - 1 - n) % g->origin.n];
		if (at->stream == stream)
			return at;
	}
	return NULL;
}

static void origin_of(const struct sw_model *m, uint64_t seq, struct sw_access *made)
{
	size_t place = seq ? sw_map_get(&m->graphs.origins, seq) : 0;
	if (place)
		*made = m->graphs.origin.at[place - 1];
}

/* ---- the books --------------------------------------------------------------------------------------------------- */

static void unlist(struct sw_model *m, struct sw_exec *x)
{
	for (size_t i = 0; i < x->touches.at.n; i++)
		if (x->touches.at.at[i].use)
			sw_use_drop(&m->space.uses, x->touches.at.at[i].use);
	x->touches.at.n = 0;
	x->touches.unknown = x->listed = false;
}

static void exec_empty(struct sw_model *m, struct sw_exec *x)
{
	for (size_t i = 0; i < x->nodes.n; i++) {
		free(x->nodes.at[i].before);
		free(x->nodes.at[i].work);
	}
	x->nodes.n = 0;
	sw_map_free(&x->index);
	unlist(m, x);
}

static void exec_free(struct sw_model *m, struct sw_exec *x)
{
	exec_empty(m, x);
	free(x->nodes.at);
	free(x->touches.at.at);
	free(x);
}

void sw_graphs_free(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->graphs.execs, i, &slot));)
		exec_free(m, (struct sw_exec *)(uintptr_t)slot.value);
	sw_map_free(&m->graphs.execs);
	sw_map_free(&m->graphs.origins);
	free(m->graphs.origin.at);
	m->graphs = (struct sw_graphs){0};
}

static struct sw_exec *exec_of(struct sw_model *m, uint64_t handle)
{
	struct sw_exec *x = sw_map_ptr(&m->graphs.execs, handle);
	if (!x) {
		x = sw_calloc(1, sizeof *x);
		x->handle = handle;
		x->unknown = true; /* until it is described */
		sw_map_put_ptr(&m->graphs.execs, handle, x);
	}
	return x;
}

/* Launches of one exec follow each other: an event of ours stands for the last.  Handles are pointers to structures, so
   no event of the program has an odd one. */
static uint64_t turn_of(const struct sw_exec *x)
{
	return x->handle | 1;
}

void sw_on_graph(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_graph *g = (const struct sw_rec_graph *)(const void *)r->rec;
	struct sw_exec *x = sw_map_ptr(&m->graphs.execs, g->exec);
	if (g->op == SW_GRAPH_ADD_NODE) {
		sw_origin_remember(m, &w->what);
	} else if (g->op == SW_GRAPH_EXEC_DESTROY && x) {
		sw_hb_event_destroy(m->hb, turn_of(x));
		sw_map_delete(&m->graphs.execs, g->exec);
		exec_free(m, x);
	} else if (g->op == SW_GRAPH_INSTANTIATE || g->op == SW_GRAPH_EXEC_UPDATE) {
		exec_of(m, g->exec)->made = w->what;
	}
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

/* The record inside a node's record, NULL when there is none or it is damaged. */
static struct sw_rec *work_of(const struct sw_rec_graph_node *n)
{
	size_t room = n->h.words * 8u - sizeof *n, edges = 8ull * n->before;
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

/* The driver may tell another handle for the kernel of a node than the captured launch had, one of which it is not
   known where the code is: that of the launch is as good. */
static void name_kernel(const struct sw_model *m, const struct sw_node *node)
{
	struct sw_rec_launch *l = (struct sw_rec_launch *)(void *)node->work;
	if (!l || l->h.kind != SW_REC_LAUNCH || l->function == node->made.function)
		return;
	const struct sw_trace_function *told = sw_reader_function(m->reader, l->function);
	const struct sw_trace_function *launched = sw_reader_function(m->reader, node->made.function);
	if (told && launched && *told->name && !strcmp(told->name, launched->name))
		l->function = node->made.function;
}

static void node_add(struct sw_model *m, struct sw_exec *x, const struct sw_rec_graph_node *n)
{
	size_t edges = 8ull * n->before;
	if (edges > n->h.words * 8u - sizeof *n) {
		x->unknown = true;
		return;
	}
	struct sw_node node = {.handle = n->node, .parent = n->parent, .type = n->type, .n = n->before};
	node.work = work_of(n);
	node.before = edges ? sw_alloc(edges) : NULL;
	if (edges)
		memcpy(node.before, n + 1, edges);
	origin_of(m, n->origin, &node.made);
	name_kernel(m, &node);
	/* A child's nodes were copied into the graph by the call that added the child. */
	size_t parent = sw_map_get(&x->index, n->parent);
	if (!node.made.seq && parent)
		node.made = x->nodes.at[parent - 1].made;
	*sw_vec_push(&x->nodes) = node;
	*sw_map_put(&x->index, n->node) = x->nodes.n;
}

static void node_change(struct sw_exec *x, const struct sw_rec_graph_node *n)
{
	size_t place = sw_map_get(&x->index, n->node);
	if (!place) { /* of a graph that this exec was updated from meanwhile */
		x->unknown = true;
		return;
	}
	struct sw_node *node = &x->nodes.at[place - 1];
	if (n->flags & SW_NODE_CHANGED) {
		free(node->work);
		node->work = work_of(n);
		node->made = x->made;
		/* A child graph of which only the old nodes are known. */
		x->unknown |= !node->work;
	} else {
		node->disabled = n->flags & SW_NODE_DISABLED;
	}
}

void sw_on_graph_node(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_graph_node *n = (const struct sw_rec_graph_node *)(const void *)r->rec;
	struct sw_exec *x = exec_of(m, n->exec);
	(void)w;
	unlist(m, x);
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

/* ---- what nodes touch -------------------------------------------------------------------------------------------- */

void sw_listing_add(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		    const struct sw_touch *how, struct sw_use *use)
{
	*sw_vec_push(&m->listing->at) = (struct sw_listed){
		.node = m->listing->node,
		.what = *what,
		.range = *range,
		.array = how->array,
		.guess = how->guess,
		.handle = how->handle,
		.use = use,
	};
}

static sw_handler *const touches[256] = {
	[SW_REC_LAUNCH] = sw_launch_touches,
	[SW_REC_COPY_ND] = sw_copy_touches,
	[SW_REC_SET] = sw_set_touches,
};

/* The access of a node: of the call that made it, else of the launch; its own kernel. */
static struct sw_access access_of(const struct sw_node *node, const struct sw_access *launch)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)node->work;
	struct sw_access what = node->made.seq ? node->made : *launch;
	what.role = SW_CALL;
	what.node = node->made.seq;
	what.function = 0;
	if (node->work && node->work->kind == SW_REC_LAUNCH) {
		what.kind = SW_REC_LAUNCH; /* told by the kernel's name, whichever call made the node */
		what.function = l->function;
	}
	return what;
}

static void node_list(struct sw_model *m, const struct sw_node *node)
{
	const struct sw_record *outer = m->record;
	struct sw_access call = m->wait->what;
	struct sw_record r = *outer;
	sw_handler *touch = touches[node->work->kind];
	if (!touch)
		return;
	node->work->ctx = outer->rec->ctx;
	r.rec = node->work;
	if (node->work->kind == SW_REC_LAUNCH) {
		const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)node->work;
		r.params = l->param_bytes ? l + 1 : NULL;
		r.param_bytes = l->param_bytes;
	}
	m->record = &r;
	m->wait->what = access_of(node, &call);
	touch(m, &r, m->wait);
	m->wait->what = call;
	m->record = outer;
}

static void exec_list(struct sw_model *m, struct sw_exec *x)
{
	unlist(m, x);
	m->listing = &x->touches;
	for (size_t i = 0; i < x->nodes.n; i++) {
		const struct sw_node *node = &x->nodes.at[i];
		x->touches.node = (uint32_t)i;
		if (node->disabled)
			continue;
		if (node->work)
			node_list(m, node);
		else if (node->type != TYPE_EMPTY && node->type != TYPE_GRAPH)
			x->touches.unknown = true; /* conditional nodes, semaphores, memory operations */
	}
	m->listing = NULL;
	x->listed = true;
	if (!x->unknown && x->nodes.n == x->expected)
		sw_branches_judge(m, x, &x->touches);
	for (size_t i = 0; i < x->touches.at.n; i++) {
		struct sw_listed *l = &x->touches.at.at[i];
		if (l->use)
			sw_use_drop(&m->space.uses, l->use);
		l->use = NULL;
	}
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Calls back for each node that takes part and does work of that kind. */
static void each_work(struct sw_model *m, const struct sw_exec *x, uint8_t kind, const struct sw_hb_at *at,
		      void (*each)(struct sw_model *, const struct sw_node *, const struct sw_hb_at *))
{
	for (size_t i = 0; i < x->nodes.n; i++) {
		const struct sw_node *node = &x->nodes.at[i];
		if (!node->disabled && node->work && node->work->kind == kind)
			each(m, node, at);
	}
}

/* What lies inside the graph before such a node, or beside it, waits too: more order than there is. */
static void wait_node(struct sw_model *m, const struct sw_node *node, const struct sw_hb_at *at)
{
	const struct sw_rec_stream_wait *s = (const struct sw_rec_stream_wait *)(const void *)node->work;
	struct sw_hb_event_state state;
	sw_hb_stream_wait(m->hb, at, s->event, 0, &state);
	m->j->coverage.edges_for_safety++;
}

static void record_node(struct sw_model *m, const struct sw_node *node, const struct sw_hb_at *at)
{
	const struct sw_rec_event_record *e = (const struct sw_rec_event_record *)(const void *)node->work;
	struct sw_access what = m->wait->what;
	what.role = SW_RECORD;
	sw_event_recorded(m, &what, at, e->event, 0);
	((struct sw_event *)sw_map_ptr(&m->events, e->event))->in_graph = false;
	m->j->coverage.edges_for_safety++;
}

static struct sw_access placed(const struct sw_access *what, const struct sw_access *launch)
{
	struct sw_access at = *what;
	at.seq = launch->seq;
	at.t_ns = launch->t_ns;
	at.dur_ns = launch->dur_ns;
	at.point = launch->point;
	at.stream = launch->stream;
	at.device = launch->device;
	return at;
}

static void alloc_node(struct sw_model *m, const struct sw_node *node, const struct sw_hb_at *at)
{
	const struct sw_rec_alloc *a = (const struct sw_rec_alloc *)(const void *)node->work;
	struct sw_access what = access_of(node, &m->wait->what);
	uint64_t offset;
	(void)at;
	if (sw_space_find_outer(&m->space, a->address, &offset))
		return; /* still there from the launch before */
	what = placed(&what, &m->wait->what);
	what.role = SW_ALLOC;
	sw_block_made(m, a, &what);
}

static void free_node(struct sw_model *m, const struct sw_node *node, const struct sw_hb_at *at)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)node->work;
	struct sw_access what = access_of(node, &m->wait->what);
	(void)at;
	what = placed(&what, &m->wait->what);
	what.role = SW_FREE;
	sw_block_freed(m, f->address, &what);
}

static void host_node(struct sw_model *m, const struct sw_node *node, const struct sw_hb_at *at)
{
	struct sw_lane *books = sw_model_books(m, m->wait->what.point.lane);
	(void)node, (void)at;
	books->visible = m->wait->what.point.tick;
	books->visible_seq = m->record->seq;
	sw_host_signalled(m, m->wait->what.point);
}

static void exec_touch(struct sw_model *m, const struct sw_exec *x)
{
	for (size_t i = 0; i < x->touches.at.n; i++) {
		const struct sw_listed *l = &x->touches.at.at[i];
		struct sw_access what = placed(&l->what, &m->wait->what);
		struct sw_touch how = {.array = l->array, .guess = l->guess, .handle = l->handle};
		sw_model_touch(m, &what, &l->range, &how);
	}
}

/* One step of its stream that touches what its nodes touch: "Each launch is ordered behind both any previous work in
   hStream and any previous launches of hGraphExec" (CUDA driver API, cuGraphLaunch). */
void sw_on_graph_launch(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_graph_launch *g = (const struct sw_rec_graph_launch *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, g->stream);
	struct sw_exec *x = exec_of(m, g->exec);
	struct sw_hb_event_state last;
	bool runs = !sw_model_captured(m, &at);
	if (runs) {
		sw_hb_event_state(m->hb, turn_of(x), &last);
		if (last.recorded)
			sw_hb_stream_wait(m->hb, &at, turn_of(x), 0, &last);
		each_work(m, x, SW_REC_STREAM_WAIT, &at, wait_node);
	}
	if (!sw_model_enqueue(m, r, g->stream))
		return;
	m->j->coverage.graph_launches++;
	each_work(m, x, SW_REC_ALLOC, &at, alloc_node);
	if (!x->listed)
		exec_list(m, x);
	exec_touch(m, x);
	each_work(m, x, SW_REC_HOST_FUNC, &at, host_node);
	each_work(m, x, SW_REC_FREE, &at, free_node);
	if (x->unknown || x->touches.unknown || x->nodes.n != x->expected) {
		sw_model_books(m, w->what.point.lane)->unknown = w->what.point.tick;
		m->wide.poisoned = true;
		m->j->coverage.unknown_graph_launches++;
	}
	sw_hb_event_record(m->hb, turn_of(x), &at, 0, NULL);
	each_work(m, x, SW_REC_EVENT_RECORD, &at, record_node);
}
