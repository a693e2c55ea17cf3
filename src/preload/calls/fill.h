/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the parameters of an entry point become a record: for each RECORD of the table (src/api/cuda.def)
 *   SW_KIND_x    the record's kind, and with it its struct,
 *   SW_WAITS_x   flags added where the call blocks,
 *   SW_FILL_x    the fields, from (record, arguments of the row),
 *   SW_DONE_x    what to remember once the call has succeeded, from (struct sw_call *, arguments of the row).
 */
#ifndef SW_PRELOAD_CALLS_FILL_H
#define SW_PRELOAD_CALLS_FILL_H

#include "api/signature.h"
#include "base/hash.h"
#include "preload/calls/content.h"
#include "preload/calls/copy_boxes.h"
#include "preload/calls/graphs.h"
#include "preload/intercept/contexts.h"
#include "preload/intercept/cuda_types.h"
#include "preload/intercept/hook.h"
#include "preload/recorder/recorder.h"

/* ---- texture_objects.c ---- */

void sw_object_texture(struct sw_rec_object *r, uint64_t handle, const CUDA_RESOURCE_DESC *from);
void sw_object_surface(struct sw_rec_object *r, uint64_t handle, const CUDA_RESOURCE_DESC *from);
void sw_object_tensor_map(struct sw_rec_object *r, const CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
			  const void *address, const cuuint64_t *size, const cuuint64_t *stride);

/* Writes a NAME record for a variable whose address the program asked for; after its ALLOC record. */
void sw_symbol_named(uint64_t address, const char *name);

/* sw_struct_SW_REC_LAUNCH is struct sw_rec_launch, and so on. */
#define SW_STRUCT_TYPE(name, value, type, text) typedef struct type sw_struct_SW_REC_##name;
SW_RECORDS(SW_STRUCT_TYPE)
#undef SW_STRUCT_TYPE
#define SW_STRUCT(record) SW_PASTE(sw_struct_, SW_KIND_##record)

/* The call worked on a stream: in a capture it became a node. */
#define SW_DONE_ON(call, s) sw_graphs_capture(call, (CUstream)SW_WORD(s), CUDA_SUCCESS)

