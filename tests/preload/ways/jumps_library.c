/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands for what libc and the loader lock: counts the calls of the armed thread that would hold a lock of theirs, and
 * raises a signal inside of the n-th one.  A handler that jumps out of it leaves `jumps_held` at 1.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/arch.h"

int jumps_held;
static __thread int armed __attribute__((tls_model("initial-exec")));
static int calls, raise_at;

/* From now on, in this thread; 0: no longer. Returns how many calls there were. */
int jumps_arm(int at)
{
	armed = at != 0;
	raise_at = at ? at : raise_at;
	return calls;
}

#define HOLD(call)                                                                                                     \
	do {                                                                                                           \
		if (armed) {                                                                                           \
			jumps_held++;                                                                                  \
			if (++calls == raise_at)                                                                       \
				raise(SIGUSR1);                                                                        \
			call;                                                                                          \
			jumps_held--;                                                                                  \
		} else {                                                                                               \
			call;                                                                                          \
		}                                                                                                      \
	} while (0)

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

void *malloc(size_t bytes)
{
	void *at;
	HOLD(at = __libc_malloc(bytes));
	return at;
}

void *calloc(size_t n, size_t bytes)
{
	void *at;
	HOLD(at = __libc_calloc(n, bytes));
	return at;
}

void *realloc(void *was, size_t bytes)
{
	void *at;
	HOLD(at = __libc_realloc(was, bytes));
	return at;
}

void free(void *at)
{
	HOLD(__libc_free(at));
}

void *dlopen(const char *path, int flags)
{
	static void *(*real)(const char *, int);
	void *handle;
	if (!real)
		*(void **)&real = dlvsym(RTLD_NEXT, "dlopen", SW_ARCH_OLDEST_LIBC);
	HOLD(handle = real(path, flags));
	return handle;
}

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *with)
{
	static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	int got;
	if (!real)
		*(void **)&real = dlvsym(RTLD_NEXT, "dl_iterate_phdr", SW_ARCH_OLDEST_LIBC);
	HOLD(got = real(callback, with));
	return got;
}
