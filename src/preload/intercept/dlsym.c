/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/intercept/dlsym.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "base/arch.h"
#include "preload/intercept/driver.h"
#include "preload/platform/loaded_object.h"
#include "preload/platform/sys.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

void *sw_dlsym_real, *sw_dlsym_next;

static void *no_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

/*
 * The real one by version, so that the answer is libc's and not ours.  dlvsym is none of our exports and on no path of
 * ours.  GLIBC_2.34 is where dlsym moved from libdl into libc.  The next one may be that of another library that wraps
 * it: the program's look-ups go through it, ours do not.
 */
__attribute__((used)) void *sw_dlsym_find(void)
{
	const uint64_t mask = sw_sys_block_signals();
	void *(*real)(void *, const char *) = (__typeof__(real))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	void *next;

	if (!real)
		real = (__typeof__(real))dlvsym(RTLD_NEXT, "dlsym", SW_ARCH_OLDEST_LIBC);
	if (!real)
		real = no_dlsym;
	next = real(RTLD_NEXT, "dlsym");
	__atomic_store_n(&sw_dlsym_real, (void *)real, __ATOMIC_RELEASE);
	if (!next)
		next = (void *)real;
	__atomic_store_n(&sw_dlsym_next, next, __ATOMIC_RELEASE);
	sw_sys_set_signals(mask);
	return next;
}

void *sw_dlsym_call(void *handle, const char *name)
{
	void *(*real)(void *, const char *) = (__typeof__(real))__atomic_load_n(&sw_dlsym_real, __ATOMIC_ACQUIRE);
	void *found;

	if (!real) {
		sw_dlsym_find();
		real = (__typeof__(real))sw_dlsym_real;
	}
	found = real(handle, name);
	/* Not a tail call: glibc takes the caller from the return address. */
	__asm__ volatile("" ::: "memory");
	return found;
}

bool sw_dlsym_is_ours(const void *address)
{
	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/* `name` as the caller's own object and what it was loaded with see it, without us. */
static void *find_in_object(const struct sw_loaded_object *object, const char *name)
{
	void *handle = object->path[0] ? dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *found = handle ? sw_dlsym_call(handle, name) : NULL;

	if (handle)
		dlclose(handle);
	return sw_dlsym_is_ours(found) ? NULL : found;
}

/* What the global scope would say if this library were not in it.  A failure leaves the loader's error, as the program
   expects of its own look-up: the first one's was lost in the questions that followed. */
static void *find_without_us(const char *name, const struct sw_loaded_object *object)
{
	void *found = sw_dlsym_call(RTLD_NEXT, name);

	if (!found)
		found = find_in_object(object, name);
	return found ? found : sw_dlsym_call(RTLD_NEXT, name);
}

/* The program's look-up as it is without us, by whoever wraps dlsym behind us. */
static void *look_up(void *handle, const char *name)
{
	void *(*next)(void *, const char *) = (__typeof__(next))__atomic_load_n(&sw_dlsym_next, __ATOMIC_ACQUIRE);
	void *found = next(handle, name);

	__asm__ volatile("" ::: "memory"); /* no tail call */
	return found;
}

static struct sw_dlsym_answer decide(void *handle, const char *name, const void *caller)
{
	struct sw_loaded_object object = {0};
	void *found = NULL;
	uint64_t mask = sw_sys_block_signals();
	const bool asks = sw_driver_asks(name, caller);
	struct sw_dlsym_answer answer = {NULL, 0};

	sw_sys_set_signals(mask);
	if (asks && (handle == RTLD_NEXT || handle == RTLD_DEFAULT))
		return answer;
	/* The program's own look-up, in which signals are its own affair. */
	if (handle != RTLD_NEXT) {
		found = look_up(handle, name);
		if (!sw_dlsym_is_ours(found) && (found || handle != RTLD_DEFAULT)) {
			mask = sw_sys_block_signals();
			if (asks)
				sw_driver_meet(found);
			answer = (struct sw_dlsym_answer){asks ? found : sw_driver_exchange(name, found, caller, NULL),
							  1};
			sw_sys_set_signals(mask);
			return answer;
		}
	}
	mask = sw_sys_block_signals();
	if (sw_object_of(caller, &object)) {
		if (handle == RTLD_NEXT) /* an interposer that looks up the next dlsym: its call is nested in ours */
			found = find_in_object(&object, name);
		if (handle != RTLD_NEXT || (uintptr_t)found - object.start >= object.end - object.start)
			answer = (struct sw_dlsym_answer){
				sw_driver_exchange(name, find_without_us(name, &object), caller, NULL), 1};
	}
	sw_sys_set_signals(mask);
	return answer;
}

__attribute__((used)) struct sw_dlsym_answer sw_dlsym_decide(void *handle, const char *name, const void *caller)
{
	const int saved = errno;
	struct sw_dlsym_answer answer;

	if (!__atomic_load_n(&sw_dlsym_next, __ATOMIC_ACQUIRE))
		sw_dlsym_find();
	answer = decide(handle, name, caller);
	/* "dlerror(); p = dlsym(...); if (dlerror())": what we asked on the way may have failed where this did not. */
	if (answer.value)
		dlerror();
	errno = saved;
	return answer;
}
