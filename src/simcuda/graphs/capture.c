/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream capture: work becomes nodes of a graph instead of running.  CUDA C++ Programming Guide, "Creating a Graph
 * Using Stream Capture": events carry the capture to other streams, which have to be joined before it ends; calls that
 * would wait for captured work, or run outside it, are refused and spoil the capture.
 */
#include "simcuda/sim.h"

#include <stdlib.h>
#include <string.h>

static __thread CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/* The part of a stream in a capture; NULL: it takes no part. */
static struct sw_sim_capture_lane *lane_of(struct sw_sim_capture *c, const struct sw_sim_stream *s)
{
	for (size_t i = 0; i < c->lanes.n; i++)
		if (c->lanes.at[i].stream == s)
			return &c->lanes.at[i];
	return NULL;
}

/* From now on the next node of the stream depends on this one, too. */
static void lane_depend(struct sw_sim_capture_lane *lane, struct sw_sim_node *node)
{
	for (size_t i = 0; i < lane->last.n; i++)
		if (lane->last.at[i] == node)
			return;
	*sw_vec_push(&lane->last) = node;
}

/* A stream joins the capture. */
static struct sw_sim_capture_lane *lane_add(struct sw_sim_capture *c, struct sw_sim_stream *s)
{
	struct sw_sim_capture_lane *lane = sw_vec_push(&c->lanes);
	*lane = (struct sw_sim_capture_lane){.stream = s};
	s->capture = c;
	return lane;
}

/* The capture cannot succeed any more; its end will say so.  Returns the error, for the call that spoilt it. */
CUresult sw_sim_capture_spoil(struct sw_sim_capture *c, CUresult error)
{
	c->invalid = true;
	return error;
}

/* Potentially unsafe calls are refused to every thread while a capture in global mode runs anywhere, and to the
   capturing thread in thread-local mode (cudaThreadExchangeStreamCaptureMode's documentation). */
