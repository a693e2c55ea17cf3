/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a trace small enough to be committed: pack_trace [--no-images | --code | --machine-code] IN OUT.
 *
 * The same records of each writer in the same order, in chunks that are small and full.  --no-images leaves out the
 * content of code images (most of a PyTorch trace); their IMAGE records then say that no content follows.  --code puts
 * in its place what `syncwatch pack` takes of the images of launched kernels, those in files as well; --machine-code
 * the same without PTX.  The number that identifies the very GPU is left out in any case.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/image.h"
#include "pack/pack.h"
#include "syncwatch/format.h"

#define PAGE 4096u

struct trace {
	unsigned char *data;
	uint64_t chunks;
	const struct sw_file_header *header;
};

/* How images are treated: all content stays, or goes, or comes from `code`. */
struct images {
	bool stay;
	const struct sw_gather *code; /* NULL: none */
};

/* The chunk being filled: one for all, as writers are packed one after the other. */
struct packed {
	FILE *file;
	const char *path;
	struct sw_file_header header;
	struct sw_chunk_header chunk;
	unsigned char *payload;
	struct images images;
};

static void die(const char *path, const char *what)
{
	fprintf(stderr, "pack_trace: %s: %s\n", path, what);
	exit(1);
}

static void put(struct packed *out, const void *data, size_t bytes)
{
	if (fwrite(data, 1, bytes, out->file) != bytes)
		die(out->path, strerror(errno));
}

static const struct sw_gathered_code *code_of(const struct sw_gather *gather, uint32_t image)
{
	for (size_t i = 0; i < gather->images.n; i++)
		if (gather->images.at[i].id == image)
			return gather->images.at[i].code && gather->images.at[i].code->bytes ? gather->images.at[i].code
											     : NULL;
	return NULL;
}

static struct sw_chunk_header *chunk_at(const struct trace *t, uint64_t number)
{
	return (void *)(t->data + t->header->header_bytes + number * t->header->chunk_bytes);
}

static struct trace load(const char *path)
{
	struct trace t = {0};
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END))
		die(path, strerror(errno));
	size_t bytes = (size_t)ftell(f);
	rewind(f);
	t.data = malloc(bytes + 1);
	if (!t.data || fread(t.data, 1, bytes, f) != bytes)
		die(path, "cannot read");
	fclose(f);
	t.header = (const void *)t.data;
	if (bytes < sizeof *t.header || memcmp(t.header->magic, SW_FORMAT_MAGIC, sizeof t.header->magic) ||
	    !t.header->chunk_bytes || t.header->header_bytes != PAGE)
		die(path, "not a trace");
	t.chunks = (bytes - t.header->header_bytes) / t.header->chunk_bytes;
	while (t.chunks && !chunk_at(&t, t.chunks - 1)->magic)
		t.chunks--; /* prepared, never used */
	return t;
}

static const struct sw_chunk_header *find_chunk(const struct trace *t, uint32_t writer, uint32_t index)
{
	for (uint64_t i = 0; i < t->chunks; i++) {
		const struct sw_chunk_header *c = chunk_at(t, i);
		if (c->magic == SW_FORMAT_CHUNK_MAGIC && c->writer == writer && c->index == index)
			return c;
	}
	return NULL;
}

/* Removes what must not stay in the records that are kept, and corrects what is different now. */
static void redact(struct sw_rec *r, uint32_t bytes, const struct images *images)
{
	struct sw_rec_image *image = (struct sw_rec_image *)r;
	if (r->kind == SW_REC_IMAGE && bytes >= sizeof *image && !images->stay) {
		const struct sw_gathered_code *code = images->code ? code_of(images->code, image->id) : NULL;
		image->data = code != NULL;
		if (code) {
			image->kind = sw_image_kind_of(code->bytes, code->n);
			image->bytes = code->n;
			image->hash = code->hash;
		}
	}
	if (r->kind == SW_REC_DEVICE && bytes >= sizeof(struct sw_rec_device))
		memset(((struct sw_rec_device *)r)->uuid, 0, sizeof((struct sw_rec_device *)r)->uuid);
}

/* Calls for each record that is kept.  Returns false where records are broken. */
static bool each_record(const struct sw_chunk_header *c, const struct images *images, void *arg,
			void (*keep)(void *arg, const struct sw_chunk_header *c, const struct sw_rec *r,
				     uint32_t bytes))
{
	unsigned char *at = (unsigned char *)(c + 1), *end = at + c->committed;
	while (at < end) {
		struct sw_rec *r = (void *)at;
		uint32_t bytes = r->words * 8u;
		if (r->kind == SW_REC_PAD)
			return true;
		if (bytes < sizeof *r || bytes > (size_t)(end - at))
			return false;
		redact(r, bytes, images);
		if (images->stay || r->kind != SW_REC_IMAGE_DATA)
			keep(arg, c, r, bytes);
		at += bytes;
	}
	return true;
}

static void longest(void *arg, const struct sw_chunk_header *c, const struct sw_rec *r, uint32_t bytes)
{
	uint32_t *most = arg;
	(void)c;
	(void)r;
	*most = bytes > *most ? bytes : *most;
}

static void flush(struct packed *out)
{
	uint32_t room = out->header.chunk_bytes - (uint32_t)sizeof out->chunk;
	memset(out->payload + out->chunk.committed, 0, room - out->chunk.committed);
	out->chunk.crc = out->chunk.closed ? sw_crc32c(0, out->payload, out->chunk.committed) : 0;
	put(out, &out->chunk, sizeof out->chunk);
	put(out, out->payload, room);
	out->header.chunks++;
	out->chunk.index++;
	out->chunk.committed = 0;
}

