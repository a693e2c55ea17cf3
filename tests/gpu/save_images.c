/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves the code of the kernels that a trace launched, so that it can be examined on another machine.
 *
 * usage: save_images TRACE FOLDER [NAMES]
 *     NAMES   file with a kernel's (mangled) name on each line: only these; "-": all that were launched
 *
 * Of a fatbin: the machine code for the GPU of the trace that holds a wanted kernel, and PTX that does.  FOLDER gets
 * IMAGE-OFFSET.cubin or .ptx and kernels.tsv: file, launches, name.  Files with equal content are written once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/map.h"
#include "image/image.h"
#include "truth/contents.h"

struct wanted {
	const char *name; /* the reader's */
	uint32_t image;
	uint64_t launches;
	bool found;
};

struct save {
	struct sw_arena arena;
	struct sw_reader *reader;
	struct contents contents;
	const char *folder;
	FILE *table;
	struct sw_map only;    /* hashes of names; empty: all */
	struct sw_map index;   /* function id -> wanted + 1 */
	struct sw_map written; /* hash of content -> file name */
	SW_VEC(struct wanted) wanted;
	uint32_t arch, image;
	uint64_t bytes;
	const struct sw_fatbin_entry *entry; /* in hand; NULL: the image is no fatbin */
	const void *content;
	size_t size;
};

static uint64_t hash_of(const char *name)
{
	return sw_hash_bytes(SW_FNV_START, name, strlen(name));
}

static int read_names(struct save *s, const char *path)
{
	char *line = NULL;
	size_t room = 0;
	FILE *in = strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
	if (strcmp(path, "-") == 0)
		return 0;
	if (!in)
		return -errno;
	while (getline(&line, &room, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		*sw_map_put(&s->only, hash_of(line)) = 1;
	}
	free(line);
	fclose(in);
	return 0;
}

/* Which kernels, of which images. */
static int read_launches(struct save *s)
{
	struct sw_error error;
	struct sw_record r;
	int rc;
	while ((rc = sw_reader_next(s->reader, &r, &error)) > 0) {
		if (r.rec->kind != SW_REC_LAUNCH)
			continue;
		const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r.rec;
		const struct sw_trace_function *f = sw_reader_function(s->reader, l->function);
		if (!f || !f->name[0] || (s->only.n && !sw_map_find(&s->only, hash_of(f->name))))
			continue;
		uint64_t *at = sw_map_put(&s->index, f->id);
		if (!*at) {
			*sw_vec_push(&s->wanted) = (struct wanted){.name = f->name, .image = f->image};
			*at = s->wanted.n;
		}
		s->wanted.at[*at - 1].launches++;
	}
	if (rc < 0)
		fprintf(stderr, "%s\n", error.text);
	return 0; /* what could be read counts */
}

/* The content in hand as a file, once; its name. */
static const char *write_content(struct save *s, enum sw_image_kind kind)
{
	uint64_t *known = sw_map_put(&s->written, sw_hash_words(s->content, s->size));
	if (*known)
		return (const char *)(uintptr_t)*known;
	char *name = sw_arena_alloc(&s->arena, 64);
	snprintf(name, 64, "%u-%zx.%s", s->image, s->entry ? s->entry->offset : 0,
		 kind == SW_IMAGE_PTX ? "ptx" : "cubin");
	*known = (uint64_t)(uintptr_t)name;
	char *path = sw_format("%s/%s", s->folder, name);
	FILE *out = fopen(path, "wb");
	if (!out || fwrite(s->content, 1, s->size, out) != s->size)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	if (out)
		fclose(out);
	free(path);
	s->bytes += s->size;
	return name;
}

static int on_kernel(struct save *s, const struct sw_cubin_kernel *kernel, enum sw_image_kind kind)
{
	for (size_t i = 0; i < s->wanted.n; i++) {
		struct wanted *w = &s->wanted.at[i];
		if (w->image != s->image || strcmp(w->name, kernel->name) != 0)
			continue;
		fprintf(s->table, "%s\t%" PRIu64 "\t%s\n", write_content(s, kind), w->launches, w->name);
		w->found = true;
	}
	return 0;
}

static int on_machine_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	return on_kernel(arg, kernel, SW_IMAGE_ELF);
}

