/* SPDX-License-Identifier: Apache-2.0 */
#include <future>

#include <unistd.h>

#include "case.h"

struct Work {
	float *data, *result, *host, *small;
	cudaStream_t producer, consumer;
	cudaEvent_t before, after;
};

/* The work does not start before this is set: what a query answers must not depend on who is faster. */
static std::promise<void> asked;

static void CUDART_CB wait_until_asked(void *)
{
	asked.get_future().wait();
}

static void produce(const Work &w, bool gated)
{
	CHECK(cudaEventRecord(w.before, w.producer));
	if (gated)
		CHECK(cudaLaunchHostFunc(w.producer, wait_until_asked, nullptr));
	spin<<<1, 1, 0, w.producer>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(w.data, w.host, BYTES, cudaMemcpyHostToDevice, w.producer));
	CHECK(cudaEventRecord(w.after, w.producer));
}

/* Asks once, or now and then until the answer is that all is done. */
template <typename Ask> static void poll(bool until_done, Ask ask)
{
	cudaError_t status = ask();

	asked.set_value();
	while (until_done && status == cudaErrorNotReady) {
		usleep(500);
		status = ask();
	}
	if (status != cudaErrorNotReady)
		CHECK(status);
	(void)cudaGetLastError(); /* "not ready" is kept there too */
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101, the consumer against the producer that the host did not wait for",
	       "the host waits before it gives the consumer its work, but for too little: another stream, an event "
	       "recorded before the work, the device before it has the work, one query whose answer is ignored, a "
	       "synchronous copy that waits for blocking streams only",
	       "the host waits for what the consumer needs",
	       {"stream", "event", "device", "query", "event-query", "elapsed", "copy"});
	/* A synchronous copy waits for blocking streams. */
	unsigned kind = c.is("copy") && c.fixed ? cudaStreamDefault : cudaStreamNonBlocking;
	Work w = {device_buffer(),
		  device_buffer(),
		  pinned_buffer(),
		  pinned_buffer(),
		  new_stream(kind),
		  new_stream(),
		  new_event(cudaEventDefault),
		  new_event(cudaEventDefault)};
	float *other = device_buffer(), ms;

	if (c.is("device") && !c.fixed)
		CHECK(cudaDeviceSynchronize());
	produce(w, c.is("query") || c.is("event-query") || c.is("elapsed"));
	if (c.is("stream"))
		CHECK(cudaStreamSynchronize(c.fixed ? w.producer : w.consumer));
	if (c.is("event"))
		CHECK(cudaEventSynchronize(c.fixed ? w.after : w.before));
	if (c.is("device") && c.fixed)
		CHECK(cudaDeviceSynchronize());
	if (c.is("query"))
		poll(c.fixed, [&] { return cudaStreamQuery(w.producer); });
	if (c.is("event-query"))
		poll(c.fixed, [&] { return cudaEventQuery(w.after); });
	if (c.is("elapsed"))
		poll(c.fixed, [&] { return cudaEventElapsedTime(&ms, w.before, w.after); });
	if (c.is("copy"))
		CHECK(cudaMemcpy(w.small, other, 4096, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyAsync(w.result, w.data, BYTES, cudaMemcpyDeviceToDevice, w.consumer));
	finish({w.producer, w.consumer}, {w.before, w.after}, {w.data, w.result, other}, {w.host, w.small});
}
