/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations: a stream waits for a value in memory, or writes one. */
#include "simcuda/sim.h"

#include <string.h>

#define WRITE_NS 1000u

/* The value in memory now, of 4 or 8 bytes. */
static uint64_t load_value(const struct sw_sim_value *op)
{
	const void *at = sw_sim_backing(op->address);
	return op->bytes == 8 ? __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE)
			      : __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
}

/* Is the value there that a wait of a stream is for?  "At least" means a difference of less than half the range, as
   values may wrap around. */
bool sw_sim_value_there(const struct sw_sim_value *op)
{
	uint64_t now = load_value(op), mask = op->bytes == 8 ? UINT64_MAX : UINT32_MAX, asked = op->value & mask;
	switch (op->flags & 3) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return op->bytes == 8 ? (int64_t)(now - asked) >= 0 : (int32_t)(uint32_t)(now - asked) >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return now == asked;
	case CU_STREAM_WAIT_VALUE_AND:
		return now & asked;
	default:
		return ~(now | asked) & mask;
	}
}

/* Writes a stream's value; who waits for it reads it without the lock. */
void sw_sim_value_write(const struct sw_sim_value *op)
{
	void *at = sw_sim_backing(op->address);
	if (op->bytes == 8)
		__atomic_store_n((uint64_t *)at, op->value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint32_t *)at, (uint32_t)op->value, __ATOMIC_RELEASE);
}

/* Enqueues a wait for a value or a write of one.  The memory must be the device's, or registered or allocated with CUDA
   (CUDA Driver API, "Stream Memory Operations"). */
static CUresult value_op(CUstream stream, const struct sw_sim_value *op)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = sw_sim_stream_find(stream, &s);
	if (result)
		return result;
	const struct sw_sim_alloc *a = sw_sim_alloc_find(op->address);
	if (!a || op->address % op->bytes || op->bytes > a->size - (op->address - a->base))
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, op->wait ? 0 : WRITE_NS);
	work->op = *op;
	return sw_sim_submit(s, work, NULL);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
	return value_op(stream, &(struct sw_sim_value){address, value, 4, flags, true});
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags)
{
	return value_op(stream, &(struct sw_sim_value){address, value, 8, flags, true});
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
	return value_op(stream, &(struct sw_sim_value){address, value, 4, flags, false});
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags)
{
	return value_op(stream, &(struct sw_sim_value){address, value, 8, flags, false});
}

/* Enqueues one operation of a batch. */
static CUresult batch_member(CUstream stream, const CUstreamBatchMemOpParams *op)
{
	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
		return cuStreamWaitValue32_v2(stream, op->waitValue.address, op->waitValue.value, op->waitValue.flags);
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		return cuStreamWaitValue64_v2(stream, op->waitValue.address, op->waitValue.value64,
					      op->waitValue.flags);
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		return cuStreamWriteValue32_v2(stream, op->writeValue.address, op->writeValue.value,
					       op->writeValue.flags);
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return cuStreamWriteValue64_v2(stream, op->writeValue.address, op->writeValue.value64,
					       op->writeValue.flags);
	default: /* barriers and flushes: operations are executed one after the other anyway */
		return CUDA_SUCCESS;
	}
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops, unsigned flags)
{
	CUresult result = flags || !ops || count > 256 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
	for (unsigned i = 0; !result && i < count; i++)
		result = batch_member(stream, &ops[i]);
	return result;
}
