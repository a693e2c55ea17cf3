/* SPDX-License-Identifier: Apache-2.0 */
#include <future>

#include "case.h"

/* The destructor's work when the last reference goes. */
struct Refill {
	float *buffer;
	std::promise<void> done;
	std::future<void> begin; /* not valid: at once */
};

static void CUDART_CB refill(void *arg)
{
	Refill *r = static_cast<Refill *>(arg);

	/* Bounded: the driver runs destructors on a thread that others need. */
	if (r->begin.valid())
		r->begin.wait_for(std::chrono::seconds(2));
	for (int i = 0; i < N; i += 64)
		r->buffer[i] = 1;
	r->done.set_value();
}

/* A launched graph that holds the object and is destroyed by destroy(): the object goes after the launch. */
static cudaGraphExec_t launch_holder(Refill *r, cudaStream_t stream)
{
	cudaUserObject_t object;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	spin<<<1, 1, 0, stream>>>(SPIN_NS / 10);
	CHECK_LAUNCH();
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaUserObjectCreate(&object, r, refill, 1, cudaUserObjectNoDestructorSync));
	CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaGraphLaunch(exec, stream));
	return exec;
}

/* Only seen with --guard-host: no CUDA call shows it. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW104 host-access-in-flight: destructors of user objects order nothing",
	       "the destructor of a graph's user object refills a buffer that a copy on another stream still reads "
	       "(shared); "
	       "a copy from the buffer is enqueued after a synchronisation that does not wait for the destructor "
	       "(signal)",
	       "the graph is destroyed when the copy is complete; the host waits for what the destructor signals",
	       {"shared", "signal"});
	float *data = device_buffer();
	cudaStream_t stream = new_stream(), copies = new_stream();
	Refill r;
	std::promise<void> copying;
	std::future<void> done = r.done.get_future();

	r.buffer = pinned_buffer();
	CHECK(cudaDeviceSynchronize());
	if (c.is("shared")) {
		/* The copy does not run before the destructor did: the simulated CUDA copies with the processor, whose
		   own access would release the pages. */
		spin<<<1, 1, 0, copies>>>(10 * SPIN_NS);
		CHECK(cudaMemcpyAsync(data, r.buffer, BYTES, cudaMemcpyHostToDevice, copies));
		cudaGraphExec_t exec = launch_holder(&r, stream);
		if (c.fixed)
			CHECK(cudaStreamSynchronize(copies));
		CHECK(cudaGraphExecDestroy(exec));
		done.wait();
	} else {
		if (!c.fixed)
			r.begin = copying.get_future();
		CHECK(cudaGraphExecDestroy(launch_holder(&r, stream)));
		CHECK(cudaStreamSynchronize(stream));
		if (c.fixed)
			done.wait();
		spin<<<1, 1, 0, copies>>>(10 * SPIN_NS);
		CHECK(cudaMemcpyAsync(data, r.buffer, BYTES, cudaMemcpyHostToDevice, copies));
		copying.set_value();
		if (!c.fixed)
			done.wait();
	}
	finish({stream, copies}, {}, {data}, {r.buffer});
}
