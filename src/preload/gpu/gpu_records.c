/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each record of CUPTI as one of the trace.  The structs are those of the headers that we were built with; an older
 * library fills shorter ones, which begin alike (NVIDIA appends), and nothing after that is read unless its version
 * says that it is there.
 */
#include <stdlib.h>

#include "preload/gpu/gpu.h"

/* Since when OVERHEAD records have a correlation id, and data that is ours to free. */
#define OVERHEAD_CORRELATION 120200u
#define OVERHEAD_DATA	     130000u

static struct sw_rec_activity *begin_activity(struct sw_gpu *gpu, enum sw_activity what, uint64_t start, uint64_t end,
					      uint32_t correlation)
{
	struct sw_rec_activity *r = gpu->recorder->describe(SW_REC_ACTIVITY, sizeof *r, true);

	if (!r) {
		gpu->dropped++;
		return NULL;
	}
	r->what = (uint16_t)what;
	r->start = start;
	r->end = end;
	r->correlation = correlation;
	return r;
}

/* Where work ran: the same members in all records of work. */
#define PLACE(r, a) ((r)->device = (a)->deviceId, (r)->context = (a)->contextId, (r)->on = (a)->streamId)
#define NODE(r, a)  ((r)->node = (a)->graphNodeId, (r)->graph = (a)->graphId)

/* Work of a kind; `more`: what only its records have. */
#define WORK(name, type, what, more)                                                                                   \
	static struct sw_rec_activity *name(struct sw_gpu *gpu, const type *a)                                         \
	{                                                                                                              \
		struct sw_rec_activity *r = begin_activity(gpu, what, a->start, a->end, a->correlationId);             \
                                                                                                                       \
		if (r) {                                                                                               \
			PLACE(r, a);                                                                                   \
			NODE(r, a);                                                                                    \
			more;                                                                                          \
		}                                                                                                      \
		return r;                                                                                              \
	}

WORK(kernel, CUpti_ActivityKernel10, SW_ACTIVITY_KERNEL, (void)0)
WORK(copy, CUpti_ActivityMemcpy6, SW_ACTIVITY_COPY, (r->bytes = a->bytes, r->detail = a->copyKind))
WORK(copy_peer, CUpti_ActivityMemcpyPtoP4, SW_ACTIVITY_COPY, (r->bytes = a->bytes, r->detail = a->copyKind))
WORK(set, CUpti_ActivityMemset4, SW_ACTIVITY_SET, r->bytes = a->bytes)

static struct sw_rec_activity *record_graph(struct sw_gpu *gpu, const CUpti_ActivityGraphTrace2 *a)
{
	struct sw_rec_activity *r = begin_activity(gpu, SW_ACTIVITY_GRAPH, a->start, a->end, a->correlationId);

	if (r) {
		PLACE(r, a);
		r->graph = a->graphId;
	}
	return r;
}

static struct sw_rec_activity *record_call(struct sw_gpu *gpu, const CUpti_ActivityAPI *a)
{
	struct sw_rec_activity *r = begin_activity(gpu, SW_ACTIVITY_CALL, a->start, a->end, a->correlationId);

	if (r)
		r->on = a->threadId;
	return r;
}

static struct sw_rec_activity *record_overhead(struct sw_gpu *gpu, const CUpti_ActivityOverhead3 *a)
{
	const bool correlated = gpu->cupti.version >= OVERHEAD_CORRELATION;
	struct sw_rec_activity *r =
		begin_activity(gpu, SW_ACTIVITY_OVERHEAD, a->start, a->end, correlated ? a->correlationId : 0);

	if (r) {
		/* The kinds are numbered in the upper half; DRIVER_COMPILER alone in the lower one. */
		r->detail = a->overheadKind >> 16 ? (uint16_t)(SW_OVERHEAD_COMPILER + (a->overheadKind >> 16))
						  : (uint16_t)a->overheadKind;
		if (a->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
			r->on = a->objectId.pt.threadId;
	}
	if (gpu->cupti.version >= OVERHEAD_DATA)
		free(a->overheadData);
	return r;
}

static struct sw_rec_activity *record_activity(struct sw_gpu *gpu, const CUpti_Activity *a)
{
	switch (a->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return kernel(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return copy(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return copy_peer(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return set(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return record_graph(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return record_call(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return record_overhead(gpu, (const void *)a);
	default:
		return NULL; /* enabled by another user of CUPTI */
	}
}

void sw_gpu_records_write(struct sw_gpu *gpu, const struct sw_gpu_buffer *buffer)
{
	CUpti_Activity *a = NULL;
	size_t dropped = 0;

	while (SW_CUPTI(&gpu->cupti, cuptiActivityGetNextRecord, buffer->bytes, buffer->valid, &a) == CUPTI_SUCCESS)
		gpu->recorder->described(record_activity(gpu, a));
	if (SW_CUPTI(&gpu->cupti, cuptiActivityGetNumDroppedRecords, buffer->context, buffer->stream, &dropped) ==
	    CUPTI_SUCCESS)
		gpu->dropped += dropped;
}
