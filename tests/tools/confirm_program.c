/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confirm_program MODE: a program that `confirm` is tested with.  Two sets of the same memory on two streams, the later
 * one with other bytes.
 *
 *   race     nothing orders them
 *   same     nothing orders them, and both write the same bytes
 *   fixed    an event orders them
 *   sync     the host waits for the first one before it makes the second
 *   flag     the second one's stream waits for a value that the first one's stream writes
 *   signal   the same, and a host function writes it: no rule knows
 *   other    nothing orders them, and the host waits for a third stream in between
 *   poll     the host polls until the first one is done
 *   slow     race, behind something on the first one's stream that takes 50 ms when
 *            SYNCWATCH_CONFIRM is set
 *   apart    nothing orders them, and they are of different halves
 *   unlike   two races between other streams and of other memory
 *   several  two streams read in one line what a third one writes
 *   warm     race, after other such sets
 *   crowd    race, among ten more streams
 *   turned   race of two threads, which come in the other order when SYNCWATCH_CONFIRM is set
 *   turned-fixed  in one order always, with an event
 *   turned-together  both at the same time
 *   staged   a copy reads the pinned memory that another one writes
 *   staged-fixed  the same, after the host has waited
 *   again    race, but only where the file that is named next does not exist yet; it makes it
 *   many     race, after 300 events by which the streams wait for each other
 *   exit     race, and the process ends without waiting for either
 *   crash    race, and abort() when SYNCWATCH_CONFIRM is set: the run is not as it was
 *   hang     race, and it never ends when SYNCWATCH_CONFIRM is set
 *   branches both sets are on two branches of a captured graph; joined: the second waits for the first; updated: the
 *   joined   graph is updated from another such capture
 *   updated
 *   nodes    both sets are nodes that the program adds to a graph; joined-nodes: one depends on the other
 *   joined-nodes
 *   part     the second one's stream waits for an event that a part of a graph records, the first one is another part
 *   part-joined  it records it after the first one
 *   late     memory is allocated in the order of one stream and used on another
 *   late-fixed  the other stream waits for an event after it
 *   freed    memory is freed in the order of no stream while it is used
 *   fork     the child races, too
 *   host     the host copies the buffer that the first one writes, without waiting
 *   refill   the host writes a pinned buffer from which a copy is being made
 *   refilled the same, after it has waited
 *   refill-elsewhere  as refill, another byte of it when SYNCWATCH_CONFIRM is set
 *   result   race among other work, and what it leaves is copied to the host
 *   ordered  the same, fixed
 *   pool     the first one's buffer is freed in the order of another stream
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver_calls.h"

#define BYTES (1u << 16)

/* As large as those of libcublasLt: each thread has them on its stack. */
static __thread volatile char thread_local_bytes[94u << 10];

static CUstream a, b, c;
static CUevent event;
static CUdeviceptr memory;
static uint32_t *pinned;

static void set(CUstream stream, unsigned char value)
{
	CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), memory, value, BYTES, stream);
}

static void begin(void)
{
	begin_cuda();
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &memory, 2 * BYTES);
	CALL(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&pinned, BYTES, 0);
	for (CUstream *s[] = {&a, &b, &c, NULL}, **at = s; *at; at++)
		CALL(cuStreamCreate, (CUstream *, unsigned), *at, CU_STREAM_NON_BLOCKING);
	CALL(cuEventCreate, (CUevent *, unsigned), &event, CU_EVENT_DISABLE_TIMING);
}

/* Both streams are where they were; `a` waits for `b` and the other way round, many times. */
static void to_and_fro(void)
{
	for (int i = 0; i < 300; i++) {
		CUstream from = i % 2 ? a : b, to = i % 2 ? b : a;
		CUevent one;
		CALL(cuEventCreate, (CUevent *, unsigned), &one, CU_EVENT_DISABLE_TIMING);
		CALL(cuEventRecord, (CUevent, CUstream), one, from);
		CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), to, one, 0);
	}
}

