/* SPDX-License-Identifier: Apache-2.0 */
/* Caching allocators (PyTorch's, CuPy's) allocate and free blocks; SW206: record_stream() that was not needed. */
#ifndef SW_DETECT_CALLS_TENSOR_BLOCKS_H
#define SW_DETECT_CALLS_TENSOR_BLOCKS_H

#include "detect/model/call.h"

struct sw_model;
struct sw_tensor_blocks;

/* A block is allocated or freed.  `w`: the current call, whose place is that of the block. */
void sw_tensor_block_begin(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			   const struct sw_rec_annotation *a);
void sw_tensor_block_end(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			 const struct sw_rec_annotation *a);
/* An event was recorded on a stream: perhaps by the allocator. */
void sw_tensor_event_recorded(struct sw_model *m, const struct sw_record *r, uint64_t event);

struct sw_tensor_blocks *sw_tensor_blocks_new(void);
void sw_tensor_blocks_free(struct sw_tensor_blocks *blocks);

#endif