#define SW_KIND_COPY					       SW_REC_COPY
#define SW_WAITS_COPY					       SW_RF_SYNCHRONOUS
#define SW_DONE_COPY(call, to, to_side, from, from_side, n, s) SW_DONE_ON(call, s)
#define SW_FILL_COPY(r, to, to_side, from, from_side, n, s)                                                            \
	((r)->dst = SW_WORD(to), (r)->dst_side = SW_SIDE_##to_side, (r)->src = SW_WORD(from),                          \
	 (r)->src_side = SW_SIDE_##from_side, (r)->bytes = (n), (r)->stream = SW_WORD(s),                              \
	 SW_SIDE_##to_side != SW_SIDE_HOST && SW_SIDE_##from_side != SW_SIDE_DEVICE ? sw_copy_content(r) : (void)0)

#define SW_KIND_COPY_PEER						  SW_REC_COPY
#define SW_WAITS_COPY_PEER						  SW_RF_SYNCHRONOUS
#define SW_DONE_COPY_PEER(call, to, to_context, from, from_context, n, s) SW_DONE_ON(call, s)
#define SW_FILL_COPY_PEER(r, to, to_context, from, from_context, n, s)                                                 \
	(SW_FILL_COPY(r, to, DEVICE, from, DEVICE, n, s), (r)->dst_ctx = sw_context_of(to_context),                    \
	 (r)->src_ctx = sw_context_of(from_context), (r)->flags = SW_COPY_PEER)

#define SW_KIND_COPY_2D		    SW_REC_COPY_ND
#define SW_WAITS_COPY_2D	    SW_RF_SYNCHRONOUS
#define SW_DONE_COPY_2D(call, p, s) SW_DONE_ON(call, s)
#define SW_FILL_COPY_2D(r, p, s)                                                                                       \
	_Generic((p), const CUDA_MEMCPY2D_v1 *: sw_box_copy_2d_v1, const CUDA_MEMCPY2D *: sw_box_copy_2d)(r, p, SW_WORD(s))

#define SW_KIND_COPY_3D		    SW_REC_COPY_ND
#define SW_WAITS_COPY_3D	    SW_RF_SYNCHRONOUS
#define SW_DONE_COPY_3D(call, p, s) SW_DONE_ON(call, s)
#define SW_FILL_COPY_3D(r, p, s)                                                                                       \
	_Generic((p), const CUDA_MEMCPY3D_v1 *: sw_box_copy_3d_v1, const CUDA_MEMCPY3D *: sw_box_copy_3d)(r, p, SW_WORD(s))

#define SW_KIND_COPY_3D_PEER		 SW_REC_COPY_ND
#define SW_WAITS_COPY_3D_PEER		 SW_RF_SYNCHRONOUS
#define SW_DONE_COPY_3D_PEER(call, p, s) SW_DONE_ON(call, s)
#define SW_FILL_COPY_3D_PEER(r, p, s)	 sw_box_copy_3d_peer(r, p, SW_WORD(s))

/* One line of bytes into or out of an array. */
#define SW_KIND_COPY_LINE							  SW_REC_COPY_ND
#define SW_WAITS_COPY_LINE							  SW_RF_SYNCHRONOUS
#define SW_DONE_COPY_LINE(call, to, to_x, to_side, from, from_x, from_side, n, s) SW_DONE_ON(call, s)
#define SW_FILL_COPY_LINE(r, to, to_x, to_side, from, from_x, from_side, n, s)                                         \
	((r)->stream = SW_WORD(s), (r)->width = (n), (r)->height = 1, (r)->depth = 1,                                  \
	 (r)->dst = (struct sw_box){.base = SW_WORD(to), .pitch = (n), .x = (to_x), .side = SW_SIDE_##to_side},        \
	 (r)->src = (struct sw_box){.base = SW_WORD(from), .pitch = (n), .x = (from_x), .side = SW_SIDE_##from_side})

#define SW_KIND_SET							SW_REC_SET
#define SW_WAITS_SET							SW_RF_SYNCHRONOUS
#define SW_DONE_SET(call, to, what, each, elements, rows, row_bytes, s) SW_DONE_ON(call, s)
#define SW_FILL_SET(r, to, what, each, elements, rows, row_bytes, s)                                                   \
	((r)->dst = SW_WORD(to), (r)->value = (what), (r)->element_bytes = (each),                                     \
	 (r)->width = (uint64_t)(elements) * (each), (r)->height = (rows), (r)->pitch = (row_bytes),                   \
	 (r)->stream = SW_WORD(s))

#define SW_KIND_ALLOC					    SW_REC_ALLOC
#define SW_DONE_ALLOC(call, kind, at, n, s, of, more, bits) SW_DONE_ON(call, s)
#define SW_FILL_ALLOC(r, kind, at, n, s, of, more, bits)                                                               \
	((r)->memory = SW_MEM_##kind, (r)->address = SW_WORD(at), (r)->bytes = (n), (r)->stream = SW_WORD(s),          \
	 (r)->bytes = (r)->bytes || SW_MEM_##kind != SW_MEM_IPC ? (r)->bytes : sw_box_extent(SW_WORD(at)),             \
	 (r)->owner = SW_WORD(of), (r)->extra = SW_WORD(more), (r)->flags = (uint32_t)(bits),                          \
	 (r)->device_alias = SW_MEM_##kind == SW_MEM_REGISTERED ? sw_box_device_alias(SW_WORD(at)) : 0)

/* A module variable. */
#define SW_KIND_SYMBOL			      SW_REC_ALLOC
#define SW_DONE_SYMBOL(call, at, n, of, name) sw_symbol_named(SW_WORD(at), name)
#define SW_FILL_SYMBOL(r, at, n, of, name)    SW_FILL_ALLOC(r, SYMBOL, at, n, 0, of, 0, 0)

#define SW_KIND_OBJECT		     SW_REC_OBJECT
#define SW_DONE_OBJECT(...)	     (void)0
#define SW_FILL_OBJECT(r, what, ...) sw_object_##what(r, __VA_ARGS__)

#define SW_KIND_FREE			      SW_REC_FREE
#define SW_DONE_FREE(call, kind, at, s, bits) SW_DONE_ON(call, s)
#define SW_FILL_FREE(r, kind, at, s, bits)                                                                             \
	((r)->memory = SW_MEM_##kind, (r)->address = SW_WORD(at), (r)->stream = SW_WORD(s), (r)->flags = (bits))

#define SW_KIND_STREAM_CREATE			   SW_REC_STREAM_CREATE
#define SW_DONE_STREAM_CREATE(call, s, bits, prio) sw_context_stream_made(SW_WORD(s), (call)->ctx)
#define SW_FILL_STREAM_CREATE(r, s, bits, prio)	   ((r)->stream = SW_WORD(s), (r)->flags = (bits), (r)->priority = (prio))

#define SW_KIND_STREAM_DESTROY			 SW_REC_STREAM_DESTROY
#define SW_DONE_STREAM_DESTROY(...)		 (void)0
#define SW_FILL_STREAM_DESTROY(r, s, bits, prio) ((r)->stream = SW_WORD(s), (r)->flags = (bits), (r)->priority = (prio))

#define SW_KIND_EVENT_CREATE		 SW_REC_EVENT_CREATE
#define SW_DONE_EVENT_CREATE(...)	 (void)0
#define SW_FILL_EVENT_CREATE(r, e, bits) ((r)->event = SW_WORD(e), (r)->flags = (bits))

/* An event or memory of another process: what both sides call it. */
#define SW_SHARED(p)		sw_hash_words((p), sizeof *(p))
#define SW_KIND_EVENT_OPEN	SW_REC_EVENT_CREATE
#define SW_DONE_EVENT_OPEN(...) (void)0
#define SW_FILL_EVENT_OPEN(r, e, of)                                                                                   \
	((r)->event = SW_WORD(e), (r)->flags = CU_EVENT_INTERPROCESS, (r)->shared = (uint32_t)(of))

#define SW_KIND_EVENT_DESTROY	   SW_REC_EVENT_DESTROY
#define SW_DONE_EVENT_DESTROY(...) (void)0
#define SW_FILL_EVENT_DESTROY	   SW_FILL_EVENT_CREATE

#define SW_KIND_EVENT_RECORD SW_REC_EVENT_RECORD
/* Only external ones become nodes. */
#define SW_DONE_EVENT_RECORD(call, e, s, bits) ((bits)&SW_EVENT_RECORD_EXTERNAL ? SW_DONE_ON(call, s) : (void)0)
#define SW_FILL_EVENT_RECORD(r, e, s, bits)    ((r)->event = SW_WORD(e), (r)->stream = SW_WORD(s), (r)->flags = (bits))

#define SW_KIND_STREAM_WAIT		      SW_REC_STREAM_WAIT
#define SW_DONE_STREAM_WAIT(call, s, e, bits) ((bits)&CU_EVENT_WAIT_EXTERNAL ? SW_DONE_ON(call, s) : (void)0)
#define SW_FILL_STREAM_WAIT(r, s, e, bits)    ((r)->stream = SW_WORD(s), (r)->event = SW_WORD(e), (r)->flags = (bits))

#define SW_KIND_SYNC		  SW_REC_SYNC
#define SW_WAITS_SYNC		  0
#define SW_DONE_SYNC(...)	  (void)0
#define SW_FILL_SYNC(r, of, a, b) ((r)->what = SW_SYNC_##of, (r)->handle = SW_WORD(a), (r)->handle2 = SW_WORD(b))

/* A query's answer counts only when it is yes; its record is wanted either way. */
#define SW_KIND_QUERY	   SW_REC_QUERY
#define SW_DONE_QUERY(...) (void)0
#define SW_FILL_QUERY	   SW_FILL_SYNC

#define SW_KIND_CONTEXT_OP			 SW_REC_CONTEXT_OP
#define SW_DONE_CONTEXT_OP(call, what, of, bits) sw_context_changed(SW_CONTEXT_##what, SW_WORD(of))
#define SW_FILL_CONTEXT_OP(r, what, of, bits)                                                                          \
	((r)->op = SW_CONTEXT_##what, (r)->handle = SW_WORD(of), (r)->flags = (bits))

#define SW_KIND_CODE_TOUCH	  SW_REC_CODE_TOUCH
#define SW_DONE_CODE_TOUCH(...)	  (void)0
#define SW_FILL_CODE_TOUCH(r, of) ((r)->handle = SW_WORD(of))

/* A question that a thread may ask about each kernel again and again. */
#define SW_KIND_CODE_ASK SW_REC_CODE_TOUCH

#define SW_KIND_CAPTURE			       SW_REC_CAPTURE
#define SW_DONE_CAPTURE(call, what, s, g, how) sw_graphs_capturing(SW_CAPTURE_##what)
#define SW_FILL_CAPTURE(r, what, s, g, how)                                                                            \
	((r)->op = SW_CAPTURE_##what, (r)->stream = SW_WORD(s), (r)->graph = SW_WORD(g), (r)->mode = (how))

/* A capture that became invalid has ended with the call that says so. */
#define SW_KIND_CAPTURE_END	 SW_REC_CAPTURE
#define SW_DONE_CAPTURE_END(...) (void)0
#define SW_FILL_CAPTURE_END(r, s, g)                                                                                   \
	(sw_status == CUDA_SUCCESS || sw_status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||                            \
			 sw_status == CUDA_ERROR_STREAM_CAPTURE_UNJOINED                                               \
		 ? sw_graphs_capturing(SW_CAPTURE_END)                                                                 \
		 : (void)0,                                                                                            \
	 SW_FILL_CAPTURE(r, END, s, g, 0))

#define SW_KIND_GRAPH				 SW_REC_GRAPH
#define SW_DONE_GRAPH(call, what, g, x, s, bits) sw_graphs_changed(call, SW_GRAPH_##what, SW_WORD(g), SW_WORD(x))
#define SW_FILL_GRAPH(r, what, g, x, s, bits)                                                                          \
	((r)->op = SW_GRAPH_##what, (r)->graph = SW_WORD(g), (r)->exec = SW_WORD(x), (r)->stream = SW_WORD(s),         \
	 (r)->flags = (uint32_t)(bits))

/* One node of an executable graph is changed. */
#define SW_KIND_EXEC_NODE			  SW_REC_GRAPH
#define SW_DONE_EXEC_NODE(call, what, x, node, p) sw_graphs_node_##what(call, x, node, p)
#define SW_FILL_EXEC_NODE(r, what, x, node, p)	  SW_FILL_GRAPH(r, EXEC_UPDATE, 0, x, 0, 0)

#define SW_KIND_GRAPH_LAUNCH		 SW_REC_GRAPH_LAUNCH
#define SW_DONE_GRAPH_LAUNCH(call, x, s) SW_DONE_ON(call, s)
#define SW_FILL_GRAPH_LAUNCH(r, x, s)	 ((r)->exec = SW_WORD(x), (r)->stream = SW_WORD(s))

#define SW_KIND_MEM_OP					 SW_REC_MEM_OP
#define SW_DONE_MEM_OP(call, what, s, at, n, with, bits) SW_DONE_ON(call, s)
#define SW_FILL_MEM_OP(r, what, s, at, n, with, bits)                                                                  \
	((r)->op = SW_MEMOP_##what, (r)->stream = SW_WORD(s), (r)->address = SW_WORD(at), (r)->bytes = (n),            \
	 (r)->value = SW_WORD(with), (r)->flags = (bits))

#define SW_KIND_CONFIG		       SW_REC_CONFIG
#define SW_DONE_CONFIG(...)	       (void)0
#define SW_FILL_CONFIG(r, setting, to) ((r)->what = SW_WORD(setting), (r)->value = SW_WORD(to))

#define SW_KIND_OTHER	      SW_REC_OTHER
#define SW_DONE_OTHER(...)    (void)0
#define SW_FILL_OTHER(r, ...) SW_PASTE(SW_WORDS_, SW_WORDS_COUNT(__VA_ARGS__))((r)->args, __VA_ARGS__)

#define SW_KIND_UNCLASSIFIED	  SW_REC_UNCLASSIFIED
#define SW_DONE_UNCLASSIFIED(...) (void)0
#define SW_FILL_UNCLASSIFIED	  SW_FILL_OTHER

#define SW_WORDS_COUNT(...)			    SW_WORDS_COUNT_AT(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define SW_WORDS_COUNT_AT(a, b, c, d, e, f, n, ...) n
#define SW_WORDS_1(w, a)			    ((w)[0] = SW_WORD(a))
#define SW_WORDS_2(w, a, b)			    (SW_WORDS_1(w, a), (w)[1] = SW_WORD(b))
#define SW_WORDS_3(w, a, b, c)			    (SW_WORDS_2(w, a, b), (w)[2] = SW_WORD(c))
#define SW_WORDS_4(w, a, b, c, d)		    (SW_WORDS_3(w, a, b, c), (w)[3] = SW_WORD(d))
#define SW_WORDS_5(w, a, b, c, d, e)		    (SW_WORDS_4(w, a, b, c, d), (w)[4] = SW_WORD(e))
#define SW_WORDS_6(w, a, b, c, d, e, f)		    (SW_WORDS_5(w, a, b, c, d, e), (w)[5] = SW_WORD(f))

#endif
