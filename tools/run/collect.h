/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what a process recorded into memory (preload/recorder/memory.h) to its trace once the process has ended. */
#ifndef SW_TOOLS_RUN_COLLECT_H
#define SW_TOOLS_RUN_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads all bytes at an offset; 0 or -errno, -ENODATA where the file ends before. */
int sw_collect_read(int fd, void *data, size_t bytes, uint64_t offset);

/* Writes header and chunks that are in the memory to the file.  No other process may write to either.  *changed: the
   file did not have all of it.  0 or -errno. */
int sw_collect(int memory, int file, bool *changed);

#endif
