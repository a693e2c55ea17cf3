/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of a trace as one sequence of records: each writer read in turn, by sequence number. */
#include "reader/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

/* Two of the longest records, so that a window always holds a whole one. */
#define WINDOW (2 * SW_REC_MAX_BYTES)

static int by_index(const void *a, const void *b)
{
	const struct sw_chunk_ref *x = a, *y = b;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void due(struct sw_writer_cursor *w)
{
	w->loaded = false;
	w->head = NULL;
	if (w->chunk < w->chunks.n && w->chunks.at[w->chunk].first_seq > w->key)
		w->key = w->chunks.at[w->chunk].first_seq;
}

/* Sorts the chunks; call once when all are known. */
static void writer_begin(struct sw_writer_cursor *w, struct sw_damage *damage)
{
	qsort(w->chunks.at, w->chunks.n, sizeof *w->chunks.at, by_index);
	size_t kept = 0;
	for (size_t i = 0; i < w->chunks.n; i++) {
		const struct sw_chunk_ref *c = &w->chunks.at[i];
		if (kept && w->chunks.at[kept - 1].index == c->index)
			sw_damage_add(damage, c->offset, "chunk %u of writer %u is there twice: this one is skipped",
				      c->index, w->id);
		else
			w->chunks.at[kept++] = *c;
	}
	w->chunks.n = kept;
	due(w);
}

static void forget_params(struct sw_writer_cursor *w)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&w->params, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&w->params);
}

/* 1: the records of a closed chunk, in `scratch`; 0: damaged. */
static int check_crc(const struct sw_writer_cursor *w, const struct sw_source *source, unsigned char *scratch,
		     struct sw_damage *damage, struct sw_error *error)
{
	const struct sw_chunk_ref *c = &w->chunks.at[w->chunk];
	size_t got;
	int rc = sw_source_read(source, c->offset + sizeof(struct sw_chunk_header), scratch, c->bytes, &got, error);
	if (rc)
		return rc;
	if (got < c->bytes) {
		sw_damage_add(damage, c->offset + got,
			      "the file was cut while it was read: chunk %u of writer %u is skipped", c->index, w->id);
		return 0;
	}
	if (sw_crc32c(0, scratch, c->bytes) == c->crc)
		return 1;
	sw_damage_add(damage, c->offset,
		      "chunk %u of writer %u: checksum is wrong, its %u bytes of records are skipped", c->index, w->id,
		      c->bytes);
	return 0;
}

static void leave_chunk(struct sw_writer_cursor *w)
{
	w->chunk++;
	due(w);
	if (w->chunk >= w->chunks.n) {
		free(w->window);
		w->window = NULL;
	}
}

/* Gives up the rest of the current chunk: what follows a damaged record can't be trusted. */
static void writer_skip_chunk(struct sw_writer_cursor *w)
{
	/* Definitions that were in it may have replaced earlier ones of the same id. */
	forget_params(w);
	leave_chunk(w);
}

static int load_window(struct sw_writer_cursor *w, const struct sw_source *source, unsigned char *scratch,
		       struct sw_damage *damage, struct sw_error *error)
{
	const struct sw_chunk_ref *c = &w->chunks.at[w->chunk];
	uint32_t expected = w->chunk ? w->chunks.at[w->chunk - 1].index + 1 : 0;
	if (c->index != expected) {
		sw_damage_add(damage, c->offset, "chunk %u of writer %u is missing before this one", expected, w->id);
		forget_params(w);
	}
	int rc = c->closed ? check_crc(w, source, scratch, damage, error) : 1;
	if (rc < 0)
		return rc;
	if (!rc) {
		writer_skip_chunk(w);
		return 0;
	}
	if (!w->window) {
		uint32_t most = source->header.chunk_bytes;
		w->room = most < WINDOW ? most : WINDOW;
		w->window = sw_alloc(w->room);
	}
	w->loaded = true;
	w->window_offset = c->offset + sizeof(struct sw_chunk_header);
	w->have = w->at = 0;
	w->left = c->bytes;
	if (c->closed && c->bytes <= w->room) {
		memcpy(w->window, scratch, c->bytes);
		w->have = c->bytes;
		w->left = 0;
	}
	return 1;
}

/* Moves what is left to the front of the window and fills it up. */
static int refill(struct sw_writer_cursor *w, const struct sw_source *source, struct sw_error *error)
{
	size_t keep = w->have - w->at, want, got;
	memmove(w->window, w->window + w->at, keep);
	w->window_offset += w->at;
	w->at = 0;
	w->have = keep;
	want = w->left < w->room - keep ? (size_t)w->left : w->room - keep;
	int rc = sw_source_read(source, w->window_offset + keep, w->window + keep, want, &got, error);
	if (rc)
		return rc;
	w->have += got;
	w->left = got < want ? 0 : w->left - got;
	return 0;
}

