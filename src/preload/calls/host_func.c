/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host functions: a function of ours replaces the enqueued one and records when it ran. In a capture the function
 * becomes a node that may run many times, or never: it is passed through unwrapped, because our argument lives for one
 * run only.
 */
#include "preload/platform/seldom.h"

#include "preload/calls/custom.h"
#include "preload/calls/fill.h"
#include "preload/calls/graphs.h"
#include "preload/intercept/contexts.h"
#include "preload/intercept/identity_table.h"

/*
 * A capture that replaces the parameters of a graph that exists: for the judge a capture into that graph.  The driver
 * calls a function of the program, inside the captured call, for each node whose parameters differ; that function may
 * change executable graphs, which are calls of the program's own (CUDA driver API, cuStreamBeginRecaptureToGraph).
 */

/* Neither is ever freed: nothing says when the driver calls for the last time.  Programs have few. */
#define MOST 1024u
static struct recapture {
	struct recapture *next;
	CUgraphRecaptureCallback callback;
	void *data;
} * recaptures;

/* The argument that stands for this callback and its data, made once for each pair.  NULL: there are too many, calls in
   the function will not be recorded. */
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

/* Runs in place of the program's callback: calls that it makes are the program's own, so the thread does not count as
   inside of CUDA. */
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

/* cuStreamBeginRecaptureToGraph(). */
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

struct pending {
	struct pending *next;
	union {
		CUhostFn host;
		CUstreamCallback callback;
	} fn;
	void *data;
	uint64_t seq; /* of the HOST_FUNC record */
	uint64_t stream;
	uint16_t id;
	uint8_t ctx;
};

/*
 * Free entries, as a stack whose head has a counter against ABA in the 16 bits that user addresses leave free. Memory
 * is never freed, so reading `next` of an entry that another thread just took is harmless.
 */
static uint64_t free_head;

#define ADDRESS_BITS  48
#define ADDRESS(head) ((struct pending *)(uintptr_t)((head) & ((UINT64_C(1) << ADDRESS_BITS) - 1)))

/* An entry for a function that is being enqueued: a free one or new memory; NULL: none. */
static struct pending *pending_take(void)
{
	uint64_t head = __atomic_load_n(&free_head, __ATOMIC_ACQUIRE);