static int on_ptx_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	return on_kernel(arg, kernel, SW_IMAGE_PTX);
}

static void search(struct save *s, enum sw_image_kind kind)
{
	struct sw_error error;
	int rc = 0;
	if (kind == SW_IMAGE_ELF)
		rc = sw_cubin_walk(s->content, s->size, NULL, on_machine_kernel, s, &error);
	else if (kind == SW_IMAGE_PTX)
		rc = sw_ptx_walk(s->content, s->size, on_ptx_kernel, s, &error);
	if (rc < 0)
		fprintf(stderr, "image %u: %s\n", s->image, error.text);
}

static int on_entry(void *arg, const struct sw_fatbin_entry *entry)
{
	struct save *s = arg;
	struct sw_error error;
	void *content;
	/* Machine code of another generation did not run. */
	if (entry->kind == SW_IMAGE_ELF && (entry->arch / 10 != s->arch / 10 || entry->arch > s->arch))
		return 0;
	if (sw_fatbin_extract(entry, &content, &s->size, &error)) {
		fprintf(stderr, "image %u: %s\n", s->image, error.text);
		return 0;
	}
	s->entry = entry;
	s->content = content;
	search(s, entry->kind);
	free(content);
	return 0;
}

static void save_image(struct save *s, uint32_t image)
{
	struct sw_error error;
	size_t size;
	const void *bytes = contents_of(&s->contents, image, &size, &error);
	s->image = image;
	s->entry = NULL;
	if (!bytes) {
		fprintf(stderr, "image %u: %s\n", image, error.text);
		return;
	}
	enum sw_image_kind kind = sw_image_kind_of(bytes, size);
	s->content = bytes;
	s->size = size;
	if (kind != SW_IMAGE_FATBIN)
		search(s, kind);
	else if (sw_fatbin_walk(bytes, size, on_entry, s, &error) < 0)
		fprintf(stderr, "image %u: %s\n", image, error.text);
}

static int save_all(struct save *s)
{
	struct sw_map done = {0};
	size_t found = 0;
	for (size_t i = 0; i < s->wanted.n; i++) {
		uint64_t *seen = sw_map_put(&done, s->wanted.at[i].image);
		if (!*seen)
			save_image(s, s->wanted.at[i].image);
		*sw_map_put(&done, s->wanted.at[i].image) = 1;
		found += s->wanted.at[i].found;
		if (!s->wanted.at[i].found)
			fprintf(stderr, "not found: %s\n", s->wanted.at[i].name);
	}
	printf("%zu kernels wanted, %zu found, %zu files, %" PRIu64 " bytes\n", s->wanted.n, found, s->written.n,
	       s->bytes);
	sw_map_free(&done);
	return found == s->wanted.n ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct save s = {0};
	struct sw_error error;
	if (argc < 3) {
		fprintf(stderr, "usage: save_images TRACE FOLDER [NAMES]\n");
		return 2;
	}
	s.folder = argv[2];
	mkdir(s.folder, 0777);
	char *path = sw_format("%s/kernels.tsv", s.folder);
	s.table = fopen(path, "w");
	if (!s.table || (argc > 3 && read_names(&s, argv[3])) || sw_reader_open(argv[1], &s.reader, &error)) {
		fprintf(stderr, "%s: %s\n", path,
			s.table ? "the trace or the list of names can't be read" : strerror(errno));
		return 2;
	}
	s.contents.reader = s.reader;
	read_launches(&s);
	const struct sw_trace_device *device = sw_reader_device(s.reader, 0);
	s.arch = device ? device->major * 10 + device->minor : 0;
	int status = save_all(&s);
	fclose(s.table);
	free(path);
	sw_reader_close(s.reader);
	contents_free(&s.contents);
	sw_map_free(&s.only);
	sw_map_free(&s.index);
	sw_map_free(&s.written);
	free(s.wanted.at);
	sw_arena_free(&s.arena);
	return status;
}
