/* SPDX-License-Identifier: Apache-2.0 */
#include <future>

#include "case.h"

static void CUDART_CB signal_done(void *done)
{
	static_cast<std::promise<void> *>(done)->set_value();
}

static void CUDART_CB signal_status(cudaStream_t, cudaError_t, void *done)
{
	signal_done(done);
}

static void enqueue_signal(bool callback, cudaStream_t stream, std::promise<void> *done)
{
	if (callback)
		CHECK(cudaStreamAddCallback(stream, signal_status, done, 0));
	else
		CHECK(cudaLaunchHostFunc(stream, signal_done, done));
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write: the signal of a host function says too little",
	       "the host function that signals \"done\" is enqueued before the copy that it is meant to announce",
	       "the host function is enqueued after the copy", {"function", "callback"});
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	std::promise<void> done;

	if (!c.fixed)
		enqueue_signal(c.is("callback"), producer, &done);
	spin<<<1, 1, 0, producer>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
	if (c.fixed)
		enqueue_signal(c.is("callback"), producer, &done);
	done.get_future().wait();
	CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	finish({producer, consumer}, {}, {data, result}, {host});
}
