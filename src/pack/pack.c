/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/pack.h"

#include <stdlib.h>
#include <string.h>

#include "pack/copy.h"
#include "pack/records.h"

/* Of what is compressed before it goes into the trace: images are held like that, and expanded when they are read. */
#define CODE_LEVEL 9

/* The header page, and what a newer version may have put after it. */
static int put_header(const struct sw_pack_copy *copy, const struct sw_pack_chunks *chunks,
		      struct sw_pack_stream *stream, struct sw_error *error)
{
	const struct sw_source *source = copy->source;
	unsigned char *page = sw_calloc(1, source->header.header_bytes);
	size_t got;
	int rc = sw_source_read(source, 0, page, source->header.header_bytes, &got, error);
	struct sw_file_header *h = (void *)page;
	/* A file that lacks chunks keeps lacking them. */
	uint64_t lost = h->chunks > copy->numbers ? h->chunks - copy->numbers : 0;
	const uint64_t kept = chunks->n + copy->chunks;
	h->chunks = lost <= UINT64_MAX - kept ? kept + lost : UINT64_MAX;
	if (h->major == SW_FORMAT_MAJOR && h->minor < SW_FORMAT_MINOR)
		h->minor = SW_FORMAT_MINOR;
	if (!rc)
		rc = sw_pack_stream_put(stream, page, source->header.header_bytes, error);
	free(page);
	return rc;
}

static int write_all(struct sw_pack_copy *copy, const struct sw_pack_chunks *chunks, struct sw_pack_stream *stream,
		     struct sw_error *error)
{
	int rc = put_header(copy, chunks, stream, error);
	/* First, so that a file that was cut short is so at its end. */
	for (size_t i = 0; !rc && i < chunks->n; i++)
		rc = sw_pack_stream_put(stream, chunks->at + i * chunks->chunk_bytes, chunks->chunk_bytes, error);
	if (!rc)
		rc = sw_pack_copy_run(copy, stream, error);
	return rc ? rc : sw_pack_stream_end(stream, error);
}

static int pack(struct sw_gather *gather, const struct sw_pack_options *options, FILE *out, struct sw_pack_sums *sums,
		struct sw_error *error)
{
	const struct sw_source *source = sw_reader_source(gather->reader);
	struct sw_pack_copy copy;
	struct sw_pack_stream stream;
	int rc = sw_pack_copy_open(&copy, source, error);
	if (rc) {
		sw_pack_copy_free(&copy);
		return rc;
	}
	struct sw_pack_chunks chunks = {
		.chunk_bytes = source->header.chunk_bytes, .writer = copy.writer, .ticks = source->header.start_ticks};
	sw_gather_code(gather, false, CODE_LEVEL);
	sw_gather_frames(gather);
	sw_pack_put_head(&chunks, options->version);
	sw_pack_put_tables(&chunks, gather->reader);
	sw_pack_put_code(&chunks, gather, sums);
	sw_pack_put_frames(&chunks, gather, sums);
	sw_pack_chunks_close(&chunks);
	rc = sw_pack_stream_open(&stream, out, options->compress, error);
	if (!rc)
		rc = write_all(&copy, &chunks, &stream, error);
	sw_pack_stream_free(&stream);
	sw_pack_chunks_free(&chunks);
	sw_pack_copy_free(&copy);
	return rc;
}

int sw_pack(const char *trace, const struct sw_pack_options *options, FILE *out, struct sw_pack_sums *sums,
	    struct sw_error *error)
{
	struct sw_gather gather;
	*sums = (struct sw_pack_sums){0};
	int rc = sw_gather_open(&gather, trace, error);
	if (!rc)
		rc = pack(&gather, options, out, sums, error);
	sw_gather_close(&gather);
	return rc;
}

void sw_pack_sums_free(struct sw_pack_sums *sums)
{
	for (size_t i = 0; i < sums->unusable.n; i++)
		free(sums->unusable.at[i]);
	free(sums->unusable.at);
}
