/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_DETECT_CALLS_COPIES_H
#define SW_DETECT_CALLS_COPIES_H

#include "detect/memory/address_space.h"

struct sw_access;
struct sw_batches;
struct sw_model;
struct sw_record;

/* After a copy node of a graph ran, and its accesses were entered: notes that the content of its source, if the trace
   has it, is now in memory. */
void sw_copy_uploads(struct sw_model *m, const struct sw_record *r, const struct sw_access *what);

/*
 * SW108: two copies of one batch that depend on each other.  Not thread-safe.
 *
 * CUDA driver API, cuMemcpyBatchAsync: "Since there are no ordering guarantees for copies within a batch, specifying
 * any dependent copies within a batch will result in undefined behavior."
 */

struct sw_batches *sw_batches_new(void);
void sw_batches_free(struct sw_batches *batches);
/* Records were lost: elements of a batch that came so far are dropped, since the rest of them may be missing. */
void sw_batches_forget(struct sw_batches *batches);

#endif
