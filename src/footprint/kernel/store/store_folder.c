/* SPDX-License-Identifier: Apache-2.0 */
/* Where footprints are kept, and how much of it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "footprint/kernel/store/disk_store.h"

/* A writer takes milliseconds: what is older was abandoned. */
#define SW_TEMPORARY_SECONDS 3600

char *sw_store_folder(const char *cache)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (!cache)
		return NULL;
	if (*cache)
		return sw_strdup(cache);
	/* "If an implementation encounters a relative path in any of these variables it should consider the path
	   invalid and ignore it." */
	if (xdg && *xdg == '/')
		return sw_format("%s/syncwatch", xdg);
	return home && *home == '/' ? sw_format("%s/.cache/syncwatch", home) : NULL;
}

struct file {
	char *name;
	uint64_t bytes;
	struct timespec used;
};

static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct file *)a)->used, *y = &((const struct file *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool is_ours(const char *name)
{
	size_t n = strlen(name), suffix = strlen(".footprints");
	return n > suffix && strcmp(name + n - suffix, ".footprints") == 0;
}

void sw_store_tidy(const char *folder, uint64_t most)
{
	SW_VEC(struct file) files = {0};
	DIR *dir = opendir(folder);
	struct dirent *e;
	uint64_t sum = 0;
	time_t now = time(NULL);
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		struct stat s;
		if (!is_ours(e->d_name) || fstatat(dirfd(dir), e->d_name, &s, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(s.st_mode))
			continue;
		if (strncmp(e->d_name, "new-", 4) == 0) {
			if (now - s.st_mtim.tv_sec > SW_TEMPORARY_SECONDS)
				unlinkat(dirfd(dir), e->d_name, 0);
			continue;
		}
		*sw_vec_push(&files) = (struct file){sw_strdup(e->d_name), (uint64_t)s.st_size, s.st_mtim};
		sum += (uint64_t)s.st_size;
	}
	if (files.n)
		qsort(files.at, files.n, sizeof *files.at, by_age);
	for (size_t i = 0; i < files.n; i++) {
		if (sum > most && unlinkat(dirfd(dir), files.at[i].name, 0) == 0)
			sum -= files.at[i].bytes;
		free(files.at[i].name);
	}
	free(files.at);
	closedir(dir);
}
