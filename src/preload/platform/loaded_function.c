/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/loaded_function.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Does the address lie in this very object? */
bool sw_loaded_is_ours(const void *address)
{
	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/*
 * What an object, and what it was loaded with, has under this name; not ours.  The count of users that dlopen() raises
 * stays: who calls a library keeps it loaded.
 */
static void *look_up(const char *path, const char *name)
{
	void *handle = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *found = handle ? dlsym(handle, name) : NULL;
	return sw_loaded_is_ours(found) ? NULL : found;
}

struct search {
	const char *name, *object;
	uintptr_t caller; /* 0: any object whose name begins like `object` */
	void *found;
};

/* Does the loaded object hold the address? */
static bool holds_address(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		if (h->p_type == PT_LOAD && address - (info->dlpi_addr + h->p_vaddr) < h->p_memsz)
			return true;
	}
	return false;
}

/* For dl_iterate_phdr(): looks the name up in the object of the caller, or in any with the wanted file name. */
static int visit_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct search *search = arg;
	const char *path = info->dlpi_name ? info->dlpi_name : "", *slash = strrchr(path, '/');
	(void)bytes;
	if (search->caller) {
		if (!holds_address(info, search->caller))
			return 0;
		search->found = look_up(path, search->name);
		return 1;
	}
	if (strncmp(slash ? slash + 1 : path, search->object, strlen(search->object)) == 0)
		search->found = look_up(path, search->name);
	return search->found != NULL;
}

/* A function of a library as the program's call would find it: in the global scope, then in what the caller was loaded
   with. */
void *sw_loaded_function(const char *name, const char *object, const void *caller)
{
	const int saved = errno;
	struct search search = {.name = name, .object = object, .caller = (uintptr_t)caller};
	void *next = dlsym(RTLD_NEXT, name);
	if (next && !sw_loaded_is_ours(next)) {
		errno = saved;
		return next;
	}
	dl_iterate_phdr(visit_object, &search);
	if (!search.found) {
		search.caller = 0;
		dl_iterate_phdr(visit_object, &search);
	}
	errno = saved;
	return search.found;
}

/* ---- what was found, by call site -------------------------------------------------------------------------------- */

#define PROBES 8u
#define BUSY   1u /* a key that no call site has */

/* As sw_loaded_function(), which is asked once for each place of call.  Entries are never changed once they are made:
   readers take no lock. */
void *sw_loaded_function_at(struct sw_loaded_sites *sites, uint32_t function, const char *name, const char *object,
			    const void *caller)
{
	/* A return address has 47 bits. */
	const uintptr_t key = (uintptr_t)caller ^ (uintptr_t)(function + 1) << 48;
	uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40);
	for (uint32_t i = 0; i < PROBES; i++, at++) {
		struct sw_loaded_site *site = &sites->at[at % sites->n];
		uintptr_t held = __atomic_load_n(&site->key, __ATOMIC_ACQUIRE);
		if (held == key)
			return site->real;
		if (held)
			continue;
		void *real = sw_loaded_function(name, object, caller);
		if (!real)
			return NULL;
		if (__atomic_compare_exchange_n(&site->key, &held, BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			site->real = real;
			__atomic_store_n(&site->key, key, __ATOMIC_RELEASE);
		}
		return real;
	}
	return sw_loaded_function(name, object, caller);
}
