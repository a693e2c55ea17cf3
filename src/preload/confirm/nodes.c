/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sides that are nodes of a graph: no stream could be held before one alone.  The program's executable graph stays as
 * it is.  One of ours is made from the same graph, with a wait before the earlier node and marks around the later one,
 * and is launched in its place, once; the graph itself is as it was when the program's call returns.
 */
#include "preload/confirm/confirm.h"

#include "preload/platform/lock.h"

#define MOST_BEFORE 64u
#define MOST_NODES  4096u
#define MARK	    1u

enum { EARLIER, LATER };
struct side {
	CUgraph graph;
	CUgraphNode node; /* NULL: not made yet */
};

/* The driver's functions of those that ours replace. */
static void *real[SW_ID_COUNT];
#define REAL(symbol) ((__typeof__(&symbol))real[SW_ID_##symbol])

static struct sw_lock lock;
static struct side sides[2];
static CUgraphExec program_exec, our_exec;

/* Graphs that the program made itself, the last ones: a body of a conditional node is none of them. */
#define GRAPHS 256u
static uint64_t made_graphs[GRAPHS];
static uint32_t n_made;

static bool is_body(CUgraph graph)
{
	for (uint32_t i = 0; i < GRAPHS; i++)
		if (made_graphs[i] == (uintptr_t)graph)
			return false;
	return n_made <= GRAPHS;
}

static bool later_is_node(void)
{
	return sw_confirm_plan.nodes & SW_PLAN_NODE_LATER;
}

static void set_side(uint32_t exact, CUgraph graph, CUgraphNode node)
{
	if (!(exact & (SW_PLACE_EARLIER | SW_PLACE_LATER)) || !node)
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	sides[exact & SW_PLACE_EARLIER ? EARLIER : LATER] = (struct side){graph, node};
	sw_lock_leave(&lock, mask);
}

void sw_nodes_added(const struct sw_rec *rec, uint32_t exact)
{
	const struct sw_rec_graph *g = (const struct sw_rec_graph *)(const void *)rec;
	if (rec->kind == SW_REC_GRAPH && g->op == SW_GRAPH_ADD_NODE && !rec->status)
		set_side(exact, (CUgraph)(uintptr_t)g->graph, (CUgraphNode)(uintptr_t)g->exec);
}

/* After a captured call its stream depends on the node that the call made, and on nothing else. */
void sw_nodes_captured(CUstream stream, uint32_t exact)
{
	__typeof__(&cuStreamGetCaptureInfo_v3) ask = SW_CONFIRM_REAL(cuStreamGetCaptureInfo_v3);
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	const CUgraphNode *nodes = NULL;
	const CUgraphEdgeData *edges = NULL;
	CUgraph graph = NULL;
	size_t n = 0;
	if (ask && ask(stream, &status, NULL, &graph, &nodes, &edges, &n) == CUDA_SUCCESS &&
	    status == CU_STREAM_CAPTURE_STATUS_ACTIVE && n == 1)
		set_side(exact, graph, nodes[0]);
}

/* ---- our executable graph ---------------------------------------------------------------------------------------- */

static bool holds(CUgraph graph, CUgraphNode node)
{
	__typeof__(&cuGraphGetNodes) ask = SW_CONFIRM_REAL(cuGraphGetNodes);
	static CUgraphNode nodes[MOST_NODES];
	size_t n = MOST_NODES;
	if (!ask || !node || ask(graph, nodes, &n) != CUDA_SUCCESS)
		return false;
	for (size_t i = 0; i < n && i < MOST_NODES; i++)
		if (nodes[i] == node)
			return true;
	return false;
}

static CUresult nodes_before(CUgraphNode node, CUgraphNode *out, size_t *n)
{
	__typeof__(&cuGraphNodeGetDependencies_v2) ask = SW_CONFIRM_REAL(cuGraphNodeGetDependencies_v2);
	__typeof__(&cuGraphNodeGetDependencies) ask_old = SW_CONFIRM_REAL(cuGraphNodeGetDependencies);
	CUgraphEdgeData edges[MOST_BEFORE];
	*n = 0;
	CUresult status = ask ? ask(node, NULL, NULL, n) : ask_old ? ask_old(node, NULL, n) : CUDA_ERROR_NOT_FOUND;
	if (status || !*n)
		return status;
	if (*n > MOST_BEFORE)
		return CUDA_ERROR_INVALID_VALUE;
	return ask ? ask(node, out, edges, n) : ask_old(node, out, n);
}