static void query_until_done(CUstream stream)
{
	CUresult (*query)(CUstream);
	*(void **)&query = dlsym(driver, "cuStreamQuery");
	while (query(stream) == CUDA_ERROR_NOT_READY)
		usleep(1000);
}

static void CUDA_CB write_flag(void *unused)
{
	(void)unused;
	*(volatile uint32_t *)pinned = 1;
}

static void between(const char *mode)
{
	if (strcmp(mode, "fixed") == 0) {
		CALL(cuEventRecord, (CUevent, CUstream), event, a);
		CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), b, event, 0);
	} else if (strcmp(mode, "sync") == 0) {
		CALL(cuStreamSynchronize, (CUstream), a);
	} else if (strcmp(mode, "other") == 0) {
		CALL(cuStreamSynchronize, (CUstream), c);
	} else if (strcmp(mode, "poll") == 0) {
		query_until_done(a);
	} else if (strcmp(mode, "signal") == 0) {
		CALL(cuLaunchHostFunc, (CUstream, CUhostFn, void *), a, write_flag, NULL);
		CALL(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, cuuint32_t, unsigned), b,
		     (CUdeviceptr)(uintptr_t)pinned, 1, 0);
	} else if (strcmp(mode, "flag") == 0) {
		const CUdeviceptr flag = (CUdeviceptr)(uintptr_t)pinned;
		CALL(cuStreamWriteValue32_v2, (CUstream, CUdeviceptr, cuuint32_t, unsigned), a, flag, 1, 0);
		CALL(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, cuuint32_t, unsigned), b, flag, 1, 0);
	}
}

static void work(const char *mode)
{
	if (strcmp(mode, "many") == 0)
		to_and_fro();
	if (strcmp(mode, "warm") == 0) {
		set(a, 3);
		CALL(cuCtxSynchronize, (void), );
	}
	for (int i = 0; strcmp(mode, "crowd") == 0 && i < 10; i++)
		CALL(cuStreamCreate, (CUstream *, unsigned), &c, CU_STREAM_NON_BLOCKING);
	if (strcmp(mode, "slow") == 0 && getenv("SYNCWATCH_CONFIRM"))
		CALL(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, cuuint32_t, unsigned), a,
		     (CUdeviceptr)(uintptr_t)pinned, 1, CU_STREAM_WAIT_VALUE_GEQ);
	set(a, 1);
	between(mode);
	if (strcmp(mode, "host") == 0)
		CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), pinned, memory, BYTES);
	else
		set(b, strcmp(mode, "same") == 0 ? 1 : 2);
	if (strcmp(mode, "slow") == 0) {
		usleep(50000);
		*(volatile uint32_t *)pinned = 1;
	}
	if (strcmp(mode, "exit") == 0)
		_exit(0);
	CALL(cuCtxSynchronize, (void), );
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static pthread_barrier_t both_there;
static sem_t first_done;
static int turned, ordered_threads, at_once;

static void *one_thread(void *second)
{
	CUcontext context;
	CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
	CALL(cuCtxSetCurrent, (CUcontext), context);
	CALL(cuStreamQuery, (CUstream), a); /* threads have their numbers in this order */
	if (!second)
		sem_post(&first_done);
	pthread_barrier_wait(&both_there);
	volatile int last = (second != NULL) != turned && !at_once; /* one call of set(), not two */
	if (last)
		sem_wait(&first_done);
	if (last && ordered_threads)
		CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), second ? b : a, event, 0);
	set(second ? b : a, second ? 2 : 1);
	if (!last && ordered_threads)
		CALL(cuEventRecord, (CUevent, CUstream), event, second ? b : a);
	if (!last)
		sem_post(&first_done);
	return NULL;
}

static void work_on_threads(int ordered, int together)
{
	pthread_t threads[2];
	turned = !ordered && getenv("SYNCWATCH_CONFIRM");
	at_once = together;
	ordered_threads = ordered;
	pthread_barrier_init(&both_there, NULL, 2);
	sem_init(&first_done, 0, 0);
	pthread_create(&threads[0], NULL, one_thread, NULL);
	sem_wait(&first_done);
	pthread_create(&threads[1], NULL, one_thread, &both_there);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CALL(cuCtxSynchronize, (void), );
}

