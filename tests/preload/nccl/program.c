/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank (RANK of WORLD_SIZE) that uses NCCL concurrently with work of its own on other streams: program STEP... With
 * -DOBJECT it is run() of a shared object, as Python's extensions are; with -DNAMED, named.h.
 *
 *     all        all-reduce of the first half of a buffer on stream a       wait     stream b waits for stream a
 *     out        the same from the second half into the first               set      stream b sets the first half
 *     gather     all-gather in place, a slice for each rank                  clear    stream b sets the second half
 *     begin end  a group                                                     own      stream b reads our slice
 *     other      all-reduce of the second half on stream c                   other_slice   ... that of another rank
 *     lone       all-reduce of a communicator of one rank: no kernel         waitc    stream b waits for stream c
 *     exchange   a group: send of the first half, receive into the second    sync     waits for the device
 *     split      the communicator is split; `all` uses the new one           sleep=MS the host sleeps
 *     count=N    elements from now on                                        root=N   broadcast of the first half
 *     die        ends by SIGKILL
 */
#include <cuda.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct id {
	char internal[128];
};
int ncclGetUniqueId(struct id *id);
int ncclCommInitRank(void **comm, int size, struct id id, int rank);
int ncclCommSplit(void *comm, int color, int key, void **out, void *config);
int ncclCommDestroy(void *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int reduction, void *comm, void *stream);
int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream);
int ncclAllGather(const void *send, void *receive, size_t count, int type, void *comm, void *stream);
int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream);
int ncclRecv(void *receive, size_t count, int type, int peer, void *comm, void *stream);

#ifdef NAMED
#include "../named.h"
#define ncclGetUniqueId	 NAMED_FUNCTION(ncclGetUniqueId)
#define ncclCommInitRank NAMED_FUNCTION(ncclCommInitRank)
#define ncclCommSplit	 NAMED_FUNCTION(ncclCommSplit)
#define ncclCommDestroy	 NAMED_FUNCTION(ncclCommDestroy)
#define ncclGroupStart	 NAMED_FUNCTION(ncclGroupStart)
#define ncclGroupEnd	 NAMED_FUNCTION(ncclGroupEnd)
#define ncclAllReduce	 NAMED_FUNCTION(ncclAllReduce)
#define ncclBroadcast	 NAMED_FUNCTION(ncclBroadcast)
#define ncclAllGather	 NAMED_FUNCTION(ncclAllGather)
#define ncclSend	 NAMED_FUNCTION(ncclSend)
#define ncclRecv	 NAMED_FUNCTION(ncclRecv)
#endif

#define FLOAT 7
#define HALF  (1u << 20)

static CUdeviceptr buffer;
static CUstream a, b, c;
static CUevent event;
static void *comm, *lone;
static int rank, size;
static size_t count = HALF / 4;

static void *at(size_t offset)
{
	return (void *)(uintptr_t)(buffer + offset);
}

static void b_waits_for(CUstream stream)
{
	cuEventRecord(event, stream);
	cuStreamWaitEvent(b, event, 0);
}

static int number(const char *step, const char *name)
{
	const size_t n = strlen(name);
	return strncmp(step, name, n) == 0 && step[n] == '=' ? atoi(step + n + 1) : -1;
}

static int collective(const char *step)
{
	const size_t slice = 2 * HALF / (size_t)size;
	if (strcmp(step, "all") == 0)
		return ncclAllReduce(at(0), at(0), count, FLOAT, 0, comm, a);
	if (strcmp(step, "out") == 0)
		return ncclAllReduce(at(HALF), at(0), count, FLOAT, 0, comm, a);
	if (strcmp(step, "other") == 0)
		return ncclAllReduce(at(HALF), at(HALF), count, FLOAT, 0, comm, c);
	if (strcmp(step, "lone") == 0)
		return ncclAllReduce(at(0), at(0), count, FLOAT, 0, lone, a);
	if (strcmp(step, "gather") == 0)
		return ncclAllGather(at(slice * (size_t)rank), at(0), slice / 4, FLOAT, comm, a);
	if (number(step, "root") >= 0)
		return ncclBroadcast(at(0), at(0), count, FLOAT, number(step, "root"), comm, a);
	if (strcmp(step, "begin") == 0)
		return ncclGroupStart();
	if (strcmp(step, "end") == 0)
		return ncclGroupEnd();
	if (strcmp(step, "split") == 0)
		return ncclCommSplit(comm, 0, rank, &comm, NULL);
	if (strcmp(step, "exchange") == 0) {
		ncclGroupStart();
		ncclSend(at(0), count, FLOAT, (rank + 1) % size, comm, a);
		ncclRecv(at(HALF), count, FLOAT, (rank + size - 1) % size, comm, a);
		return ncclGroupEnd();
	}
	return -1;
}

static void own_work(const char *step)
{
	const size_t slice = 2 * HALF / (size_t)size;
	if (strcmp(step, "wait") == 0)
		b_waits_for(a);
	else if (strcmp(step, "waitc") == 0)
		b_waits_for(c);
	else if (strcmp(step, "set") == 0)
		cuMemsetD8Async(buffer, 1, HALF, b);
	else if (strcmp(step, "clear") == 0)
		cuMemsetD8Async(buffer + HALF, 1, HALF, b);
	else if (strcmp(step, "own") == 0)
		cuMemcpyDtoDAsync(buffer + 2 * HALF, buffer + slice * (size_t)rank, slice, b);
	else if (strcmp(step, "other_slice") == 0)
		cuMemcpyDtoDAsync(buffer + 2 * HALF, buffer + slice * (size_t)((rank + 1) % size), slice, b);
	else if (strcmp(step, "sync") == 0)
		cuCtxSynchronize();
	else if (strcmp(step, "die") == 0)
		raise(SIGKILL);
	else if (number(step, "sleep") >= 0)
		usleep((useconds_t)number(step, "sleep") * 1000);
	else if (number(step, "count") >= 0)
		count = (size_t)number(step, "count");
	else
		fprintf(stderr, "unknown step %s\n", step);
}

static int variable(const char *name, int otherwise)
{
	const char *value = getenv(name);
	return value ? atoi(value) : otherwise;
}

static int start(void)
{
	CUdevice device;
	CUcontext context;
	struct id id;
	rank = variable("RANK", 0);
	size = variable("WORLD_SIZE", 2);
	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	    cuCtxSetCurrent(context) || cuMemAlloc(&buffer, 4 * HALF) || cuStreamCreate(&a, CU_STREAM_NON_BLOCKING) ||
	    cuStreamCreate(&b, CU_STREAM_NON_BLOCKING) || cuStreamCreate(&c, CU_STREAM_NON_BLOCKING) ||
	    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING))
		return 98;
	ncclGetUniqueId(&id);
	if (ncclCommInitRank(&comm, size, id, rank))
		return 97;
	memset(&id, 9, sizeof id);
	return ncclCommInitRank(&lone, 1, id, 0) ? 97 : 0;
}

#ifdef OBJECT
__attribute__((visibility("default"))) int run(int argc, char **argv);
int run(int argc, char **argv)
#else
int main(int argc, char **argv)
#endif
{
	int status = start();
	for (int i = 1; i < argc && !status; i++)
		if (collective(argv[i]) < 0)
			own_work(argv[i]);
	cuCtxSynchronize();
	return status ? status : ncclCommDestroy(comm);
}
