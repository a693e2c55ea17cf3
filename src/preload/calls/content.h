/* SPDX-License-Identifier: Apache-2.0 */
/* What a small copy takes from the host, kept with its record: tables of pointers that kernels follow. */
#ifndef SW_PRELOAD_CALLS_CONTENT_H
#define SW_PRELOAD_CALLS_CONTENT_H

#include "preload/recorder/recorder.h"

/* The record is filled and not published.  SW_COPY_CONTENT is set where content follows. */
void sw_copy_content(struct sw_rec_copy *copy);

#endif