	while (ADDRESS(head)) {
		struct pending *next = __atomic_load_n(&ADDRESS(head)->next, __ATOMIC_RELAXED);
		const uint64_t after = SW_WORD(next) | (((head >> ADDRESS_BITS) + 1) << ADDRESS_BITS);

		if (__atomic_compare_exchange_n(&free_head, &head, after, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return ADDRESS(head);
	}
	return sw_table_memory(sizeof(struct pending));
}

/* Puts an entry on the stack of free ones; any thread. */
static void pending_free(struct pending *p)
{
	uint64_t head = __atomic_load_n(&free_head, __ATOMIC_RELAXED), after;

	do {
		__atomic_store_n(&p->next, ADDRESS(head), __ATOMIC_RELAXED);
		after = SW_WORD(p) | (((head >> ADDRESS_BITS) + 1) << ADDRESS_BITS);
	} while (!__atomic_compare_exchange_n(&free_head, &head, after, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* Before the program's host function runs, on a thread of CUDA: writes the BEGIN record of the run, which names the
   call that enqueued it.  False: not recorded. */
static bool run_begin(struct sw_call *call, const struct pending *p, bool callback, void *frame)
{
	struct sw_rec_host_func *r;

	if (!sw_call_enter(call, p->id, SW_RF_BEGIN, frame))
		return false;
	sw_call_context(call, p->ctx);
	r = sw_call_record(call, SW_REC_HOST_FUNC_RUN, sizeof *r);
	if (r) {
		r->stream = p->stream;
		r->function = callback ? SW_WORD(p->fn.callback) : SW_WORD(p->fn.host);
		r->enqueued = p->seq;
		r->flags = callback;
	}
	sw_call_publish(call);
	return true;
}

/* The host function has returned: writes the END record. */
static void run_end(struct sw_call *call, int status)
{
	sw_call_resume(call);
	sw_call_end(call, status);
}

/* Runs in place of a function of cuLaunchHostFunc().  The entry is freed first, as the program's function may not
   return. */
static void CUDA_CB run_host(void *with)
{
	const struct pending p = *(struct pending *)with;
	struct sw_call call;
	bool on;

	pending_free(with);
	on = run_begin(&call, &p, false, __builtin_frame_address(0));
	if (on)
		sw_call_pause(&call);
	p.fn.host(p.data);
	if (on)
		run_end(&call, 0);
}

/* Runs in place of a callback of cuStreamAddCallback(). */
static void CUDA_CB run_callback(CUstream stream, CUresult status, void *with)
{
	const struct pending p = *(struct pending *)with;
	struct sw_call call;
	bool on;

	pending_free(with);
	on = run_begin(&call, &p, true, __builtin_frame_address(0));
	if (on)
		sw_call_pause(&call);
	p.fn.callback(stream, status, p.data);
	if (on)
		run_end(&call, status);
}

/* Would work on the stream be captured?  True also if the driver does not say (the legacy stream during another
   thread's capture).  The query is safe: "calling it does not invalidate the capture" (Driver API,
   cuStreamIsCapturing). */
static bool is_capturing(const struct sw_site *site, CUstream stream)
{
	const bool per_thread = site->flags & SW_RF_PER_THREAD;
	__typeof__(&cuStreamIsCapturing) ask =
		per_thread ? SW_REAL(cuStreamIsCapturing_ptsz) : SW_REAL(cuStreamIsCapturing);
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return !ask || ask(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Writes the record of the call that enqueues a host function. */
static void enqueue_record(struct sw_call *call, CUstream stream, uint64_t function, uint32_t flags)
{
	struct sw_rec_host_func *r = sw_call_record(call, SW_REC_HOST_FUNC, sizeof *r);

	if (r) {
		r->stream = SW_WORD(stream);
		r->function = function;
		r->flags = flags;
	}
	sw_call_publish(call);
}

/* Records that a host function is enqueued (`form`: 0 function, 1 callback with status).  Returns the entry by which
   our function finds it; NULL: the program's function is passed on as it is, since the stream is captured or memory is
   lacking. */
static struct pending *enqueue_function(struct sw_call *call, const struct sw_site *site, CUstream stream, void *data,
					uint64_t function, uint32_t form)
{
	struct pending *p = is_capturing(site, stream) ? NULL : pending_take();

	sw_call_context(call, sw_context_of_stream(SW_WORD(stream)));
	enqueue_record(call, stream, function, form | (p ? 0 : 2));
	if (p) {
		p->data = data;
		p->seq = call->seq;
		p->stream = SW_WORD(stream);
		p->id = site->id;
		p->ctx = call->ctx;
	}
	return p;
}

/* The driver's cuLaunchHostFunc().  `mode`: of the second version, how the thread that runs the function waits for
   work, NULL for the first; no order depends on it. */
static CUresult call_host_func(const struct sw_site *site, CUstream stream, CUhostFn fn, void *data,
			       const unsigned *mode)
{
	CUresult (*real)(CUstream, CUhostFn, void *, unsigned int) = (__typeof__(real))site->real;

	return mode ? real(stream, fn, data, *mode) : ((__typeof__(&cuLaunchHostFunc))site->real)(stream, fn, data);
}

/* cuLaunchHostFunc() of both versions: enqueues our function in place of the program's. */
static CUresult launch_host_func(const struct sw_site *site, CUstream stream, CUhostFn fn, void *data,
				 const unsigned *mode)
{
	struct pending *p;
	struct sw_call call;
	CUresult status;

	if (!fn || !sw_site_enter(&call, site, 0))
		return call_host_func(site, stream, fn, data, mode);
	p = enqueue_function(&call, site, stream, data, SW_WORD(fn), 0);
	if (p)
		p->fn.host = fn;
	status = p ? call_host_func(site, stream, run_host, p, mode) : call_host_func(site, stream, fn, data, mode);
	/* A failed call never runs it. */
	if (p && status != CUDA_SUCCESS)
		pending_free(p);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}

CUresult sw_custom_launch_host_func(const struct sw_site *site, CUstream stream, CUhostFn fn, void *data)
{
	return launch_host_func(site, stream, fn, data, NULL);
}

CUresult sw_custom_launch_host_func_v2(const struct sw_site *site, CUstream stream, CUhostFn fn, void *data,
				       unsigned int mode)
{
	return launch_host_func(site, stream, fn, data, &mode);
}

/* cuStreamAddCallback(). */
CUresult sw_custom_add_callback(const struct sw_site *site, CUstream stream, CUstreamCallback fn, void *data,
				unsigned int flags)
{
	__typeof__(&cuStreamAddCallback) real = (__typeof__(real))site->real;
	struct pending *p;
	struct sw_call call;
	CUresult status;

	if (!fn || !sw_site_enter(&call, site, 0))
		return real(stream, fn, data, flags);
	p = enqueue_function(&call, site, stream, data, SW_WORD(fn), 1);
	if (p)
		p->fn.callback = fn;
	status = p ? real(stream, run_callback, p, flags) : real(stream, fn, data, flags);
	if (p && status != CUDA_SUCCESS)
		pending_free(p);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}
