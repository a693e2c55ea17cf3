/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that are stored at addresses for which streams wait, and which of them may have released a wait.  Not
 * thread-safe.
 *
 * A store may have released a wait if it was recorded before the wait, its value satisfies it, and no later store that
 * is ordered after it is ordered before the wait.  Sets and copies of one word are stores as well as
 * cuStreamWriteValue.  Of other writes (kernels, larger copies) the value is unknown: what they may have overwritten
 * released the wait only if nothing else did.
 */
#ifndef SW_DETECT_HAZARDS_STORED_VALUES_H
#define SW_DETECT_HAZARDS_STORED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/memory/access.h"
#include "detect/memory/contents.h"
#include "hb/hb.h"

struct sw_block;
struct sw_model;
struct sw_rec_mem_op;
struct sw_stored_values;

/* Stores of one address that are remembered: a flag has one or two, a counter is waited for near its end. */
#define SW_MAX_STORES 32u

struct sw_stored_values *sw_stored_values_new(void);
void sw_stored_values_free(struct sw_model *m);
/* Records were lost: drops all stored values; any of them may have been overwritten. */
void sw_stored_values_forget(struct sw_model *m);

/* Notes a value that work at `point`, the last step of its lane, writes: a wait for a value there may be released
   by it. */
void sw_value_stored(struct sw_model *m, struct sw_point point, const struct sw_rec_mem_op *o);
/* Notes that the current call fills [lo, hi) with a word, repeated from lo on: a wait for a value there may be
   released by it.  Its accesses were entered before. */
void sw_value_filled(struct sw_model *m, struct sw_point point, uint64_t lo, uint64_t hi, uint64_t word);
/* Notes that work may write unknown values to [lo, hi) of the block (addresses): a wait for a value there may be
   released by it, or the value be gone. */
void sw_value_overwritten(struct sw_model *m, struct sw_point point, struct sw_block *block, uint64_t lo, uint64_t hi,
			  uint64_t step);
/* Notes that record number `step` may have written anywhere: values that were known before are not relied on. */
void sw_values_unknown(struct sw_model *m, uint64_t step);

/* The stores that may each have released a wait on this lane: how many events were filled, each standing for what came
   before one store; 0: what is ordered before the wait already; -1: not known. */
int sw_value_releases(struct sw_model *m, const struct sw_rec_mem_op *wait, uint32_t lane,
		      uint64_t events[SW_MAX_STORES]);

/*
 * Content of device memory: what copies uploaded, until something writes there. Not thread-safe.
 *
 * Only plain allocations (cuMemAlloc, cuMemAllocAsync) and module variables count: nothing writes there by another
 * address.  Only content with an address of live memory is kept: only pointers are looked up.
 */

/* Keeps the bytes that the current call copied to device memory, if they may hold addresses: kernels that read
   pointers there are then followed.  Its accesses were entered before. */
void sw_uploaded(struct sw_model *m, const struct sw_access *what, uint64_t address, uint32_t bytes, const void *data,
		 bool may_change);
/* Drops what is known of the content of a range that record number `step` may have written. */
void sw_upload_written(struct sw_model *m, const struct sw_range *range, uint64_t step);
/* Drops all that is known of the content of memory: the current call may have written anywhere. */
void sw_uploads_forget(struct sw_model *m);
/* Is the content of any memory known?  Deferred launches that may have written there are evaluated first. */
bool sw_uploads_known(struct sw_model *m);
/* The content that work at this point reads there; NULL: unknown. */
const struct sw_content_part *sw_upload_find(struct sw_model *m, struct sw_point point, uint64_t address,
					     uint32_t bytes);

#endif
