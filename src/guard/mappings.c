/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program changes its own mappings: the result must be what it requested, and stay so.  Its pages are released
 * first, and a buffer whose rights or place it changed is left alone from then on.  (The driver unmaps through these
 * functions too.)
 */
#include "guard/guard.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/types.h>

static void hands_off(const void *at, size_t bytes)
{
	uint64_t lo = (uint64_t)(uintptr_t)at, hi = lo + bytes;
	if (!sw_guard_recorder || !sw_guard_recorder->recording() || hi < lo)
		return;
	uint64_t mask = sw_guard_lock();
	sw_pages_release(lo, hi, false);
	for (struct sw_buffer *b; lo < hi && (b = sw_buffers_next(lo, hi)); lo = b->address + b->bytes)
		b->off = true;
	sw_guard_unlock(mask);
}

SW_EXPORT int mprotect(void *at, size_t bytes, int rights)
{
	static int (*real)(void *, size_t, int);
	SW_NEXT(real, "mprotect");
	hands_off(at, bytes);
	return real(at, bytes, rights);
}

SW_EXPORT int pkey_mprotect(void *at, size_t bytes, int rights, int key)
{
	static int (*real)(void *, size_t, int, int);
	SW_NEXT(real, "pkey_mprotect");
	hands_off(at, bytes);
	return real(at, bytes, rights, key);
}

SW_EXPORT int munmap(void *at, size_t bytes)
{
	static int (*real)(void *, size_t);
	SW_NEXT(real, "munmap");
	hands_off(at, bytes);
	return real(at, bytes);
}

SW_EXPORT void *mremap(void *at, size_t bytes, size_t wanted, int flags, ...)
{
	static void *(*real)(void *, size_t, size_t, int, ...);
	va_list list;
	va_start(list, flags);
	void *to = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
	va_end(list);
	SW_NEXT(real, "mremap");
	hands_off(at, bytes);
	if (to)
		hands_off(to, wanted);
	return real(at, bytes, wanted, flags, to);
}

/* A mapping over another one. */
static void mapped(const void *at, size_t bytes, int flags)
{
	if (flags & MAP_FIXED)
		hands_off(at, bytes);
}

SW_EXPORT void *mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off_t);
	SW_NEXT(real, "mmap");
	mapped(at, bytes, flags);
	return real(at, bytes, rights, flags, fd, offset);
}

SW_EXPORT void *mmap64(void *at, size_t bytes, int rights, int flags, int fd, off64_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off64_t);
	SW_NEXT(real, "mmap64");
	mapped(at, bytes, flags);
	return real(at, bytes, rights, flags, fd, offset);
}

/* Discarding pages, locking them, keeping them from children: they have to be there. */
SW_EXPORT int madvise(void *at, size_t bytes, int advice)
{
	static int (*real)(void *, size_t, int);
	SW_NEXT(real, "madvise");
	hands_off(at, bytes);
	return real(at, bytes, advice);
}

SW_EXPORT int mlock(const void *at, size_t bytes)
{
	static int (*real)(const void *, size_t);
	SW_NEXT(real, "mlock");
	hands_off(at, bytes);
	return real(at, bytes);
}
