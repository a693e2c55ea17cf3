/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of the fuzzer's bytes: a file in memory, as the reader opens paths only. */
#ifndef TESTS_FUZZ_MEMORY_FILE_H
#define TESTS_FUZZ_MEMORY_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader/reader.h"

static inline int memory_file(const void *data, size_t size)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

/* Opens every chunk: a checksum would keep all damage from the judge, which must bear it where a chunk was still open.
 */
static inline uint8_t *without_checksums(const uint8_t *data, size_t size)
{
	struct sw_file_header h;
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (size < sizeof h)
		return copy;
	memcpy(&h, data, sizeof h);
	for (uint64_t at = h.header_bytes; h.chunk_bytes && at + sizeof(struct sw_chunk_header) <= size;
	     at += h.chunk_bytes)
		memset(copy + at + offsetof(struct sw_chunk_header, closed), 0, sizeof(uint32_t));
	return copy;
}

/* NULL: not a trace.  Close it with sw_reader_close(). */
static inline struct sw_reader *reader_of(const void *data, size_t size)
{
	struct sw_reader *reader;
	struct sw_error error;
	char path[32];
	int fd = memory_file(data, size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int rc = sw_reader_open(path, &reader, &error);
	close(fd); /* the reader has its own */
	return rc ? NULL : reader;
}

#endif
