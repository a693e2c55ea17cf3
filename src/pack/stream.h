/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to a file, compressed with zstd or as they are. */
#ifndef SW_PACK_STREAM_H
#define SW_PACK_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "reader/source.h"
#include "syncwatch/format.h"

struct sw_pack_stream {
	FILE *out;
	struct sw_pack_zstd *zstd; /* NULL: as they are */
};

/* Begins to write to `out`.  <0 with error filled: SW_E_UNSUPPORTED in a build that cannot compress. */
int sw_pack_stream_open(struct sw_pack_stream *stream, FILE *out, bool compress, struct sw_error *error);
/* Writes bytes; errors of the file are left in it (ferror). */
int sw_pack_stream_put(struct sw_pack_stream *stream, const void *data, size_t bytes, struct sw_error *error);
/* Writes what is still held back. */
int sw_pack_stream_end(struct sw_pack_stream *stream, struct sw_error *error);
/* Frees what the stream holds; the file stays open. */
void sw_pack_stream_free(struct sw_pack_stream *stream);

/* The chunks of the trace that is packed: copied one by one, whatever their number. */

struct sw_pack_copy {
	const struct sw_source *source;
	uint64_t numbers;  /* chunks that the file has room for, the last one cut short perhaps */
	uint64_t chunks;   /* that are copied: no unused ones, none of an earlier packing */
	uint32_t writer;   /* number that no writer of these has */
	struct sw_map old; /* writers of earlier packings, which hold nothing else */
};

/* Reads the headers of all chunks of a trace, to know which are copied; free it in any case. */
int sw_pack_copy_open(struct sw_pack_copy *copy, const struct sw_source *source, struct sw_error *error);
/* Copies the chunks.  The bytes of images are left out, and nothing else: the code that is needed of them was
   packed. */
int sw_pack_copy_run(struct sw_pack_copy *copy, struct sw_pack_stream *out, struct sw_error *error);
void sw_pack_copy_free(struct sw_pack_copy *copy);

/* Chunks with the packed records, in memory: they come before the chunks that are copied. */

struct sw_pack_chunks {
	uint32_t chunk_bytes, writer;
	uint64_t ticks; /* of all records */
	unsigned char *at;
	size_t n, room; /* chunks: begun, allocated */
	uint32_t used;	/* bytes of records in the last one */
};

/* The most bytes that a record can have here. */
uint32_t sw_pack_record_max(const struct sw_pack_chunks *chunks);
/* Appends a record, zero but for its header; valid until the next call.  `bytes` is at most sw_pack_record_max(). */
void *sw_pack_record(struct sw_pack_chunks *chunks, enum sw_rec_kind kind, size_t bytes);
/* Closes the last chunk: all are whole then. */
void sw_pack_chunks_close(struct sw_pack_chunks *chunks);
void sw_pack_chunks_free(struct sw_pack_chunks *chunks);

#endif
