/* SPDX-License-Identifier: Apache-2.0 */
/* The source bytes of a small copy from the host, kept with its record: tables of pointers that kernels follow. */
#ifndef SW_PRELOAD_CALLS_CONTENT_H
#define SW_PRELOAD_CALLS_CONTENT_H

#include "preload/recorder/recorder.h"

/* The record is filled and not published.  SW_COPY_CONTENT is set where content follows. */
void sw_copy_content(struct sw_rec_copy *copy);
/* Reads the bytes that a copy node of a graph would take now, into `to` (SW_COPY_CONTENT_MAX bytes). Returns how many;
   0: none of them may be an address. */
uint32_t sw_node_content(const struct sw_rec_copy_nd *copy, uint64_t *to);

#endif
