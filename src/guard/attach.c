/* SPDX-License-Identifier: Apache-2.0 */
/* How the guard finds the recorder, and the lock around what both work on. */
#include <dlfcn.h>

#include "guard/guard.h"
#include "preload/platform/lock.h"

const struct sw_companion *sw_guard_recorder;
const struct sw_companion_hooks *sw_guard_others;
static struct sw_lock lock;

uint64_t sw_guard_lock(void)
{
	return sw_lock_enter(&lock);
}

void sw_guard_unlock(uint64_t mask)
{
	sw_lock_leave(&lock, mask);
}

void sw_guard_lock_renew(void)
{
	lock = (struct sw_lock){0};
}

void *sw_guard_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Both objects are preloaded, ours last: the recorder is there, whichever constructor runs first. It reads its
   options when it starts, which may be later; the preloaded guard shows that it was requested. */
static __attribute__((constructor)) void attach(void)
{
	const struct sw_companion *(*find)(uint32_t) =
		(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");

	sw_guard_recorder = find ? find(SW_COMPANION_VERSION) : NULL;
	if (sw_guard_recorder)
		sw_guard_others = sw_guard_recorder->hook(&sw_guard_hooks);
}
