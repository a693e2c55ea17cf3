/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content of device memory: what copies uploaded, until something writes there. Not thread-safe.
 *
 * Only plain allocations (cuMemAlloc, cuMemAllocAsync) and module variables count: nothing writes there by another
 * address.  Only content with an address of live memory is kept: only pointers are looked up.
 */
#ifndef SW_DETECT_HAZARDS_UPLOADS_H
#define SW_DETECT_HAZARDS_UPLOADS_H

#include "detect/memory/access.h"
#include "detect/memory/contents.h"

struct sw_model;

/* The current call copied `bytes` bytes there, after its accesses were entered. */
void sw_uploaded(struct sw_model *m, const struct sw_access *what, uint64_t address, uint32_t bytes, const void *data,
		 bool may_change);
/* Record number `step` may have written to a range. */
void sw_upload_written(struct sw_model *m, const struct sw_range *range, uint64_t step);
/* The current call may have written anywhere. */
void sw_uploads_forget(struct sw_model *m);
/* Is the content of any memory known?  Deferred launches that may have written there are evaluated first. */
bool sw_uploads_known(struct sw_model *m);
/* The content that work at this point reads there; NULL: unknown. */
const struct sw_content_part *sw_upload_find(struct sw_model *m, struct sw_point point, uint64_t address,
					     uint32_t bytes);

#endif