static void work_staged(int ordered)
{
	CUdeviceptr other;
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &other, BYTES);
	CALL(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t), memory, 7, BYTES);
	CALL(cuCtxSynchronize, (void), );
	CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned, memory, BYTES, a);
	if (ordered)
		CALL(cuStreamSynchronize, (CUstream), a);
	CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), other, pinned, BYTES, b);
	CALL(cuCtxSynchronize, (void), );
}

static void work_freed(void)
{
	CALL(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), &memory, BYTES, a);
	set(a, 1);
	CALL(cuMemFreeAsync, (CUdeviceptr, CUstream), memory, b);
	CALL(cuCtxSynchronize, (void), );
}

static void work_unlike(void)
{
	CUdeviceptr other;
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &other, BYTES);
	CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned, other, BYTES, c);
	CALL(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream), other, 5, BYTES / 4, b);
	set(a, 1);
	set(b, 2);
	CALL(cuCtxSynchronize, (void), );
}

static void work_apart(void)
{
	set(a, 1);
	memory += BYTES;
	set(b, 2);
	CALL(cuCtxSynchronize, (void), );
}

static void work_several(void)
{
	for (volatile int i = 0; i < 2; i++) /* one call, not two */
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned + i * 1000, memory, 4000,
		     i ? c : a);
	set(b, 1);
	CALL(cuCtxSynchronize, (void), );
}

static void work_late(int ordered)
{
	CALL(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), &memory, BYTES, a);
	if (ordered)
		between("fixed");
	set(b, 1);
	CALL(cuCtxSynchronize, (void), );
}

static void work_freed_at_once(void)
{
	set(a, 1);
	CALL(cuMemFree_v2, (CUdeviceptr), memory);
	CALL(cuCtxSynchronize, (void), );
}

static void work_refilled(int waits, int at)
{
	CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), memory, pinned, BYTES, a);
	if (waits)
		CALL(cuStreamSynchronize, (CUstream), a);
	pinned[at] = 1;
	CALL(cuCtxSynchronize, (void), );
}

static void event_from(CUstream from, CUstream to)
{
	CUevent one;
	CALL(cuEventCreate, (CUevent *, unsigned), &one, CU_EVENT_DISABLE_TIMING);
	CALL(cuEventRecord, (CUevent, CUstream), one, from);
	CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), to, one, 0);
}

static CUgraph captured(int ordered)
{
	CUgraph graph;
	CALL(cuStreamBeginCapture_v2, (CUstream, CUstreamCaptureMode), a, CU_STREAM_CAPTURE_MODE_GLOBAL);
	event_from(a, b);
	set(a, 1);
	if (ordered)
		event_from(a, b);
	set(b, 2);
	event_from(b, a);
	CALL(cuStreamEndCapture, (CUstream, CUgraph *), a, &graph);
	return graph;
}

static void work_in_graph(int ordered, int updated)
{
	CUgraph graph[2];
	CUgraphExec exec;
	CUgraphExecUpdateResultInfo info;
	for (int i = 0; i <= updated; i++)
		graph[i] = captured(ordered);
	CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &exec, graph[0], 0);
	if (updated)
		CALL(cuGraphExecUpdate_v2, (CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *), exec, graph[1],
		     &info);
	for (int i = 0; i < 3; i++)
		CALL(cuGraphLaunch, (CUgraphExec, CUstream), exec, a);
	CALL(cuCtxSynchronize, (void), );
}

static CUgraphNode add_set(CUgraph graph, const CUgraphNode *before, size_t n, unsigned char value)
{
	CUDA_MEMSET_NODE_PARAMS params = {.dst = memory, .value = value, .elementSize = 1, .width = BYTES, .height = 1};
	CUgraphNode node;
	CUcontext context;
	CALL(cuCtxGetCurrent, (CUcontext *), &context);
	CALL(cuGraphAddMemsetNode,
	     (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext), &node,
	     graph, before, n, &params, context);
	return node;
}

