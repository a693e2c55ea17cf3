/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For companions that define the functions of a library: programs that look them up by dlsym() find ours, too.
 *
 * A look-up by the handle of a library gets our function only where that would find the very function that was asked
 * for: with two copies of a library in one process, those of the second one are left alone.  A look-up by RTLD_DEFAULT
 * gets it only where the library is loaded, for programs ask that way whether they must load it.
 */
#ifndef SW_PRELOAD_PLATFORM_NAMED_FUNCTION_H
#define SW_PRELOAD_PLATFORM_NAMED_FUNCTION_H

#include <stdint.h>

/* The answer to a look-up by dlsym(). */
struct sw_dlsym_answer {
	void *value;
	uint64_t decided; /* 0: let the real dlsym answer, as without us */
};

/* Asked on the thread of the look-up, which returns to `caller`.  Keeps errno. */
typedef struct sw_dlsym_answer sw_look_up(void *handle, const char *name, const void *caller);

/* The recorder's part. */
struct sw_look_ups {
	/* Names that are not the driver's, from now on, also before a call is recorded.  Returns what was set before,
	   which must be asked where the new one does not decide; NULL: none. */
	sw_look_up *(*set)(sw_look_up *look_up);
	void *(*real)(void *handle, const char *name); /* a handle, neither RTLD_NEXT nor RTLD_DEFAULT */
};

/* Our function of that name, NULL: none; and the start of its library's file name. */
typedef void *sw_named_function(const char *name, const char **object);

/* Once, from a constructor. */
void sw_named_functions(sw_named_function *ours, const struct sw_look_ups *recorder);

#endif
