/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace: records of one writer after the other, in chunks. */
#ifndef SW_TOOLS_RUN_CHUNK_OUTPUT_H
#define SW_TOOLS_RUN_CHUNK_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "syncwatch/format.h"

struct sw_chunk_output {
	int fd, error;
	struct sw_file_header header;
	unsigned char *chunk; /* its header first */
	uint32_t used;	      /* bytes of records */
	uint32_t writer, index;
	uint64_t last_seq;
};

/* Begins to write a trace; the header is completed at the end. */
void sw_chunk_output_begin(struct sw_chunk_output *output, int fd, const struct sw_file_header *header);
/* Begins the records of one writer: all records that follow are its own. */
void sw_chunk_output_writer(struct sw_chunk_output *output, uint32_t writer);
/* Room for a record, which is filled at once; `seq` is its number. */
void *sw_chunk_output_room(struct sw_chunk_output *output, uint32_t bytes, uint64_t seq);

/* Adds a copy of a record as it is. */
void sw_chunk_output_record(struct sw_chunk_output *output, const struct sw_rec *rec);
/* Numbers up to `last_seq` that no record has were dropped: `calls` of them.  Before all records with numbers. */
void sw_chunk_output_cut(struct sw_chunk_output *output, uint64_t last_seq, uint64_t calls, uint64_t ticks);

/* Adds a sentence for the report. */
void sw_chunk_output_notice(struct sw_chunk_output *output, const char *text, uint64_t ticks);

/* Ends the chunk that is being filled, so that the next record begins another. */
void sw_chunk_output_flush(struct sw_chunk_output *output);

/* Writes what is left and the header, and frees all but the descriptor.  0 or -errno of the first failure. */
int sw_chunk_output_end(struct sw_chunk_output *output);

#endif
