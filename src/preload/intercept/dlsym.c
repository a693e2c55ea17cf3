/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/intercept/dlsym.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "preload/intercept/driver.h"
#include "preload/intercept/requesters.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

void *sw_dlsym_real;

static void *no_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

/*
 * By version, so that the answer is libc's and not ours.  dlvsym is none of our exports and on no path of ours.
 * GLIBC_2.34 is where dlsym moved from libdl into libc.
 */
__attribute__((used)) void *sw_dlsym_find(void)
{
	void *real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");

	if (!real)
		real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!real)
		real = (void *)no_dlsym;
	__atomic_store_n(&sw_dlsym_real, real, __ATOMIC_RELEASE);
	return real;
}

void *sw_dlsym_call(void *handle, const char *name)
{
	void *(*real)(void *, const char *) = (__typeof__(real))__atomic_load_n(&sw_dlsym_real, __ATOMIC_ACQUIRE);
	void *found;

	if (!real)
		real = (__typeof__(real))sw_dlsym_find();
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

static struct sw_dlsym_answer decide(void *handle, const char *name, const void *caller)
{
	struct sw_loaded_object object = {0};
	void *found;

	if (handle != RTLD_NEXT && handle != RTLD_DEFAULT) {
		found = sw_dlsym_call(handle, name);
		if (!sw_dlsym_is_ours(found))
			return (struct sw_dlsym_answer){sw_driver_exchange(name, found, caller), 1};
	}
	if (!sw_object_of(caller, &object))
		return (struct sw_dlsym_answer){NULL, 0};
	if (handle == RTLD_NEXT) {
		/* An interposer that looks up the next dlsym: its call is already nested in ours. */
		found = find_in_object(&object, name);
		if ((uintptr_t)found - object.start < object.end - object.start)
			return (struct sw_dlsym_answer){NULL, 0};
	}
	found = find_without_us(name, &object);
	return (struct sw_dlsym_answer){sw_driver_exchange(name, found, caller), 1};
}

__attribute__((used)) struct sw_dlsym_answer sw_dlsym_decide(void *handle, const char *name, const void *caller)
{
	const int saved = errno;
	const struct sw_dlsym_answer answer = decide(handle, name, caller);

	/* "dlerror(); p = dlsym(...); if (dlerror())": what we asked on the way may have failed where this did not. */
	if (answer.value)
		dlerror();
	errno = saved;
	return answer;
}
