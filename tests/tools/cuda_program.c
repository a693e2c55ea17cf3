/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_program MODE: a program that `run` is tested with.  It loads the driver itself, so that it needs no toolkit to
 * link.
 *
 *   race, fixed   two sets of the same memory on two streams, unordered and ordered
 *   race-second   race, on other memory
 *   abort         as race, then abort()
 *   fork          the child does what the parent does, each with CUDA of its own
 *   load FILE     two kernels fill() of the code in FILE write the same memory on two streams, unordered
 *   exec          as fixed, then replaces itself by "cuda_program race"
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver_calls.h"

static void work(int ordered, int second)
{
	CUstream a, b;
	CUevent event;
	CUdeviceptr p, other;
	begin_cuda();
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 1 << 20);
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &other, 1 << 20);
	if (second)
		p = other;
	CALL(cuStreamCreate, (CUstream *, unsigned), &a, CU_STREAM_NON_BLOCKING);
	CALL(cuStreamCreate, (CUstream *, unsigned), &b, CU_STREAM_NON_BLOCKING);
	CALL(cuEventCreate, (CUevent *, unsigned), &event, CU_EVENT_DISABLE_TIMING);
	CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), p, 1, 1 << 20, a);
	if (ordered) {
		CALL(cuEventRecord, (CUevent, CUstream), event, a);
		CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), b, event, 0);
	}
	CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), p, 2, 1 << 20, b);
	CALL(cuCtxSynchronize, (void), );
}

static void load(const char *file)
{
	CUmodule module;
	CUfunction fill;
	CUstream a, b;
	CUdeviceptr p;
	void *params[] = {&p};
	begin_cuda();
	CALL(cuModuleLoad, (CUmodule *, const char *), &module, file);
	CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &fill, module, "_Z4fillPf");
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4096);
	CALL(cuStreamCreate, (CUstream *, unsigned), &a, CU_STREAM_NON_BLOCKING);
	CALL(cuStreamCreate, (CUstream *, unsigned), &b, CU_STREAM_NON_BLOCKING);
	for (CUstream *s = &a; s; s = s == &a ? &b : NULL)
		CALL(cuLaunchKernel,
		     (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
		      void **, void **),
		     fill, 1, 1, 1, 1, 1, 1, 0, *s, params, NULL);
	CALL(cuCtxSynchronize, (void), );
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int status = 0;
	if (strcmp(mode, "fork") == 0 && fork() == 0) {
		work(1, 0);
		return 0;
	}
	if (strcmp(mode, "load") == 0 && argc > 2) {
		load(argv[2]);
		return 0;
	}
	const int second = strcmp(mode, "race-second") == 0;
	work(!second && strcmp(mode, "race") != 0 && strcmp(mode, "abort") != 0, second);
	if (strcmp(mode, "abort") == 0)
		abort();
	if (strcmp(mode, "fork") == 0)
		wait(&status);
	if (strcmp(mode, "exec") == 0)
		execl(argv[0], argv[0], "race", NULL);
	return status ? 72 : 0;
}
