/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a trace small enough to be committed: pack_trace IN OUT.  The same records in the same chunks, but chunks only
 * as large as the fullest one needs.  Checksums stay valid, as they cover the records alone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syncwatch/format.h"

static unsigned char *data;
static size_t bytes;

static void die(const char *path, const char *what)
{
	fprintf(stderr, "pack_trace: %s: %s\n", path, what);
	exit(1);
}

static void load(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END))
		die(path, strerror(errno));
	bytes = (size_t)ftell(f);
	rewind(f);
	data = malloc(bytes + 1);
	if (!data || fread(data, 1, bytes, f) != bytes)
		die(path, "cannot read");
	fclose(f);
}

static const struct sw_chunk_header *chunk_at(const struct sw_file_header *h, uint64_t number)
{
	return (const void *)(data + h->header_bytes + number * h->chunk_bytes);
}

int main(int argc, char **argv)
{
	uint32_t most = 0;
	if (argc != 3) {
		fputs("usage: pack_trace IN OUT\n", stderr);
		return 2;
	}
	load(argv[1]);
	struct sw_file_header *h = (void *)data, packed;
	if (bytes < sizeof *h || memcmp(h->magic, SW_FORMAT_MAGIC, sizeof h->magic) || !h->chunk_bytes)
		die(argv[1], "not a trace");
	uint64_t chunks = (bytes - h->header_bytes) / h->chunk_bytes;
	for (uint64_t i = 0; i < chunks; i++)
		if (chunk_at(h, i)->committed > most)
			most = chunk_at(h, i)->committed;
	packed = *h;
	packed.chunk_bytes = (most + (uint32_t)sizeof(struct sw_chunk_header) + 4095) / 4096 * 4096;
	if (packed.chunk_bytes > h->chunk_bytes)
		die(argv[1], "a chunk claims more than it holds");
	while (chunks && !chunk_at(h, chunks - 1)->magic)
		chunks--; /* prepared, never used */
	packed.chunks = chunks;
	FILE *out = fopen(argv[2], "wb");
	if (!out || fwrite(&packed, sizeof packed, 1, out) != 1 ||
	    fwrite(data + sizeof packed, 1, h->header_bytes - sizeof packed, out) != h->header_bytes - sizeof packed)
		die(argv[2], strerror(errno));
	for (uint64_t i = 0; i < chunks; i++)
		if (fwrite(chunk_at(h, i), packed.chunk_bytes, 1, out) != 1)
			die(argv[2], strerror(errno));
	free(data);
	return fclose(out) != 0;
}
