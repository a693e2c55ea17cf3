/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that enqueue several operations at once: one record an element, in the order of the arrays.  Elements are
 * unordered among themselves (SW_COPY_BATCH says so); the last one carries status and duration of the call.
 */
#include "preload/platform/seldom.h"

#include "preload/calls/copy_boxes.h"
#include "preload/intercept/contexts.h"
#include "preload/calls/custom.h"
#include "preload/calls/fill.h"
#include "preload/calls/graphs.h"

/* Element `i` of `count`: the call's own record for the last, a further one for the others. */
static void *record_element(struct sw_call *call, enum sw_rec_kind kind, size_t bytes, size_t i, size_t count)
{
	return i + 1 == count ? sw_call_record(call, kind, bytes) : sw_hook_extra(call, kind, bytes);
}

/* Publishes the record of element `i` of `count`. */
static void element_done(struct sw_call *call, void *record, size_t i, size_t count)
{
	if (i + 1 == count)
		sw_call_publish(call);
	else
		sw_describe_done(record);
}

/* Begins the record of a call that works on one stream.  False: the call is not recorded. */
static bool batch_enter(struct sw_call *call, const struct sw_site *site, CUstream stream)
{
	if (!sw_site_enter(call, site, 0))
		return false;
	sw_call_context(call, sw_context_of_stream(SW_WORD(stream)));
	return true;
}

/* When a copy may read its source: at the call, or at any time until the copy has ended; 0: in stream order. */
static uint32_t source_flags(CUmemcpySrcAccessOrder order)
{
	return order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? SW_COPY_SRC_DURING
	       : order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY	   ? SW_COPY_SRC_ANYTIME
								   : 0;
}

/* Flags of an element: of a batch, whether it is the first or the last one, and when it reads its source. */
static uint32_t element_flags(CUmemcpySrcAccessOrder order, bool first, bool last)
{
	return SW_COPY_BATCH | (first ? SW_COPY_BATCH_FIRST : 0) | (last ? 0 : SW_COPY_BATCH_MORE) |
	       source_flags(order);
}

/* Attributes hold from an element on, up to the first of the next ones. */
struct attributes {
	const CUmemcpyAttributes *at;
	const size_t *first;
	size_t count, next;
};

/* The access order that the attributes give an element; elements must be asked for in order.  INVALID: none is given.
 */
static CUmemcpySrcAccessOrder order_of(struct attributes *attributes, size_t element)
{
	if (!attributes->at || !attributes->first)
		return CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
	while (attributes->next < attributes->count && attributes->first[attributes->next] <= element)
		attributes->next++;
	return attributes->next ? attributes->at[attributes->next - 1].srcAccessOrder
				: CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
}

/* One COPY record an element of a batch of linear copies, written before the driver is called. */
static void copy_elements(struct sw_call *call, const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes,
			  size_t count, struct attributes attributes, CUstream stream)
{
	for (size_t i = 0; i < count; i++) {
		const CUmemcpySrcAccessOrder order = order_of(&attributes, i);
		struct sw_rec_copy *r = record_element(call, SW_REC_COPY, sizeof *r, i, count);

		if (r) {
			r->dst = dsts[i];
			r->src = srcs[i];
			r->bytes = sizes[i];
			r->stream = SW_WORD(stream);
			r->flags = element_flags(order, i == 0, i + 1 == count);
			sw_copy_content(r);
		}
		element_done(call, r, i, count);
	}
}

/* cuMemcpyBatchAsync() up to CUDA 12, which has `fail_idx`. */
CUresult sw_custom_copy_batch(const struct sw_site *site, CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
			      size_t count, CUmemcpyAttributes *attrs, size_t *attrs_idxs, size_t num_attrs,
			      size_t *fail_idx, CUstream stream)
{
	CUresult (*real)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t,
			 size_t *, CUstream) = (__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!dsts || !srcs || !sizes || !batch_enter(&call, site, stream))
		return real(dsts, srcs, sizes, count, attrs, attrs_idxs, num_attrs, fail_idx, stream);
	copy_elements(&call, dsts, srcs, sizes, count,
		      (struct attributes){attrs, attrs_idxs, num_attrs <= count ? num_attrs : 0, 0}, stream);
	status = real(dsts, srcs, sizes, count, attrs, attrs_idxs, num_attrs, fail_idx, stream);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}

/* cuMemcpyBatchAsync() since CUDA 13. */
CUresult sw_custom_copy_batch_v2(const struct sw_site *site, CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
				 size_t count, CUmemcpyAttributes *attrs, size_t *attrs_idxs, size_t num_attrs,
				 CUstream stream)
{
	CUresult (*real)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t,
			 CUstream) = (__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!dsts || !srcs || !sizes || !batch_enter(&call, site, stream))
		return real(dsts, srcs, sizes, count, attrs, attrs_idxs, num_attrs, stream);
	copy_elements(&call, dsts, srcs, sizes, count,
		      (struct attributes){attrs, attrs_idxs, num_attrs <= count ? num_attrs : 0, 0}, stream);
	status = real(dsts, srcs, sizes, count, attrs, attrs_idxs, num_attrs, stream);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}

