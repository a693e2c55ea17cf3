/* SPDX-License-Identifier: Apache-2.0 */
/* The records about the process itself: PROCESS and ENVIRONMENT at the start, COUNTS and END at the end. */
#ifndef SW_PRELOAD_RECORDER_DESCRIBE_H
#define SW_PRELOAD_RECORDER_DESCRIBE_H

#include "preload/recorder/writer.h"

void sw_describe_process(struct sw_writer *w, const char *directory);
/* Machine and rank; for a child of fork() again: Python may have set the variables since. */
void sw_describe_environment(struct sw_writer *w);
void sw_describe_end(struct sw_writer *w);

#endif
