/* SPDX-License-Identifier: Apache-2.0 */
#include "devices.h"

int main(int argc, char **argv)
{
	TwoDevices c(argc, argv, "SW101 or SW102 between a copy from one GPU to another and a kernel on the other",
	       "a copy from GPU 0 to GPU 1 on a stream of GPU 0, and a kernel of GPU 1 that uses the destination",
	       "an event recorded on the one GPU that the other waits for; cudaMemcpyPeer instead of cudaMemcpyPeerAsync",
	       {"read event", "read serialised", "overwrite event", "overwrite serialised", "default-kind event"});
	float *from = device_buffer_on(0), *to = device_buffer_on(1), *result = device_buffer_on(1);
	cudaStream_t copies = new_stream_on(0), kernels = new_stream_on(1);
	cudaEvent_t copied = new_event_on(0), read = new_event_on(1);
	bool serialised = c.fixed && c.word(1) == "serialised", event = c.fixed && c.word(1) == "event";
	bool overwrite = c.word(0) == "overwrite";

	if (overwrite) {
		spin_copy<<<GRID, BLOCK, 0, kernels>>>(result, to, N, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaEventRecord(read, kernels));
	}
	on(0);
	if (event && overwrite)
		CHECK(cudaStreamWaitEvent(copies, read, 0));
	if (serialised)
		CHECK(cudaMemcpyPeer(to, 1, from, 0, BYTES));
	else if (c.word(0) == "default-kind")
		CHECK(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDefault, copies));
	else
		CHECK(cudaMemcpyPeerAsync(to, 1, from, 0, BYTES, copies));
	CHECK(cudaEventRecord(copied, copies));
	on(1);
	if (!overwrite) {
		if (event)
			CHECK(cudaStreamWaitEvent(kernels, copied, 0));
		quick_copy<<<GRID, BLOCK, 0, kernels>>>(result, to, N);
		CHECK_LAUNCH();
	}
	synchronize_all();
	finish({copies, kernels}, {copied, read}, {from, to, result});
}
