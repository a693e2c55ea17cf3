/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"

struct begin { /* of a chunk */
	struct sw_chunk_header head;
	struct sw_rec first;
};

static uint64_t offset_of(const struct sw_pack_copy *c, uint64_t number)
{
	return c->source->header.header_bytes + number * c->source->header.chunk_bytes;
}

static bool is_unused(const struct sw_chunk_header *head)
{
	return !head->magic && !head->committed;
}

static bool is_sound(const struct sw_pack_copy *c, const struct sw_chunk_header *head)
{
	return head->magic == SW_FORMAT_CHUNK_MAGIC &&
	       head->committed <= c->source->header.chunk_bytes - sizeof(struct sw_chunk_header);
}

static bool begins_pack(const struct sw_pack_copy *c, const struct begin *b)
{
	return is_sound(c, &b->head) && !b->head.index && b->head.committed >= sizeof b->first &&
	       b->first.kind == SW_REC_PACK;
}

static bool is_left(const struct sw_pack_copy *c, const struct sw_chunk_header *head)
{
	return !is_unused(head) && !(is_sound(c, head) && head->writer == c->old);
}

int sw_pack_copy_open(struct sw_pack_copy *copy, const struct sw_source *source, struct sw_error *error)
{
	struct sw_pack_copy c = {.source = source, .old = UINT64_MAX};
	struct sw_map writers = {0}; /* -> chunks; unused ones count with nobody */
	struct begin b;
	uint64_t others = 0;
	size_t got;
	int rc = 0;
	for (; !rc && offset_of(&c, c.numbers) + sizeof b.head <= source->bytes; c.numbers++) {
		memset(&b, 0, sizeof b);
		if ((rc = sw_source_read(source, offset_of(&c, c.numbers), &b, sizeof b, &got, error)))
			break;
		if (begins_pack(&c, &b))
			c.old = b.head.writer;
		if (is_sound(&c, &b.head))
			++*sw_map_put(&writers, b.head.writer);
		else
			others += !is_unused(&b.head);
	}
	struct sw_map_slot slot;
	sw_map_delete(&writers, c.old);
	c.chunks = others;
	for (size_t i = 0; (i = sw_map_next(&writers, i, &slot));)
		c.chunks += slot.value;
	while (sw_map_find(&writers, c.writer))
		c.writer++;
	sw_map_free(&writers);
	*copy = c;
	return rc;
}

/* What is there of the records of a chunk, `bytes` of them. */
static bool leave_out(unsigned char *at, uint32_t bytes)
{
	const unsigned char *end = at + bytes;
	bool changed = false;
	while ((size_t)(end - at) >= sizeof(struct sw_rec)) {
		struct sw_rec *r = (void *)at;
		size_t whole = r->words * 8u;
		if (r->kind == SW_REC_PAD || whole < sizeof *r || whole > (size_t)(end - at))
			break;
		if (r->kind == SW_REC_IMAGE_DATA && whole >= sizeof(struct sw_rec_image_data)) {
			r->kind = SW_REC_PACK_LEFT_OUT;
			memset(at + sizeof(struct sw_rec_image_data), 0, whole - sizeof(struct sw_rec_image_data));
			changed = true;
		}
		at += whole;
	}
	return changed;
}

static void change(const struct sw_pack_copy *c, unsigned char *chunk, size_t got)
{
	struct sw_chunk_header *head = (void *)chunk;
	size_t there = got - sizeof *head;
	if (!is_sound(c, head))
		return;
	bool whole = head->committed <= there;
	/* What is damaged stays damaged. */
	if (head->closed && whole && sw_crc32c(0, head + 1, head->committed) != head->crc)
		return;
	if (leave_out(chunk + sizeof *head, whole ? head->committed : (uint32_t)there) && head->closed && whole)
		head->crc = sw_crc32c(0, head + 1, head->committed);
}

int sw_pack_copy_run(struct sw_pack_copy *c, struct sw_pack_stream *out, struct sw_error *error)
{
	const uint32_t bytes = c->source->header.chunk_bytes;
	unsigned char *chunk = sw_alloc(bytes);
	int rc = 0;
	for (uint64_t i = 0; !rc && i < c->numbers; i++) {
		size_t got;
		rc = sw_source_read(c->source, offset_of(c, i), chunk, bytes, &got, error);
		if (rc || got < sizeof(struct sw_chunk_header) || !is_left(c, (void *)chunk))
			continue;
		change(c, chunk, got);
		rc = sw_pack_stream_put(out, chunk, got, error);
	}
	free(chunk);
	return rc;
}