static CUcontext context(void)
{
	__typeof__(&cuCtxGetCurrent) ask = SW_CONFIRM_REAL(cuCtxGetCurrent);
	CUcontext now = NULL;
	return ask && ask(&now) == CUDA_SUCCESS ? now : NULL;
}

static CUresult add_operation(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t n,
			      CUstreamBatchMemOpParams *op)
{
	__typeof__(&cuGraphAddBatchMemOpNode) add = SW_CONFIRM_REAL(cuGraphAddBatchMemOpNode);
	const CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.ctx = context(), .count = 1, .paramArray = op};
	return add ? add(out, graph, before, n, &params) : CUDA_ERROR_NOT_FOUND;
}

static CUresult add_wait(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t n)
{
	CUstreamBatchMemOpParams op = {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
						     .address = sw_hold_device_address(&sw_hold.words->release),
						     .value = MARK,
						     .flags = CU_STREAM_WAIT_VALUE_GEQ}};
	return add_operation(out, graph, before, n, &op);
}

/* In a body of a conditional node there are no operations on memory, but sets. */
static CUresult add_mark(CUgraphNode *out, CUgraph graph, bool body, const CUgraphNode *before, size_t n,
			 _Atomic uint32_t *word)
{
	__typeof__(&cuGraphAddMemsetNode) set = SW_CONFIRM_REAL(cuGraphAddMemsetNode);
	const CUdeviceptr at = sw_hold_device_address(word);
	CUstreamBatchMemOpParams op = {
		.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = at, .value = MARK}};
	const CUDA_MEMSET_NODE_PARAMS params = {
		.dst = at, .value = MARK, .elementSize = sizeof *word, .width = 1, .height = 1};
	if (!body)
		return add_operation(out, graph, before, n, &op);
	return set ? set(out, graph, before, n, &params, context()) : CUDA_ERROR_NOT_FOUND;
}

static CUresult order(CUgraph graph, CUgraphNode from, CUgraphNode to)
{
	__typeof__(&cuGraphAddDependencies_v2) add = SW_CONFIRM_REAL(cuGraphAddDependencies_v2);
	__typeof__(&cuGraphAddDependencies) add_old = SW_CONFIRM_REAL(cuGraphAddDependencies);
	return add ? add(graph, &from, &to, NULL, 1) : add_old ? add_old(graph, &from, &to, 1) : CUDA_ERROR_NOT_FOUND;
}

/* Nodes of ours in the program's graph: only while its call is made. */
struct inserted {
	CUgraphNode node[3];
	uint32_t n;
};

static CUresult insert_hold(CUgraph graph, struct inserted *in)
{
	CUgraphNode before[MOST_BEFORE];
	size_t n = 0;
	CUresult status = nodes_before(sides[EARLIER].node, before, &n);
	if (!status)
		status = add_wait(&in->node[in->n], graph, before, n);
	if (!status)
		status = order(graph, in->node[in->n++], sides[EARLIER].node);
	return status;
}

static CUresult insert_marks(CUgraph graph, struct inserted *in)
{
	const struct side *later = &sides[LATER];
	const bool body = !holds(graph, later->node);
	const CUgraph where = body ? later->graph : graph;
	CUgraphNode before[MOST_BEFORE];
	size_t n = 0;
	if (body && !is_body(where))
		return CUDA_ERROR_INVALID_VALUE; /* of another graph that is, or will be, a child of this one */
	CUresult status = nodes_before(later->node, before, &n);
	if (!status)
		status = add_mark(&in->node[in->n], where, body, before, n, &sw_hold.words->probe);
	if (!status)
		status = add_mark(&in->node[++in->n], where, body, &later->node, 1, &sw_hold.words->later);
	in->n += !status;
	return status;
}

static void make_ours(CUgraph graph, CUgraphExec exec)
{
	__typeof__(&cuGraphInstantiateWithFlags) make = REAL(cuGraphInstantiateWithFlags);
	__typeof__(&cuGraphDestroyNode) destroy = SW_CONFIRM_REAL(cuGraphDestroyNode);
	struct inserted in = {.n = 0};
	CUgraphExec made = NULL;
	if (!sw_hold.words || !make || !destroy || !holds(graph, sides[EARLIER].node) ||
	    (later_is_node() && !sides[LATER].node))
		return;
	CUresult status = insert_hold(graph, &in);
	if (!status && later_is_node())
		status = insert_marks(graph, &in);
	if (!status)
		status = make(&made, graph, 0);
	while (in.n--)
		destroy(in.node[in.n]);
	if (status) {
		sw_result("unplaced %d", (int)status);
		return;
	}
	our_exec = made;
	program_exec = exec;
}

