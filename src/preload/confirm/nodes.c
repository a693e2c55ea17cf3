/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sides that are nodes of a graph: no stream could be held before one alone.  The program's executable graph stays as
 * it is.  One of ours is made from the same graph, with a wait before the earlier node and marks around the later one,
 * and is launched in its place, once; the graph itself is as it was when the program's call returns.
 */
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/hash.h"
#include "preload/confirm/confirm.h"
#include "preload/platform/lock.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"

/*
 * Which streams and events wait for what is held.  A host that waits for another one need not end the hold.  To take
 * too many for dependents ends holds early; to take too few costs the host the rest of the bound: neither makes a
 * verdict wrong.
 */

#define MOST 256u

static struct {
	bool all;      /* more than the table holds */
	bool blocking; /* the legacy stream and all that are in order with it */
	uint32_t n;
	uint64_t at[MOST];
} dependents;

/* Is the stream ordered with the legacy default stream?  If the driver does not say, yes. */
static bool is_blocking(CUstream stream)
{
	__typeof__(&cuStreamGetFlags) ask = SW_CONFIRM_REAL(cuStreamGetFlags);
	unsigned flags = 0;
	if (stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
		return true;
	return !ask || ask(stream, &flags) != CUDA_SUCCESS || !(flags & CU_STREAM_NON_BLOCKING);
}

/* Does the stream or event wait for the held work? */
static bool has_dependent(uint64_t handle)
{
	for (uint32_t i = 0; i < dependents.n; i++)
		if (dependents.at[i] == handle)
			return true;
	return dependents.all;
}

/* Notes an object whose work comes after what is held; too many, and every call counts as dependent. */
static void add_dependent(uint64_t handle)
{
	if (has_dependent(handle))
		return;
	if (dependents.n < MOST)
		dependents.at[dependents.n++] = handle;
	else
		dependents.all = true;
}

/* An event was recorded again: what it stood for is replaced. */
static void drop_dependent(uint64_t handle)
{
	for (uint32_t i = 0; i < dependents.n; i++)
		if (dependents.at[i] == handle)
			dependents.at[i--] = dependents.at[--dependents.n];
}

/* From now on the stream's work waits for the held work. */
static void add_stream(CUstream stream)
{
	if (is_blocking(stream))
		dependents.blocking = true;
	else
		add_dependent((uintptr_t)stream);
}

/* Does work on the stream come after what is held? */
static bool has_stream(CUstream stream)
{
	return is_blocking(stream) ? dependents.blocking || dependents.all : has_dependent((uintptr_t)stream);
}

/* Begins to follow what depends on the held stream: at first nothing but that stream. */
void sw_dependents_begin(CUstream held)
{
	dependents.all = dependents.blocking = false;
	dependents.n = 0;
	add_stream(held);
}

/* Follows, record by record, which streams and events can only be complete after the work that is held. */
void sw_dependents_record(const struct sw_rec *rec, CUstream stream)
{
	const void *r = rec;
	if (rec->kind == SW_REC_EVENT_RECORD) {
		const struct sw_rec_event_record *e = r;
		drop_dependent(e->event);
		if (e->flags & SW_EVENT_RECORD_CONTEXT || has_stream(stream))
			add_dependent(e->event);
	} else if (rec->kind == SW_REC_STREAM_WAIT) {
		const struct sw_rec_stream_wait *w = r;
		if (!has_dependent(w->event))
			return;
		if (w->flags & 2)
			dependents.all = true;
		else
			add_stream(stream);
	} else if (rec->kind == SW_REC_MEM_OP || rec->kind == SW_REC_OTHER || rec->kind == SW_REC_UNCLASSIFIED) {
		/* The call may wait for a value, or a semaphore, that work after the hold writes. */
		add_stream(stream);
	}
}

/* Would this synchronisation wait for the held work?  Of the device, always. */
static bool sync_blocks(const struct sw_rec *rec)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)rec;
	CUstream stream = (CUstream)(uintptr_t)s->handle;
	if (s->what == SW_SYNC_EVENT)
		return has_dependent(s->handle);
	if (s->what != SW_SYNC_STREAM)
		return true;
	if (!stream)
		stream = rec->flags & SW_RF_PER_THREAD ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	return has_stream(stream);
}