/* One copy, whose source may be read out of stream order as that of a batch. */
CUresult sw_custom_copy_attributes(const struct sw_site *site, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
				   CUmemcpyAttributes *attributes, CUstream stream)
{
	CUresult (*real)(CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes *, CUstream) =
		(__typeof__(real))site->real;
	struct sw_rec_copy *r;
	struct sw_call call;
	CUresult status;

	if (!attributes || !batch_enter(&call, site, stream))
		return real(dst, src, bytes, attributes, stream);
	r = sw_call_record(&call, SW_REC_COPY, sizeof *r);
	if (r) {
		SW_FILL_COPY(r, dst, UNIFIED, src, UNIFIED, bytes, stream);
		r->flags |= source_flags(attributes->srcAccessOrder);
	}
	sw_call_publish(&call);
	status = real(dst, src, bytes, attributes, stream);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}

/*
 * CUDA driver API, cuMemcpy3DBatchAsync: "for pointer to CUDA array or vice versa copies, the element size is
 * determined by the CUDA array", else it is 1. 0: unknown to the driver, or the format has no size of an element.
 */
static uint64_t element_bytes(const CUDA_MEMCPY3D_BATCH_OP *op)
{
	__typeof__(&cuArray3DGetDescriptor_v2) ask = SW_REAL(cuArray3DGetDescriptor_v2);
	const CUmemcpy3DOperand *side = op->dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? &op->dst : &op->src;
	CUDA_ARRAY3D_DESCRIPTOR d;

	if (side->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
		return 1;
	if (!ask || ask(&d, side->op.array.array) != CUDA_SUCCESS)
		return 0;
	return sw_box_array_bytes(d.Format, d.NumChannels, 1, 1, 1);
}

/* Widths, offsets and row lengths are in elements; a row length or height of 0 means as wide, as high as the extent. */
static struct sw_box operand_box(const CUmemcpy3DOperand *operand, const CUextent3D *extent, uint64_t each)
{
	struct sw_box_side side = {.type = CU_MEMORYTYPE_UNIFIED};

	if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
		side.type = CU_MEMORYTYPE_ARRAY;
		side.array = operand->op.array.array;
		side.x = operand->op.array.offset.x * each;
		side.y = operand->op.array.offset.y;
		side.z = operand->op.array.offset.z;
	} else {
		side.device = operand->op.ptr.ptr;
		side.pitch = operand->op.ptr.rowLength * each;
		side.rows = operand->op.ptr.layerHeight;
	}
	return sw_box_make(&side, extent->width * each, extent->height, 0);
}

/* One record an element of a batch of copies of boxes, written before the driver is called.  `batch`: false for one
   copy with attributes. */
static void copy_3d_elements(struct sw_call *call, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, bool batch,
			     CUstream stream)
{
	for (size_t i = 0; i < count; i++) {
		const uint64_t each = element_bytes(&ops[i]);
		/* Unknown bytes are recorded as a call that is not modelled. */
		struct sw_rec_copy_nd *r = record_element(call, each ? SW_REC_COPY_ND : SW_REC_UNCLASSIFIED,
							  each ? sizeof *r : sizeof(struct sw_rec_other), i, count);

		if (r && each) {
			r->stream = SW_WORD(stream);
			r->width = ops[i].extent.width * each;
			r->height = ops[i].extent.height;
			r->depth = ops[i].extent.depth;
			r->dst = operand_box(&ops[i].dst, &ops[i].extent, each);
			r->src = operand_box(&ops[i].src, &ops[i].extent, each);
			r->flags = batch ? element_flags(ops[i].srcAccessOrder, i == 0, i + 1 == count)
					 : source_flags(ops[i].srcAccessOrder);
		}
		element_done(call, r, i, count);
	}
}

/* cuMemcpy3DBatchAsync() up to CUDA 12, which has `fail_idx`. */
CUresult sw_custom_copy_3d_batch(const struct sw_site *site, size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
				 size_t *fail_idx, unsigned long long flags, CUstream stream)
{
	CUresult (*real)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream) =
		(__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!ops || !batch_enter(&call, site, stream))
		return real(count, ops, fail_idx, flags, stream);
	copy_3d_elements(&call, ops, count, true, stream);
	status = real(count, ops, fail_idx, flags, stream);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}

/* cuMemcpy3DBatchAsync() since CUDA 13. */
CUresult sw_custom_copy_3d_batch_v2(const struct sw_site *site, size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
				    unsigned long long flags, CUstream stream)
{
	CUresult (*real)(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream) = (__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!ops || !batch_enter(&call, site, stream))
		return real(count, ops, flags, stream);
	copy_3d_elements(&call, ops, count, true, stream);
	status = real(count, ops, flags, stream);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}

