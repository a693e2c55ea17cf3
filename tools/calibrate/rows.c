/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/rows.h"

#include <stdio.h>

/* ---- what takes more than one call ------------------------------------------------------------------------------- */

/* The first error, or that of the last call. */
#define BOTH(first, second) ((b->rc = (first)) ? b->rc : (second))

/* The result of a query: "not ready" is no failure. */
static CUresult sw_ready(CUresult rc)
{
	return rc == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : rc;
}

/* Allocates in stream order, and waits. */
static CUresult sw_malloc_async(struct sw_bench *b)
{
	return BOTH(b->d.cuMemAllocAsync(&b->object, 1 << 20, b->nb2), b->d.cuStreamSynchronize(b->nb2));
}

/* Frees in stream order, and waits. */
static CUresult sw_free_async(struct sw_bench *b)
{
	return BOTH(b->d.cuMemFreeAsync(b->object, b->nb2), b->d.cuStreamSynchronize(b->nb2));
}

/* Sets how much freed memory the default pool keeps. */
static CUresult sw_threshold(struct sw_bench *b, uint64_t bytes)
{
	CUmemoryPool pool;
	cuuint64_t value = bytes;
	return BOTH(b->d.cuDeviceGetDefaultMemPool(&pool, b->device),
		    b->d.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
}

/* Makes the default pool release what it keeps. */
static CUresult sw_trim(struct sw_bench *b)
{
	CUmemoryPool pool;
	return BOTH(b->d.cuDeviceGetDefaultMemPool(&pool, b->device), b->d.cuMemPoolTrimTo(pool, 0));
}

/* Frees 64 MiB that the pool keeps, so that a trim has something to return. */
static CUresult sw_keep_freed(struct sw_bench *b)
{
	CUresult rc = sw_threshold(b, UINT64_MAX);
	if (!rc)
		rc = b->d.cuMemAllocAsync(&b->object, 64 << 20, b->nb2);
	if (!rc)
		rc = sw_free_async(b);
	return rc ? rc : sw_threshold(b, 0);
}

/* Makes a memory pool. */
static CUresult sw_pool_create(struct sw_bench *b)
{
	const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = b->device}};
	return b->d.cuMemPoolCreate(&b->pool, &props);
}

/* Copies between pageable buffers, as cudaMemcpy does. */
static CUresult sw_copy_h2h(struct sw_bench *b, size_t bytes)
{
	const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
				    .srcHost = b->pageable,
				    .dstMemoryType = CU_MEMORYTYPE_HOST,
				    .dstHost = b->pageable2,
				    .WidthInBytes = bytes,
				    .Height = 1};
	return b->d.cuMemcpy2DUnaligned_v2(&copy);
}

/* Makes a stream with a spinning kernel on it. */
static CUresult sw_pending_stream(struct sw_bench *b)
{
	return BOTH(b->d.cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING), sw_bench_spin(b, b->stream));
}

/* Makes an event that a spinning kernel holds back. */
static CUresult sw_pending_event(struct sw_bench *b)
{
	CUresult rc = sw_pending_stream(b);
	if (!rc)
		rc = b->d.cuEventCreate(&b->other_event, CU_EVENT_DISABLE_TIMING);
	return rc ? rc : b->d.cuEventRecord(b->other_event, b->stream);
}

/* Leaves the event done, as the rows that query it expect. */
static CUresult sw_event_again(struct sw_bench *b)
{
	return BOTH(b->d.cuEventRecord(b->event, b->nb2), b->d.cuStreamSynchronize(b->nb2));
}

/* Launches a kernel and waits for it. */
static CUresult sw_launch_wait(struct sw_bench *b, CUstream stream)
{
	return BOTH(sw_bench_quick(b, stream), b->d.cuStreamSynchronize(stream));
}

/* A host function that does nothing. */
static void CUDA_CB sw_on_host(void *arg)
{
	(void)arg;
}

/* A kernel that was never used, so that its code is not loaded. */
static CUresult fresh_kernel(struct sw_bench *b, CUkernel *kernel)
{
	char name[32];
	if (b->fresh >= SW_BENCH_FRESH)
		return CUDA_ERROR_NOT_FOUND;
	snprintf(name, sizeof name, "sw_fresh%d", b->fresh++);
	return b->d.cuLibraryGetKernel(kernel, b->library, name);
}