/* Does the operation end a context, for whose work it waits? */
static bool ends_context(const struct sw_rec_context_op *o)
{
	return o->op == SW_CONTEXT_DESTROY || o->op == SW_CONTEXT_RESET || o->op == SW_CONTEXT_RELEASE;
}

/* True: the host would wait for the hold, so it must be released before the call is made. */
bool sw_dependents_blocks(const struct sw_rec *rec, CUstream stream)
{
	switch (rec->kind) {
	case SW_REC_SYNC:
		return sync_blocks(rec);
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
	case SW_REC_SET:
		/* Copies of pageable memory may make the host wait in asynchronous calls too: for the bound at most. */
		return rec->flags & SW_RF_BEGIN && has_stream(stream);
	case SW_REC_FREE:
		/* Waits for all work of the device (measured: "cudaFree", "cudaFreeHost"), but for stream-ordered ones.
		 */
		return rec->api != SW_ID_cuMemFreeAsync && rec->api != SW_ID_cuMemFreeAsync_ptsz;
	case SW_REC_CONTEXT_OP:
		return ends_context((const struct sw_rec_context_op *)(const void *)rec);
	case SW_REC_CONFIG:
	case SW_REC_CODE_UNLOAD:
		return true;
	default:
		return false;
	}
}

/*
 * Exploration: short holds before calls that a seed chooses, and hashes of what leaves the device.  A program without
 * races gives the same bytes whatever is held.
 *
 * Which calls are held depends on the seed, on the thread and on how many such calls it had made: not on time.
 */

#define TAKEN	    UINT32_MAX
#define SLOTS	    48u	   /* holds at a time; calls that find none are not held, and counted */
#define OUTPUTS	    16384u /* copies to the host that are hashed */
#define MOST_BYTES  (64u << 20)
#define LOOK_NS	    50000
#define STACK_BYTES (64u << 10)

struct slot {
	_Alignas(64) _Atomic uint32_t word; /* the stream waits until it is the turn */
	_Atomic uint32_t turn;		    /* 0: free */
	_Atomic uint64_t deadline;
};

struct output {
	const void *at;
	uint64_t bytes, seq, hash;
	_Atomic uint32_t state; /* 1: to come, 2: hashed */
};

static struct slot *slots;
static CUdeviceptr slots_device;
static struct output *outputs;
static _Atomic uint32_t n_outputs, index_of_hold, missed;
static _Atomic uint64_t spent;
static __thread uint64_t calls __attribute__((tls_model("initial-exec")));
static __thread struct output *leaving __attribute__((tls_model("initial-exec")));
static __thread CUstream leaving_on __attribute__((tls_model("initial-exec")));
static __thread bool leaving_done __attribute__((tls_model("initial-exec")));

/* The thread that ends short holds: looks every 50 us which are over and writes their word. */
static void *end_node_holds(void *unused)
{
	static const uint32_t never = 0;
	const struct timespec t = {.tv_nsec = LOOK_NS};
	prctl(PR_SET_NAME, "syncwatch-hold");
	for (;;) {
		const uint64_t now = sw_sys_monotonic();
		for (uint32_t i = 0; i < SLOTS; i++) {
			const uint32_t turn = atomic_load(&slots[i].turn);
			if (turn && turn != TAKEN && now >= atomic_load(&slots[i].deadline)) {
				atomic_store(&slots[i].word, turn);
				atomic_store(&slots[i].turn, 0);
			}
		}
		sw_sys_wait(&never, 0, &t);
	}
	return unused;
}

