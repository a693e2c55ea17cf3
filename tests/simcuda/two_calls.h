/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of two-devices.tsv, for the programs that make them: the simulation's test and the program that measures
 * them on a real machine.  The includer defines CHECK() and launch_quick().
 */
#ifndef TESTS_SIMCUDA_TWO_CALLS_H
#define TESTS_SIMCUDA_TWO_CALLS_H

#define BYTES (1u << 20)

static cudaStream_t nb[2], nb2[2], nb3[2], blk[2];
static cudaEvent_t far; /* recorded on nb[1] */
static void *mem[2], *object, *pageable;

static void on(int device)
{
	CHECK(cudaSetDevice(device));
}

static void allocate_on(int device)
{
	on(device);
	CHECK(cudaMalloc(&object, BYTES));
	on(0);
}

static void launch_and_wait(void)
{
	launch_quick(cudaStreamLegacy);
	CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}

static void record_far(void)
{
	on(1);
	CHECK(cudaEventRecord(far, nb[1]));
	on(0);
}

static void wait_far(void)
{
	CHECK(cudaStreamWaitEvent(nb2[0], far, 0));
	CHECK(cudaStreamSynchronize(nb2[0]));
}

static void enable(void)
{
	if (cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled)
		cudaGetLastError();
}

static void disable(void)
{
	if (cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled)
		cudaGetLastError();
}

#define COPY_ASYNC(stream) CHECK(cudaMemcpyPeerAsync(mem[1], 1, mem[0], 0, BYTES, stream))
/* CALL(row, set-up, after the spinner started but before the call, call, stream whose end is watched) */
#define CALLS(CALL)                                                                                                    \
	CALL("cudaMemcpyPeer 0->1 1MiB", , , CHECK(cudaMemcpyPeer(mem[1], 1, mem[0], 0, BYTES)), cudaStreamLegacy)     \
	CALL("cudaMemcpyPeerAsync 0->1 on nb2[0]", , , COPY_ASYNC(nb2[0]), nb2[0])                                     \
	CALL("cudaMemcpyPeerAsync 0->1 on nb2[1]", , , COPY_ASYNC(nb2[1]), nb2[1])                                     \
	CALL("cudaMemcpyAsync D2D default-kind 0->1 nb2[0]", , ,                                                       \
	     CHECK(cudaMemcpyAsync(mem[1], mem[0], BYTES, cudaMemcpyDefault, nb2[0])), nb2[0])                         \
	CALL("cudaMemcpy D2D 0->1", , , CHECK(cudaMemcpy(mem[1], mem[0], BYTES, cudaMemcpyDeviceToDevice)),            \
	     cudaStreamLegacy)                                                                                         \
	CALL("current=0: cudaDeviceSynchronize", , , CHECK(cudaDeviceSynchronize()), NULL)                             \
	CALL("current=0: cudaMalloc 1MiB", , , CHECK(cudaMalloc(&object, BYTES)), NULL)                                \
	CALL("current=0: cudaFree of device-0 memory", allocate_on(0), , CHECK(cudaFree(object)), NULL)                \
	CALL("current=0: cudaFree of device-1 memory", allocate_on(1), , CHECK(cudaFree(object)), NULL)                \
	CALL("current=0: cudaMallocHost 1MiB", , , CHECK(cudaMallocHost(&object, BYTES)), NULL)                        \
	CALL("current=0: cudaFreeHost 1MiB", CHECK(cudaMallocHost(&object, BYTES)), , CHECK(cudaFreeHost(object)),     \
	     NULL)                                                                                                     \
	CALL("current=0: cudaMemcpy D2H legacy", , ,                                                                   \
	     CHECK(cudaMemcpy(pageable, mem[0], 1024, cudaMemcpyDeviceToHost)), NULL)                                  \
	CALL("current=0: launch legacy + sync", , , launch_and_wait(), NULL)                                           \
	CALL("current=0: cudaStreamWaitEvent nb2[0] on event of nb[1] + sync", , record_far(), wait_far(), nb2[0])     \
	CALL("cudaDeviceEnablePeerAccess(1) from 0", disable(), , CHECK(cudaDeviceEnablePeerAccess(1, 0)), NULL)       \
	CALL("cudaMemcpyPeer 0->1 1MiB (peer access on)", enable(), ,                                                  \
	     CHECK(cudaMemcpyPeer(mem[1], 1, mem[0], 0, BYTES)), cudaStreamLegacy)                                     \
	CALL("cudaMemcpyPeerAsync 0->1 on nb2[0] (peer access on)", enable(), , COPY_ASYNC(nb2[0]), nb2[0])            \
	CALL("cudaMemcpyPeerAsync 0->1 on nb2[1] (peer access on)", enable(), , COPY_ASYNC(nb2[1]), nb2[1])            \
	CALL("cudaMemcpyAsync D2D default-kind 0->1 nb2[0] (peer access on)", enable(), ,                              \
	     CHECK(cudaMemcpyAsync(mem[1], mem[0], BYTES, cudaMemcpyDefault, nb2[0])), nb2[0])                         \
	CALL("cudaMemcpy D2D 0->1 (peer access on)", enable(), ,                                                       \
	     CHECK(cudaMemcpy(mem[1], mem[0], BYTES, cudaMemcpyDeviceToDevice)), cudaStreamLegacy)                     \
	CALL("cudaMalloc with peer access on", enable(), , CHECK(cudaMalloc(&object, BYTES)), NULL)                    \
	CALL("cudaFree with peer access on", enable(); allocate_on(0), , CHECK(cudaFree(object)), NULL)                \
	CALL("cudaDeviceDisablePeerAccess", enable(), , CHECK(cudaDeviceDisablePeerAccess(1)), NULL)

enum step { SETUP, BETWEEN, MAKE_CALL };

#define CALL_STEP(row, setup, between, call, own)                                                                      \
	if (!strcmp(name, row)) {                                                                                      \
		if (step == SETUP) {                                                                                   \
			setup;                                                                                         \
		} else if (step == BETWEEN) {                                                                          \
			between;                                                                                       \
		} else {                                                                                               \
			call;                                                                                          \
		}                                                                                                      \
		return own;                                                                                            \
	}

#define CALL_NAME(row, setup, between, call, own) {row},

/* Objects that the calls need, besides device code: made with device 1 first, so that device 0 is current in the end.
 */
static void make_objects(void)
{
	pageable = calloc(1, BYTES);
	for (int d = 1; d >= 0; d--) {
		on(d);
		CHECK(cudaStreamCreateWithFlags(&nb[d], cudaStreamNonBlocking));
		CHECK(cudaStreamCreateWithFlags(&nb2[d], cudaStreamNonBlocking));
		CHECK(cudaStreamCreateWithFlags(&nb3[d], cudaStreamNonBlocking));
		CHECK(cudaStreamCreate(&blk[d]));
		CHECK(cudaMalloc(&mem[d], BYTES));
		if (d)
			CHECK(cudaEventCreate(&far));
	}
}

#endif
