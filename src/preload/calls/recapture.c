/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture that replaces the parameters of a graph that exists: for the judge a capture into that graph.  The driver
 * calls a function of the program, inside the captured call, for each node whose parameters differ; that function may
 * change executable graphs, which are calls of the program's own (CUDA driver API, cuStreamBeginRecaptureToGraph).
 */
#include "preload/platform/seldom.h"

#include "preload/calls/custom.h"
#include "preload/calls/fill.h"
#include "preload/calls/graphs.h"
#include "preload/intercept/contexts.h"
#include "preload/intercept/identity_table.h"

/* Neither is ever freed: nothing says when the driver calls for the last time.  Programs have few. */
#define MOST 1024u
static struct recapture {
	struct recapture *next;
	CUgraphRecaptureCallback callback;
	void *data;
} * recaptures;

/* NULL: there are too many, calls in the function will not be recorded. */
static struct recapture *recapture_of(CUgraphRecaptureCallback callback, void *data)
{
	struct recapture *first = __atomic_load_n(&recaptures, __ATOMIC_ACQUIRE), *at = first;
	uint32_t n = 0;

	for (; at; at = at->next, n++)
		if (at->callback == callback && at->data == data)
			return at;
	at = n < MOST ? sw_table_memory(sizeof *at) : NULL;
	if (!at)
		return NULL;
	*at = (struct recapture){first, callback, data};
	while (!__atomic_compare_exchange_n(&recaptures, &at->next, at, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return at;
}

static CUresult CUDA_CB recapture_node(void *with, CUgraphNode node, const CUgraphNodeParams *original,
				       const CUgraphNodeParams *recapture, CUgraphRecaptureStatus status)
{
	const struct recapture *at = with;
	struct sw_pause pause;

	sw_thread_pause(&pause);
	const CUresult result = at->callback(at->data, node, original, recapture, status);

	sw_thread_resume(&pause);
	return result;
}

CUresult sw_custom_begin_recapture(const struct sw_site *site, CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
				   CUgraphRecaptureCallback callback, void *data)
{
	CUresult (*real)(CUstream, CUstreamCaptureMode, CUgraph, CUgraphRecaptureCallback, void *) =
		(__typeof__(real))site->real;
	struct sw_rec_capture *r;
	struct recapture *ours;
	struct sw_call call;
	CUresult status;

	if (!sw_site_enter(&call, site, 0))
		return real(stream, mode, graph, callback, data);
	sw_call_context(&call, sw_context_of_stream(SW_WORD(stream)));
	r = sw_call_record(&call, SW_REC_CAPTURE, sizeof *r);
	if (r)
		SW_FILL_CAPTURE(r, TO_GRAPH, stream, graph, mode);
	sw_call_publish(&call);
	ours = callback ? recapture_of(callback, data) : NULL;
	status = ours ? real(stream, mode, graph, recapture_node, ours) : real(stream, mode, graph, callback, data);
	if (status == CUDA_SUCCESS)
		sw_graphs_capturing(SW_CAPTURE_TO_GRAPH);
	sw_call_leave(&call, status);
	return status;
}