/* Memory, thread and tables for exploring, made once.  False: not there, or another thread is at it. */
static bool start_exploring(void)
{
	static _Atomic uint32_t state; /* 0: not begun, 1: in progress, 2: ready, 3: not to be had */
	uint32_t expected = 0;
	int error;
	if (!atomic_compare_exchange_strong(&state, &expected, 1))
		return expected == 2;
	__typeof__(&cuMemHostRegister_v2) enlist = SW_CONFIRM_REAL(cuMemHostRegister_v2);
	__typeof__(&cuMemHostGetDevicePointer_v2) ask = SW_CONFIRM_REAL(cuMemHostGetDevicePointer_v2);
	slots = sw_sys_map(-1, 0, SLOTS * sizeof *slots, &error);
	outputs = sw_sys_map(-1, 0, OUTPUTS * sizeof *outputs, &error);
	const unsigned flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
	const bool good =
		slots && outputs && enlist && ask && enlist(slots, SLOTS * sizeof *slots, flags) == CUDA_SUCCESS &&
		ask(&slots_device, slots, 0) == CUDA_SUCCESS && sw_sys_thread(end_node_holds, STACK_BYTES) == 0;
	atomic_store(&state, good ? 2 : 3);
	if (!good)
		sw_result("failed memory 0");
	return good;
}

/* A free slot, or NULL.  Its word only ever goes up by one, so that a stream that looks late still finds its number
   reached. */
static struct slot *take_slot(void)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t free = 0;
		if (atomic_compare_exchange_strong(&slots[i].turn, &free, TAKEN))
			return &slots[i];
	}
	return NULL;
}

/* Makes the stream wait for so many ns.  `index`: which hold of the run it is. */
static void hold_stream(CUstream stream, uint64_t seq, uint32_t index, uint64_t ns)
{
	__typeof__(&cuStreamWaitValue32_v2) wait = SW_CONFIRM_REAL(cuStreamWaitValue32_v2);
	struct slot *slot = wait ? take_slot() : NULL;
	if (!slot) {
		atomic_fetch_add(&missed, 1);
		return;
	}
	const uint32_t turn = atomic_load(&slot->word) + 1;
	const CUdeviceptr at = slots_device + (CUdeviceptr)((char *)&slot->word - (char *)slots);
	/* The clock runs before the stream is held. */
	atomic_store(&slot->deadline, sw_sys_monotonic() + ns);
	atomic_store(&slot->turn, turn);
	if (wait(stream, at, turn, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS)
		sw_result("held %llu %u %llu", (unsigned long long)seq, index, (unsigned long long)ns);
	else
		sw_result("failed hold 0");
}

/* May the call be held back?  Copies and kernels, but not what waits for the host itself. */
static bool may_hold(const struct sw_rec *rec)
{
	switch (rec->kind) {
	case SW_REC_LAUNCH:
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
	case SW_REC_SET:
	case SW_REC_GRAPH_LAUNCH:
		return rec->flags & SW_RF_PENDING && !(rec->flags & SW_RF_BEGIN);
	default:
		return false;
	}
}

/* Is this memory of the host?  *pageable: CUDA does not know it. */
static bool is_host(uint64_t address, bool *pageable)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_CONFIRM_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	*pageable = !ask || ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) != CUDA_SUCCESS;
	return *pageable || type == CU_MEMORYTYPE_HOST;
}

/* If the call copies from the device to the host, notes where, so that the bytes can be hashed when it has ended. */
static void leaves_device(const struct sw_rec *rec, CUstream stream)
{
	const struct sw_rec_copy *c = (const struct sw_rec_copy *)(const void *)rec;
	bool pageable, from;
	if (rec->kind != SW_REC_COPY || c->dst_side == SW_SIDE_DEVICE || c->dst_side == SW_SIDE_ARRAY ||
	    !is_host(c->dst, &pageable) || is_host(c->src, &from))
		return;
	const uint32_t at = atomic_fetch_add(&n_outputs, 1);
	if (at >= OUTPUTS)
		return;
	leaving = &outputs[at];
	leaving->at = (const void *)(uintptr_t)c->dst;
	leaving->bytes = c->bytes < MOST_BYTES ? c->bytes : MOST_BYTES;
	leaving->seq = sw_rec_seq(rec);
	leaving_on = stream;
	leaving_done = pageable || rec->flags & SW_RF_BEGIN;
}

/* Before a call: with the plan's chance, by a generator that the seed starts, holds the call's stream for a random
   time.  Copies to the host are hashed too: a result that changes with the holds shows a race. */
