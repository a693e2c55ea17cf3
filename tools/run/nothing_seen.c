/* SPDX-License-Identifier: Apache-2.0 */
#include "run/nothing_seen.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define CACHE_BYTES (8u << 20)

/* Where ld.so looks on the systems that CUDA supports; the driver is never loaded to find out. */
static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu",
				      "/usr/lib64",
				      "/usr/lib/aarch64-linux-gnu",
				      "/usr/lib",
				      "/lib/x86_64-linux-gnu",
				      "/usr/local/lib",
				      "/lib64",
				      "/usr/local/nvidia/lib64",
				      "/usr/lib/wsl/lib"};

/* Is the driver's library in the folder, whose name has `bytes` bytes? */
static bool holds_driver(const char *folder, size_t bytes)
{
	char *path = sw_format("%.*s/libcuda.so.1", (int)bytes, folder);
	const bool found = access(path, R_OK) == 0;
	free(path);
	return found;
}

/* Does the loader's cache name the driver's library?  Its format is not read: the name stands there as text. */
static bool is_named_in_cache(void)
{
	FILE *cache = fopen("/etc/ld.so.cache", "re");
	char *all = cache ? sw_alloc(CACHE_BYTES) : NULL;
	const size_t bytes = cache ? fread(all, 1, CACHE_BYTES, cache) : 0;
	const bool found = bytes && memmem(all, bytes, "/libcuda.so.1", strlen("/libcuda.so.1"));
	if (cache)
		fclose(cache);
	free(all);
	return found;
}

/* Would the loader find a driver? */
static bool has_driver(void)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	for (; path && *path; path += strspn(path, ":")) {
		const size_t bytes = strcspn(path, ":");
		if (holds_driver(path, bytes))
			return true;
		path += bytes;
	}
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
		if (holds_driver(folders[i], strlen(folders[i])))
			return true;
	return is_named_in_cache();
}

const char *sw_nothing_seen(bool simulated)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	if (simulated)
		return "the program did not get so far as to use CUDA";
	if (!has_driver())
		return "no CUDA driver is installed here (libcuda.so.1 was not found); --sim runs without one";
	if (access("/dev/nvidiactl", F_OK) && access("/dev/dxg", F_OK))
		return "there is a CUDA driver, but no GPU (/dev/nvidiactl is missing); --sim runs without one";
	if (visible && (!*visible || strcmp(visible, "-1") == 0))
		return "CUDA_VISIBLE_DEVICES hides every GPU";
	return "the program did not get so far as to use CUDA";
}
