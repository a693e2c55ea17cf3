/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool before(const struct sw_writer_cursor *a, const struct sw_writer_cursor *b)
{
	return a->key != b->key ? a->key < b->key : a->id < b->id;
}

static void sift_down(struct sw_merge *m, size_t at)
{
	struct sw_writer_cursor *w = m->heap[at];
	for (size_t child; (child = 2 * at + 1) < m->n; at = child) {
		if (child + 1 < m->n && before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m->heap[child], w))
			break;
		m->heap[at] = m->heap[child];
	}
	m->heap[at] = w;
}

static struct sw_writer_cursor *writer_of(struct sw_merge *m, struct sw_map *by_id, uint32_t id)
{
	uint64_t *at = sw_map_put(by_id, id);
	if (!*at) {
		*sw_vec_push(&m->writers) = (struct sw_writer_cursor){.id = id};
		*at = m->writers.n;
	}
	return &m->writers.at[*at - 1];
}

/* Takes up chunk `number` unless it was never begun or its header is damaged. */
static void add_chunk(struct sw_merge *m, struct sw_map *by_id, const struct sw_source *s, uint64_t number,
		      const struct sw_chunk_header *c, struct sw_damage *damage)
{
	const uint64_t offset = s->header.header_bytes + number * s->header.chunk_bytes;
	const uint32_t most = s->header.chunk_bytes - (uint32_t)sizeof *c;
	if (!c->magic && !c->committed)
		return; /* allocated, without records yet */
	if (c->magic != SW_FORMAT_CHUNK_MAGIC) {
		sw_damage_add(damage, offset, "chunk %" PRIu64 ": 0x%08x is not the start of a chunk: skipped", number,
			      c->magic);
		return;
	}
	if (c->committed > most) {
		sw_damage_add(damage, offset, "chunk %" PRIu64 ": claims %u bytes of records where %u fit: skipped",
			      number, c->committed, most);
		return;
	}
	struct sw_chunk_ref ref = {
		.offset = offset,
		.first_seq = c->first_seq,
		.index = c->index,
		.bytes = c->committed,
		.crc = c->crc,
		.closed = c->closed,
	};
	uint64_t there = s->bytes - offset - sizeof *c;
	if (ref.bytes > there) {
		sw_damage_add(damage, s->bytes,
			      "the file ends within chunk %" PRIu64 ": %" PRIu64 " of its %u bytes are there", number,
			      there, ref.bytes);
		ref.bytes = (uint32_t)there;
		ref.closed = false;
	}
	*sw_vec_push(&writer_of(m, by_id, c->writer)->chunks) = ref;
}

/* The next chunk that has any bytes on disk: a sparse file of terabytes costs what is in it. */
static uint64_t past_hole(const struct sw_source *s, uint64_t number)
{
	const uint64_t header = s->header.header_bytes, offset = header + number * s->header.chunk_bytes;
	const off_t data = lseek(s->fd, (off_t)offset, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? (s->bytes - header) / s->header.chunk_bytes : number;
	return ((uint64_t)data - header) / s->header.chunk_bytes;
}

static int find_chunks(struct sw_merge *m, const struct sw_source *s, struct sw_damage *damage, struct sw_error *error)
{
	struct sw_map by_id = {0};
	uint64_t number = 0;
	int rc = 0;
	for (;; number++) {
		uint64_t offset = s->header.header_bytes + number * s->header.chunk_bytes;
		struct sw_chunk_header c;
		size_t got;
		if (offset + sizeof c > s->bytes)
			break;
		if ((rc = sw_source_read(s, offset, &c, sizeof c, &got, error)))
			break;
		if (got < sizeof c)
			break;
		add_chunk(m, &by_id, s, number, &c, damage);
		if (!c.magic)
			number = past_hole(s, number);
	}
	sw_map_free(&by_id);
	if (!rc && number < s->header.chunks)
		sw_damage_add(damage, s->bytes, "the file ends after %" PRIu64 " of its %" PRIu64 " chunks", number,
			      s->header.chunks);
	return rc;
}

int sw_merge_open(struct sw_merge *merge, const struct sw_source *source, struct sw_damage *damage,
		  struct sw_error *error)
{
	struct sw_merge m = {0};
	int rc = find_chunks(&m, source, damage, error);
	if (rc) {
		sw_merge_close(&m);
		return rc;
	}
	m.scratch = sw_alloc(source->header.chunk_bytes);
	m.heap = sw_calloc(m.writers.n + 1, sizeof(struct sw_writer_cursor *));
	for (size_t i = 0; i < m.writers.n; i++) {
		sw_writer_begin(&m.writers.at[i], damage);
		m.heap[m.n++] = &m.writers.at[i];
	}
	for (size_t i = m.n / 2; i-- > 0;)
		sift_down(&m, i);
	*merge = m;
	return 0;
}

void sw_merge_close(struct sw_merge *m)
{
	for (size_t i = 0; i < m->writers.n; i++)
		sw_writer_free(&m->writers.at[i]);
	free(m->writers.at);
	free(m->heap);
	free(m->scratch);
}

static void settle_top(struct sw_merge *m)
{
	if (sw_writer_ended(m->heap[0]))
		m->heap[0] = m->heap[--m->n];
	if (m->n)
		sift_down(m, 0);
}

int sw_merge_next(struct sw_merge *m, const struct sw_source *source, struct sw_damage *damage,
		  struct sw_writer_cursor **out, struct sw_error *error)
{
	/* The head handed out last is still on top; it is passed only now, so that it stayed valid. */
	if (m->n && *out == m->heap[0] && m->heap[0]->head) {
		int rc = sw_writer_advance(m->heap[0], source, m->scratch, damage, error);
		if (rc < 0)
			return rc;
		settle_top(m);
	}
	while (m->n && !m->heap[0]->head) {
		int rc = sw_writer_advance(m->heap[0], source, m->scratch, damage, error);
		if (rc < 0)
			return rc;
		settle_top(m);
	}
	if (!m->n)
		return 0;
	*out = m->heap[0];
	return 1;
}

void sw_merge_skip_chunk(struct sw_merge *m)
{
	sw_writer_skip_chunk(m->heap[0]);
	settle_top(m);
}
