/* SPDX-License-Identifier: Apache-2.0 */
#include "contents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/image.h"

/* A fatbin whose size nobody knew is read up to here. */
#define MOST_BYTES ((uint64_t)256 << 20)

static int read_file(const struct sw_trace_image *image, struct content *out, struct sw_error *error)
{
	int fd = open(image->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return sw_fail(error, -errno, "%s: %s", image->path, strerror(errno));
	size_t want = (size_t)(image->bytes && image->bytes < MOST_BYTES ? image->bytes : MOST_BYTES), have = 0;
	unsigned char *bytes = sw_alloc(want);
	ssize_t n;
	while (have < want && (n = pread(fd, bytes + have, want - have, (off_t)(image->file_offset + have))) > 0)
		have += (size_t)n;
	close(fd);
	if (!image->bytes && sw_fatbin_bytes(bytes, have))
		have = sw_fatbin_bytes(bytes, have);
	*out = (struct content){bytes, have};
	return 0;
}

const void *contents_of(struct contents *contents, uint32_t id, size_t *size, struct sw_error *error)
{
	const struct sw_trace_image *image = sw_reader_image(contents->reader, id);
	struct content content;
	if (!image) {
		sw_fail(error, -ENOENT, "no code image");
		return NULL;
	}
	if (image->data) {
		*size = image->bytes;
		return image->data;
	}
	if (!image->path[0]) {
		sw_fail(error, -ENOENT, "the trace does not hold this image");
		return NULL;
	}
	if (read_file(image, &content, error))
		return NULL;
	*sw_vec_push(&contents->read) = content;
	*size = content.size;
	return content.bytes;
}

void contents_free(struct contents *contents)
{
	for (size_t i = 0; i < contents->read.n; i++)
		free(contents->read.at[i].bytes);
	free(contents->read.at);
	*contents = (struct contents){0};
}
