/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations begin and end. */
#ifndef SW_DETECT_CALLS_ALLOCATIONS_H
#define SW_DETECT_CALLS_ALLOCATIONS_H

#include "detect/detect.h"
#include "detect/model/call.h"
#include "hb/hb.h"

struct sw_block;
struct sw_model;
struct sw_rec_alloc;
struct sw_tensor_blocks;

/* Notes the call as the one that made the block, for findings that name the allocation. */
void sw_block_born(struct sw_block *block, const struct sw_access *call);
/* Enters the memory that an ALLOC record describes as a block, made by the call `born`, in the context of the
   record in hand.  A variable that is asked for again, or a handle of another process that is opened again, is no
   new block. */
void sw_block_made(struct sw_model *m, const struct sw_rec_alloc *a, const struct sw_access *born);
/* A call frees a whole block: judges whether its earlier uses are ordered before that, and returns the access that
   stands for the free, for findings of later uses. */
struct sw_access sw_block_release(struct sw_model *m, const struct sw_access *what, struct sw_block *block);
/* Releases the block that starts at the address, if there is one, and removes it from the address space. */
void sw_block_freed(struct sw_model *m, uint64_t address, const struct sw_access *what);
/* Ends the memory of a context that has ended: later uses by other contexts are judged.  cuda.h, cuCtxDestroy, and
   cudaDeviceReset: pool memory and that of cuMemCreate stay. */
void sw_blocks_end(struct sw_model *m, uint8_t ctx, const struct sw_access *what);

/* Memory of a pool that is allocated again at an old address. */

void sw_pool_init(struct sw_model *m);

/* Caching allocators (PyTorch's, CuPy's) allocate and free blocks; SW206: record_stream() that was not needed. */

/* Makes what a framework's caching allocator (PyTorch) hands out, as an annotation says, a block of its own.  `w`: the
   current call, whose place is that of the block. */
void sw_tensor_block_begin(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			   const struct sw_rec_annotation *a);
/* The allocator takes a block back: the block ends, and the events that were recorded for its uses on other streams are
   judged. */
void sw_tensor_block_end(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			 const struct sw_rec_annotation *a);
/* Remembers an event record: the allocator's own, by which it waits for other streams' uses of a block, are found
   among the last ones when the block ends. */
void sw_tensor_event_recorded(struct sw_model *m, const struct sw_record *r, uint64_t event);

struct sw_tensor_blocks *sw_tensor_blocks_new(void);
void sw_tensor_blocks_free(struct sw_tensor_blocks *blocks);

#endif
