/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of the fuzzer's bytes: a file in memory, as the reader opens paths only. */
#ifndef TESTS_FUZZ_MEMORY_FILE_H
#define TESTS_FUZZ_MEMORY_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader/reader.h"

/* NULL: not a trace.  Close it with sw_reader_close(). */
static inline struct sw_reader *reader_of(const uint8_t *data, size_t size)
{
	struct sw_reader *reader;
	struct sw_error error;
	char path[32];
	int fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int rc = sw_reader_open(path, &reader, &error);
	close(fd); /* the reader has its own */
	return rc ? NULL : reader;
}

#endif
