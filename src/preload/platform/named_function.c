/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/named_function.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "preload/platform/loaded_function.h"

static struct {
	struct sw_look_ups recorder;
	sw_named_function *ours;
	sw_look_up *before;
} named;

/* Leaves the error that a look-up leaves which finds nothing. */
static struct sw_dlsym_answer not_found(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	named.recorder.real(libc, name);
	return (struct sw_dlsym_answer){NULL, 1};
}

/* Finds the function that the program would find if syncwatch were not loaded. */
static void *find_function(void *handle, const char *name, const char *object, const void *caller)
{
	void *found = handle == RTLD_DEFAULT ? NULL : named.recorder.real(handle, name);
	/* The program's own handle covers all objects that it was started with. */
	if (handle == RTLD_DEFAULT || sw_loaded_is_ours(found))
		return sw_loaded_function(name, object, caller);
	return found;
}

/* Answers the program's dlsym(): with our function where the program would find the library's, else as if we were not
   there. */
static struct sw_dlsym_answer answer_look_up(void *handle, const char *name, const void *caller)
{
	const char *object = NULL;
	void *ours = handle == RTLD_NEXT || sw_loaded_is_ours(caller) ? NULL : named.ours(name, &object);
	if (!ours)
		return named.before ? named.before(handle, name, caller) : (struct sw_dlsym_answer){NULL, 0};
	const int saved = errno;
	void *found = find_function(handle, name, object, caller);
	struct sw_dlsym_answer answer = {found, 1};
	if (!found)
		answer = not_found(name);
	else if (sw_loaded_function(name, object, NULL) == found)
		answer.value = ours;
	/* "dlerror(); p = dlsym(...); if (dlerror())": what we asked on the way may have failed where this did not. */
	if (found)
		dlerror();
	errno = saved;
	return answer;
}

/* From now on dlsym() gives the program our functions of these names. */
void sw_named_functions(sw_named_function *ours, const struct sw_look_ups *recorder)
{
	named.recorder = *recorder;
	named.ours = ours;
	named.before = recorder->set(answer_look_up);
}
