/* SPDX-License-Identifier: Apache-2.0 */
#include <mutex>

#include "case.h"

/* Only seen with --guard-host: no CUDA call shows it. */
struct Refill {
	float *host;
	std::mutex lock;
};

static void CUDART_CB refill(void *arg)
{
	Refill *r = static_cast<Refill *>(arg);
	std::lock_guard<std::mutex> held(r->lock);
	for (int i = 0; i < N; i += 64)
		r->host[i] = 1;
}

static void CUDART_CB refill_status(cudaStream_t, cudaError_t, void *arg)
{
	refill(arg);
}

/* Reads first, what a kernel before it wrote. */
static void CUDART_CB raise(void *arg)
{
	Refill *r = static_cast<Refill *>(arg);
	for (int i = 0; i < N; i += 64)
		r->host[i] += 1;
}

static void enqueue_refill(const Case &c, cudaStream_t stream, Refill *r)
{
	if (c.is("raise")) {
		CHECK(cudaLaunchHostFunc(stream, raise, r));
		return;
	}
	if (c.is("callback")) {
		CHECK(cudaStreamAddCallback(stream, refill_status, r, 0));
	} else if (c.is("node")) {
		cudaGraph_t graph;
		cudaGraphExec_t exec;
		CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
		CHECK(cudaLaunchHostFunc(stream, refill, r));
		CHECK(cudaStreamEndCapture(stream, &graph));
		CHECK(cudaGraphInstantiate(&exec, graph, 0));
		CHECK(cudaGraphLaunch(exec, stream));
		CHECK(cudaGraphDestroy(graph));
	} else {
		CHECK(cudaLaunchHostFunc(stream, refill, r));
	}
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW104 host-access-in-flight: a host function refills a buffer",
	       "a copy that waits for nothing reads the buffer while the function fills it",
	       "the copy is enqueued after the function, or waits for an event after it: the stream delays it",
	       {"function", "callback", "event", "node", "lock", "raise"});
	Refill r;
	r.host = pinned_buffer();
	float *data = device_buffer();
	cudaStream_t filler = new_stream(), other = new_stream();
	cudaEvent_t filled = new_event(), brought = new_event();

	if (c.is("lock"))
		r.lock.lock();
	spin<<<1, 1, 0, filler>>>(SPIN_NS);
	CHECK_LAUNCH();
	if (c.is("raise")) {
		spin_write<<<GRID, BLOCK, 0, filler>>>(r.host, N, 1, SPIN_NS);
		CHECK_LAUNCH();
	}
	CHECK(cudaEventRecord(brought, filler));
	enqueue_refill(c, filler, &r);
	/* Without a wait the copy is still to come when the function runs, and nothing says so. */
	spin<<<1, 1, 0, other>>>(10 * SPIN_NS);
	CHECK_LAUNCH();
	if (c.is("raise"))
		CHECK(cudaStreamWaitEvent(other, brought, 0));
	if (c.fixed && c.is("event")) {
		CHECK(cudaEventRecord(filled, filler));
		CHECK(cudaStreamWaitEvent(other, filled, 0));
	}
	CHECK(cudaMemcpyAsync(data, r.host, BYTES, cudaMemcpyHostToDevice, c.fixed && !c.is("event") ? filler : other));
	if (c.is("lock"))
		r.lock.unlock();
	finish({filler, other}, {filled, brought}, {data}, {r.host});
}
