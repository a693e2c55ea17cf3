/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libnccl.so.2 for machines without one: it sends nothing, and uses CUDA as NCCL 2.30 does.  What a communicator was
 * given in a group is launched when the group ends, as one kernel on the first of its streams; the others wait before
 * and after.  The kernel gets a pointer to its arguments in device memory, which says nothing about the buffers.
 * FAKE_NCCL_HANG=N: the N-th collective of the process never returns.
 */
#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct id {
	char internal[128];
};
struct comm {
	int rank, size;
	const int *library; /* whose it is */
	CUdeviceptr arguments;
	CUfunction kernel;
	CUevent event;
};
struct op {
	struct comm *comm;
	CUstream stream;
};
#define MAX 64
static struct op group[MAX];
static int depth, n, calls;

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
			  ".visible .entry ncclDevKernel_AllReduce_Sum_f32_RING_LL(.param .u64 a) {\n"
			  ".reg .b64 %rd<4>;\n"
			  "ld.param.u64 %rd1, [a];\n"
			  "ld.global.u64 %rd2, [%rd1];\n"
			  "ld.global.u64 %rd3, [%rd2];\n"
			  "st.global.u64 [%rd2+8], %rd3;\n"
			  "ret;\n}\n";

#define OK(call)                                                                                                       \
	do                                                                                                             \
		if ((call) != CUDA_SUCCESS) {                                                                          \
			fprintf(stderr, "fake NCCL: %s failed\n", #call);                                              \
			_exit(99);                                                                                     \
		}                                                                                                      \
	while (0)

static bool is_first(int i, const struct comm *comm)
{
	for (int k = 0; k < i; k++)
		if (group[k].comm == comm)
			return false;
	return true;
}

static void wait_for(struct comm *comm, CUstream waits, CUstream other)
{
	if (waits == other)
		return;
	OK(cuEventRecord(comm->event, other));
	OK(cuStreamWaitEvent(waits, comm->event, 0));
}

static void launch(void)
{
	for (int i = 0; i < n; i++) {
		struct comm *comm = group[i].comm;
		void *parameters[] = {&comm->arguments};
		if (!is_first(i, comm) || comm->size == 1)
			continue;
		for (int k = i + 1; k < n; k++)
			if (group[k].comm == comm)
				wait_for(comm, group[i].stream, group[k].stream);
		OK(cuLaunchKernel(comm->kernel, 2, 1, 1, 512, 1, 1, 0, group[i].stream, parameters, NULL));
		for (int k = i + 1; k < n; k++)
			if (group[k].comm == comm)
				wait_for(comm, group[k].stream, group[i].stream);
	}
	n = 0;
}

static int enqueue(void *comm, void *stream)
{
	if (((struct comm *)comm)->library != &depth) {
		fputs("fake NCCL: a communicator of another copy of the library\n", stderr);
		_exit(95);
	}
	const char *hang = getenv("FAKE_NCCL_HANG");
	while (hang && ++calls == atoi(hang))
		for (;;)
			pause();
	if (n == MAX)
		return 3;
	group[n++] = (struct op){comm, stream};
	if (!depth)
		launch();
	return 0;
}

int ncclGetUniqueId(struct id *id);
int ncclGetUniqueId(struct id *id)
{
	memset(id, 7, sizeof *id);
	return 0;
}

int ncclCommInitRank(void **out, int size, struct id id, int rank);
int ncclCommInitRank(void **out, int size, struct id id, int rank)
{
	struct comm *comm = calloc(1, sizeof *comm);
	CUmodule module;
	(void)id;
	*comm = (struct comm){.rank = rank, .size = size, .library = &depth};
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&comm->kernel, module, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
	OK(cuMemAlloc(&comm->arguments, 4096));
	OK(cuEventCreate(&comm->event, CU_EVENT_DISABLE_TIMING));
	*out = comm;
	return 0;
}

int ncclCommSplit(void *comm, int color, int key, void **out, void *config);
int ncclCommSplit(void *comm, int color, int key, void **out, void *config)
{
	struct id id;
	const struct comm *parent = comm;
	(void)key;
	(void)config;
	memset(&id, color, sizeof id);
	return ncclCommInitRank(out, parent->size, id, parent->rank);
}

int ncclCommCount(void *comm, int *out);
int ncclCommCount(void *comm, int *out)
{
	*out = ((struct comm *)comm)->size;
	return 0;
}

int ncclCommUserRank(void *comm, int *out);
int ncclCommUserRank(void *comm, int *out)
{
	*out = ((struct comm *)comm)->rank;
	return 0;
}

int ncclCommDestroy(void *comm);
int ncclCommDestroy(void *comm)
{
	free(comm);
	return 0;
}

int ncclGroupStart(void);
int ncclGroupStart(void)
{
	depth++;
	return 0;
}

int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
	if (--depth == 0)
		launch();
	return 0;
}

int ncclAllReduce(const void *s, void *r, size_t c, int t, int o, void *comm, void *stream);
int ncclAllReduce(const void *s, void *r, size_t c, int t, int o, void *comm, void *stream)
{
	(void)s, (void)r, (void)c, (void)t, (void)o;
	return enqueue(comm, stream);
}

int ncclBroadcast(const void *s, void *r, size_t c, int t, int root, void *comm, void *stream);
int ncclBroadcast(const void *s, void *r, size_t c, int t, int root, void *comm, void *stream)
{
	(void)s, (void)r, (void)c, (void)t, (void)root;
	return enqueue(comm, stream);
}

int ncclAllGather(const void *s, void *r, size_t c, int t, void *comm, void *stream);
int ncclAllGather(const void *s, void *r, size_t c, int t, void *comm, void *stream)
{
	(void)s, (void)r, (void)c, (void)t;
	return enqueue(comm, stream);
}

int ncclSend(const void *s, size_t c, int t, int peer, void *comm, void *stream);
int ncclSend(const void *s, size_t c, int t, int peer, void *comm, void *stream)
{
	(void)s, (void)c, (void)t, (void)peer;
	return enqueue(comm, stream);
}

int ncclRecv(void *r, size_t c, int t, int peer, void *comm, void *stream);
int ncclRecv(void *r, size_t c, int t, int peer, void *comm, void *stream)
{
	(void)r, (void)c, (void)t, (void)peer;
	return enqueue(comm, stream);
}
