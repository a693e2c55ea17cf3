/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a graph's node, as the record that it would be on a stream. */
#ifndef SW_PRELOAD_CALLS_NODES_H
#define SW_PRELOAD_CALLS_NODES_H

#include <stddef.h>

#include "preload/calls/launch.h"

/* Parameters of a node, as the driver's functions for its type take them; NULL: not known. */
struct sw_node_work {
	CUgraphNodeType type;
	const void *params;
};

/* Room that any node's record needs. */
#define SW_NODE_BYTES (sizeof(struct sw_rec_launch) + SW_LAUNCH_BLOCK)

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

#endif
