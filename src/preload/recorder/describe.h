/* SPDX-License-Identifier: Apache-2.0 */
/* The records about the process itself: PROCESS at the start, COUNTS and END at the end. */
#ifndef SW_PRELOAD_RECORDER_DESCRIBE_H
#define SW_PRELOAD_RECORDER_DESCRIBE_H

#include "preload/recorder/writer.h"

void sw_describe_process(struct sw_writer *w, const char *directory);
void sw_describe_end(struct sw_writer *w);

#endif
