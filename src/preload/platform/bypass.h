/* SPDX-License-Identifier: Apache-2.0 */
/* Did the program use a GPU without being seen? */
#ifndef SW_PRELOAD_PLATFORM_BYPASS_H
#define SW_PRELOAD_PLATFORM_BYPASS_H

#include <stdbool.h>
#include <stddef.h>

/* True when the process holds a GPU open for CUDA. Reads /proc/self. */
bool sw_bypass_gpu_open(void);

/* Did the object at this address ever ask us for a function of the driver?  NULL: no object did. */
extern bool (*sw_bypass_asked)(const void *address);

/*
 * "FILE (dlmopen)", an object together with which the driver was loaded into a namespace of its own, or "FILE
 * (RTLD_DEEPBIND)", one that calls the real dlsym.  Only those of the latter that need a library of CUDA, or all: most
 * have nothing to do with it.  Or "FILE (preloaded before ...)", which others call CUDA through, and which does not
 * call us.  False: no such object.
 */
bool sw_bypass_object(char *text, size_t room, bool all);

/* Is another copy of the recorder preloaded before this one?  It sees all calls, this one none. Its path into `path`.
 */
bool sw_bypass_recorder(char *path, size_t room);

#endif