static void append(void *arg, const struct sw_chunk_header *from, const struct sw_rec *r, uint32_t bytes)
{
	struct packed *out = arg;
	if (sizeof out->chunk + out->chunk.committed + bytes > out->header.chunk_bytes) {
		out->chunk.closed = 1;
		flush(out);
	}
	if (!out->chunk.committed)
		out->chunk.first_seq = from->first_seq; /* no record of that chunk comes before it */
	memcpy(out->payload + out->chunk.committed, r, bytes);
	out->chunk.committed += bytes;
	out->chunk.closed = from->closed;
}

/* The content of an image, in pieces that fit into the chunks. */
static void append_code(struct packed *out, const struct sw_chunk_header *from, const struct sw_rec_image *image)
{
	const struct sw_gathered_code *code = code_of(out->images.code, image->id);
	size_t most = (out->header.chunk_bytes - sizeof out->chunk - sizeof(struct sw_rec_image_data)) & ~7u;
	for (size_t at = 0; code && at < code->n; at += most) {
		size_t bytes = code->n - at < most ? code->n - at : most;
		size_t whole = (sizeof(struct sw_rec_image_data) + bytes + 7) & ~(size_t)7;
		struct sw_rec_image_data *r = sw_calloc(1, whole);
		r->h = image->h;
		r->h.kind = SW_REC_IMAGE_DATA;
		r->h.words = (uint16_t)(whole / 8);
		r->id = image->id;
		r->bytes = (uint32_t)bytes;
		r->offset = at;
		memcpy(r + 1, (const char *)code->bytes + at, bytes);
		append(out, from, &r->h, (uint32_t)whole);
		free(r);
	}
}

static void append_with_code(void *arg, const struct sw_chunk_header *from, const struct sw_rec *r, uint32_t bytes)
{
	struct packed *out = arg;
	append(out, from, r, bytes);
	if (out->images.code && r->kind == SW_REC_IMAGE && bytes >= sizeof(struct sw_rec_image))
		append_code(out, from, (const struct sw_rec_image *)(const void *)r);
}

static bool pack_writer(struct packed *out, const struct trace *in, uint32_t writer)
{
	const struct sw_chunk_header *c;
	out->chunk = (struct sw_chunk_header){.magic = SW_FORMAT_CHUNK_MAGIC, .writer = writer};
	for (uint32_t i = 0; (c = find_chunk(in, writer, i)); i++)
		if (!each_record(c, &out->images, out, append_with_code))
			die(out->path, "a chunk with broken records cannot be packed");
	if (out->chunk.committed)
		flush(out);
	return out->chunk.index > 0;
}

static uint32_t chunk_bytes_for(const struct trace *t, const char *path, const struct images *images)
{
	uint32_t most = 0;
	for (uint64_t i = 0; i < t->chunks; i++) {
		const struct sw_chunk_header *c = chunk_at(t, i);
		if (c->committed > t->header->chunk_bytes - sizeof *c || !each_record(c, images, &most, longest))
			die(path, "a chunk claims more than it holds");
	}
	return (most + (uint32_t)sizeof(struct sw_chunk_header) + PAGE - 1) / PAGE * PAGE;
}

static void pack(struct packed *out, const struct trace *in)
{
	out->header = *in->header;
	out->header.chunks = 0;
	out->header.chunk_bytes = chunk_bytes_for(in, out->path, &out->images);
	out->payload = sw_alloc(out->header.chunk_bytes);
	put(out, &out->header, sizeof out->header);
	for (uint32_t writer = 0; pack_writer(out, in, writer); writer++)
		;
	/* Now it is known how many chunks there are. */
	rewind(out->file);
	put(out, &out->header, sizeof out->header);
	free(out->payload);
}

/* Committed once, read for ever: as small as zstd makes it. */
static void gather(struct sw_gather *code, bool machine)
{
	sw_gather_code(code, machine, 19);
	for (size_t i = 0; i < code->all.n; i++)
		if (code->all.at[i]->why)
			fprintf(stderr, "pack_trace: %s\n", code->all.at[i]->why);
}

int main(int argc, char **argv)
{
	const char *option = argc == 4 ? argv[1] : "", *path = argv[argc - 2];
	bool none = !strcmp(option, "--no-images"), machine = !strcmp(option, "--machine-code");
	bool with_code = machine || !strcmp(option, "--code");
	if (argc < 3 || argc > 4 || (argc == 4 && !none && !with_code)) {
		fputs("usage: pack_trace [--no-images | --code | --machine-code] IN OUT\n", stderr);
		return 2;
	}
	struct sw_gather code = {0};
	struct sw_error error;
	struct trace in = load(path);
	if (with_code && sw_gather_open(&code, path, &error))
		die(path, error.text);
	if (with_code)
		gather(&code, machine);
	struct packed out = {.file = fopen(argv[argc - 1], "wb"),
			     .path = argv[argc - 1],
			     .images = {.stay = !none && !with_code, .code = with_code ? &code : NULL}};
	if (!out.file)
		die(out.path, strerror(errno));
	pack(&out, &in);
	free(in.data);
	if (with_code)
		sw_gather_close(&code);
	return fclose(out.file) != 0;
}