/* Launches a kernel for the first time. */
static CUresult sw_first_launch(struct sw_bench *b)
{
	CUkernel kernel;
	return BOTH(fresh_kernel(b, &kernel),
		    b->d.cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, b->nb2, NULL, NULL));
}

/* Asks for an attribute of a kernel that was not used yet, as the runtime does: it is getting the function that loads
   the code, not the query. */
static CUresult sw_first_query(struct sw_bench *b)
{
	CUkernel kernel;
	CUfunction function;
	CUresult rc = BOTH(fresh_kernel(b, &kernel), b->d.cuKernelGetFunction(&function, kernel));
	return rc ? rc : b->d.cuKernelGetAttribute(&b->value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, b->device);
}

/* Captures a graph of one kernel. */
static CUresult sw_graph(struct sw_bench *b)
{
	CUresult rc = b->d.cuStreamBeginCapture_v2(b->nb3, CU_STREAM_CAPTURE_MODE_RELAXED);
	if (!rc)
		rc = sw_bench_quick(b, b->nb3);
	return rc ? rc : b->d.cuStreamEndCapture(b->nb3, &b->graph);
}

/* Makes an executable graph and runs it once, so that its upload has ended. */
static CUresult sw_exec(struct sw_bench *b)
{
	CUresult rc = sw_graph(b);
	if (!rc)
		rc = b->d.cuGraphInstantiateWithFlags(&b->exec, b->graph, 0);
	if (!rc)
		rc = b->d.cuGraphLaunch(b->exec, b->nb3);
	return rc ? rc : b->d.cuStreamSynchronize(b->nb3);
}

/* Destroys the graph. */
static CUresult sw_graph_end(struct sw_bench *b)
{
	return BOTH(b->d.cuGraphExecDestroy(b->exec), b->d.cuGraphDestroy(b->graph));
}

/* Launches the graph on the legacy default stream and waits for it. */
static CUresult sw_graph_wait(struct sw_bench *b)
{
	return BOTH(b->d.cuGraphLaunch(b->exec, CU_STREAM_LEGACY), b->d.cuStreamSynchronize(CU_STREAM_LEGACY));
}

/* Updates the executable graph. */
static CUresult sw_graph_update(struct sw_bench *b)
{
	CUgraphExecUpdateResultInfo result;
	return b->d.cuGraphExecUpdate_v2(b->exec, b->graph, &result);
}

/* Prepares an executable graph whose launch stands after a spinning kernel. */
static CUresult sw_exec_pending(struct sw_bench *b)
{
	CUresult rc = sw_exec(b);
	if (!rc)
		rc = sw_bench_spin(b, b->nb2);
	return rc ? rc : b->d.cuGraphLaunch(b->exec, b->nb2);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define SW_GROUP(title)
#define SW_ROW(id, title, stream, set_up, action, finish)                                                              \
	static CUstream own_##id(struct sw_bench *b)                                                                   \
	{                                                                                                              \
		(void)b;                                                                                               \
		return stream;                                                                                         \
	}                                                                                                              \
	static CUresult prepare_##id(struct sw_bench *b)                                                               \
	{                                                                                                              \
		const struct sw_driver *d = &b->d;                                                                     \
		(void)d;                                                                                               \
		return set_up;                                                                                         \
	}                                                                                                              \
	static CUresult call_##id(struct sw_bench *b)                                                                  \
	{                                                                                                              \
		const struct sw_driver *d = &b->d;                                                                     \
		(void)d;                                                                                               \
		return action;                                                                                         \
	}                                                                                                              \
	static CUresult end_##id(struct sw_bench *b)                                                                   \
	{                                                                                                              \
		const struct sw_driver *d = &b->d;                                                                     \
		(void)d;                                                                                               \
		return finish;                                                                                         \
	}
#include "calibrate/rows.def"
#undef SW_ROW
#undef SW_GROUP

const struct sw_row sw_rows[] = {
#define SW_GROUP(title) {.group = title},
#define SW_ROW(id, title, stream, set_up, action, finish)                                                              \
	{.name = title, .own = own_##id, .prepare = prepare_##id, .call = call_##id, .end = end_##id},
#include "calibrate/rows.def"
#undef SW_ROW
#undef SW_GROUP
};
const size_t sw_rows_n = sizeof sw_rows / sizeof sw_rows[0];
