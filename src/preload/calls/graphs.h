/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: which call made a node, and what an executable graph consists of (GRAPH_NODE records).
 *
 * The driver is queried inside a call of the program that has succeeded, with public functions that neither change a
 * graph nor invalidate a capture.
 */
#ifndef SW_PRELOAD_CALLS_GRAPHS_H
#define SW_PRELOAD_CALLS_GRAPHS_H

#include <stddef.h>

#include "preload/calls/launch.h"
#include "preload/intercept/hook.h"
#include "preload/recorder/window.h"

/* ---- nodes.c ---- */

/* Parameters of a node, as the driver's functions for its type take them; NULL: not known. */
struct sw_node_work {
	CUgraphNodeType type;
	const void *params;
};

/* Room that any node's record needs. */
#define SW_NODE_BYTES (sizeof(struct sw_rec_launch) + SW_LAUNCH_BLOCK_MAX)

/* Writes the record into `room` (SW_NODE_BYTES, aligned to 8); returns its bytes, a multiple of 8.  0: the type has
   none, or nothing is known of it. */
size_t sw_node_record(const struct sw_node_work *work, void *room);
/* Asks the driver for the work of an existing node, then writes its record as sw_node_record() does. */
size_t sw_node_ask(CUgraphNode node, CUgraphNodeType type, void *room);

/* One of a batch of memory operations; what others (since 13.1: atomic reductions) do is not modelled. */
bool sw_node_mem_op_known(const CUstreamBatchMemOpParams *op);
void sw_node_mem_op(struct sw_rec_mem_op *r, CUstream stream, const CUstreamBatchMemOpParams *op);

/* The parameters for the node's type in a structure for any type; NULL: a type that sw_node_record() does not know. */
const void *sw_node_params(const CUgraphNodeParams *any);

#define SW_MAX_BEFORE 2048u /* dependencies of a node that are looked at */

/* Captures that may be in progress are counted (sw_window_captures).  One whose stream was destroyed is not seen to
   end: all that costs is a question to the driver with each call, and calls outside of windows that are recorded. */
void sw_graphs_capturing(enum sw_capture_op op);

/* The call may have become a node of a capture: remembers its record as the origin of that node. */
void sw_graphs_captured(const struct sw_call *call, CUstream stream);
static inline void sw_graphs_capture(const struct sw_call *call, CUstream stream, CUresult status)
{
	if (__builtin_expect(__atomic_load_n(&sw_window_captures, __ATOMIC_RELAXED) != 0, 0) && status == CUDA_SUCCESS)
		sw_graphs_captured(call, stream);
}

/* Remembers which call, by its record's number, made a node: confirm finds it by that; 0: nothing is known, and
   nothing is done. */
void sw_graphs_origin(uint64_t node, uint64_t seq);
/* Under which key the table of nodes holds how many bodies a conditional node has (0), and each of them (1 ...). */
uint64_t sw_graphs_body(uint64_t node, uint32_t i);

/* After a call that changed a graph succeeded: describes the nodes of a graph that was instantiated or updated,
   remembers which graph is a clone, forgets an executable graph that is destroyed.  Handles as in the GRAPH record. */
void sw_graphs_changed(const struct sw_call *call, enum sw_graph_op op, uint64_t graph, uint64_t exec);

/* All that follows a call that adds a node: its record and its end. `params`: of calls that add any kind, else NULL. */
void sw_graphs_node_added(struct sw_call *call, CUresult status, CUgraph graph, const CUgraphNode *node,
			  const CUgraphNodeParams *params);

/* After a call that gave a node of an executable graph other work, or another child graph, or switched it on or
   off: records that. */
void sw_graphs_child_changed(const struct sw_call *call, CUgraphExec exec, CUgraphNode node, CUgraph child);
void sw_graphs_any_changed(const struct sw_call *call, CUgraphExec exec, CUgraphNode node,
			   const CUgraphNodeParams *params);
void sw_graphs_node_changed(const struct sw_call *call, CUgraphExec exec, CUgraphNode node,
			    const struct sw_node_work *work);
void sw_graphs_node_enabled(const struct sw_call *call, CUgraphExec exec, CUgraphNode node, bool enabled);

/* Names as in the rows of cuda.def. */
#define SW_NODE_GIVEN(call, x, node, type, p)                                                                          \
	sw_graphs_node_changed(call, x, node, &(struct sw_node_work){CU_GRAPH_NODE_TYPE_##type, p})
#define sw_graphs_node_KERNEL(call, x, node, p) SW_NODE_GIVEN(call, x, node, KERNEL, p)
/* The first version of the parameters is the beginning of the second. */
#define sw_graphs_node_KERNEL_V1(call, x, node, p)                                                                     \
	SW_NODE_GIVEN(call, x, node, KERNEL,                                                                           \
		      (&(CUDA_KERNEL_NODE_PARAMS){.func = (p)->func,                                                   \
						  .gridDimX = (p)->gridDimX,                                           \
						  .gridDimY = (p)->gridDimY,                                           \
						  .gridDimZ = (p)->gridDimZ,                                           \
						  .blockDimX = (p)->blockDimX,                                         \
						  .blockDimY = (p)->blockDimY,                                         \
						  .blockDimZ = (p)->blockDimZ,                                         \
						  .sharedMemBytes = (p)->sharedMemBytes,                               \
						  .kernelParams = (p)->kernelParams,                                   \
						  .extra = (p)->extra}))
#define sw_graphs_node_MEMCPY(call, x, node, p)	      SW_NODE_GIVEN(call, x, node, MEMCPY, p)
#define sw_graphs_node_MEMSET(call, x, node, p)	      SW_NODE_GIVEN(call, x, node, MEMSET, p)
#define sw_graphs_node_HOST(call, x, node, p)	      SW_NODE_GIVEN(call, x, node, HOST, p)
#define sw_graphs_node_EVENT_RECORD(call, x, node, e) SW_NODE_GIVEN(call, x, node, EVENT_RECORD, &(e))
#define sw_graphs_node_EVENT_WAIT(call, x, node, e)   SW_NODE_GIVEN(call, x, node, WAIT_EVENT, &(e))
#define sw_graphs_node_MEM_OPS(call, x, node, p)      SW_NODE_GIVEN(call, x, node, BATCH_MEM_OP, p)
#define sw_graphs_node_CHILD(call, x, node, child)    sw_graphs_child_changed(call, x, node, child)
/* Semaphores: the node's operations are not recorded. */
#define sw_graphs_node_OTHER(call, x, node, p)	  SW_NODE_GIVEN(call, x, node, EMPTY, NULL)
#define sw_graphs_node_ANY(call, x, node, p)	  sw_graphs_any_changed(call, x, node, p)
#define sw_graphs_node_ENABLED(call, x, node, on) sw_graphs_node_enabled(call, x, node, on)

#endif
