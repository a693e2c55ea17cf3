/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with -lcuda: the calls bind to exported symbols, without a look-up of addresses. */
#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>

static void check(const char *what, CUresult status)
{
	if (status == CUDA_SUCCESS)
		return;
	printf("%s: error %d\n", what, (int)status);
	exit(1);
}

int main(void)
{
	CUdevice device;
	CUcontext context;
	CUstream stream;
	CUdeviceptr data;
	char host[4096] = {0};

	check("cuInit", cuInit(0));
	check("cuDeviceGet", cuDeviceGet(&device, 0));
	check("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
	check("cuCtxSetCurrent", cuCtxSetCurrent(context));
	check("cuStreamCreate", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	check("cuMemAlloc", cuMemAlloc(&data, sizeof host));
	check("cuMemsetD8Async", cuMemsetD8Async(data, 1, sizeof host, stream));
	check("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync(host, data, sizeof host, stream));
	check("cuStreamSynchronize", cuStreamSynchronize(stream));
	check("cuMemFree", cuMemFree(data));
	check("cuStreamDestroy", cuStreamDestroy(stream));
	check("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease(device));
	puts("done");
	return 3;
}
