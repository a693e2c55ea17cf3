/* SPDX-License-Identifier: Apache-2.0 */
/* Captures in progress; which call made a node, and which graphs are the bodies of a conditional one. */
#include "preload/platform/seldom.h"

#include "preload/calls/graphs.h"

#include <errno.h>

#include "preload/intercept/contexts.h"
#include "preload/intercept/hook_state.h"

/* Nodes whose origin is remembered.  Those of destroyed graphs are among them, so now and then all are forgotten. */
#define MAX_ORIGINS (1u << 18)

/* Counts the captures that are in progress.  The count may not fall below 0, as one may have begun before recording
   did. */
void sw_graphs_capturing(enum sw_capture_op op)
{
	uint32_t n = __atomic_load_n(&sw_window_captures, __ATOMIC_RELAXED);

	if (op != SW_CAPTURE_END)
		__atomic_add_fetch(&sw_window_captures, 1, __ATOMIC_RELAXED);
	else
		while (n && !__atomic_compare_exchange_n(&sw_window_captures, &n, n - 1, true, __ATOMIC_RELAXED,
							 __ATOMIC_RELAXED))
			;
}

/* For sw_table_sweep(): forget all. */
static bool any_entry(uint64_t key, uint64_t value, uint64_t with)
{
	(void)key, (void)value, (void)with;
	return true;
}

/* Keeps an entry of the table of nodes; when it is full all are forgotten, as many belong to graphs that are gone. */
static void remember_origin(uint64_t key, uint64_t value)
{
	struct sw_state *state = sw_state();
	const uint64_t mask = sw_state_lock(state);

	if (state->by_node.live >= MAX_ORIGINS)
		sw_table_sweep(&state->by_node, any_entry, 0);
	sw_table_put(&state->by_node, key, value);
	sw_state_unlock(state, mask);
}

/* Notes the call (by its sequence number) that made a graph node: `confirm` finds it by that. */
void sw_graphs_origin(uint64_t node, uint64_t seq)
{
	if (node && seq)
		remember_origin(node, seq);
}

/* A key that no node has: the number goes above the bits of an address.  The driver returns the bodies of a conditional
   node when the node is created, and never again, so their handles are kept under such keys: how many (0), and each of
   them (1 ...). */
uint64_t sw_graphs_body(uint64_t node, uint32_t i)
{
	return node ^ (uint64_t)(i + 1) << 48;
}
#define MAX_BODIES 1024u

/* Keeps the graphs that are the bodies of a new conditional node; 0 where there are too many. */
static void bodies_remember(CUgraphNode node, const CUDA_CONDITIONAL_NODE_PARAMS *p)
{
	uint32_t n = 0;

	for (; n < p->size && n < MAX_BODIES; n++)
		remember_origin(sw_graphs_body(SW_WORD(node), n + 1), SW_WORD(p->phGraph_out[n]));
	remember_origin(sw_graphs_body(SW_WORD(node), 0), n == p->size ? n : 0);
}

/* Ends a call that added a node: records it, and notes its sequence number as the node's origin, so that reports name
   this line when the graph runs. */
void sw_graphs_node_added(struct sw_call *call, CUresult status, CUgraph graph, const CUgraphNode *node,
			  const CUgraphNodeParams *params)
{
	const CUgraphNode made = status == CUDA_SUCCESS && node ? *node : NULL;
	struct sw_rec_graph *r;

	sw_call_context(call, sw_context_here());
	r = sw_call_record_after(call, SW_REC_GRAPH, sizeof *r, status);
	if (r && status == CUDA_SUCCESS) {
		r->op = SW_GRAPH_ADD_NODE;
		r->graph = SW_WORD(graph);
		r->exec = SW_WORD(made);
	}
	sw_call_publish(call);
	if (made) {
		const int saved = errno;

		sw_graphs_origin(SW_WORD(made), call->seq);
		if (params && params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL && params->conditional.phGraph_out)
			bodies_remember(made, &params->conditional);
		errno = saved;
	}
	sw_call_leave(call, status);
}

/* Notes which node a captured call made.  After it the stream depends on that node and on nothing else, so the nodes
   that the driver names are of this call. */
void sw_graphs_captured(const struct sw_call *call, CUstream stream)
{
	const bool per_thread = call->flags & SW_RF_PER_THREAD;
	__typeof__(&cuStreamGetCaptureInfo_v3) ask =
		per_thread ? SW_REAL(cuStreamGetCaptureInfo_v3_ptsz) : SW_REAL(cuStreamGetCaptureInfo_v3);
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	const CUgraphNode *nodes = NULL;
	const CUgraphEdgeData *edges = NULL; /* without it programmatic edges are an error */
	size_t n = 0;

	/* The legacy stream cannot capture, and a question for it is refused while others do. */
	if (!ask || stream == CU_STREAM_LEGACY || (!stream && !per_thread))
		return;
	if (ask(stream, &status, NULL, NULL, &nodes, &edges, &n) != CUDA_SUCCESS ||
	    status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return;
	for (size_t i = 0; nodes && i < n && i < SW_MAX_BEFORE; i++)
		sw_graphs_origin(SW_WORD(nodes[i]), call->seq);
}