void sw_explore_before(const struct sw_rec *rec, CUstream stream)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	if (!may_hold(rec) && rec->kind != SW_REC_COPY)
		return;
	if (!start_exploring())
		return;
	leaves_device(rec, stream);
	if (!may_hold(rec))
		return;
	const uint64_t thread = sw_confirm_recorder->thread()->number;
	const uint64_t dice = sw_hash_u64(plan->seed ^ sw_hash_u64(thread << 40 ^ ++calls));
	if (dice % 1000 >= plan->rate)
		return;
	const uint32_t index = atomic_fetch_add(&index_of_hold, 1) + 1;
	const uint64_t ns = plan->bound_ns / 4 + sw_hash_u64(dice) % (plan->bound_ns * 3 / 4 + 1);
	if (index <= plan->first || index > plan->last || atomic_fetch_add(&spent, ns) + ns > plan->total_ns)
		return;
	hold_stream(stream, sw_rec_seq(rec), index, ns);
}

/* Hashes the bytes that a copy brought to the host. */
static void take_hash(struct output *output)
{
	uint64_t hash = SW_FNV_START;
	const uint64_t words = output->bytes & ~7ull;
	if (words)
		hash = sw_hash_words(output->at, words);
	output->hash = sw_hash_bytes(hash, (const char *)output->at + words, output->bytes - words);
	atomic_store(&output->state, 2);
}

/* Runs as a host function behind a copy: hashes what it brought. */
static void CUDA_CB on_stream(void *output)
{
	take_hash(output);
}

/* After a copy to the host returned: its bytes are hashed now, or by a host function behind it on the stream. */
void sw_explore_left(int status)
{
	__typeof__(&cuLaunchHostFunc) later = SW_CONFIRM_REAL(cuLaunchHostFunc);
	__typeof__(&cuStreamSynchronize) wait = SW_CONFIRM_REAL(cuStreamSynchronize);
	struct output *output = leaving;
	leaving = NULL;
	if (!output || status)
		return;
	atomic_store(&output->state, 1);
	/* Pageable memory may be freed as soon as the call returns: it is read now. */
	if (leaving_done && wait && wait(leaving_on) == CUDA_SUCCESS)
		take_hash(output);
	else if (!leaving_done && later)
		later(leaving_on, on_stream, output);
}

/* Writes each output's hash and how many holds there were, for `syncwatch confirm`. */
void sw_explore_end(void)
{
	const uint32_t n = atomic_load(&n_outputs);
	for (uint32_t i = 0; outputs && i < n && i < OUTPUTS; i++)
		if (atomic_load(&outputs[i].state) == 2)
			sw_result("output %u %llu %llu %016llx", i, (unsigned long long)outputs[i].seq,
				  (unsigned long long)outputs[i].bytes, (unsigned long long)outputs[i].hash);
	sw_result("holds %u missed %u outputs %u", atomic_load(&index_of_hold), atomic_load(&missed), n);
}

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

/* Is the graph the body of a conditional node?  Then the program did not make it, as far as we have seen. */
static bool is_body(CUgraph graph)
{
	for (uint32_t i = 0; i < GRAPHS; i++)
		if (made_graphs[i] == (uintptr_t)graph)
			return false;
	return n_made <= GRAPHS;
}

/* Is the plan's later call a node of a graph as well? */
static bool later_is_node(void)
{
	return sw_confirm_plan.nodes & SW_PLAN_NODE_LATER;
}

/* Remembers the node of a call of the plan.  `exact`: which of its calls. */
static void set_side(uint32_t exact, CUgraph graph, CUgraphNode node)
{
	if (!(exact & (SW_PLACE_EARLIER | SW_PLACE_LATER)) || !node)
		return;
	const uint64_t mask = sw_lock_enter(&lock);
	sides[exact & SW_PLACE_EARLIER ? EARLIER : LATER] = (struct side){graph, node};
	sw_lock_leave(&lock, mask);
}

/* After a call that added a node to a graph: notes the node, if the call is one of the plan's. */
void sw_nodes_added(const struct sw_rec *rec, uint32_t exact)
{
	const struct sw_rec_graph *g = (const struct sw_rec_graph *)(const void *)rec;
	if (rec->kind == SW_REC_GRAPH && g->op == SW_GRAPH_ADD_NODE && !rec->status)
		set_side(exact, (CUgraph)(uintptr_t)g->graph, (CUgraphNode)(uintptr_t)g->exec);
}

