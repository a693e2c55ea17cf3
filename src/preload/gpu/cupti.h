/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI, found and loaded at run time: it is not part of the driver, and a program may come with its own. */
#ifndef SW_PRELOAD_GPU_CUPTI_H
#define SW_PRELOAD_GPU_CUPTI_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_cupti {
#define CUPTI(name, needed) __typeof__(&name) name;
#include "preload/gpu/cupti.def"
#undef CUPTI
	uint32_t version; /* of the library, such as 130000: not that of the headers */
	char path[512];	  /* as it was loaded */
};

/* Loads it and keeps it loaded.  0, or -ENOENT: there is none; -ENOSYS: it is too old (the name of the missing function
   in `why`).  Takes the loader's lock.  Once a process. */
int sw_cupti_load(struct sw_cupti *out, char *why, size_t room);

/* The name of another tool that sits between this process and the driver, NULL: none was seen.  Static storage. */
const char *sw_cupti_other_tool(void);

#endif
