/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks with the packed records, in memory: they come before the chunks that are copied. */
#ifndef SW_PACK_CHUNKS_H
#define SW_PACK_CHUNKS_H

#include "base/memory.h"
#include "syncwatch/format.h"

struct sw_pack_chunks {
	uint32_t chunk_bytes, writer;
	uint64_t ticks; /* of all records */
	unsigned char *at;
	size_t n, room; /* chunks: begun, allocated */
	uint32_t used;	/* bytes of records in the last one */
};

/* Bytes that a record can have here. */
uint32_t sw_pack_record_max(const struct sw_pack_chunks *chunks);
/* A record, zero but for its header; valid until the next call.  `bytes` is at most sw_pack_record_max(). */
void *sw_pack_record(struct sw_pack_chunks *chunks, enum sw_rec_kind kind, size_t bytes);
/* Closes the last chunk: all are whole then. */
void sw_pack_chunks_close(struct sw_pack_chunks *chunks);
void sw_pack_chunks_free(struct sw_pack_chunks *chunks);

#endif
