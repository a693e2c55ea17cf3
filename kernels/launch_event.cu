/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write, an event of a launch attribute",
	       "the event that the copy waits for is the kernel's launch-completion event, which triggers when its "
	       "blocks "
	       "have begun",
	       "the event is recorded after the kernel");
	float *data = device_buffer(), *other = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	cudaEvent_t launched = new_event(), written = new_event();
	cudaLaunchAttribute attribute[1] = {};
	cudaLaunchConfig_t config = {};

	attribute[0].id = cudaLaunchAttributeLaunchCompletionEvent;
	attribute[0].val.launchCompletionEvent.event = launched;
	config.gridDim = GRID;
	config.blockDim = BLOCK;
	config.stream = producer;
	config.attrs = attribute;
	config.numAttrs = 1;
	CHECK(cudaLaunchKernelEx(&config, spin_write, data, N, 1.0f, SPIN_NS));
	if (c.fixed) {
		CHECK(cudaEventRecord(written, producer));
		CHECK(cudaStreamWaitEvent(consumer, written, 0));
	} else {
		CHECK(cudaStreamWaitEvent(consumer, launched, 0));
	}
	CHECK(cudaMemcpyAsync(other, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	finish({producer, consumer}, {launched, written}, {data, other});
}
