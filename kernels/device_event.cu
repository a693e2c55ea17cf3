/* SPDX-License-Identifier: Apache-2.0 */
#include "devices.h"

int main(int argc, char **argv)
{
	TwoDevices c(argc, argv, "SW101 between kernels of two GPUs; for other-device also SW201",
	       "a kernel of GPU 1 reads what a kernel of GPU 0 writes: it does not wait (missing), or for an event of "
	       "GPU 1 that could not be recorded on a stream of GPU 0 (other-device)",
	       "GPU 1 waits for an event of GPU 0", {"missing", "other-device"});
	float *data = device_buffer_on(0), *result = device_buffer_on(1);
	cudaStream_t producer = new_stream_on(0), consumer = new_stream_on(1);
	cudaEvent_t written = new_event_on(c.is("other-device") && !c.fixed ? 1 : 0);

	on(0);
	spin_write<<<GRID, BLOCK, 0, producer>>>(data, N, 1, SPIN_NS);
	CHECK_LAUNCH();
	/* CUDA refuses an event of another device: "cudaEventRecord() will fail". */
	if (cudaEventRecord(written, producer) != cudaSuccess)
		(void)cudaGetLastError();
	on(1);
	if (c.fixed || c.is("other-device"))
		CHECK(cudaStreamWaitEvent(consumer, written, 0));
	quick_copy<<<GRID, BLOCK, 0, consumer>>>(result, data, N);
	CHECK_LAUNCH();
	synchronize_all();
	finish({producer, consumer}, {written}, {data, result});
}
