/* SPDX-License-Identifier: Apache-2.0 */
/* The library that is loaded, and its functions. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "preload/nccl/nccl.h"

static const char *const names[] = {
#define MOVES(name, ...) #name,
#define TAKES(name, ...) #name,
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES
};

static void *functions[SW_NCCL_FUNCTIONS];
static void *library;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(const void *address)
{
	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/* What an object, and what it was loaded with, has under this name; not ours. */
static void *look(const char *path, const char *name)
{
	void *handle = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *found = handle ? dlsym(handle, name) : NULL;
	/* The count of users that dlopen() raised stays: who calls NCCL keeps it loaded. */
	return is_ours(found) ? NULL : found;
}

struct search {
	const char *name;
	bool any; /* else libnccl.so alone */
	void *found;
	char path[1024];
};

static int visit(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct search *search = arg;
	const char *path = info->dlpi_name ? info->dlpi_name : "", *slash = strrchr(path, '/');
	(void)bytes;
	if (!search->any && strncmp(slash ? slash + 1 : path, "libnccl.so", strlen("libnccl.so")) != 0)
		return 0;
	search->found = look(path, search->name);
	if (!search->found)
		return 0;
	strncpy(search->path, path, sizeof search->path - 1);
	return 1;
}

/* The library by its name, else any object that has the function: PyTorch was once built with NCCL inside. */
static void *find(const char *name)
{
	const int saved = errno;
	struct search search = {.name = name};
	void *known = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
	void *found = known ? dlsym(known, name) : NULL;
	if (!known) {
		dl_iterate_phdr(visit, &search);
		search.any = true;
		if (!search.found)
			dl_iterate_phdr(visit, &search);
		found = search.found;
		if (found)
			__atomic_store_n(&library, dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD), __ATOMIC_RELEASE);
	}
	errno = saved;
	return is_ours(found) ? NULL : found;
}

void *sw_nccl_real(enum sw_nccl_function function)
{
	void *real = __atomic_load_n(&functions[function], __ATOMIC_ACQUIRE);
	if (!real) {
		real = find(names[function]);
		__atomic_store_n(&functions[function], real, __ATOMIC_RELEASE);
	}
	return real;
}

void *sw_nccl_other(const char *name)
{
	return find(name);
}
