/* SPDX-License-Identifier: Apache-2.0 */
#include "run/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/memory.h"
#include "syncwatch/format.h"

#define CHUNK_MAX (64u << 20) /* as readers have it: the memory was the program's, which may have written anything */

int sw_collect_read(int fd, void *data, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes;) {
		const ssize_t got = pread(fd, (char *)data + done, bytes - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENODATA;
		done += (size_t)got;
	}
	return 0;
}

/* Writes all bytes at an offset; 0 or -errno. */
static int write_all(int fd, const void *data, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes;) {
		const ssize_t got = pwrite(fd, (const char *)data + done, bytes - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENOSPC;
		done += (size_t)got;
	}
	return 0;
}

/* Makes the file have these bytes; *changed: it had others. */
static int update_file(int file, const void *data, size_t bytes, uint64_t offset, bool *changed)
{
	uint8_t *there = sw_alloc(bytes);
	const bool same = !sw_collect_read(file, there, bytes, offset) && !memcmp(there, data, bytes);
	free(there);
	*changed |= !same;
	return same ? 0 : write_all(file, data, bytes, offset);
}

/* Copies what is committed of one chunk; bytes behind that may be half a record. */
static int collect_chunk(int memory, int file, void *chunk, uint32_t bytes, uint64_t offset, bool *changed)
{
	const struct sw_chunk_header *header = chunk;
	const int rc = sw_collect_read(memory, chunk, bytes, offset);
	if (rc || header->magic != SW_FORMAT_CHUNK_MAGIC || header->committed > bytes - sizeof *header)
		return rc == -ENODATA ? 0 : rc; /* not begun yet */
	return update_file(file, chunk, sizeof *header + header->committed, offset, changed);
}

int sw_collect(int memory, int file, bool *changed)
{
	struct sw_file_header header;
	int rc = sw_collect_read(memory, &header, sizeof header, 0);
	if (rc || header.chunk_bytes < sizeof(struct sw_chunk_header) || header.chunk_bytes > CHUNK_MAX)
		return rc ? rc : -EINVAL;
	uint8_t *chunk = sw_alloc(header.chunk_bytes);
	off_t at = header.header_bytes;
	while (!rc && (at = lseek(memory, at, SEEK_DATA)) >= 0) {
		const uint64_t number = ((uint64_t)at - header.header_bytes) / header.chunk_bytes;
		const uint64_t offset = header.header_bytes + number * header.chunk_bytes;
		if (number >= header.chunks)
			break;
		rc = collect_chunk(memory, file, chunk, header.chunk_bytes, offset, changed);
		at = (off_t)(offset + header.chunk_bytes);
	}
	free(chunk);
	header.flags &= ~(uint32_t)SW_FILE_BEHIND;
	return rc ? rc : update_file(file, &header, sizeof header, 0, changed);
}
