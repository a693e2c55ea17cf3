/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

#define WRITERS 4096

static const struct sw_chunk_header *chunk_at(const struct trace *t, uint32_t number)
{
	size_t offset = t->header->header_bytes + (size_t)number * t->header->chunk_bytes;
	if (offset + t->header->chunk_bytes > t->bytes)
		return NULL;
	const struct sw_chunk_header *h = (const void *)(t->data + offset);
	return h->magic == SW_FORMAT_CHUNK_MAGIC ? h : NULL;
}

/* One chunk: records tile what is committed, sequence numbers of its writer rise. */
static const char *check_chunk(struct trace *t, const struct sw_chunk_header *h, uint64_t *last)
{
	const uint8_t *p = (const uint8_t *)(h + 1);
	uint32_t committed = h->committed;
	if (committed > t->header->chunk_bytes - sizeof *h || committed % 8)
		return "committed";
	if (h->closed && h->crc != sw_crc32c(0, p, committed))
		return "crc";
	t->closed_chunks += h->closed;
	for (uint32_t at = 0; at < committed;) {
		const struct sw_rec *r = (const void *)(p + at);
		if (r->words < sizeof *r / 8 || r->words * 8u > committed - at)
			return "length of a record";
		uint64_t seq = sw_rec_seq(r);
		if (seq && seq <= *last)
			return "order of sequence numbers";
		if (seq)
			*last = seq;
		t->last_seq = seq > t->last_seq ? seq : t->last_seq;
		t->records++;
		t->kinds[r->kind]++;
		t->pending += (r->flags & SW_RF_PENDING) != 0;
		if (r->kind == SW_REC_LOSS)
			t->lost += ((const struct sw_rec_loss *)r)->records;
		at += r->words * 8u;
	}
	return NULL;
}

static const char *check(struct trace *t)
{
	static uint64_t last[WRITERS];
	static uint32_t next_index[WRITERS];
	memset(last, 0, sizeof last);
	memset(next_index, 0, sizeof next_index);
	if (memcmp(t->header->magic, SW_FORMAT_MAGIC, 8) || t->header->header_bytes != SW_FORMAT_HEADER_BYTES)
		return "header";
	for (uint32_t i = 0; i < t->header->chunks; i++) {
		const struct sw_chunk_header *h = chunk_at(t, i);
		if (!h)
			continue; /* handed out, and nothing written before the program died */
		if (h->writer >= WRITERS || h->index < next_index[h->writer])
			return "index of a chunk";
		next_index[h->writer] =
			h->index + 1; /* one is skipped when a signal handler jumps out of the recorder */
		t->chunks++;
		t->writers = h->writer >= t->writers ? h->writer + 1 : t->writers;
		const char *wrong = check_chunk(t, h, &last[h->writer]);
		if (wrong)
			return wrong;
	}
	return NULL;
}

bool trace_read(struct trace *t, const char *path)
{
	struct stat s;
	memset(t, 0, sizeof *t);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &s) || (size_t)s.st_size < sizeof *t->header) {
		close(fd);
		return false;
	}
	t->bytes = (size_t)s.st_size;
	t->data = mmap(NULL, t->bytes, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	t->header = (const void *)t->data;
	t->wrong = check(t);
	return true;
}

void trace_free(struct trace *t)
{
	munmap((void *)(uintptr_t)t->data, t->bytes);
}

void trace_each(const struct trace *t, bool (*visit)(const struct sw_rec *r, uint32_t writer, void *data), void *data)
{
	for (uint32_t i = 0; i < t->header->chunks; i++) {
		const struct sw_chunk_header *h = chunk_at(t, i);
		for (uint32_t at = 0; h && at < h->committed;) {
			const struct sw_rec *r = (const void *)((const uint8_t *)(h + 1) + at);
			if (!visit(r, h->writer, data))
				return;
			at += r->words * 8u;
		}
	}
}

struct wanted {
	enum sw_rec_kind kind;
	unsigned n;
	const struct sw_rec *found;
};

static bool is_wanted(const struct sw_rec *r, uint32_t writer, void *data)
{
	struct wanted *w = data;
	(void)writer;
	if (r->kind != w->kind || w->n--)
		return true;
	w->found = r;
	return false;
}

const void *trace_find(const struct trace *t, enum sw_rec_kind kind, unsigned n)
{
	struct wanted w = {.kind = kind, .n = n};
	trace_each(t, is_wanted, &w);
	return w.found;
}
