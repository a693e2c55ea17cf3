/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of copies.  The copies run one after the other here, which is one of the orders that they may run in.  A
 * source that may be read at any time is read in stream order.
 */
#include "simcuda/memory/array.h"
#include "simcuda/memory/copy.h"

/* One end of a copy by its address alone. */
static struct sw_sim_side pointer_side(CUdeviceptr address)
{
	return (struct sw_sim_side){.type = CU_MEMORYTYPE_UNIFIED, .address = address};
}

/* Is it one of CUDA's source access orders? */
static bool order_known(CUmemcpySrcAccessOrder order)
{
	return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* When the source is read: in stream order, during the call, or as other asynchronous copies; the first two differ
   between linear and 3D copies, so the caller says what they mean. */
static enum sw_sim_source source_of(CUmemcpySrcAccessOrder order, enum sw_sim_source stream, enum sw_sim_source during)
{
	return order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM	     ? stream
	       : order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? during
								     : SW_SIM_SOURCE_PLAIN;
}

/* All copies of a linear batch.  cuda.h: the stream "must not be legacy NULL stream"; attributes apply from their
   element on, the first from 0. */
static CUresult copy_batch(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
			   CUmemcpyAttributes *attributes, size_t *first, size_t n, CUstream stream)
{
	if (!dsts || !srcs || !sizes || !count || !attributes || !first || !n || n > count || first[0] || !stream ||
	    stream == CU_STREAM_LEGACY)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++)
		if (!order_known(attributes[i].srcAccessOrder) ||
		    (i && (first[i] <= first[i - 1] || first[i] >= count)))
			return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0, next = 0; i < count; i++) {
		struct sw_sim_side src = pointer_side(srcs[i]);
		next += next < n && first[next] == i;
		src.source = source_of(attributes[next - 1].srcAccessOrder, SW_SIM_SOURCE_STREAM, SW_SIM_SOURCE_DURING);
		CUresult result = sw_sim_copy(stream, true, pointer_side(dsts[i]), src, sizes[i], 1, 1);
		if (result)
			return result;
	}
	return CUDA_SUCCESS;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
			    CUmemcpyAttributes *attributes, size_t *first, size_t n, size_t *failed, CUstream stream)
{
	CUresult result = copy_batch(dsts, srcs, sizes, count, attributes, first, n, stream);
	if (result && failed)
		*failed = SIZE_MAX; /* no particular one */
	return result;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
			       CUmemcpyAttributes *attributes, size_t *first, size_t n, CUstream stream)
{
	return copy_batch(dsts, srcs, sizes, count, attributes, first, n, stream);
}

/* Since 13.2. */
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUmemcpyAttributes *attributes,
				     CUstream stream);
/* One copy whose attributes say when the source may be read. */
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUmemcpyAttributes *attributes,
				     CUstream stream)
{
	struct sw_sim_side from = pointer_side(src);
	if (!attributes || !order_known(attributes->srcAccessOrder))
		return CUDA_ERROR_INVALID_VALUE;
	from.source = source_of(attributes->srcAccessOrder, SW_SIM_SOURCE_STREAM, SW_SIM_SOURCE_DURING);
	return sw_sim_copy(stream, true, pointer_side(dst), from, bytes, 1, 1);
}

/* ---- 3D ---- */

/* Bytes of the elements in which a copy is given: those of its arrays, else 1; 0: of two arrays that differ. */
static size_t element_of(const CUDA_MEMCPY3D_BATCH_OP *op)
{
	const CUmemcpy3DOperand *sides[] = {&op->dst, &op->src};
	size_t element = 0;
	bool differ = false;
	sw_sim_lock();
	for (int i = 0; i < 2; i++) {
		const struct sw_sim_array *array = sides[i]->type == CU_MEMCPY_OPERAND_TYPE_ARRAY
							   ? sw_sim_array_get(sides[i]->op.array.array)
							   : NULL;
		differ = differ || (array && element && element != array->element);
		element = array ? array->element : element;
	}
	sw_sim_unlock();
	return differ ? 0 : element ? element : 1;
}

/* Rows and layers of pointers are as wide and high as the copy where their length is 0. */
static struct sw_sim_side operand_side(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element)
{
	if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
		return (struct sw_sim_side){
			.type = CU_MEMORYTYPE_ARRAY,
			.array = o->op.array.array,
			.at = {o->op.array.offset.x * element, o->op.array.offset.y, o->op.array.offset.z}};
	struct sw_sim_side side = pointer_side(o->op.ptr.ptr);
	side.pitch = (o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width) * element;
	side.slice = side.pitch * (o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height);
	return side;
}

/* Are the rows and layers of a pointer as long as the copy is wide and high? */
static bool operand_valid(const CUmemcpy3DOperand *o, const CUextent3D *extent)
{
	if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
		return true;
	return o->type == CU_MEMCPY_OPERAND_TYPE_POINTER &&
	       (!o->op.ptr.rowLength || o->op.ptr.rowLength >= extent->width) &&
	       (!o->op.ptr.layerHeight || o->op.ptr.layerHeight >= extent->height);
}

/* Is the 3D copy one that CUDA accepts? */
static bool op_valid(const CUDA_MEMCPY3D_BATCH_OP *op)
{
	return order_known(op->srcAccessOrder) && op->extent.width && op->extent.height && op->extent.depth &&
	       operand_valid(&op->dst, &op->extent) && operand_valid(&op->src, &op->extent) && element_of(op);
}

/* Makes one 3D copy of a batch. */
static CUresult op_copy(const CUDA_MEMCPY3D_BATCH_OP *op, CUstream stream)
{
	const CUextent3D *e = &op->extent;
	size_t element = element_of(op);
	struct sw_sim_side src = operand_side(&op->src, e, element);
	src.source = source_of(op->srcAccessOrder, SW_SIM_SOURCE_PLAIN, SW_SIM_SOURCE_DURING_3D);
	return sw_sim_copy(stream, true, operand_side(&op->dst, e, element), src, e->width * element, e->height,
			   e->depth);
}

/* Nothing is copied unless all operations are valid. */
CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags, CUstream stream)
{
	if (!count || !ops || flags || !stream || stream == CU_STREAM_LEGACY)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++)
		if (!op_valid(&ops[i]))
			return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		CUresult result = op_copy(&ops[i], stream);
		if (result)
			return result;
	}
	return CUDA_SUCCESS;
}

/* Since 13.2. */
CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream stream);
CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream stream)
{
	return op && !flags && op_valid(op) ? op_copy(op, stream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed, unsigned long long flags,
			      CUstream stream)
{
	CUresult result = cuMemcpy3DBatchAsync_v2(count, ops, flags, stream);
	if (result && failed)
		*failed = SIZE_MAX; /* no particular one */
	return result;
}
