/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/chunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

uint32_t sw_pack_record_max(const struct sw_pack_chunks *c)
{
	uint32_t room = c->chunk_bytes - (uint32_t)sizeof(struct sw_chunk_header);
	return (room < SW_REC_MAX_BYTES ? room : SW_REC_MAX_BYTES) & ~7u;
}

static struct sw_chunk_header *last(const struct sw_pack_chunks *c)
{
	return (void *)(c->at + (c->n - 1) * c->chunk_bytes);
}

void sw_pack_chunks_close(struct sw_pack_chunks *c)
{
	if (!c->n)
		return;
	struct sw_chunk_header *h = last(c);
	h->committed = c->used;
	h->crc = sw_crc32c(0, h + 1, c->used);
	h->closed = 1;
}

static void next_chunk(struct sw_pack_chunks *c)
{
	sw_pack_chunks_close(c);
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 1;
		c->at = sw_realloc(c->at, c->room, c->chunk_bytes);
	}
	c->n++;
	c->used = 0;
	memset(last(c), 0, c->chunk_bytes);
	*last(c) = (struct sw_chunk_header){
		.magic = SW_FORMAT_CHUNK_MAGIC, .writer = c->writer, .index = (uint32_t)(c->n - 1)};
}

void *sw_pack_record(struct sw_pack_chunks *c, enum sw_rec_kind kind, size_t bytes)
{
	bytes = (bytes + 7) & ~(size_t)7;
	if (!c->n || sizeof(struct sw_chunk_header) + c->used + bytes > c->chunk_bytes)
		next_chunk(c);
	struct sw_rec *r = (void *)((unsigned char *)(last(c) + 1) + c->used);
	c->used += (uint32_t)bytes;
	*r = (struct sw_rec){.kind = kind, .words = (uint16_t)(bytes / 8), .ticks = c->ticks};
	return r;
}

void sw_pack_chunks_free(struct sw_pack_chunks *c)
{
	free(c->at);
}
