/* SPDX-License-Identifier: Apache-2.0 */
#include "contents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/image.h"

/* A fatbin of unknown size is read up to here. */
#define MOST_BYTES ((uint64_t)256 << 20)

/* size 0: unknown. */
static const void *read_file(struct contents *contents, const char *path, uint64_t offset, uint64_t bytes, size_t *size,
			     struct sw_error *error)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		sw_fail(error, -errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	uint64_t rest = (uint64_t)st.st_size > offset ? (uint64_t)st.st_size - offset : 0;
	size_t want = (size_t)(bytes && bytes < rest ? bytes : rest < MOST_BYTES ? rest : MOST_BYTES), have = 0;
	unsigned char *content = sw_alloc(want + 1); /* PTX ends with a NUL */
	ssize_t n;
	while (have < want && (n = pread(fd, content + have, want - have, (off_t)(offset + have))) > 0)
		have += (size_t)n;
	close(fd);
	content[have] = 0;
	if (!bytes && sw_fatbin_bytes(content, have))
		have = sw_fatbin_bytes(content, have);
	*sw_vec_push(&contents->read) = (struct content){content, have};
	*size = have;
	return content;
}

const void *contents_of(struct contents *contents, uint32_t id, size_t *size, struct sw_error *error)
{
	const struct sw_trace_image *image = sw_reader_image(contents->reader, id);
	if (!image) {
		sw_fail(error, -ENOENT, "no code image");
		return NULL;
	}
	if (image->code) { /* of a packed trace */
		*size = image->code_bytes;
		return image->code;
	}
	const void *content = sw_reader_image_content(contents->reader, id);
	if (content) {
		*size = image->bytes;
		return content;
	}
	if (!image->path[0]) {
		sw_fail(error, -ENOENT, "the trace does not hold this image");
		return NULL;
	}
	return read_file(contents, image->path, image->file_offset, image->bytes, size, error);
}

const void *contents_file(struct contents *contents, const char *path, size_t *size, struct sw_error *error)
{
	return read_file(contents, path, 0, 0, size, error);
}

int contents_saved(struct contents *contents, const char *folder, bool machine)
{
	char *list = sw_format("%s/kernels.tsv", folder), *line = NULL;
	FILE *in = fopen(list, "r");
	size_t room = 0;
	free(list);
	if (!in)
		return -errno;
	while (getline(&line, &room, in) > 0) {
		char *launches = strchr(line, '\t'), *name = launches ? strchr(launches + 1, '\t') : NULL;
		if (!name)
			continue;
		*launches = '\0';
		name[strcspn(name, "\n")] = '\0';
		bool ptx = strlen(line) > 4 && strcmp(launches - 4, ".ptx") == 0;
		uint32_t known = contents_find(contents, name + 1);
		if ((machine && ptx) || (known && !ptx))
			continue;
		struct saved *s = known ? &contents->saved.at[known - 1] : sw_vec_push(&contents->saved);
		char *path = sw_format("%s/%s", folder, line);
		s->name = sw_arena_strndup(&contents->arena, name + 1, strlen(name + 1));
		s->path = sw_arena_strndup(&contents->arena, path, strlen(path));
		free(path);
	}
	free(line);
	fclose(in);
	return 0;
}

uint32_t contents_find(const struct contents *contents, const char *kernel)
{
	for (size_t i = 0; i < contents->saved.n; i++)
		if (strcmp(contents->saved.at[i].name, kernel) == 0)
			return (uint32_t)i + 1;
	return 0;
}

void contents_free(struct contents *contents)
{
	for (size_t i = 0; i < contents->read.n; i++)
		free(contents->read.at[i].bytes);
	free(contents->read.at);
	free(contents->saved.at);
	sw_arena_free(&contents->arena);
	*contents = (struct contents){0};
}
