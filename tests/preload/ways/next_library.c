/* SPDX-License-Identifier: Apache-2.0 */
/* Another interposer: stands before libc's getpgrp and before the driver's cuMemAlloc, and asks for the next one. */
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include "preload/intercept/cuda_types.h"

int next_calls;

pid_t getpgrp(void)
{
	pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getpgrp");

	next_calls++;
	return real == getpgrp ? -1 : real();
}

CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
	__typeof__(&cuMemAlloc_v2) real = (__typeof__(real))dlsym(RTLD_NEXT, "cuMemAlloc_v2");

	next_calls++;
	return real == cuMemAlloc_v2 || !real ? CUDA_ERROR_UNKNOWN : real(at, bytes);
}
