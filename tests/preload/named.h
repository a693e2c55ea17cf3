/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a library that a program looks up by name: -DNAMED=its file; with -DEVERYWHERE, in all that is loaded.
 */
#ifndef SW_TESTS_PRELOAD_NAMED_H
#define SW_TESTS_PRELOAD_NAMED_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *named_function(const char *name)
{
	static void *library;
	if (!library)
#ifdef EVERYWHERE
		library = dlopen(NAMED, RTLD_NOW | RTLD_GLOBAL);
	void *found = library ? dlsym(RTLD_DEFAULT, name) : NULL;
#else
		library = dlopen(NAMED, RTLD_NOW | RTLD_LOCAL);
	void *found = library ? dlsym(library, name) : NULL;
#endif
	if (!found || dlerror()) {
		fprintf(stderr, "%s: not found, or an error is left\n", name);
		exit(97);
	}
	return found;
}

#define NAMED_FUNCTION(name) ((__typeof__(&(name)))named_function(#name))

#endif
