/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a trace: its header, and bytes at offsets.
 *
 * Read with pread, never mapped: a mapping would raise SIGBUS when the file is cut while we read (a full disk, a job
 * that cleans up), and its pages would count as resident memory.
 */
#ifndef SW_READER_SOURCE_H
#define SW_READER_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "syncwatch/format.h"

struct sw_source {
	int fd;
	char *path;
	uint64_t bytes; /* of the file when it was opened */
	struct sw_file_header header;
};

/* Opens and checks the header.  On failure nothing is left open. */
int sw_source_open(struct sw_source *source, const char *path, struct sw_error *error);
void sw_source_close(struct sw_source *source);

/* Reads up to `bytes` at `offset`; *got is less only at the end of the file. */
int sw_source_read(const struct sw_source *source, uint64_t offset, void *out, size_t bytes, size_t *got,
		   struct sw_error *error);

/* The file of a trace that is being read. */
struct sw_reader;
const struct sw_source *sw_reader_source(const struct sw_reader *reader);

#endif
