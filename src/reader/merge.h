/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the chunks of a trace and merges its writers by sequence number. */
#ifndef SW_READER_MERGE_H
#define SW_READER_MERGE_H

#include "reader/writer.h"

struct sw_merge {
	SW_VEC(struct sw_writer_cursor) writers;
	struct sw_writer_cursor **heap; /* smallest key first */
	size_t n;
	unsigned char *scratch; /* one chunk */
};

/* Reads all chunk headers. */
int sw_merge_open(struct sw_merge *merge, const struct sw_source *source, struct sw_damage *damage,
		  struct sw_error *error);
void sw_merge_close(struct sw_merge *merge);

/* 1: *out's head is the next record, until the next call; 0: end; <0: reading failed. */
int sw_merge_next(struct sw_merge *merge, const struct sw_source *source, struct sw_damage *damage,
		  struct sw_writer_cursor **out, struct sw_error *error);

/* The chunk of the head last returned is not to be trusted any further. */
void sw_merge_skip_chunk(struct sw_merge *merge);

#endif
