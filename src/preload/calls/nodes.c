/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a graph's node, as the record that it would be on a stream. */
#include "preload/platform/seldom.h"

#include "preload/calls/graphs.h"

#include <string.h>

#include "preload/intercept/driver.h"
#include "preload/calls/content.h"
#include "preload/calls/fill.h"

/* A node of unknown work: it has no record. */
#define UNKNOWN SIZE_MAX

/* Each *_fill writes the record of a node's work from the driver's parameters; the record is zeroed before.  Returns
   the bytes after its structure.  Here: a launch, with its parameter block. */
static size_t kernel_fill(void *room, const void *params)
{
	const CUDA_KERNEL_NODE_PARAMS *p = params;
	struct sw_rec_launch *r = room;
	const struct sw_kernel_entry *function = sw_function_of(p->func ? p->func : (CUfunction)p->kern);
	const uint32_t grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ};
	const uint32_t block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
	size_t bytes;

	r->function = function ? function->id : 0;
	for (int i = 0; i < 3; i++) {
		r->grid[i] = grid[i];
		r->block[i] = (uint16_t)block[i];
	}
	r->shared_bytes = p->sharedMemBytes;
	bytes = sw_launch_block(function, p->kernelParams, p->extra, (char *)(r + 1));
	r->flags = SW_LAUNCH_INLINE;
	r->param_bytes = (uint16_t)bytes;
	return bytes;
}

/* The record of a copy node, with the source bytes if they may be addresses. */
static size_t memcpy_fill(void *room, const void *params)
{
	const CUDA_MEMCPY3D *p = params;
	struct sw_rec_copy_nd *r = room;

	SW_FILL_COPY_3D(r, p, 0);
	const size_t bytes = sw_node_content(r, (uint64_t *)(void *)(r + 1));

	r->flags |= bytes ? SW_COPY_CONTENT : 0;
	return bytes;
}

/* The record of a memset node; streams are 0 in all of these, a node has none. */
static size_t memset_fill(void *room, const void *params)
{
	const CUDA_MEMSET_NODE_PARAMS *p = params;
	struct sw_rec_set *r = room;

	SW_FILL_SET(r, p->dst, p->value, p->elementSize, p->width, p->height, p->pitch, 0);
	return 0;
}

/* The record of a host node: the function and its argument. */
static size_t host_fill(void *room, const void *params)
{
	struct sw_rec_host_func *r = room;

	r->function = SW_WORD(((const CUDA_HOST_NODE_PARAMS *)params)->fn);
	return 0;
}

/* The record of a node that records an event; such an event is always an external one. */
static size_t record_fill(void *room, const void *params)
{
	struct sw_rec_event_record *r = room;

	SW_FILL_EVENT_RECORD(r, *(const CUevent *)params, 0, SW_EVENT_RECORD_EXTERNAL);
	return 0;
}

/* The record of a node that waits for an external event. */
static size_t wait_fill(void *room, const void *params)
{
	struct sw_rec_stream_wait *r = room;

	SW_FILL_STREAM_WAIT(r, 0, *(const CUevent *)params, CU_EVENT_WAIT_EXTERNAL);
	return 0;
}

/* The record of an allocation node; its address is fixed when the node is added. */
static size_t alloc_fill(void *room, const void *params)
{
	const CUDA_MEM_ALLOC_NODE_PARAMS *p = params;
	struct sw_rec_alloc *r = room;

	SW_FILL_ALLOC(r, ASYNC, p->dptr, p->bytesize, 0, 0, 0, 0);
	return 0;
}

/* The record of a node that frees memory which a node allocated. */
static size_t free_fill(void *room, const void *params)
{
	struct sw_rec_free *r = room;

	SW_FILL_FREE(r, ASYNC, *(const CUdeviceptr *)params, 0, 0);
	return 0;
}

/* Is the effect of this memory operation (a wait for, or a write of a value) known?  Else it is recorded as one of
   unknown effect. */
bool sw_node_mem_op_known(const CUstreamBatchMemOpParams *op)
{
	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
	case CU_STREAM_MEM_OP_BARRIER:
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
		return true;
	default:
		return false;
	}
}

/* Fills the record of one operation, with what is written or waited for at which address; 32-bit operations have 4
   bytes. */
void sw_node_mem_op(struct sw_rec_mem_op *r, CUstream stream, const CUstreamBatchMemOpParams *op)
{
	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
		SW_FILL_MEM_OP(r, WAIT_VALUE, stream, op->waitValue.address, 4, op->waitValue.value,
			       op->waitValue.flags);
		break;
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		SW_FILL_MEM_OP(r, WAIT_VALUE, stream, op->waitValue.address, 8, op->waitValue.value64,
			       op->waitValue.flags);
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		SW_FILL_MEM_OP(r, WRITE_VALUE, stream, op->writeValue.address, 4, op->writeValue.value,
			       op->writeValue.flags);
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		SW_FILL_MEM_OP(r, WRITE_VALUE, stream, op->writeValue.address, 8, op->writeValue.value64,
			       op->writeValue.flags);
		break;
	default: /* barriers and flushes name no address */
		SW_FILL_MEM_OP(r, BATCH, stream, 0, 0, op->operation, 0);
		break;
	}
}

/* The record of a batch of memory operations: the first one in it, all others after it.  UNKNOWN if one is not
   modelled. */
