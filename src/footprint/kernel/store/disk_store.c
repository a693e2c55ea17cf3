/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the files of footprints (disk_store.h has the format). */
#include "footprint/kernel/store/disk_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/trusted_file.h"
#include "footprint/version.h"

/* ---- the folder: where footprints are kept, and how much of them */

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

/* qsort(): files that were not used for longest come first. */
static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct file *)a)->used, *y = &((const struct file *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Is it a file of the cache, by its name? */
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

/* ---- the file of an image */

#define SW_STORE_MAGIC 0x31304c5746575753ull /* "SWWFWL01" */
#define SW_STORE_NAME  4096		     /* longest name of a kernel that is kept */

struct head {
	uint64_t magic, image;
	uint32_t version, arch;
};

/* Followed by name, reason (each with its NUL) and footprint, padded to 8 bytes in all. */
struct record {
	uint32_t head_crc; /* of what follows in this struct */
	uint32_t crc;	   /* of what follows it */
	uint32_t name_bytes, why_bytes, footprint_bytes;
	uint32_t arch, ran, reserved;
};

/* The bytes of a record's body, with the padding. */
static size_t body_bytes(const struct record *r)
{
	return ((size_t)r->name_bytes + r->why_bytes + r->footprint_bytes + 7) & ~(size_t)7;
}

/* The checksum of a record's lengths. */
static uint32_t head_crc(const struct record *r)
{
	return sw_crc32c(0, (const char *)r + sizeof r->head_crc, sizeof *r - sizeof r->head_crc);
}

static uint64_t hash_of(const char *kernel)
{
	return sw_hash_bytes(SW_FNV_START, kernel, strlen(kernel));
}

/* The path of the image's file, malloc'ed: image, architecture and version of the analysis are in its name. */
static char *path_of(const struct sw_store *s)
{
	return sw_format("%s/%016" PRIx64 "-%u-%08x.footprints", s->folder, s->image, s->arch, SW_ANALYSIS_VERSION);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The content of a file, malloc'ed, *n bytes; NULL unless it is a plain file of sensible size that the user trusts.
   Marks the file as used just now, so that it stays in the cache; where that is not allowed it is merely removed
   earlier. */
static unsigned char *read_file(const char *path, size_t *n)
{
	int fd = sw_trusted_open(path, (uid_t)-1, NULL);
	struct stat s;
	unsigned char *bytes = NULL;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &s) == 0 && (size_t)s.st_size <= SW_STORE_FILE_BYTES) {
		size_t have = 0;
		ssize_t got = 1;
		bytes = sw_alloc((size_t)s.st_size + 1);
		while (have < (size_t)s.st_size && (got = read(fd, bytes + have, (size_t)s.st_size - have)) > 0)
			have += (size_t)got;
		*n = have;
		futimens(fd, NULL);
	}
	close(fd);
	return bytes;
}

/* The record at `at` and its body; false: there is none that is whole. */
static bool record_at(const unsigned char *bytes, size_t n, size_t at, struct record *r)
{
	if (n - at < sizeof *r)
		return false;
	memcpy(r, bytes + at, sizeof *r);
	return r->head_crc == head_crc(r) && r->name_bytes && body_bytes(r) <= n - at - sizeof *r;
}

/* Is the body of a record as it was written, and do its strings end in it? */
static bool body_whole(const unsigned char *body, const struct record *r)
{
	return sw_crc32c(0, body, body_bytes(r)) == r->crc && !body[r->name_bytes - 1] &&
	       (!r->why_bytes || !body[r->name_bytes + r->why_bytes - 1]);
}

/* Finds where the records of the file begin, up to the first that is damaged. */
static void index_records(struct sw_store *s)
{
	struct record r;
	for (size_t at = sizeof(struct head); record_at(s->bytes, s->n, at, &r); at += sizeof r + body_bytes(&r)) {
		const unsigned char *name = s->bytes + at + sizeof r;
		if (!name[r.name_bytes - 1])
			*sw_map_put(&s->index, hash_of((const char *)name)) = at;
	}
}

/* Reads the file as it is now. */
static void refresh_records(struct sw_store *s)
{
	struct head head;
	char *path = path_of(s);
	s->bytes = read_file(path, &s->n);
	free(path);
	if (!s->bytes || s->n < sizeof head)
		return;
	memcpy(&head, s->bytes, sizeof head);
	if (head.magic == SW_STORE_MAGIC && head.version == SW_ANALYSIS_VERSION && head.image == s->image &&
	    head.arch == s->arch)
		index_records(s);
}

void sw_store_open(struct sw_store *s, const char *folder, uint64_t image, uint32_t arch)
{
	*s = (struct sw_store){.folder = sw_strdup(folder), .image = image, .arch = arch};
	refresh_records(s);
}

bool sw_store_get(const struct sw_store *s, const char *kernel, struct sw_footprint_entry *out)
{
	struct record r;
	struct sw_footprint *footprint = NULL;
	uint64_t at = sw_map_get(&s->index, hash_of(kernel));
	if (!at || !record_at(s->bytes, s->n, at, &r))
		return false;
	const unsigned char *body = s->bytes + at + sizeof r;
	if (!body_whole(body, &r) || strcmp((const char *)body, kernel) != 0)
		return false;
	if (r.footprint_bytes &&
	    sw_footprint_unpack(body + r.name_bytes + r.why_bytes, r.footprint_bytes, &footprint, NULL))
		return false;
	if (!footprint && !r.why_bytes)
		return false;
	char *why = r.why_bytes ? sw_strdup((const char *)body + r.name_bytes) : NULL;
	*out = (struct sw_footprint_entry){footprint, why, r.ran != 0, r.arch};
	return true;
}

void sw_store_close(struct sw_store *s)
{
	sw_map_free(&s->index);
	free(s->bytes);
	free(s->folder);
	*s = (struct sw_store){0};
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Writes the record of a kernel. */
static void put_record(FILE *f, const struct sw_store_new *new)
{
	const struct sw_footprint_entry *e = new->entry;
	void *packed = NULL;
	size_t bytes = 0;
	if (e->footprint)
		sw_footprint_pack(e->footprint, &packed, &bytes);
	struct record r = {
		.name_bytes = (uint32_t)strlen(new->kernel) + 1,
		.why_bytes = e->why ? (uint32_t)strlen(e->why) + 1 : 0,
		.footprint_bytes = (uint32_t)bytes,
		.arch = e->arch,
		.ran = e->ran,
	};
	unsigned char *body = sw_calloc(1, body_bytes(&r));
	memcpy(body, new->kernel, r.name_bytes);
	if (r.why_bytes)
		memcpy(body + r.name_bytes, e->why, r.why_bytes);
	if (bytes)
		memcpy(body + r.name_bytes + r.why_bytes, packed, bytes);
	r.crc = sw_crc32c(0, body, body_bytes(&r));
	r.head_crc = head_crc(&r);
	fwrite(&r, sizeof r, 1, f);
	fwrite(body, body_bytes(&r), 1, f);
	free(body);
	free(packed);
}

/* Records that other processes have added since this store was opened, as far as there is room and it is not in `mine`.
 */
static void put_others(FILE *f, const struct sw_store *now, const struct sw_map *mine)
{
	struct record r;
	if (!now->index.n)
		return;
	for (size_t at = sizeof(struct head); record_at(now->bytes, now->n, at, &r); at += sizeof r + body_bytes(&r)) {
		const unsigned char *body = now->bytes + at + sizeof r;
		size_t bytes = sizeof r + body_bytes(&r);
		if (body_whole(body, &r) && !sw_map_get(mine, hash_of((const char *)body)) &&
		    (size_t)ftell(f) + bytes <= SW_STORE_FILE_BYTES)
			fwrite(now->bytes + at, bytes, 1, f);
	}
}

/* Writes the head, the new records and those that other processes have added; false: writing failed. */
static bool put_all(FILE *f, const struct sw_store *now, const struct sw_store_new *entries, size_t n)
{
	struct head head = {SW_STORE_MAGIC, now->image, SW_ANALYSIS_VERSION, now->arch};
	struct sw_map mine = {0};
	fwrite(&head, sizeof head, 1, f);
	for (size_t i = 0; i < n && (size_t)ftell(f) < SW_STORE_FILE_BYTES / 2; i++) {
		uint64_t *written = sw_map_put(&mine, hash_of(entries[i].kernel));
		if (!*written && strlen(entries[i].kernel) < SW_STORE_NAME)
			put_record(f, &entries[i]);
		*written = 1;
	}
	put_others(f, now, &mine);
	sw_map_free(&mine);
	return !ferror(f);
}

/* mkdir -p; XDG Base Directory Specification: "with permission 0700". */
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

void sw_store_write(const struct sw_store *s, const struct sw_store_new *entries, size_t n)
{
	struct sw_store now;
	make_folder(s->folder);
	char *temporary = sw_format("%s/new-XXXXXX.footprints", s->folder);
	int fd = mkostemps(temporary, (int)strlen(".footprints"), O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (f) {
		sw_store_open(&now, s->folder, s->image, s->arch);
		char *path = path_of(s);
		bool whole = put_all(f, &now, entries, n);
		whole = fclose(f) == 0 && whole;
		if (!whole || rename(temporary, path))
			unlink(temporary);
		free(path);
		sw_store_close(&now);
	} else if (fd >= 0) {
		close(fd);
		unlink(temporary);
	}
	free(temporary);
}
