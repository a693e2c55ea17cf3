/* SPDX-License-Identifier: Apache-2.0 */
/* Two green contexts, each with a share of the multiprocessors; only a GPU has them. */
#include "driver.h"

constexpr size_t BYTES = 1 << 20;

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101 race-read-after-write between green contexts",
		  "a stream of one green context copies what a stream of the other fills, and waits for nothing",
		  "the context of the copy waits for an event that the other one records (cuGreenCtxRecordEvent, "
		  "cuGreenCtxWaitEvent)");
	CUdevResource all, part[2], rest;
	CUdevResourceDesc share[2];
	CUgreenCtx green[2];
	CUstream stream[2];
	CUcontext primary;
	CUdeviceptr data, other;
	CUevent filled;
	unsigned parts = 2;

	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
	CHECK(cuCtxSetCurrent(primary));
	CHECK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
	CHECK(cuDevSmResourceSplitByCount(part, &parts, &all, &rest, 0, 16));
	for (int i = 0; i < 2; i++) {
		CHECK(cuDevResourceGenerateDesc(&share[i], &part[i], 1));
		CHECK(cuGreenCtxCreate(&green[i], share[i], 0, CU_GREEN_CTX_DEFAULT_STREAM));
		CHECK(cuGreenCtxStreamCreate(&stream[i], green[i], CU_STREAM_NON_BLOCKING, 0));
	}
	CHECK(cuMemAlloc(&data, BYTES));
	CHECK(cuMemAlloc(&other, BYTES));
	CHECK(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemsetD8Async(data, 1, BYTES, stream[0]));
	CHECK(cuGreenCtxRecordEvent(green[0], filled));
	if (c.fixed)
		CHECK(cuGreenCtxWaitEvent(green[1], filled));
	CHECK(cuMemcpyDtoDAsync(other, data, BYTES, stream[1]));
	CHECK(cuCtxSynchronize());
	for (int i = 0; i < 2; i++) {
		CHECK(cuStreamDestroy(stream[i]));
		CHECK(cuGreenCtxDestroy(green[i]));
	}
	CHECK(cuEventDestroy(filled));
	CHECK(cuMemFree(data));
	CHECK(cuMemFree(other));
	CHECK(cuDevicePrimaryCtxRelease(0));
}
