/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SW108: two copies of one batch that depend on each other.  Not thread-safe.
 *
 * CUDA driver API, cuMemcpyBatchAsync: "Since there are no ordering guarantees for copies within a batch, specifying
 * any dependent copies within a batch will result in undefined behavior."
 */
#ifndef SW_DETECT_CALLS_BATCH_COPIES_H
#define SW_DETECT_CALLS_BATCH_COPIES_H

#include "detect/memory/address_space.h"

struct sw_model;
struct sw_touch;

struct sw_batches;
struct sw_batches *sw_batches_new(void);
void sw_batches_free(struct sw_batches *batches);
/* Records were lost. */
void sw_batches_forget(struct sw_batches *batches);

/* An element begins a batch of its thread; what is known of an earlier one that failed, or was lost in part, is
   dropped. */
void sw_batch_begin(struct sw_model *m);
/* The current element touches this, too. */
void sw_batch_touch(struct sw_model *m, const struct sw_range *range, const struct sw_touch *how);
/* The element was the last of its call, or the others of its call are unknown. */
void sw_batch_end(struct sw_model *m);

#endif