/* After a captured call its stream depends on the node that the call made, and on nothing else: so that node is the one
   that the driver names. */
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

/* Is the node in the graph itself, not in a child graph or body? */
static bool holds_node(CUgraph graph, CUgraphNode node)
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

/* On which nodes a node depends; *n of them in `out`, which has room for MOST_BEFORE. */
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

/* The driver's context of this thread; NULL: none. */
static CUcontext current_context(void)
{
	__typeof__(&cuCtxGetCurrent) ask = SW_CONFIRM_REAL(cuCtxGetCurrent);
	CUcontext now = NULL;
	return ask && ask(&now) == CUDA_SUCCESS ? now : NULL;
}

/* Adds a node that does one operation on memory, after `n` others. */
static CUresult add_operation(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t n,
			      CUstreamBatchMemOpParams *op)
{
	__typeof__(&cuGraphAddBatchMemOpNode) add = SW_CONFIRM_REAL(cuGraphAddBatchMemOpNode);
	const CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.ctx = current_context(), .count = 1, .paramArray = op};
	return add ? add(out, graph, before, n, &params) : CUDA_ERROR_NOT_FOUND;
}

/* Adds a node that waits until the hold ends. */
static CUresult add_wait(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t n)
{
	CUstreamBatchMemOpParams op = {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
						     .address = sw_hold_device_address(&sw_hold.words->release),
						     .value = MARK,
						     .flags = CU_STREAM_WAIT_VALUE_GEQ}};
	return add_operation(out, graph, before, n, &op);
}

/* Adds a node that writes 1 to a word: a memset in the body of a conditional node, which may have no other operations
   on memory. */
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
	return set ? set(out, graph, before, n, &params, current_context()) : CUDA_ERROR_NOT_FOUND;
}

/* Makes the node `to` depend on `from`. */
static CUresult order_nodes(CUgraph graph, CUgraphNode from, CUgraphNode to)
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

/* Puts a node that waits (the hold) before the node of the plan's earlier call, after all that this one depends on. */
static CUresult insert_hold(CUgraph graph, struct inserted *in)
{
	CUgraphNode before[MOST_BEFORE];
	size_t n = 0;
	CUresult status = nodes_before(sides[EARLIER].node, before, &n);
	if (!status)
		status = add_wait(&in->node[in->n], graph, before, n);
	if (!status)
		status = order_nodes(graph, in->node[in->n++], sides[EARLIER].node);
	return status;
}

/* Puts nodes that write marks, which the host looks at, before and after the node of the plan's later call. */
static CUresult insert_marks(CUgraph graph, struct inserted *in)
{
	const struct side *later = &sides[LATER];
	const bool body = !holds_node(graph, later->node);
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

/* Makes our executable graph: puts the nodes into the program's graph, instantiates it, and takes them out again. */
static void make_ours(CUgraph graph, CUgraphExec exec)
{
	__typeof__(&cuGraphInstantiateWithFlags) make = REAL(cuGraphInstantiateWithFlags);
	__typeof__(&cuGraphDestroyNode) destroy = SW_CONFIRM_REAL(cuGraphDestroyNode);
	struct inserted in = {.n = 0};
	CUgraphExec made = NULL;
	if (!sw_hold.words || !make || !destroy || !holds_node(graph, sides[EARLIER].node) ||
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

/* The program made, or updated, an executable graph from this graph; graph NULL: it changed one node of it. */
static void made_from(CUgraph graph, CUgraphExec exec)
{
	const uint64_t mask = sw_lock_enter(&lock);
	/* The program changed its graph; the one that we made from it lacks that change. */
	if (exec == program_exec)
		program_exec = NULL;
	if (!sw_calls_tried() && graph)
		make_ours(graph, exec);
	sw_lock_leave(&lock, mask);
}

/* A node, or a child graph, was changed: the graph that we made from it is out of date. */
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

/* An update may take the nodes of another graph: then these are the executable graph's from now on. */
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

/* Puts our functions between the wrappers and the driver, for calls that make executable graphs of graphs and launch
   them. */
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