static size_t batch_fill(void *room, const void *params)
{
	const CUDA_BATCH_MEM_OP_NODE_PARAMS *p = params;
	struct sw_rec_mem_op *r = room;
	uint32_t count = p->paramArray ? p->count : 0;

	if (count > SW_NODE_BYTES / sizeof *r)
		count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!sw_node_mem_op_known(&p->paramArray[i]))
			return UNKNOWN;
	r->op = SW_MEMOP_BATCH;
	for (uint32_t i = 0; i < count; i++) {
		memset(&r[i], 0, sizeof *r);
		r[i].h.kind = SW_REC_MEM_OP;
		r[i].h.words = sizeof *r / 8;
		sw_node_mem_op(&r[i], NULL, &p->paramArray[i]);
	}
	return count ? (count - 1) * sizeof *r : 0;
}

/* One row a type: its record, how that is filled, which driver call returns its parameters. */
union params {
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_MEMCPY3D memcpy;
	CUDA_MEMSET_NODE_PARAMS memset;
	CUDA_HOST_NODE_PARAMS host;
	CUDA_MEM_ALLOC_NODE_PARAMS alloc;
	CUevent event;
	CUdeviceptr address;
	CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
};
static const struct row {
	uint16_t bytes; /* of the record's structure */
	uint8_t kind;
	uint16_t ask; /* id of the driver call that returns the parameters */
	/* Returns the bytes that follow the structure, or UNKNOWN. */
	size_t (*fill)(void *room, const void *params);
} rows[] = {
#define ROW(type, KIND, structure, question, how)                                                                      \
	[CU_GRAPH_NODE_TYPE_##type] = {sizeof(struct structure), SW_REC_##KIND, SW_ID_##question, how}
	ROW(KERNEL, LAUNCH, sw_rec_launch, cuGraphKernelNodeGetParams_v2, kernel_fill),
	ROW(MEMCPY, COPY_ND, sw_rec_copy_nd, cuGraphMemcpyNodeGetParams, memcpy_fill),
	ROW(MEMSET, SET, sw_rec_set, cuGraphMemsetNodeGetParams, memset_fill),
	ROW(HOST, HOST_FUNC, sw_rec_host_func, cuGraphHostNodeGetParams, host_fill),
	ROW(EVENT_RECORD, EVENT_RECORD, sw_rec_event_record, cuGraphEventRecordNodeGetEvent, record_fill),
	ROW(WAIT_EVENT, STREAM_WAIT, sw_rec_stream_wait, cuGraphEventWaitNodeGetEvent, wait_fill),
	ROW(MEM_ALLOC, ALLOC, sw_rec_alloc, cuGraphMemAllocNodeGetParams, alloc_fill),
	ROW(MEM_FREE, FREE, sw_rec_free, cuGraphMemFreeNodeGetParams, free_fill),
	ROW(BATCH_MEM_OP, MEM_OP, sw_rec_mem_op, cuGraphBatchMemOpNodeGetParams, batch_fill),
#undef ROW
};

/* The row of a node type; NULL: its work is not recorded. */
static const struct row *row_of(CUgraphNodeType type)
{
	return (unsigned int)type < sizeof rows / sizeof *rows && rows[type].fill ? &rows[type] : NULL;
}

/* Writes the record of a node's work: that of the like call on a stream, without time and number.  The row of its type
   fills it. */
size_t sw_node_record(const struct sw_node_work *work, void *room)
{
	const struct row *row = row_of(work->type);
	struct sw_rec *r = room;
	size_t bytes;

	if (!row || !work->params)
		return 0;
	memset(room, 0, row->bytes);
	r->kind = row->kind;
	bytes = row->fill(room, work->params);
	if (bytes == UNKNOWN)
		return 0;
	bytes += row->bytes;
	memset((char *)room + bytes, 0, -bytes & 7);
	bytes = (bytes + 7) & ~(size_t)7;
	r->words = (uint16_t)(work->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ? row->bytes / 8 : bytes / 8);
	return bytes;
}

/* CUDA driver API, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: kernels may change its parameters, its grid and
   whether it runs at all, so what it was given when the graph was made says nothing. */
static bool changes_on_device(CUgraphNode node)
{
	__typeof__(&cuGraphKernelNodeGetAttribute) ask = SW_REAL(cuGraphKernelNodeGetAttribute);
	CUlaunchAttributeValue value = {0};

	return ask && ask(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value) == CUDA_SUCCESS &&
	       value.deviceUpdatableKernelNode.deviceUpdatable;
}

/* Writes the record of a node's work as the driver knows it.  Kernel nodes that the device may change have none: the
   host's knowledge may be old. */
size_t sw_node_ask(CUgraphNode node, CUgraphNodeType type, void *room)
{
	const struct row *row = row_of(type);
	CUresult (*ask)(CUgraphNode, void *) = row ? (__typeof__(ask))sw_driver_function(row->ask) : NULL;
	union params params = {0};

	if (!ask || ask(node, &params) != CUDA_SUCCESS ||
	    (type == CU_GRAPH_NODE_TYPE_KERNEL && changes_on_device(node)))
		return 0;
	return sw_node_record(&(struct sw_node_work){type, &params}, room);
}

/* The member of the union that the node's type selects; NULL: its work is not recorded. */
const void *sw_node_params(const CUgraphNodeParams *any)
{
	switch (any->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL: /* what follows in this version is not looked at */
		return &any->kernel;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return &any->memcpy.copyParams;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return &any->memset;
	case CU_GRAPH_NODE_TYPE_HOST:
		return &any->host;
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return &any->eventRecord.event;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return &any->eventWait.event;
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return &any->memOp;
	default:
		return NULL;
	}
}