CUresult sw_sim_capture_unsafe(void)
{
	CUresult result = CUDA_SUCCESS;
	for (size_t i = 0; i < sw_sim.captures.n; i++) {
		struct sw_sim_capture *c = sw_sim.captures.at[i];
		bool mine = c->thread == sw_sim_thread();
		if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED || c->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
			continue;
		if (mine || (c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL))
			result = sw_sim_capture_spoil(c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	}
	return result;
}

/* An error if the legacy stream may not be used, since it would wait for a blocking stream that captures. */
CUresult sw_sim_capture_legacy(struct sw_sim_ctx *ctx)
{
	for (size_t i = 0; i < ctx->streams.n; i++) {
		struct sw_sim_stream *s = ctx->streams.at[i];
		if (s->capture && !(s->flags & CU_STREAM_NON_BLOCKING))
			return sw_sim_capture_spoil(s->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	}
	return CUDA_SUCCESS;
}

/* The parameters of a node, as a callback of a recapture gets them: those of sets; of other nodes their type, no
   more. */
static CUgraphNodeParams params_of(const struct sw_sim_work *work)
{
	CUgraphNodeParams p = {.type = work->as};
	const struct sw_sim_set *set = &work->set;
	if (work->as == CU_GRAPH_NODE_TYPE_MEMSET)
		p.memset = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = set->dst,
							.pitch = set->pitch,
							.value = set->value,
							.elementSize = set->element,
							.width = set->width,
							.height = set->height};
	return p;
}

/* Puts new work into the next node of the graph that is captured again.  CUDA driver API,
   cuStreamBeginRecaptureToGraph: "the node creation order while recapturing the graph must be identical to the original
   graph"; its function hears of each node whose parameters differ, while the call that is captured has not returned. */
static CUresult recapture_node(struct sw_sim_capture *c, struct sw_sim_capture_lane *lane, struct sw_sim_work *work)
{
	struct sw_sim_node *node = c->next < c->graph->nodes.n ? c->graph->nodes.at[c->next++] : NULL;
	bool same = node && node->work->as == work->as && node->before.n == lane->last.n;
	for (size_t i = 0; same && i < lane->last.n; i++)
		same = node->before.at[i] == lane->last.at[i];
	if (!same) {
		sw_sim_work_put(work);
		return sw_sim_capture_spoil(c, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	}
	CUgraphNodeParams before = params_of(node->work), now = params_of(work);
	sw_sim_work_put(node->work);
	node->work = work;
	lane->last.n = 0;
	lane_depend(lane, node);
	if (!c->differs || memcmp(&before, &now, sizeof now) == 0)
		return CUDA_SUCCESS;
	CUgraphRecaptureCallback differs = c->differs;
	void *data = c->differs_data;
	sw_sim_unlock();
	CUresult result = differs(data, (CUgraphNode)node, &before, &now, 0);
	sw_sim_lock();
	return result ? sw_sim_capture_spoil(c, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) : CUDA_SUCCESS;
}

/* Work of a stream that captures becomes a node after the stream's last ones. */
CUresult sw_sim_capture_add(struct sw_sim_stream *s, struct sw_sim_work *work)
{
	struct sw_sim_capture *c = s->capture;
	if (c->invalid) {
		sw_sim_work_put(work);
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	struct sw_sim_capture_lane *lane = lane_of(c, s);
	if (c->again)
		return recapture_node(c, lane, work);
	struct sw_sim_node *node = sw_sim_graph_add(c->graph, work);
	/* Programmatic edges are for kernels that follow kernels. */
	const CUgraphEdgeData programmatic = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
					      .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
	bool overlaps = work->type == CU_GRAPH_NODE_TYPE_KERNEL && work->launch.overlaps;
	for (size_t i = 0; i < lane->last.n; i++)
		overlaps &= lane->last.at[i]->work->type == CU_GRAPH_NODE_TYPE_KERNEL;
	for (size_t i = 0; i < lane->last.n; i++)
		sw_sim_node_depend(node, lane->last.at[i], overlaps ? &programmatic : NULL);
	lane->last.n = 0;
	lane_depend(lane, node);
	return CUDA_SUCCESS;
}

/* The event stands for the stream's last nodes. */
CUresult sw_sim_capture_record(struct sw_sim_stream *s, struct sw_sim_event *event)
{
	struct sw_sim_capture *c = s->capture;
	if (c->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	const struct sw_sim_capture_lane *lane = lane_of(c, s);
	event->capture = c;
	event->capture_id = c->id;
	event->nodes.n = 0;
	for (size_t i = 0; i < lane->last.n; i++)
		*sw_vec_push(&event->nodes) = lane->last.at[i];
	return CUDA_SUCCESS;
}

/* The capture with this number, if it has not ended. */
static struct sw_sim_capture *find_capture(unsigned long long id)
{
	for (size_t i = 0; i < sw_sim.captures.n; i++)
		if (sw_sim.captures.at[i]->id == id)
			return sw_sim.captures.at[i];
	return NULL;
}

/* A wait for an event of a capture: the stream joins it.  Any wait that would connect captured and other work is an
   error. */
CUresult sw_sim_capture_wait(struct sw_sim_stream *s, struct sw_sim_event *event)
{
	struct sw_sim_capture *c = event->capture_id ? find_capture(event->capture_id) : NULL;
	if (s->capture && s->capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (!c && s->capture) /* an event from outside: captured work would depend on uncaptured work */
		return sw_sim_capture_spoil(s->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	if (!c)
		return CUDA_ERROR_CAPTURED_EVENT;
	if (s->capture && s->capture != c)
		return sw_sim_capture_spoil(s->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
	if (s->legacy)
		return sw_sim_capture_spoil(c, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	struct sw_sim_capture_lane *lane = s->capture ? lane_of(c, s) : lane_add(c, s);
	for (size_t i = 0; i < event->nodes.n; i++)
		lane_depend(lane, event->nodes.at[i]);
	return CUDA_SUCCESS;
}

/* Does no node of the graph depend on this one? */
static bool is_leaf(const struct sw_sim_graph *graph, const struct sw_sim_node *node)
{
	for (size_t i = 0; i < graph->nodes.n; i++)
		for (size_t j = 0; j < graph->nodes.at[i]->before.n; j++)
			if (graph->nodes.at[i]->before.at[j] == node)
				return false;
	return true;
}

/* Have all streams been joined?  Another stream's last node must be covered by the origin, directly or through later
   nodes. */
static bool is_joined(struct sw_sim_capture *c)
{
	const struct sw_sim_capture_lane *origin = lane_of(c, c->origin);
	for (size_t i = 0; i < c->lanes.n; i++)
		for (size_t j = 0; j < c->lanes.at[i].last.n; j++) {
			struct sw_sim_node *node = c->lanes.at[i].last.at[j];
			bool covered = !is_leaf(c->graph, node);
			for (size_t k = 0; origin && !covered && k < origin->last.n; k++)
				covered = origin->last.at[k] == node;
			if (!covered)
				return false;
		}
	return true;
}

/* Ends a capture, whose graph stays. */
static void finish_capture(struct sw_sim_capture *c)
{
	for (size_t i = 0; i < c->lanes.n; i++) {
		c->lanes.at[i].stream->capture = NULL;
		free(c->lanes.at[i].last.at);
	}
	for (size_t i = 0; i < sw_sim.captures.n; i++)
		if (sw_sim.captures.at[i] == c)
			sw_sim.captures.at[i] = sw_sim.captures.at[--sw_sim.captures.n];
	free(c->lanes.at);
	free(c);
}

/* A stream ends while it captures: the capture can't be completed any more. */
void sw_sim_capture_forget(struct sw_sim_stream *s)
{
	struct sw_sim_capture *c = s->capture;
	if (!c)
		return;
	c->invalid = true;
	if (c->origin == s) {
		if (!c->borrowed)
			sw_sim_graph_free(c->graph);
		finish_capture(c);
		return;
	}
	struct sw_sim_capture_lane *lane = lane_of(c, s);
	free(lane->last.at);
	*lane = c->lanes.at[--c->lanes.n];
	s->capture = NULL;
}

/* ---- the API ---- */

/* Begins a capture on a stream, into a new graph or (graph not NULL) into one that is there, after `n` of its nodes. */
static CUresult begin_capture(CUstream handle, CUstreamCaptureMode mode, struct sw_sim_graph *graph,
			      const CUgraphNode *after, size_t n)
{
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (result)
		return result;
	if (s->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (s->capture || (unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return s->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_capture *c = sw_calloc(1, sizeof *c);
	c->borrowed = graph != NULL;
	c->graph = graph ? graph : sw_sim_graph_new();
	c->origin = s;
	c->mode = mode;
	c->thread = sw_sim_thread();
	c->id = ++sw_sim.next_id;
	*sw_vec_push(&sw_sim.captures) = c;
	struct sw_sim_capture_lane *lane = lane_add(c, s);
	for (size_t i = 0; i < n; i++)
		lane_depend(lane, (struct sw_sim_node *)after[i]);
	return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	return begin_capture(handle, mode, NULL, NULL, 0);
}

CUresult cuStreamBeginCapture(CUstream handle)
{
	return cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode *after,
				     const CUgraphEdgeData *edges, size_t n, CUstreamCaptureMode mode)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_graph *g = sw_sim_object_get(graph, SW_SIM_GRAPH);
	if (!g || (n && !after))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++)
		if (!sw_sim_object_get(after[i], SW_SIM_NODE))
			return CUDA_ERROR_INVALID_VALUE;
	(void)edges; /* ports make an edge weaker; the full dependency is kept */
	return begin_capture(handle, mode, g, after, n);
}

/* Since 13.3. */
CUresult cuStreamBeginRecaptureToGraph(CUstream handle, CUstreamCaptureMode mode, CUgraph graph,
				       CUgraphRecaptureCallback differs, void *data);
/* A capture whose work replaces that of the graph's nodes; `differs` may be NULL. */
CUresult cuStreamBeginRecaptureToGraph(CUstream handle, CUstreamCaptureMode mode, CUgraph graph,
				       CUgraphRecaptureCallback differs, void *data)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_graph *g = sw_sim_object_get(graph, SW_SIM_GRAPH);
	CUresult result = g ? begin_capture(handle, mode, g, NULL, 0) : CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	struct sw_sim_capture *c = sw_sim.captures.at[sw_sim.captures.n - 1];
	c->again = true;
	c->differs = differs;
	c->differs_data = data;
	return CUDA_SUCCESS;
}

/* The graph, or the reason why the capture failed; a graph of our own then ends with it. */
CUresult cuStreamEndCapture(CUstream handle, CUgraph *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (result)
		return result;
	struct sw_sim_capture *c = s->capture;
	if (!out || !c)
		return out ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
	if (c->origin != s)
		return sw_sim_capture_spoil(c, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != sw_sim_thread())
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	result = c->invalid	? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
		 : is_joined(c) ? CUDA_SUCCESS
				: CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	if (result && !c->borrowed)
		sw_sim_graph_free(c->graph);
	*out = result ? NULL : (CUgraph)c->graph;
	finish_capture(c);
	return result;
}

/* Asked of the legacy stream while others capture, spoils those. */
CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (!result && !out)
		result = CUDA_ERROR_INVALID_VALUE;
	if (!result && s->legacy)
		result = sw_sim_capture_legacy(s->object.ctx);
	if (!result)
		*out = !s->capture	     ? CU_STREAM_CAPTURE_STATUS_NONE
		       : s->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
					     : CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return result;
}

/* As CUDA says it: nodes are those that the stream's next one will depend on. */
CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
				   const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *n)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (!result && !status)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	const struct sw_sim_capture *c = s->capture;
	*status = !c	       ? CU_STREAM_CAPTURE_STATUS_NONE
		  : c->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
			       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (!c || c->invalid)
		return CUDA_SUCCESS;
	const struct sw_sim_capture_lane *lane = lane_of(s->capture, s);
	if (id)
		*id = c->id;
	if (graph)
		*graph = (CUgraph)c->graph;
	if (nodes)
		*nodes = (const CUgraphNode *)lane->last.at;
	if (edges)
		*edges = NULL;
	if (n)
		*n = lane->last.n;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
				   const CUgraphNode **nodes, size_t *n)
{
	return cuStreamGetCaptureInfo_v3(handle, status, id, graph, nodes, NULL, n);
}

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id)
{
	return cuStreamGetCaptureInfo_v3(handle, status, id, NULL, NULL, NULL, NULL);
}

/* How unsafe calls of this thread count from now on; *mode: how they did. */
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	CUstreamCaptureMode old = thread_mode;
	thread_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

/* Sets or adds the nodes that the stream's next one will depend on. */
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *nodes, const CUgraphEdgeData *edges,
					      size_t n, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	(void)edges;
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (!result && (!s->capture || (n && !nodes)))
		result = s->capture ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_ILLEGAL_STATE;
	if (result)
		return result;
	for (size_t i = 0; i < n; i++)
		if (!sw_sim_object_get(nodes[i], SW_SIM_NODE))
			return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_capture_lane *lane = lane_of(s->capture, s);
	if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		lane->last.n = 0;
	for (size_t i = 0; i < n; i++)
		lane_depend(lane, (struct sw_sim_node *)nodes[i]);
	return CUDA_SUCCESS;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *nodes, size_t n, unsigned flags)
{
	return cuStreamUpdateCaptureDependencies_v2(handle, nodes, NULL, n, flags);
}
