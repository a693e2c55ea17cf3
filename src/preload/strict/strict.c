/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/strict/strict.h"

#include <dlfcn.h>
#include <errno.h>

#include "preload/strict/sync_filter.h"
#include "preload/recorder/writer.h"

struct sw_strict_real sw_strict_real;
bool sw_strict_ready;

static const struct sw_companion *companion;

/* What we know of a thread in addition to the recorder. */
static __thread struct {
	struct sw_thread *recorder;
	uint64_t calls; /* of it that the filter includes */
	struct sw_sync_thread filter;
} self __attribute__((tls_model("initial-exec")));

/*
 * Each thread that comes here before it is done does it all: the results are the same.  Functions that this libc does
 * not have stay NULL, and cannot be called.
 */
void sw_strict_start(void)
{
	const int saved = errno;
	const struct sw_companion *(*ask)(uint32_t) = NULL;

#define STRICT(result, name, parameters, version)                                                                      \
	*(void **)&sw_strict_real.name = (version)[0] ? dlvsym(RTLD_NEXT, #name, version) : dlsym(RTLD_NEXT, #name);
#include "preload/strict/functions.def"
#undef STRICT
	*(void **)&ask = dlsym(RTLD_DEFAULT, "syncwatch_companion");
	companion = ask ? ask(SW_COMPANION_VERSION) : NULL;
	if (companion)
		companion->host_sync_on();
	__atomic_store_n(&sw_strict_ready, true, __ATOMIC_RELEASE);
	errno = saved;
}

static __attribute__((constructor)) void start_early(void)
{
	sw_real();
}

const struct sw_companion *sw_strict_companion(void)
{
	sw_real();
	return companion;
}

/* CUDA calls since the last look are order of the thread's own. */
struct sw_sync_thread *sw_strict_filter(void)
{
	if (!self.recorder)
		self.recorder = companion->thread();
	if (self.recorder->calls != self.calls) {
		self.calls = self.recorder->calls;
		sw_sync_learn(&self.filter);
	}
	return &self.filter;
}

/* Objects of different kinds at one address are different ones; user addresses have 47 bits. */
static uint64_t key_of(enum sw_through kind, const void *object)
{
	return (uint64_t)(uintptr_t)object | (uint64_t)kind << 56;
}

void sw_strict_release(enum sw_through kind, const void *object, const void *frame)
{
	if (!sw_strict_watching(frame))
		return;
	const int saved = errno;
	struct sw_sync_thread *filter = sw_strict_filter();
	const uint64_t key = key_of(kind, object);

	if (sw_sync_release(filter, key) && companion->host_sync(SW_THREAD_RELEASE, kind, (uint64_t)(uintptr_t)object))
		sw_sync_released(filter, key);
	errno = saved;
}

void sw_strict_acquire(enum sw_through kind, const void *object, const void *frame)
{
	if (!sw_strict_watching(frame))
		return;
	const int saved = errno;

	if (sw_sync_acquire(sw_strict_filter(), key_of(kind, object)))
		companion->host_sync(SW_THREAD_ACQUIRE, kind, (uint64_t)(uintptr_t)object);
	errno = saved;
}
