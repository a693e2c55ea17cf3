/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_DETECT_CALLS_COPIES_H
#define SW_DETECT_CALLS_COPIES_H

struct sw_model;
struct sw_record;
struct sw_access;

/* A copy node of a graph ran, after its accesses were entered: the content of its source that the trace has is now
   in memory. */
void sw_copy_uploads(struct sw_model *m, const struct sw_record *r, const struct sw_access *what);

#endif
