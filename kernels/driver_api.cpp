/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

/* A program that never sees the runtime API; linked with -lcuda. */
int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 race-read-after-write in a program that uses the driver API alone",
		  "a buffer is filled by a copy on one stream and copied on by another stream",
		  "the second stream waits for an event recorded after the first copy");
	constexpr size_t BYTES = 1 << 20;
	CUdevice device;
	CUcontext context;
	CUstream fill, move;
	CUevent filled;
	CUdeviceptr first, second;
	void *host;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&fill, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&move, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemAlloc(&first, BYTES));
	CHECK(cuMemAlloc(&second, BYTES));
	CHECK(cuMemHostAlloc(&host, BYTES, 0));

	CHECK(cuMemcpyHtoDAsync(first, host, BYTES, fill));
	if (c.fixed) {
		CHECK(cuEventRecord(filled, fill));
		CHECK(cuStreamWaitEvent(move, filled, 0));
	}
	CHECK(cuMemcpyDtoDAsync(second, first, BYTES, move));

	CHECK(cuCtxSynchronize());
	CHECK(cuMemFreeHost(host));
	CHECK(cuMemFree(second));
	CHECK(cuMemFree(first));
	CHECK(cuEventDestroy(filled));
	CHECK(cuStreamDestroy(move));
	CHECK(cuStreamDestroy(fill));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
