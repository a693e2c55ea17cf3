/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "pack/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "pack/pack.h"
#include "reader/kinds.h"

uint32_t sw_pack_record_max(const struct sw_pack_chunks *c)
{
	uint32_t room = c->chunk_bytes - (uint32_t)sizeof(struct sw_chunk_header);
	return (room < SW_REC_MAX_BYTES ? room : SW_REC_MAX_BYTES) & ~7u;
}

/* The chunk that is being filled. */
static struct sw_chunk_header *last_chunk(const struct sw_pack_chunks *c)
{
	return (void *)(c->at + (c->n - 1) * c->chunk_bytes);
}

void sw_pack_chunks_close(struct sw_pack_chunks *c)
{
	if (!c->n)
		return;
	struct sw_chunk_header *h = last_chunk(c);
	h->committed = c->used;
	h->crc = sw_crc32c(0, h + 1, c->used);
	h->closed = 1;
}

/* Closes the last chunk and begins a new one. */
static void next_chunk(struct sw_pack_chunks *c)
{
	sw_pack_chunks_close(c);
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 1;
		c->at = sw_realloc(c->at, c->room, c->chunk_bytes);
	}
	c->n++;
	c->used = 0;
	memset(last_chunk(c), 0, c->chunk_bytes);
	*last_chunk(c) = (struct sw_chunk_header){
		.magic = SW_FORMAT_CHUNK_MAGIC, .writer = c->writer, .index = (uint32_t)(c->n - 1)};
}

void *sw_pack_record(struct sw_pack_chunks *c, enum sw_rec_kind kind, size_t bytes)
{
	bytes = (bytes + 7) & ~(size_t)7;
	if (!c->n || sizeof(struct sw_chunk_header) + c->used + bytes > c->chunk_bytes)
		next_chunk(c);
	struct sw_rec *r = (void *)((unsigned char *)(last_chunk(c) + 1) + c->used);
	c->used += (uint32_t)bytes;
	*r = (struct sw_rec){.kind = kind, .words = (uint16_t)(bytes / 8), .ticks = c->ticks};
	return r;
}

void sw_pack_chunks_free(struct sw_pack_chunks *c)
{
	free(c->at);
}

#ifdef HAVE_ZSTD
#include <zstd.h>

/* zstd's own default: higher levels take several times as long for a tenth of the bytes. */
#define LEVEL 3

struct sw_pack_zstd {
	ZSTD_CCtx *context;
	void *room;
	size_t bytes;
};

bool sw_pack_can_compress(void)
{
	return true;
}

