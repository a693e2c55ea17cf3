/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For companions that define the functions of a library: the real one.  It is that of the copy that the caller would
 * have reached without us, since a process may hold several (of the system, of a Python package), and a handle of one
 * is nothing to another.  RTLD_NEXT alone does not do: Python loads libraries RTLD_LOCAL.
 */
#ifndef SW_PRELOAD_PLATFORM_LOADED_FUNCTION_H
#define SW_PRELOAD_PLATFORM_LOADED_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

/* Functions that were found, by call site: all zero to begin with. */
struct sw_loaded_sites {
	uint32_t n; /* of `at` */
	struct sw_loaded_site {
		uintptr_t key; /* 0: free */
		void *real;
	} * at;
};

/* The function that an object compiled without us would call by this name from `caller`. The last place to look is any
   object whose file name begins with `object`.  `caller` NULL: any such object. NULL: there is none.  Any thread; keeps
   errno. */
void *sw_loaded_function(const char *name, const char *object, const void *caller);
/* sw_loaded_function(), remembered for the call site.  `function`: number of the name, below 65535. */
void *sw_loaded_function_at(struct sw_loaded_sites *sites, uint32_t function, const char *name, const char *object,
			    const void *caller);

/* Does an address lie in this companion? */
bool sw_loaded_is_ours(const void *address);

#endif
