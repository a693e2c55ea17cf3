/* SPDX-License-Identifier: Apache-2.0 */
/* Another preloaded object that wraps dlsym and malloc: it says so at the end, to show that it was asked. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arch.h"

static void *(*real_dlsym)(void *, const char *);
static int looked_up, allocated;

void *dlsym(void *handle, const char *name)
{
	if (!real_dlsym)
		real_dlsym = dlvsym(RTLD_NEXT, "dlsym", SW_ARCH_OLDEST_LIBC);
	looked_up++;
	return real_dlsym(handle, name);
}

void *malloc(size_t bytes)
{
	static void *(*real)(size_t);

	if (!real)
		real = dlvsym(RTLD_NEXT, "malloc", SW_ARCH_OLDEST_LIBC);
	allocated++;
	return real(bytes);
}

__attribute__((destructor)) static void end(void)
{
	fprintf(stderr, "asked: %d %d\n", looked_up > 0, allocated > 0);
}
