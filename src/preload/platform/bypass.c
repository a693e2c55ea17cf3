/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/platform/bypass.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "preload/platform/loaded_object.h"
#include "preload/platform/sys.h"

bool (*sw_bypass_asked)(const void *address);

/* /dev/nvidia-uvm is opened by the CUDA driver alone; /dev/nvidia0 also by tools that only look at the GPU (NVML). */
static bool is_cuda_device(const char *descriptor)
{
	char link[64], target[64];
	snprintf(link, sizeof link, "/proc/self/fd/%.16s", descriptor);
	ssize_t got = readlink(link, target, sizeof target - 1);
	target[got > 0 ? got : 0] = 0;
	return strcmp(target, "/dev/nvidia-uvm") == 0;
}

struct entry { /* as getdents64 fills it: struct dirent64 of the kernel */
	uint64_t inode;
	int64_t next;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* True when a descriptor of the process is a device of the driver: CUDA is used, though no call was seen. */
bool sw_bypass_gpu_open(void)
{
	char buffer[2048] __attribute__((aligned(8)));
	bool found = false;
	long got;
	int fd = sw_sys_open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	/* Not opendir(): it allocates, and at exit the program's allocator may have been torn down. */
	while (!found && (got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
		for (long at = 0; !found && at < got; at += ((struct entry *)(buffer + at))->bytes)
			found = is_cuda_device(((struct entry *)(buffer + at))->name);
	sw_sys_close(fd);
	return found;
}

/* ---- who escaped ------------------------------------------------------------------------------------------------- */

struct search {
	const void *real_dlsym;
	bool all;
	const char *found, *how;
};

/* Is this a file of CUDA's driver or runtime? */
static bool is_cuda(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strncmp(slash ? slash + 1 : path, "libcuda", 7) == 0; /* libcudart as well */
}

/* Is a slot of these relocations filled with the real dlsym, where all others have ours? */
static bool calls_real(const struct link_map *map, const ElfW(Rela) * rela, size_t bytes, const ElfW(Sym) * symbols,
		       const char *names, const void *real)
{
	for (size_t i = 0; rela && symbols && names && i < bytes / sizeof *rela; i++) {
		const uint64_t type = ELF64_R_TYPE(rela[i].r_info);
		if ((type == SW_ARCH_JUMP_SLOT || type == SW_ARCH_GLOB_DAT) &&
		    *(const void *const *)(map->l_addr + rela[i].r_offset) == real &&
		    strcmp(names + symbols[ELF64_R_SYM(rela[i].r_info)].st_name, "dlsym") == 0)
			return true;
	}
	return false;
}

/* Does this object need CUDA (or does the search want any) and call the real dlsym in place of ours, as one loaded with
   RTLD_DEEPBIND does?  glibc has added the load address to the pointers of its dynamic section. */
static bool is_past_us(const struct link_map *map, const struct search *search)
{
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;
	const ElfW(Rela) * rela[2] = {NULL};
	size_t bytes[2] = {0}, plain = 0;
	bool cuda = search->all;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		const void *at = (const void *)d->d_un.d_ptr;
		switch (d->d_tag) {
		case DT_SYMTAB:
			symbols = at;
			break;
		case DT_STRTAB:
			names = at;
			break;
		case DT_JMPREL:
			rela[0] = at;
			break;
		case DT_PLTRELSZ:
			bytes[0] = d->d_un.d_val;
			break;
		case DT_RELA:
			rela[1] = at;
			break;
		case DT_RELASZ:
			bytes[1] = d->d_un.d_val;
			break;
		case DT_RELACOUNT:
			plain = d->d_un.d_val;
			break; /* those without a symbol: first, and many */
		}
	}
	for (const ElfW(Dyn) *d = map->l_ld; names && d->d_tag != DT_NULL; d++)
		cuda = cuda || (d->d_tag == DT_NEEDED && is_cuda(names + d->d_un.d_val));
	return cuda && (calls_real(map, rela[0], bytes[0], symbols, names, search->real_dlsym) ||
			calls_real(map, rela[1] ? rela[1] + plain : NULL, bytes[1] - plain * sizeof *rela[1], symbols,
				   names, search->real_dlsym));
}

/* struct r_debug_extended of <link.h>, from glibc 2.35 on. */
struct name_space {
	struct r_debug base;
	struct name_space *next;
};

/* Looks at all objects of the program's name space, then at other name spaces (dlmopen), where a copy of CUDA has been
   loaded past us. */
static void search_all(const struct name_space *space, struct search *search)
{
	for (const struct link_map *map = space->base.r_map; map && !search->found; map = map->l_next)
		if (map->l_name[0] && !is_cuda(map->l_name) && is_past_us(map, search)) {
			search->found = map->l_name;
			search->how = "RTLD_DEEPBIND";
		}
	while (space->base.r_version >= 2 && (space = space->next) && !search->found)
		for (const struct link_map *map = space->base.r_map; map && !search->found; map = map->l_next)
			if (is_cuda(map->l_name)) {
				search->found = space->base.r_map->l_name; /* loaded first: all others came for it */
				search->how = "dlmopen";
			}
}

/* For dl_iterate_phdr(), at its first object, the program: searches all objects, which the loader keeps where they are
   meanwhile. */
static int look_at_program(struct dl_phdr_info *info, size_t bytes, void *with)
{
	(void)bytes;
	const ElfW(Dyn) *d = NULL;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
			search_all((const struct name_space *)d->d_un.d_ptr, with);
	return 1;
}

/* ---- who stands before us ---------------------------------------------------------------------------------------- */

struct before {
	struct sw_loaded_object wrapper; /* path "": none */
	bool driver, reached;		 /* the driver is loaded; some object calls the wrapper */
};

/* Has the name the form of a driver function, cuXxx? */
static bool is_entry_point(const char *name)
{
	return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

/* For sw_object_imports(): does the object call the wrapper that stands before us? */
static void look_at_import(const char *name, void **slot, void *with)
{
	struct before *before = with;
	if ((is_entry_point(name) || strcmp(name, "dlsym") == 0) && sw_object_has(&before->wrapper, *slot))
		before->reached = true;
}

/* For dl_iterate_phdr(): is the driver loaded, and does any object call the wrapper? */
static int look_at_object(struct dl_phdr_info *info, size_t bytes, void *with)
{
	struct before *before = with;
	struct sw_loaded_object object;
	(void)bytes;
	sw_object_read(&object, info);
	if (is_cuda(object.path) && strstr(object.path, "libcuda.so"))
		before->driver = true;
	else if (object.start != before->wrapper.start)
		sw_object_imports(&object, look_at_import, before);
	return 0;
}

/* For dl_iterate_phdr(): finds a library before us that exports dlsym or cuInit and does not ask us in its turn.
   Objects come in the order of the search for symbols.  Not by dlsym: from us it would find us first. */
static int look_for_wrapper(struct dl_phdr_info *info, size_t bytes, void *with)
{
	struct before *before = with;
	struct sw_loaded_object object;
	(void)bytes;
	sw_object_read(&object, info);
	if (sw_object_has(&object, (const void *)look_for_wrapper))
		return 1;
	const void *at = sw_object_function(&object, "dlsym");
	if (!at)
		at = sw_object_function(&object, "cuInit");
	if (!at || !object.path[0] || is_cuda(object.path) || (sw_bypass_asked && sw_bypass_asked(at)))
		return 0;
	before->wrapper = object;
	return 1;
}

/*
 * A library that is preloaded before us and wraps dlsym, or the driver, stays in the chain where it asks us in its
 * turn. One that takes libc's dlsym, past all others, does not, and then nobody's look-ups through it reach us.
 */
static bool find_before_us(struct before *before)
{
	dl_iterate_phdr(look_for_wrapper, before);
	if (before->wrapper.path[0])
		dl_iterate_phdr(look_at_object, before);
	return before->driver && before->reached;
}

/* Names a library that is preloaded before us and hides the program's calls. */
static bool stands_before_us(char *text, size_t room)
{
	struct before before = {.driver = false};
	if (!find_before_us(&before))
		return false;
	snprintf(text, room, "%s (preloaded before libsyncwatch.so; preload it after)", before.wrapper.path);
	return true;
}

/* True when an object before ours in the order of symbols has our own entry point: it is a second copy of the recorder,
   and the calls go there. */
bool sw_bypass_recorder(char *path, size_t room)
{
	struct before before = {.driver = false};
	if (!find_before_us(&before) || !sw_object_function(&before.wrapper, "syncwatch_companion"))
		return false;
	snprintf(path, room, "%s", before.wrapper.path);
	return true;
}

/* Finds an object that may keep the program's calls of CUDA from us, because it reaches the driver without our symbols;
   its file and how it does so go into `text`.  `all`: also objects that use no library of CUDA. */
bool sw_bypass_object(char *text, size_t room, bool all)
{
	struct search search = {.real_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"), .all = all};
	if (!search.real_dlsym)
		search.real_dlsym = dlvsym(RTLD_NEXT, "dlsym", SW_ARCH_OLDEST_LIBC);
	if (search.real_dlsym)
		dl_iterate_phdr(look_at_program, &search);
	if (search.found)
		snprintf(text, room, "%s (%s)", search.found, search.how);
	return search.found || stands_before_us(text, room);
}
