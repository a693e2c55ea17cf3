/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/image_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/stored_images.h"
#include "image/image.h"
#include "pack/pack.h"
#include "reader/reader.h"

#define MOST_BYTES   (512ull << 20) /* of the store; the longest unused go first */
#define KEPT_SECONDS 86400	    /* what was used since may be named by a trace that is not finished */

/* Writes a file of the store, which has its name once it is whole, or never.  False: it could not be written. */
static bool write_file(const char *folder, const char *name, const void *content, size_t bytes)
{
	char *temporary = sw_format("%s/new-XXXXXX", folder), *path = sw_format("%s/%s", folder, name);
	const int fd = mkostemp(temporary, O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	bool written = file && fwrite(content, 1, bytes, file) == bytes;
	if (file)
		written &= !fclose(file);
	written = written && !rename(temporary, path);
	if (fd >= 0 && !written)
		unlink(temporary);
	free(temporary);
	free(path);
	return written;
}

/* ---- what the store has ------------------------------------------------------------------------------------------ */

/* A file of the store, and when a run used it last. */
struct stored {
	struct sw_stored_image image;
	struct timespec used;
};

/* Order of images by hash, for qsort(). */
static int by_hash(const void *a, const void *b)
{
	const uint64_t x = ((const struct sw_stored_image *)a)->hash, y = ((const struct sw_stored_image *)b)->hash;
	return (x > y) - (x < y);
}

/* Order of files by their last use, the longest unused first, for qsort(). */
static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct stored *)a)->used, *y = &((const struct stored *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Removes the longest unused files beyond MOST_BYTES, and writes into the store's index which are left. */
static void remove_oldest(const char *folder)
{
	SW_VEC(struct stored) files = {0};
	SW_VEC(struct sw_stored_image) index = {0};
	DIR *dir = opendir(folder);
	const time_t now = time(NULL);
	uint64_t sum = 0;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct stored file;
		struct stat s;
		int end = 0;
		if (fstatat(dirfd(dir), e->d_name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISREG(s.st_mode))
			continue;
		if (!strncmp(e->d_name, "new-", 4) && now - s.st_mtim.tv_sec > KEPT_SECONDS)
			unlinkat(dirfd(dir), e->d_name, 0);
		if (sscanf(e->d_name, "%16" SCNx64 ".image%n", &file.image.hash, &end) != 1 || !end || e->d_name[end])
			continue;
		file.image.bytes = (uint64_t)s.st_size;
		file.used = s.st_mtim;
		*sw_vec_push(&files) = file;
		sum += file.image.bytes;
	}
	if (files.n)
		qsort(files.at, files.n, sizeof *files.at, by_use);
	for (size_t i = 0; i < files.n; i++) {
		char *name = sw_format(SW_STORED_NAME, files.at[i].image.hash);
		if (sum > MOST_BYTES && now - files.at[i].used.tv_sec > KEPT_SECONDS && !unlinkat(dirfd(dir), name, 0))
			sum -= files.at[i].image.bytes;
		else
			*sw_vec_push(&index) = files.at[i].image;
		free(name);
	}
	if (dir)
		closedir(dir);
	if (index.n)
		qsort(index.at, index.n, sizeof *index.at, by_hash);
	write_file(folder, SW_STORED_INDEX, index.at, index.n * sizeof *index.at);
	free(files.at);
	free(index.at);
}

/* ---- the images of a trace ----------------------------------------------------------------------------------------
 */

/* Makes a folder and those that it lies in. */
static void make_folder(const char *folder)
{
	char *path = sw_strdup(folder);
	for (char *at = path; (at = strchr(at + 1, '/'));) {
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
	mkdir(path, 0700);
	free(path);
}

/* Does the trace name a file of the store for this image, instead of its content? */
static bool is_stored(const struct sw_trace_image *image)
{
	return image->hash && image->path[0];
}

/* Puts an image into the store.  One that is there becomes young instead.  True: it was not there, and is now. */
static bool add_image(struct sw_reader *reader, const struct sw_trace_image *image, const char *folder)
{
	char *name = sw_format(SW_STORED_NAME, image->hash), *path = sw_format("%s/%s", folder, name);
	bool added = false;
	if (utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) && errno == ENOENT && !image->path[0]) {
		const void *content = sw_reader_image_content(reader, image->id);
		added = content && write_file(folder, name, content, image->bytes);
	}
	free(name);
	free(path);
	return added;
}

/* Removes the image's file from the store if its content is not that which its name says: a next run copies what it
   loads again. */
static void drop_damaged(const struct sw_trace_image *image, const char *folder)
{
	char *path = sw_format("%s/" SW_STORED_NAME, folder, image->hash); /* whatever the trace names */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *content = file ? sw_alloc(image->bytes + 1) : NULL;
	if (file && (fread(content, 1, image->bytes + 1, file) != image->bytes ||
		     sw_hash_content(content, image->bytes) != image->hash))
		unlink(path);
	if (file)
		fclose(file);
	free(content);
	free(path);
}

int sw_image_store_settle(struct sw_reader *reader, const char *trace, const char *folder, struct sw_error *error)
{
	const struct sw_trace_image *image;
	bool added = false, used = false;
	for (size_t at = 0; (image = sw_reader_next_image(reader, &at));) {
		if (!image->hash || image->bytes < SW_STORED_LEAST || image->bytes > SW_IMAGE_MAX_BYTES)
			continue;
		used |= is_stored(image);
		if (!image->path[0] && !added)
			make_folder(folder);
		added |= add_image(reader, image, folder);
	}
	const int rc = used ? sw_pack_append_stored(reader, trace, error) : 0;
	for (size_t at = 0; rc && (image = sw_reader_next_image(reader, &at));)
		if (is_stored(image))
			drop_damaged(image, folder);
	if (added || rc)
		remove_oldest(folder);
	return rc;
}