/* The program's call has succeeded. */
static void made_from(CUgraph graph, CUgraphExec exec)
{
	const uint64_t mask = sw_lock_enter(&lock);
	/* What was changed is not in ours. */
	if (exec == program_exec)
		program_exec = NULL;
	if (!sw_calls_tried() && graph)
		make_ours(graph, exec);
	sw_lock_leave(&lock, mask);
}

/* Of one node, or a child graph: it is another one now. */
void sw_nodes_changed(const struct sw_rec *rec)
{
	const struct sw_rec_graph *g = (const struct sw_rec_graph *)(const void *)rec;
	if (rec->kind == SW_REC_GRAPH && (g->op == SW_GRAPH_CREATE || g->op == SW_GRAPH_CLONE) && !rec->status) {
		const uint64_t mask = sw_lock_enter(&lock);
		made_graphs[n_made++ % GRAPHS] = g->graph;
		sw_lock_leave(&lock, mask);
	}
	if (rec->kind == SW_REC_GRAPH && g->op == SW_GRAPH_EXEC_UPDATE && !g->graph)
		made_from(NULL, (CUgraphExec)(uintptr_t)g->exec);
}

/* ---- the program's calls ----------------------------------------------------------------------------------------- */

#define MAKES(symbol, parameters, arguments)                                                                           \
	static CUresult CUDAAPI nodes_##symbol parameters                                                              \
	{                                                                                                              \
		const CUresult status = REAL(symbol) arguments;                                                        \
		if (!status && out)                                                                                    \
			made_from(graph, *out);                                                                        \
		return status;                                                                                         \
	}
MAKES(cuGraphInstantiate, (CUgraphExec * out, CUgraph graph, CUgraphNode *error, char *log, size_t bytes),
      (out, graph, error, log, bytes))
MAKES(cuGraphInstantiate_v2, (CUgraphExec * out, CUgraph graph, CUgraphNode *error, char *log, size_t bytes),
      (out, graph, error, log, bytes))
MAKES(cuGraphInstantiateWithFlags, (CUgraphExec * out, CUgraph graph, unsigned long long flags), (out, graph, flags))
MAKES(cuGraphInstantiateWithParams, (CUgraphExec * out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
      (out, graph, params))
MAKES(cuGraphInstantiateWithParams_ptsz, (CUgraphExec * out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
      (out, graph, params))

static CUresult CUDAAPI nodes_cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	const CUresult status = REAL(cuGraphExecUpdate_v2)(exec, graph, info);
	if (!status)
		made_from(graph, exec);
	return status;
}

#define LAUNCHES(symbol)                                                                                               \
	static CUresult CUDAAPI nodes_##symbol(CUgraphExec exec, CUstream stream)                                      \
	{                                                                                                              \
		CUresult status;                                                                                       \
		if (exec != program_exec || !sw_calls_try())                                                           \
			return REAL(symbol)(exec, stream);                                                             \
		sw_hold_launch(0, stream);                                                                             \
		status = REAL(symbol)(our_exec, stream);                                                               \
		sw_calls_begun();                                                                                      \
		if (status) {                                                                                          \
			sw_result("failed launch %d", (int)status);                                                    \
			sw_watch_release(SW_RELEASE_EXIT);                                                             \
			return REAL(symbol)(exec, stream);                                                             \
		}                                                                                                      \
		sw_result("left %llu", (unsigned long long)sw_result_us());                                            \
		return status;                                                                                         \
	}
LAUNCHES(cuGraphLaunch)
LAUNCHES(cuGraphLaunch_ptsz)

void sw_nodes_install(void)
{
	static const struct {
		uint32_t id;
		void *function;
	} replaced[] = {
#define REPLACED(symbol) {SW_ID_##symbol, (void *)nodes_##symbol}
		REPLACED(cuGraphInstantiate),
		REPLACED(cuGraphInstantiate_v2),
		REPLACED(cuGraphInstantiateWithFlags),
		REPLACED(cuGraphInstantiateWithParams),
		REPLACED(cuGraphInstantiateWithParams_ptsz),
		REPLACED(cuGraphExecUpdate_v2),
		REPLACED(cuGraphLaunch),
		REPLACED(cuGraphLaunch_ptsz),
	};
	for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
		/* Known before ours can be called. */
		real[replaced[i].id] = sw_confirm_recorder->driver(replaced[i].id);
		if (real[replaced[i].id])
			sw_confirm_recorder->replace(replaced[i].id, replaced[i].function);
	}
}
