/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of RMM, as records: every rmm::device_buffer, so all of cuDF, of rmm.DeviceBuffer in Python, and of CuPy
 * where RMM is its allocator.
 *
 * librmm.so (since 25.04) calls allocate_async() and deallocate_async() of device_buffer through its PLT, so that these
 * definitions are found first.  Their names hold their signatures; address and size are the first two members in all
 * versions (rmm/device_buffer.hpp).  What other objects have compiled into themselves, as older versions do, is passed
 * on and not recorded, since some of those calls are inlined.  Exceptions pass: nothing here needs to be undone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "preload/platform/loaded_function.h"
#include "preload/pools/pools.h"
#include "syncwatch/syncwatch.h"

#define ALLOCATE "_ZN3rmm13device_buffer14allocate_asyncEm"
#define RELEASE	 "_ZN3rmm13device_buffer16deallocate_asyncEv"
#define OBJECT	 "librmm.so"

struct buffer {
	void *data;
	size_t size;
};

typedef void rmm_allocate(struct buffer *buffer, size_t bytes);
typedef void rmm_release(struct buffer *buffer);
__attribute__((visibility("default"))) rmm_allocate sw_rmm_allocate __asm__(ALLOCATE);
__attribute__((visibility("default"))) rmm_release sw_rmm_release __asm__(RELEASE);

enum { FUNCTION_ALLOCATE, FUNCTION_RELEASE };

static struct sw_loaded_site at[64];
static struct sw_loaded_sites sites = {sizeof at / sizeof *at, at};

/* Is the function one of librmm.so itself? */
static bool is_library(const void *function)
{
	Dl_info info;
	if (!dladdr(function, &info) || !info.dli_fname)
		return false;
	const char *slash = strrchr(info.dli_fname, '/');
	return strncmp(slash ? slash + 1 : info.dli_fname, OBJECT, strlen(OBJECT)) == 0;
}

/* The recorder's function, if this copy of RMM is to be recorded; NULL: it is not.  Each of the two functions has its
   own answer, the same on all threads. */
static syncwatch_function *find_annotate(uint32_t which, const void *real)
{
	static struct {
		const void *real;
		syncwatch_function *annotate;
	} known[2];
	if (__atomic_load_n(&known[which].real, __ATOMIC_ACQUIRE) == real)
		return known[which].annotate;
	const int saved = errno;
	syncwatch_function *annotate =
		is_library(real) ? (syncwatch_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_annotate") : NULL;
	const void *none = NULL;
	/* The first of several copies is remembered. */
	if (__atomic_compare_exchange_n(&known[which].real, &none, &known, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		known[which].annotate = annotate;
		__atomic_store_n(&known[which].real, real, __ATOMIC_RELEASE);
	}
	errno = saved;
	return annotate;
}

/* RMM's own function, for a call from this address. */
static void *real_of(uint32_t which, const void *caller)
{
	return sw_loaded_function_at(&sites, which, which == FUNCTION_ALLOCATE ? ALLOCATE : RELEASE, OBJECT, caller);
}

/* Runs in place of device_buffer::allocate_async(). */
void sw_rmm_allocate(struct buffer *buffer, size_t bytes)
{
	rmm_allocate *real = (rmm_allocate *)(uintptr_t)real_of(FUNCTION_ALLOCATE, __builtin_return_address(0));
	if (!real)
		return;
	real(buffer, bytes);
	syncwatch_function *annotate = find_annotate(FUNCTION_ALLOCATE, (const void *)(uintptr_t)real);
	if (annotate && buffer->data && buffer->size == bytes)
		annotate(SW_POOL_BUFFER_BEGIN, buffer->data, bytes, SYNCWATCH_HOST, 0, NULL);
}

/* Runs in place of device_buffer::deallocate_async().  Recorded before the memory can be handed out again. */
void sw_rmm_release(struct buffer *buffer)
{
	rmm_release *real = (rmm_release *)(uintptr_t)real_of(FUNCTION_RELEASE, __builtin_return_address(0));
	if (!real)
		return;
	syncwatch_function *annotate = find_annotate(FUNCTION_RELEASE, (const void *)(uintptr_t)real);
	if (annotate && buffer->data)
		annotate(SW_POOL_BUFFER_END, buffer->data, 0, SYNCWATCH_HOST, 0, NULL);
	real(buffer);
}
