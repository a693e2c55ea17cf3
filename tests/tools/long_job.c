/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long_job STEPS [RACE_AT [STREAMS]]: a loop as training has it, for measuring what judging it while it runs takes.
 *
 * A step uploads a batch on one stream, works on it on others that wait for an event of it, reads a result back and
 * waits for it; now and then it allocates, makes streams and events, and destroys them.  At step RACE_AT one wait is
 * left out.  Prints the time of that (CLOCK_MONOTONIC, seconds).
 */
#include <string.h>
#include <time.h>

#include "driver_calls.h"

#define BYTES 65536u
#define MOST  64

static CUstream up, work[MOST];
static CUevent ready, done[MOST];
static CUdeviceptr batch[2], out[MOST];
static int n = 2;

#define SET(p, value, stream)                                                                                          \
	CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), p, value, BYTES, stream)
#define RECORD(event, stream) CALL(cuEventRecord, (CUevent, CUstream), event, stream)
#define WAIT(stream, event)   CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), stream, event, 0)

static void make_and_destroy(void)
{
	CUstream stream;
	CUevent event;
	CUdeviceptr p;
	CALL(cuStreamCreate, (CUstream *, unsigned), &stream, CU_STREAM_NON_BLOCKING);
	CALL(cuEventCreate, (CUevent *, unsigned), &event, CU_EVENT_DISABLE_TIMING);
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, BYTES);
	SET(p, 1, stream);
	RECORD(event, stream);
	WAIT(work[0], event);
	CALL(cuStreamSynchronize, (CUstream), stream);
	CALL(cuMemFree_v2, (CUdeviceptr), p);
	CALL(cuEventDestroy_v2, (CUevent), event);
	CALL(cuStreamDestroy_v2, (CUstream), stream);
}

static void step(long i, int races)
{
	const CUdeviceptr in = batch[i % 2];
	for (int k = 0; k < n; k++)
		WAIT(up, done[k]);
	SET(in, (unsigned char)i, up);
	RECORD(ready, up);
	for (int k = 0; k < n; k++) {
		if (!races || k)
			WAIT(work[k], ready);
		CALL(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream), out[k], in, BYTES, work[k]);
		SET(out[k], 1, work[k]);
		RECORD(done[k], work[k]);
	}
	if (i % 16 == 0)
		CALL(cuStreamSynchronize, (CUstream), work[i / 16 % n]);
	if (i % 256 == 0)
		make_and_destroy();
}

int main(int argc, char **argv)
{
	const long steps = argc > 1 ? atol(argv[1]) : 1000, race_at = argc > 2 ? atol(argv[2]) : -1;
	n = argc > 3 ? atoi(argv[3]) : 2;
	begin_cuda();
	CALL(cuStreamCreate, (CUstream *, unsigned), &up, CU_STREAM_NON_BLOCKING);
	CALL(cuEventCreate, (CUevent *, unsigned), &ready, CU_EVENT_DISABLE_TIMING);
	for (int k = 0; k < 2; k++)
		CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &batch[k], BYTES);
	for (int k = 0; k < n; k++) {
		CALL(cuStreamCreate, (CUstream *, unsigned), &work[k], CU_STREAM_NON_BLOCKING);
		CALL(cuEventCreate, (CUevent *, unsigned), &done[k], CU_EVENT_DISABLE_TIMING);
		CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &out[k], BYTES);
		RECORD(done[k], work[k]);
	}
	for (long i = 0; i < steps; i++) {
		struct timespec t;
		clock_gettime(CLOCK_MONOTONIC, &t);
		if (i == race_at) {
			printf("%ld.%09ld\n", (long)t.tv_sec, t.tv_nsec);
			fflush(stdout);
		}
		step(i, i == race_at);
	}
	CALL(cuCtxSynchronize, (void), );
	return 0;
}