/* Begins a frame of zstd. */
static int begin_frame(struct sw_pack_stream *s, struct sw_error *error)
{
	s->zstd = sw_calloc(1, sizeof *s->zstd);
	s->zstd->context = ZSTD_createCCtx();
	if (!s->zstd->context)
		return sw_fail(error, -ENOMEM, "no memory to compress");
	s->zstd->bytes = ZSTD_CStreamOutSize();
	s->zstd->room = sw_alloc(s->zstd->bytes);
	ZSTD_CCtx_setParameter(s->zstd->context, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(s->zstd->context, ZSTD_c_checksumFlag, 1);
	return 0;
}

/* Compresses bytes and writes what comes out, all of it where `what` ends the frame. */
static int compress_bytes(struct sw_pack_stream *s, const void *data, size_t bytes, ZSTD_EndDirective what,
			  struct sw_error *error)
{
	ZSTD_inBuffer in = {data, bytes, 0};
	size_t left;
	do {
		ZSTD_outBuffer out = {s->zstd->room, s->zstd->bytes, 0};
		left = ZSTD_compressStream2(s->zstd->context, &out, &in, what);
		if (ZSTD_isError(left))
			return sw_fail(error, SW_E_FORMAT, "cannot compress: %s", ZSTD_getErrorName(left));
		fwrite(s->zstd->room, 1, out.pos, s->out);
	} while (what == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return 0;
}

/* Ends the frame of zstd. */
static int end_frame(struct sw_pack_stream *s, struct sw_error *error)
{
	return compress_bytes(s, NULL, 0, ZSTD_e_end, error);
}

/* Adds bytes to the frame of zstd. */
static int put_bytes(struct sw_pack_stream *s, const void *data, size_t bytes, struct sw_error *error)
{
	return compress_bytes(s, data, bytes, ZSTD_e_continue, error);
}

void sw_pack_stream_free(struct sw_pack_stream *s)
{
	if (!s->zstd)
		return;
	ZSTD_freeCCtx(s->zstd->context);
	free(s->zstd->room);
	free(s->zstd);
}

#else

struct sw_pack_zstd {
	char nothing;
};

bool sw_pack_can_compress(void)
{
	return false;
}

/* Fails, as this build cannot compress. */
static int begin_frame(struct sw_pack_stream *s, struct sw_error *error)
{
	(void)s;
	return sw_fail(error, SW_E_UNSUPPORTED, "this syncwatch was built without zstd and cannot compress");
}

/* Never called, as no frame begins in this build. */
static int end_frame(struct sw_pack_stream *s, struct sw_error *error)
{
	(void)s, (void)error;
	return 0;
}

/* Never called, as no frame begins in this build. */
static int put_bytes(struct sw_pack_stream *s, const void *data, size_t bytes, struct sw_error *error)
{
	(void)s, (void)data, (void)bytes, (void)error;
	return 0;
}

void sw_pack_stream_free(struct sw_pack_stream *s)
{
	(void)s;
}
#endif

int sw_pack_stream_open(struct sw_pack_stream *s, FILE *out, bool compressed, struct sw_error *error)
{
	*s = (struct sw_pack_stream){.out = out};
	return compressed ? begin_frame(s, error) : 0;
}

int sw_pack_stream_put(struct sw_pack_stream *s, const void *data, size_t bytes, struct sw_error *error)
{
	if (s->zstd)
		return put_bytes(s, data, bytes, error);
	fwrite(data, 1, bytes, s->out);
	return 0;
}

int sw_pack_stream_end(struct sw_pack_stream *s, struct sw_error *error)
{
	return s->zstd ? end_frame(s, error) : 0;
}

/* Where in the file the chunk with this number begins. */
static uint64_t offset_of(const struct sw_pack_copy *c, uint64_t number)
{
	return c->source->header.header_bytes + number * c->source->header.chunk_bytes;
}

/* Was the chunk never written to? */
static bool is_unused(const struct sw_chunk_header *head)
{
	return !head->magic && !head->committed;
}

/* Is it the header of a chunk, with a number of bytes that fits? */
static bool is_sound(const struct sw_pack_copy *c, const struct sw_chunk_header *head)
{
	return head->magic == SW_FORMAT_CHUNK_MAGIC &&
	       head->committed <= c->source->header.chunk_bytes - sizeof(struct sw_chunk_header);
}

/* Is the chunk copied?  All are that were written to, damaged ones too, but those of an earlier packing. */
static bool is_left(const struct sw_pack_copy *c, const struct sw_chunk_header *head)
{
	return !is_unused(head) && !(is_sound(c, head) && sw_map_find(&c->old, head->writer));
}

/* Are these the records of a packing, and nothing else? */
static bool is_pack(const unsigned char *at, uint32_t bytes)
{
	const unsigned char *end = at + bytes;
	while ((size_t)(end - at) >= sizeof(struct sw_rec)) {
		const struct sw_rec *r = (const void *)at;
		size_t whole = r->words * 8u;
		if (!sw_kind_is_packed(r->kind) || sw_rec_seq(r) || whole < sizeof *r || whole > (size_t)(end - at))
			return false;
		at += whole;
	}
	return at == end && bytes;
}

/* How many chunks of a writer there are: all, and those of a packing. */
struct chunks {
	uint32_t all, packed;
};

/* The counts of a writer, which begin at 0. */
static struct chunks *chunks_of(struct sw_map *writers, uint32_t writer)
{
	struct chunks *chunks = sw_map_ptr(writers, writer);
	if (!chunks) {
		chunks = sw_calloc(1, sizeof *chunks);
		sw_map_put_ptr(writers, writer, chunks);
	}
	return chunks;
}

/* Reads the header of the next chunk and counts it for its writer; a damaged one counts as copied. */
static int look_at_chunk(struct sw_pack_copy *c, struct sw_map *writers, unsigned char *chunk, struct sw_error *error)
{
	const struct sw_chunk_header *head = (const void *)chunk;
	const size_t first = sizeof *head + sizeof(struct sw_rec);
	size_t got;
	memset(chunk, 0, first);
	int rc = sw_source_read(c->source, offset_of(c, c->numbers), chunk, first, &got, error);
	if (rc || !is_sound(c, head)) {
		c->chunks += !rc && !is_unused(head);
		return rc;
	}
	struct chunks *chunks = chunks_of(writers, head->writer);
	chunks->all++;
	if (got < first || !sw_kind_is_packed(((const struct sw_rec *)(const void *)(head + 1))->kind))
		return 0;
	rc = sw_source_read(c->source, offset_of(c, c->numbers), chunk, c->source->header.chunk_bytes, &got, error);
	chunks->packed +=
		!rc && head->committed <= got - sizeof *head && is_pack(chunk + sizeof *head, head->committed);
	return rc;
}

/* Finds the writers of earlier packings, counts the chunks that are copied, and finds a number for a new writer.
   Frees `writers`. */
static void count_chunks(struct sw_pack_copy *c, struct sw_map *writers)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(writers, i, &slot));) {
		struct chunks *chunks = (struct chunks *)(uintptr_t)slot.value;
		if (chunks->all == chunks->packed)
			*sw_map_put(&c->old, slot.key) = 1;
		else
			c->chunks += chunks->all;
		free(chunks);
	}
	while (sw_map_find(writers, c->writer) && !sw_map_find(&c->old, c->writer))
		c->writer++;
	sw_map_free(writers);
}

int sw_pack_copy_open(struct sw_pack_copy *copy, const struct sw_source *source, struct sw_error *error)
{
	struct sw_map writers = {0};
	unsigned char *chunk = sw_alloc(source->header.chunk_bytes);
	int rc = 0;
	*copy = (struct sw_pack_copy){.source = source};
	while (!rc && offset_of(copy, copy->numbers) + sizeof(struct sw_chunk_header) <= source->bytes) {
		rc = look_at_chunk(copy, &writers, chunk, error);
		copy->numbers++;
	}
	count_chunks(copy, &writers);
	free(chunk);
	return rc;
}

void sw_pack_copy_free(struct sw_pack_copy *copy)
{
	sw_map_free(&copy->old);
}

/* Fills the content of images with zeros in the records of a chunk, of which `bytes` are there: the pack has their
   code elsewhere.  True: there was some. */
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

/* Leaves out the images of a chunk, and corrects the checksum in its header. */
static void change_header(const struct sw_pack_copy *c, unsigned char *chunk, size_t got)
{
	struct sw_chunk_header *head = (void *)chunk;
	size_t there = got - sizeof *head;
	if (!is_sound(c, head))
		return;
	bool whole = head->committed <= there;
	/* Damaged records stay damaged. */
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
		change_header(c, chunk, got);
		rc = sw_pack_stream_put(out, chunk, got, error);
	}
	free(chunk);
	return rc;
}
