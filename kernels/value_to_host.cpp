/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

/* A stream tells the host by a value in pinned memory that it is done. */
int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 race-read-after-write, possible: the host may poll the value before it goes on",
		  "the host polls a value that the stream writes, and then uses the buffer on another stream",
		  "the other stream waits for an event as well");
	constexpr size_t BYTES = 1 << 20;
	CUdevice device;
	CUcontext context;
	CUstream fill, move;
	CUdeviceptr first, second, there;
	CUevent done;
	void *host;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&fill, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&move, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemAlloc(&first, BYTES));
	CHECK(cuMemAlloc(&second, BYTES));
	CHECK(cuMemHostAlloc(&host, 256, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(&there, host, 0));
	volatile unsigned *value = static_cast<volatile unsigned *>(host);
	*value = 0;

	CHECK(cuMemsetD8Async(first, 7, BYTES, fill));
	CHECK(cuStreamWriteValue32(fill, there, 1, 0));
	if (c.fixed) {
		CHECK(cuEventRecord(done, fill));
		CHECK(cuStreamWaitEvent(move, done, 0));
	}
	while (!*value)
		;
	CHECK(cuMemcpyDtoDAsync(second, first, BYTES, move));

	CHECK(cuCtxSynchronize());
	CHECK(cuMemFreeHost(host));
	CHECK(cuMemFree(second));
	CHECK(cuMemFree(first));
	CHECK(cuEventDestroy(done));
	CHECK(cuStreamDestroy(move));
	CHECK(cuStreamDestroy(fill));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
