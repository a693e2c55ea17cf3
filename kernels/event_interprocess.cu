/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* An event that is made for other processes, and recorded in this one: it orders what its last record covers. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write with an event made by cudaEventInterprocess",
	       "the event is recorded before the kernel whose result the other stream reads; its handle is not exported "
	       "(own), or it is, and nobody opens it (exported); or it is recorded on another stream (stream)",
	       "the event is recorded after the kernel, on its stream", {"own", "exported", "stream"});
	float *data = device_buffer(), *result = device_buffer();
	cudaStream_t writer = new_stream(), reader = new_stream(), other = new_stream();
	cudaEvent_t written = new_event(cudaEventDisableTiming | cudaEventInterprocess);
	cudaIpcEventHandle_t handle;

	if (c.is("exported"))
		CHECK(cudaIpcGetEventHandle(&handle, written));
	if (!c.fixed && !c.is("stream"))
		CHECK(cudaEventRecord(written, writer));
	spin_write<<<GRID, BLOCK, 0, writer>>>(data, N, 1, SPIN_NS);
	if (c.fixed)
		CHECK(cudaEventRecord(written, writer));
	else if (c.is("stream"))
		CHECK(cudaEventRecord(written, other));
	CHECK(cudaStreamWaitEvent(reader, written, 0));
	quick_copy<<<GRID, BLOCK, 0, reader>>>(result, data, N);
	CHECK_LAUNCH();
	finish({writer, reader, other}, {written}, {data, result});
}
