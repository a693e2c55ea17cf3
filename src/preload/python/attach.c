/* SPDX-License-Identifier: Apache-2.0 */
/* How the recorder finds the interpreter.  Runs on a thread of the recorder's, while the first CUDA call waits. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preload/python/stacks.h"

static char refused[200];

#define EXPORT __attribute__((visibility("default")))
EXPORT void syncwatch_python_start(const struct sw_companion *recorder);

static void *find(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

/* "3.11.7 (main, ...)": the part that matters. */
static void refuse(const char *version, const char *why)
{
	const char *end = strchr(version, ' ');
	snprintf(refused, sizeof refused, "Python lines: not recorded, Python %.*s: %s",
		 (int)(end ? end - version : (long)strlen(version)), version, why);
	__atomic_store_n(&sw_python.notice, refused, __ATOMIC_RELEASE);
	sw_python.recorder->stacks(sw_python_refuse);
}

/* Has the object of this type the heads that the layout says? */
static bool is_type(const void *type, const char *name)
{
	const char *at;
	char text[16] = "";
	return type && sw_python_read((const char *)type + sw_python.at.type_name, &at, sizeof at) &&
	       sw_python_read(at, text, strlen(name) + 1) && strcmp(text, name) == 0;
}

static const char *prepare(const char *version)
{
	if (!sw_python_readable())
		return "the kernel does not let a process read its own memory with process_vm_readv";
	sw_python.runtime = find("_PyRuntime");
	sw_python.thread_state = (void *(*)(void))(uintptr_t)find("PyGILState_GetThisThreadState");
	sw_python.types = (struct sw_python_types){find("PyCode_Type"), find("PyUnicode_Type"), find("PyBytes_Type")};
	const char *why = sw_python_layout_find(&sw_python.at, version, sw_python.runtime);
	if (why)
		return why;
	if (!sw_python.runtime || !sw_python.thread_state)
		return "it does not export what is needed";
	if (!is_type(sw_python.types.code, "code") || !is_type(sw_python.types.text, "str") ||
	    !is_type(sw_python.types.bytes, "bytes"))
		return "its objects are not laid out as in a release build";
	if (!sw_python_freed_start((void *)(uintptr_t)sw_python.types.code, sw_python.at.type_free))
		return "it is not known when its code objects end";
	return NULL;
}

#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE" /* preload/pools/torch.c */

/* PyTorch's allocator is recorded through a function that its version may not have. */
static void look_at_torch(const struct sw_companion *recorder)
{
	void *allocator = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
	void *base = allocator ? dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (base && !dlsym(base, REPORT))
		recorder->notice("tensors: not recorded, this version of PyTorch does not report its blocks");
	if (base)
		dlclose(base);
	if (allocator)
		dlclose(allocator);
}

/* Again in each child of fork() that calls CUDA. */
void syncwatch_python_start(const struct sw_companion *recorder)
{
	const char *(*version)(void) = (const char *(*)(void))(uintptr_t)find("Py_GetVersion");
	if (!recorder || !version)
		return;
	look_at_torch(recorder);
	sw_python.recorder = recorder;
	sw_python.several = false;
	if (sw_python.main.process != getpid())
		sw_python.main = (struct sw_python_main){.process = getpid()};
	const char *why = prepare(version());
	if (why)
		refuse(version(), why);
	else
		recorder->stacks(sw_python_join_of(sw_python.at.style));
}