static void launch_graph(CUgraph graph)
{
	CUgraphExec exec;
	CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &exec, graph, 0);
	CALL(cuGraphLaunch, (CUgraphExec, CUstream), exec, a);
}

static void work_in_nodes(int ordered)
{
	CUgraph graph;
	CALL(cuGraphCreate, (CUgraph *, unsigned), &graph, 0);
	const CUgraphNode first = add_set(graph, NULL, 0, 1);
	add_set(graph, &first, ordered, 2);
	launch_graph(graph);
	CALL(cuCtxSynchronize, (void), );
}

static void work_in_part(int ordered)
{
	CUgraph graph;
	CUgraphNode record;
	CALL(cuGraphCreate, (CUgraph *, unsigned), &graph, 0);
	const CUgraphNode first = add_set(graph, NULL, 0, 1);
	CALL(cuGraphAddEventRecordNode, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent), &record, graph,
	     &first, ordered, event);
	launch_graph(graph);
	CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), b, event, 0);
	set(b, 2);
	CALL(cuCtxSynchronize, (void), );
}

static void to_host(CUstream stream)
{
	CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), pinned, memory, BYTES, stream);
}

static void work_with_result(int ordered)
{
	for (int i = 0; i < 10; i++) {
		set(a, 1);
		CALL(cuCtxSynchronize, (void), );
		to_host(c);
		CALL(cuCtxSynchronize, (void), );
	}
	set(a, 3);
	if (ordered) {
		CALL(cuEventRecord, (CUevent, CUstream), event, a);
		CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), b, event, 0);
	} else {
		usleep(20000); /* without a hold the first one always wins */
	}
	set(b, 4);
	CALL(cuCtxSynchronize, (void), );
	to_host(c);
	CALL(cuCtxSynchronize, (void), );
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int status = thread_local_bytes[0];
	const pid_t child = strcmp(mode, "fork") == 0 ? fork() : 1;
	begin();
	if (strcmp(mode, "again") == 0 && argc > 2 && open(argv[2], O_CREAT | O_EXCL | O_WRONLY, 0600) < 0)
		return 0;
	if (strcmp(mode, "pool") == 0)
		work_freed();
	else if (strcmp(mode, "branches") == 0 || strcmp(mode, "joined") == 0 || strcmp(mode, "updated") == 0)
		work_in_graph(mode[0] == 'j', mode[0] == 'u');
	else if (strcmp(mode, "result") == 0 || strcmp(mode, "ordered") == 0)
		work_with_result(mode[0] == 'o');
	else if (strcmp(mode, "unlike") == 0)
		work_unlike();
	else if (strcmp(mode, "apart") == 0)
		work_apart();
	else if (strcmp(mode, "several") == 0)
		work_several();
	else if (strcmp(mode, "late") == 0 || strcmp(mode, "late-fixed") == 0)
		work_late(mode[4] != 0);
	else if (strcmp(mode, "nodes") == 0 || strcmp(mode, "joined-nodes") == 0)
		work_in_nodes(mode[0] == 'j');
	else if (strcmp(mode, "part") == 0 || strcmp(mode, "part-joined") == 0)
		work_in_part(mode[4] != 0);
	else if (strcmp(mode, "freed") == 0)
		work_freed_at_once();
	else if (strncmp(mode, "turned", 6) == 0)
		work_on_threads(strcmp(mode, "turned-fixed") == 0, strcmp(mode, "turned-together") == 0);
	else if (strncmp(mode, "staged", 6) == 0)
		work_staged(mode[6] != 0);
	else if (strncmp(mode, "refill", 6) == 0)
		work_refilled(strcmp(mode, "refilled") == 0,
			      strcmp(mode, "refill-elsewhere") == 0 && getenv("SYNCWATCH_CONFIRM") ? 9000 : 1);
	else
		work(mode);
	if (strcmp(mode, "crash") == 0 && getenv("SYNCWATCH_CONFIRM"))
		abort();
	while (strcmp(mode, "hang") == 0 && getenv("SYNCWATCH_CONFIRM"))
		pause();
	if (strcmp(mode, "fork") == 0 && child > 0)
		wait(&status);
	return status ? 72 : 0;
}
