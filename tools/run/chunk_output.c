/* SPDX-License-Identifier: Apache-2.0 */
#include "run/chunk_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"

/* Writes all bytes at an offset; the first failure stays in `error`, and nothing is written after it. */
static void write_all(struct sw_chunk_output *o, const void *data, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes && !o->error;) {
		const ssize_t got = pwrite(o->fd, (const char *)data + done, bytes - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			o->error = got ? -errno : -ENOSPC;
		else
			done += (size_t)got;
	}
}

void sw_chunk_output_begin(struct sw_chunk_output *o, int fd, const struct sw_file_header *header)
{
	*o = (struct sw_chunk_output){.fd = fd, .header = *header, .chunk = sw_calloc(1, header->chunk_bytes)};
	o->header.header_bytes = SW_FORMAT_HEADER_BYTES;
	o->header.chunks = 0;
	o->header.minor = header->minor > SW_FORMAT_MINOR ? header->minor : SW_FORMAT_MINOR;
	o->header.flags &= ~(uint32_t)SW_FILE_BEHIND;
}

void sw_chunk_output_flush(struct sw_chunk_output *o)
{
	struct sw_chunk_header *h = (void *)o->chunk;
	if (!o->used)
		return;
	h->magic = SW_FORMAT_CHUNK_MAGIC;
	h->writer = o->writer;
	h->index = o->index++;
	h->committed = o->used;
	h->closed = 1;
	h->crc = sw_crc32c(0, h + 1, o->used);
	write_all(o, o->chunk, sizeof *h + o->used,
		  SW_FORMAT_HEADER_BYTES + o->header.chunks++ * (uint64_t)o->header.chunk_bytes);
	o->used = 0;
}

void sw_chunk_output_writer(struct sw_chunk_output *o, uint32_t writer)
{
	sw_chunk_output_flush(o);
	o->writer = writer;
	o->index = 0;
	o->last_seq = 0;
}

void *sw_chunk_output_room(struct sw_chunk_output *o, uint32_t bytes, uint64_t seq)
{
	struct sw_chunk_header *h = (void *)o->chunk;
	if (o->used + bytes > o->header.chunk_bytes - sizeof *h)
		sw_chunk_output_flush(o);
	/* Records without a number come as early as they may: others rely on them. */
	if (!o->used)
		h->first_seq = seq ? seq : o->last_seq;
	o->last_seq = seq ? seq : o->last_seq;
	o->used += bytes;
	return (unsigned char *)(h + 1) + o->used - bytes;
}

void sw_chunk_output_record(struct sw_chunk_output *o, const struct sw_rec *rec)
{
	memcpy(sw_chunk_output_room(o, rec->words * 8u, sw_rec_seq(rec)), rec, rec->words * 8u);
}

void sw_chunk_output_cut(struct sw_chunk_output *o, uint64_t last_seq, uint64_t calls, uint64_t ticks)
{
	struct sw_rec_cut *r = sw_chunk_output_room(o, sizeof *r, 0);
	*r = (struct sw_rec_cut){.h = {.kind = SW_REC_CUT, .words = sizeof *r / 8, .ticks = ticks},
				 .first_seq = 1,
				 .last_seq = last_seq,
				 .calls = calls,
				 .why = SW_CUT_DROPPED};
}

void sw_chunk_output_notice(struct sw_chunk_output *o, const char *text, uint64_t ticks)
{
	const uint32_t bytes = (uint32_t)strlen(text);
	const uint32_t rounded = (uint32_t)sizeof(struct sw_rec_notice) + ((bytes + 7) & ~7u);
	struct sw_rec_notice *r = sw_chunk_output_room(o, rounded, 0);
	memset(r, 0, rounded);
	r->h = (struct sw_rec){.kind = SW_REC_NOTICE, .words = (uint16_t)(rounded / 8), .ticks = ticks};
	r->text_bytes = bytes;
	memcpy(r + 1, text, bytes);
}

int sw_chunk_output_end(struct sw_chunk_output *o)
{
	/* A reader expects whole chunks. */
	const uint64_t all = SW_FORMAT_HEADER_BYTES + (o->header.chunks + (o->used != 0)) * o->header.chunk_bytes;
	sw_chunk_output_flush(o);
	write_all(o, &o->header, sizeof o->header, 0);
	if (!o->error && ftruncate(o->fd, (off_t)all))
		o->error = -errno;
	free(o->chunk);
	return o->error;
}
