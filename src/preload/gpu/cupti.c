/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/gpu/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newest first: each works with newer drivers than its own. */
static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
#define NAMES (sizeof names / sizeof *names)

/* Where it lies from the folder of a libcudart: toolkits (lib64, targets/.../lib), wheels (nvidia/cuda_runtime/lib of
   CUDA 12, nvidia/cu13/lib). */
static const char *const relative_folders[] = {"", "../extras/CUPTI/lib64/", "../../cuda_cupti/lib/",
					       "../../cu13/lib/"};
static const char *const in_toolkit[] = {"lib64/", "extras/CUPTI/lib64/", "lib/"};

/* Opens CUPTI in a folder and a path further on from it; NULL: not there.  flags: more for dlopen(). */
static void *open_cupti(const char *folder, const char *further, int flags)
{
	void *handle = NULL;
	char path[1024];

	for (size_t i = 0; i < NAMES && !handle; i++) {
		int got = snprintf(path, sizeof path, "%s%s%s%s", folder, *folder ? "/" : "", further, names[i]);

		if (got > 0 && (size_t)got < sizeof path)
			handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	}
	return handle;
}

/* CUPTI_PATH: a file, or the folder that it lies in. */
static void *asked_for(const char *path)
{
	void *handle = open_cupti(path, "", 0);

	return handle ? handle : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

struct folder {
	char path[768];
};

/* For dl_iterate_phdr(): the folder of the CUDA runtime that the program uses. */
static int cudart_folder(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct folder *folder = arg;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!slash || strncmp(slash + 1, "libcudart.so", 12) != 0 ||
	    (size_t)(slash - info->dlpi_name) >= sizeof folder->path)
		return 0;
	memcpy(folder->path, info->dlpi_name, (size_t)(slash - info->dlpi_name));
	folder->path[slash - info->dlpi_name] = '\0';
	return 1;
}

/* The CUPTI that came with the program's own runtime. */
static void *near_cudart(void)
{
	struct folder folder = {""};
	void *handle = NULL;

	/* Not dlopen() inside of it: the loader's lock is held there. */
	if (!dl_iterate_phdr(cudart_folder, &folder))
		return NULL;
	for (size_t i = 0; i < sizeof relative_folders / sizeof *relative_folders && !handle; i++)
		handle = open_cupti(folder.path, relative_folders[i], 0);
	return handle;
}

/* The CUPTI of an installed toolkit. */
static void *in_toolkits(void)
{
	const char *const homes[] = {secure_getenv("CUDA_HOME"), secure_getenv("CUDA_PATH"), SW_CUDA_HOME,
				     "/usr/local/cuda"};
	void *handle = NULL;

	for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
		for (size_t i = 0; i < sizeof in_toolkit / sizeof *in_toolkit && homes[h] && !handle; i++)
			handle = open_cupti(homes[h], in_toolkit[i], 0);
	return handle;
}

/* One that the program has loaded goes first: two in one process do not get along.  Nothing replaces a path that
   was asked for. */
static void *find_cupti(void)
{
	const char *path = secure_getenv("CUPTI_PATH");
	void *handle = open_cupti("", "", RTLD_NOLOAD);

	if (!handle && path && *path)
		return asked_for(path);
	handle = handle ? handle : near_cudart();
	handle = handle ? handle : open_cupti("", "", 0);
	return handle ? handle : in_toolkits();
}

/* Finds all functions.  False: one that is needed is missing, *missing names it. */
static bool resolve_functions(struct sw_cupti *cupti, void *handle, const char **missing)
{
	*missing = NULL;
#define CUPTI(name, needed)                                                                                            \
	cupti->name = (__typeof__(&name))dlsym(handle, #name);                                                         \
	if (!cupti->name && (needed) && !*missing)                                                                     \
		*missing = #name;
#include "preload/gpu/cupti.def"
	return !*missing;
}

#define SHARED_SINCE 130300u

/* Finds the functions for several users of CUPTI, which come with 13.3; all or none. */
static void resolve_shared(struct sw_cupti *cupti, void *handle)
{
	bool all = cupti->version >= SHARED_SINCE;

#define CUPTI_SHARED(name, parameters)                                                                                 \
	cupti->name = (__typeof__(cupti->name))dlsym(handle, #name);                                                   \
	all = all && cupti->name;
#include "preload/gpu/cupti.def"
	if (all)
		cupti->cuptiSubscribe_v2 = (__typeof__(cupti->cuptiSubscribe_v2))dlsym(handle, "cuptiSubscribe_v2");
}

/* A subscriber must have a callback; ours wants none. */
static void CUPTIAPI no_callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)info;
}

/* Becomes a user of CUPTI in addition to another tool, where CUPTI allows that; `other` gets that tool's name. */
CUptiResult sw_cupti_share(struct sw_cupti *cupti, char *other, size_t room)
{
	struct sw_cupti_subscriber how = {sizeof how, "syncwatch", other, room, 1, {0}};

	other[0] = '\0';
	return cupti->cuptiSubscribe_v2
		       ? cupti->cuptiSubscribe_v2(&cupti->subscriber, (CUpti_CallbackFunc)no_callback, NULL, &how)
		       : CUPTI_ERROR_NOT_SUPPORTED;
}

/* Loads CUPTI and looks up all functions that are needed, so that none is missing later; `why` says what failed. */
int sw_cupti_load(struct sw_cupti *out, char *why, size_t room)
{
	struct sw_cupti cupti = {.version = 0};
	const char *missing;
	struct link_map *map;
	void *handle = find_cupti();

	if (!handle) {
		snprintf(why, room, "neither %s nor %s was found: set CUPTI_PATH to its folder", names[0], names[1]);
		return -ENOENT;
	}
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
		snprintf(cupti.path, sizeof cupti.path, "%s", map->l_name);
	if (!resolve_functions(&cupti, handle, &missing)) {
		snprintf(why, room, "%.300s has no %s: it is too old", cupti.path, missing);
		return -ENOSYS;
	}
	if (cupti.cuptiGetVersion(&cupti.version) != CUPTI_SUCCESS)
		cupti.version = 0;
	resolve_shared(&cupti, handle);
	*out = cupti;
	return 0;
}

/* ---- other users of CUPTI ---------------------------------------------------------------------------------------- */

/* Profilers that put objects of their own into the process; their CUPTI bears other names. */
static const struct {
	const char *file, *tool;
} tools[] = {
	{"libToolsInjection", "Nsight Systems"},
	{"libcuda-injection", "Nsight Compute"},
	{"libsanitizer-collection", "compute-sanitizer"},
	{"libInterceptorInjectionTarget", "compute-sanitizer"},
	{"libcudadebugger", "a debugger"},
};

/* For dl_iterate_phdr(): is a profiler's object loaded? */
static int known_tool(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	const char **found = arg;

	(void)size;
	for (size_t i = 0; i < sizeof tools / sizeof *tools && slash; i++)
		if (strncmp(slash + 1, tools[i].file, strlen(tools[i].file)) == 0)
			*found = tools[i].tool;
	return *found != NULL;
}

/* The name of another tool that uses CUPTI, by the objects that are loaded, and by the variable that names one to be
   loaded. */
const char *sw_cupti_other_tool(void)
{
	const char *found = NULL;

	dl_iterate_phdr(known_tool, &found);
	if (!found && secure_getenv("CUDA_INJECTION64_PATH"))
		found = "the tool that CUDA_INJECTION64_PATH names";
	return found;
}
