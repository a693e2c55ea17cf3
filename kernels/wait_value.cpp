/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

/* Two streams that signal each other through memory. */
int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 race-read-after-write between streams that signal through memory",
		  "the flag is written before the buffer is filled", "the flag is written after the buffer is filled");
	constexpr size_t BYTES = 1 << 20;
	CUdevice device;
	CUcontext context;
	CUstream fill, move;
	CUdeviceptr first, second, flag;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&fill, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&move, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&first, BYTES));
	CHECK(cuMemAlloc(&second, BYTES));
	CHECK(cuMemAlloc(&flag, 256));
	CHECK(cuMemsetD8Async(flag, 0, 256, fill));
	CHECK(cuStreamSynchronize(fill));

	if (!c.fixed)
		CHECK(cuStreamWriteValue32(fill, flag, 1, 0));
	CHECK(cuMemsetD8Async(first, 7, BYTES, fill));
	if (c.fixed)
		CHECK(cuStreamWriteValue32(fill, flag, 1, 0));
	CHECK(cuStreamWaitValue32(move, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
	CHECK(cuMemcpyDtoDAsync(second, first, BYTES, move));

	CHECK(cuCtxSynchronize());
	CHECK(cuMemFree(flag));
	CHECK(cuMemFree(second));
	CHECK(cuMemFree(first));
	CHECK(cuStreamDestroy(move));
	CHECK(cuStreamDestroy(fill));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
