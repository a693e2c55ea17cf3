/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what a process recorded into memory (preload/recorder/memory.h) to its trace once the process has ended. */
#ifndef SW_TOOLS_RUN_COLLECT_H
#define SW_TOOLS_RUN_COLLECT_H

/* Writes header and chunks that are in the memory to the file.  No other process may write to either.  0 or -errno. */
int sw_collect(int memory, int file);

#endif