/* 1: a whole record stands at the cursor; 0: the chunk ends here, orderly or not. */
static int look_at_head(struct sw_writer_cursor *w, const struct sw_source *source, struct sw_damage *damage,
			struct sw_error *error)
{
	int rc;
	if (w->have - w->at < SW_REC_MAX_BYTES && w->left && (rc = refill(w, source, error)))
		return rc;
	size_t rest = w->have - w->at;
	const struct sw_rec *r = (const void *)(w->window + w->at);
	if (!rest)
		return 0;
	if (rest >= sizeof *r && r->kind == SW_REC_PAD)
		return 0;
	if (rest < sizeof *r || r->words * 8u > rest || r->words * 8u > SW_REC_MAX_BYTES || r->words < sizeof *r / 8) {
		sw_damage_add(
			damage, sw_writer_offset(w),
			"record of %u bytes where %" PRIu64 " are left: the rest of chunk %u of writer %u is skipped",
			rest < sizeof *r ? 0 : r->words * 8u, rest + w->left, w->chunks.at[w->chunk].index, w->id);
		forget_params(w);
		return 0;
	}
	w->head = r;
	if (sw_rec_seq(r))
		w->key = sw_rec_seq(r);
	return 1;
}

/*
 * Moves to the next record (the first one when none is loaded).  1: head is set; 0: no more records in this chunk, the
 * next chunk, if any, is not loaded yet and key says when it is due; <0: reading failed.
 * `scratch` has room for a chunk.
 */
static int writer_advance(struct sw_writer_cursor *w, const struct sw_source *source, unsigned char *scratch,
			  struct sw_damage *damage, struct sw_error *error)
{
	int rc;
	if (!w->loaded && (rc = load_window(w, source, scratch, damage, error)) <= 0)
		return rc;
	if (w->head)
		w->at += w->head->words * 8u;
	w->head = NULL;
	rc = look_at_head(w, source, damage, error);
	if (!rc)
		leave_chunk(w);
	return rc;
}

void sw_writer_define_params(struct sw_writer_cursor *w, uint32_t id, const void *block, uint32_t bytes)
{
	uint64_t *slot = sw_map_put(&w->params, id % SW_FORMAT_LIVE_IDS);
	struct sw_param_block *b = (void *)(uintptr_t)*slot;
	if (!b || b->room < bytes) {
		b = sw_realloc(b, 1, sizeof *b + bytes);
		b->room = bytes;
		*slot = (uint64_t)(uintptr_t)b;
	}
	b->id = id;
	b->bytes = bytes;
	memcpy(b->data, block, bytes);
}

const struct sw_param_block *sw_writer_params(const struct sw_writer_cursor *w, uint32_t id)
{
	const struct sw_param_block *b = sw_map_ptr(&w->params, id % SW_FORMAT_LIVE_IDS);
	return b && b->id == id ? b : NULL;
}

static void define(struct sw_map *ids, uint32_t id, uint32_t index)
{
	*sw_map_put(ids, id % SW_FORMAT_LIVE_IDS) = (uint64_t)id << 32 | index;
}

static uint32_t look_up(const struct sw_map *ids, uint32_t id)
{
	uint64_t known = sw_map_get(ids, id % SW_FORMAT_LIVE_IDS);
	return known >> 32 == id ? (uint32_t)known : 0;
}

void sw_writer_define_stack(struct sw_writer_cursor *w, uint32_t id, uint32_t index)
{
	define(&w->stacks, id, index);
}

uint32_t sw_writer_stack(const struct sw_writer_cursor *w, uint32_t id)
{
	return look_up(&w->stacks, id);
}

void sw_writer_define_code(struct sw_writer_cursor *w, uint32_t id, uint32_t index)
{
	define(&w->codes, id, index);
}

uint32_t sw_writer_code(const struct sw_writer_cursor *w, uint32_t id)
{
	return look_up(&w->codes, id);
}

static void writer_free(struct sw_writer_cursor *w)
{
	forget_params(w);
	sw_map_free(&w->stacks);
	sw_map_free(&w->codes);
	free(w->chunks.at);
	free(w->window);
}

static bool comes_before(const struct sw_writer_cursor *a, const struct sw_writer_cursor *b)
{
	return a->key != b->key ? a->key < b->key : a->id < b->id;
}

static void sift_down(struct sw_merge *m, size_t at)
{
	struct sw_writer_cursor *w = m->heap[at];
	for (size_t child; (child = 2 * at + 1) < m->n; at = child) {
		if (child + 1 < m->n && comes_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!comes_before(m->heap[child], w))
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
		writer_begin(&m.writers.at[i], damage);
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
		writer_free(&m->writers.at[i]);
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
		int rc = writer_advance(m->heap[0], source, m->scratch, damage, error);
		if (rc < 0)
			return rc;
		settle_top(m);
	}
	while (m->n && !m->heap[0]->head) {
		int rc = writer_advance(m->heap[0], source, m->scratch, damage, error);
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
	writer_skip_chunk(m->heap[0]);
	settle_top(m);
}
