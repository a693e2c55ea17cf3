/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a trace: its header, and bytes at offsets.
 *
 * Read with pread, never mapped: a mapping would raise SIGBUS when the file is cut while we read (a full disk, a job
 * that cleans up), and its pages would count as resident memory.
 */
#ifndef SW_READER_SOURCE_H
#define SW_READER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "syncwatch/format.h"

struct sw_reader;

struct sw_source {
	int fd;
	int memory; /* of a program that runs: what the file lacks, at the same offsets; -1: the file has all */
	char *path;
	uint64_t bytes; /* of the file when it was opened */
	struct sw_file_header header;
};

/* Opens and checks the header.  On failure nothing is left open. */
int sw_source_open(struct sw_source *source, const char *path, struct sw_error *error);
/* Opens the trace of a program that runs, by descriptors that the source owns from now on, also on failure. */
int sw_source_follow(struct sw_source *source, const char *path, int file, int memory, struct sw_error *error);
/* Reads its header, which grows while the program runs, again. */
int sw_source_refresh(struct sw_source *source, struct sw_error *error);
void sw_source_close(struct sw_source *source);

/* Reads up to `bytes` at `offset`; *got is less only at the end of the file. */
int sw_source_read(const struct sw_source *source, uint64_t offset, void *out, size_t bytes, size_t *got,
		   struct sw_error *error);

/* The file of a trace that is being read. */
const struct sw_source *sw_reader_source(const struct sw_reader *reader);

/* Errors found in a trace, one line each. */

struct sw_damage {
	const char *path; /* borrowed */
	SW_VEC(char *) lines;
	bool unusable; /* the file is not what the recorder wrote: cut, overwritten, in part missing */
};

/* Adds "path: offset N: text".  Beyond a limit lines are dropped after one that says so: a file of random bytes must
   not fill memory or terminals. */
void sw_damage_add(struct sw_damage *damage, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds damage of a file that is whole: the recorder itself left something out. */
void sw_damage_gap(struct sw_damage *damage, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void sw_damage_free(struct sw_damage *damage);

#endif