/* cuMemcpy3DWithAttributesAsync(): one copy of a box, recorded as an element of a batch is. */
CUresult sw_custom_copy_3d_attributes(const struct sw_site *site, CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
				      CUstream stream)
{
	CUresult (*real)(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream) = (__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!op || !batch_enter(&call, site, stream))
		return real(op, flags, stream);
	copy_3d_elements(&call, op, 1, false, stream);
	status = real(op, flags, stream);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}

struct ranges {
	CUdeviceptr *at;
	size_t *bytes, count;
	CUstream stream;
};

/* Begins the call and writes one MEM_OP record a range of memory.  False: the call is not recorded. */
static bool memory_enter(struct sw_call *call, const struct sw_site *site, enum sw_mem_op op,
			 const struct ranges *ranges)
{
	if (!ranges->at || !ranges->bytes || !batch_enter(call, site, ranges->stream))
		return false;
	for (size_t i = 0; i < ranges->count; i++) {
		struct sw_rec_mem_op *r = record_element(call, SW_REC_MEM_OP, sizeof *r, i, ranges->count);

		if (r) {
			r->op = op;
			r->stream = SW_WORD(ranges->stream);
			r->address = ranges->at[i];
			r->bytes = ranges->bytes[i];
		}
		element_done(call, r, i, ranges->count);
	}
	return true;
}

/* The call of memory_enter() has returned. */
static CUresult memory_leave(struct sw_call *call, const struct ranges *ranges, CUresult status)
{
	sw_graphs_capture(call, ranges->stream, status);
	sw_call_leave(call, status);
	return status;
}

/* cuMemDiscardBatchAsync(): the contents of the ranges become undefined. */
CUresult sw_custom_discard_batch(const struct sw_site *site, CUdeviceptr *at, size_t *sizes, size_t count,
				 unsigned long long flags, CUstream stream)
{
	CUresult (*real)(CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream) = (__typeof__(real))site->real;
	const struct ranges ranges = {at, sizes, count, stream};
	struct sw_call call;
	bool recorded = memory_enter(&call, site, SW_MEMOP_DISCARD, &ranges);
	CUresult status = real(at, sizes, count, flags, stream);

	return recorded ? memory_leave(&call, &ranges, status) : status;
}

/* Calls of one signature that move ranges of managed memory; the locations order nothing and are not recorded. */
static CUresult prefetch_batch(const struct sw_site *site, enum sw_mem_op op, const struct ranges *ranges,
			       CUmemLocation *locations, size_t *location_idxs, size_t num_locations,
			       unsigned long long flags)
{
	CUresult (*real)(CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long,
			 CUstream) = (__typeof__(real))site->real;
	struct sw_call call;
	bool recorded = memory_enter(&call, site, op, ranges);
	CUresult status = real(ranges->at, ranges->bytes, ranges->count, locations, location_idxs, num_locations, flags,
			       ranges->stream);

	return recorded ? memory_leave(&call, ranges, status) : status;
}

/* cuMemPrefetchBatchAsync(). */
CUresult sw_custom_prefetch_batch(const struct sw_site *site, CUdeviceptr *at, size_t *sizes, size_t count,
				  CUmemLocation *locations, size_t *location_idxs, size_t num_locations,
				  unsigned long long flags, CUstream stream)
{
	return prefetch_batch(site, SW_MEMOP_PREFETCH, &(struct ranges){at, sizes, count, stream}, locations,
			      location_idxs, num_locations, flags);
}

/* A discard followed by a prefetch, which changes no byte: a discard as far as order and accesses are concerned. */
CUresult sw_custom_discard_prefetch_batch(const struct sw_site *site, CUdeviceptr *at, size_t *sizes, size_t count,
					  CUmemLocation *locations, size_t *location_idxs, size_t num_locations,
					  unsigned long long flags, CUstream stream)
{
	return prefetch_batch(site, SW_MEMOP_DISCARD, &(struct ranges){at, sizes, count, stream}, locations,
			      location_idxs, num_locations, flags);
}

/* cuStreamBatchMemOp(): waits for and writes of values in memory; an operation that is not modelled gets a record that
   says so. */
CUresult sw_custom_stream_batch(const struct sw_site *site, CUstream stream, unsigned int count,
				CUstreamBatchMemOpParams *ops, unsigned int flags)
{
	CUresult (*real)(CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int) =
		(__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!ops || !batch_enter(&call, site, stream))
		return real(stream, count, ops, flags);
	for (unsigned int i = 0; i < count; i++) {
		const bool known = sw_node_mem_op_known(&ops[i]);
		struct sw_rec_mem_op *r = record_element(&call, known ? SW_REC_MEM_OP : SW_REC_UNCLASSIFIED,
							 known ? sizeof *r : sizeof(struct sw_rec_other), i, count);

		if (r && known)
			sw_node_mem_op(r, stream, &ops[i]);
		element_done(&call, r, i, count);
	}
	status = real(stream, count, ops, flags);
	sw_graphs_capture(&call, stream, status);
	sw_call_leave(&call, status);
	return status;
}
