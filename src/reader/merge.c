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

/* For qsort(): the chunks of a writer in the order in which it began them. */
static int by_index(const void *a, const void *b)
{
	const struct sw_chunk_ref *x = a, *y = b;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Estimates the key of a writer whose next record is not loaded: it is at least the first number of its next chunk. */
static void set_due(struct sw_writer_cursor *w)
{
	w->loaded = false;
	w->head = NULL;
	if (w->chunk < w->chunks.n && w->chunks.at[w->chunk].first_seq > w->key)
		w->key = w->chunks.at[w->chunk].first_seq;
}

/* Sorts the chunks of a writer; once, when all are known. */
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
	set_due(w);
}

/* Forgets the parameter blocks of a writer: a chunk between is missing, so a number may mean another block. */
static void forget_params(struct sw_writer_cursor *w)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&w->params, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&w->params);
}

/* Reads the records of a closed chunk into `scratch` and compares their CRC.  1: they are right; 0: damaged; <0:
   reading failed. */
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

/* Goes on to the writer's next chunk. */
static void leave_chunk(struct sw_writer_cursor *w)
{
	w->chunk++;
	set_due(w);
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

/* Begins to read the writer's current chunk.  1: it can be read; 0: it is damaged and skipped; <0: reading failed. */
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
static int refill_window(struct sw_writer_cursor *w, const struct sw_source *source, struct sw_error *error)
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

/* Looks at the record at the cursor.  1: a whole record stands there; 0: the chunk ends here, orderly or not; <0:
   reading failed. */
static int look_at_head(struct sw_writer_cursor *w, const struct sw_source *source, struct sw_damage *damage,
			struct sw_error *error)
{
	int rc;
	if (w->have - w->at < SW_REC_MAX_BYTES && w->left && (rc = refill_window(w, source, error)))
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

/* ---- chunks of a program that runs ---------------------------------------------------------------------------------
 */

/* Looks until a record that is being written is taken to be abandoned: its call was left by longjmp. */
#define STUCK_LOOKS 200u

/* Reads the header of a chunk of a program that runs; false: it is not begun, or damaged. */
static bool read_header(const struct sw_source *source, uint64_t offset, struct sw_chunk_header *header)
{
	size_t got;
	return !sw_source_read(source, offset, header, sizeof *header, &got, NULL) && got == sizeof *header &&
	       header->magic == SW_FORMAT_CHUNK_MAGIC &&
	       header->committed <= source->header.chunk_bytes - sizeof *header;
}

/* Looks again whether chunk `i` of the writer has more records by now.  False: it has none. */
static bool chunk_grew(struct sw_writer_cursor *w, size_t i, const struct sw_source *source)
{
	struct sw_chunk_ref *c = &w->chunks.at[i];
	struct sw_chunk_header now;
	if (c->closed || !read_header(source, c->offset, &now) || now.index != c->index || now.writer != w->id)
		return false;
	c->closed = now.closed;
	c->crc = now.crc;
	if (now.committed <= c->bytes)
		return false;
	if (w->loaded && i == w->chunk)
		w->left += now.committed - c->bytes;
	c->bytes = now.committed;
	return true;
}

/* Does a record follow in the chunk that is reserved and not yet committed?  Memory of a chunk is zero until then. */
static bool is_being_written(const struct sw_source *source, const struct sw_chunk_ref *c)
{
	struct sw_rec next;
	size_t got;
	return sizeof(struct sw_chunk_header) + c->bytes + sizeof next <= source->header.chunk_bytes &&
	       !sw_source_read(source, c->offset + sizeof(struct sw_chunk_header) + c->bytes, &next, sizeof next, &got,
			       NULL) &&
	       got == sizeof next && next.kind != SW_REC_PAD && next.words;
}

enum rest { REST_NONE, REST_MORE, REST_LATER };

/* Does more follow in the chunk, after the last record that was seen of it? */
static enum rest chunk_rest(const struct sw_merge *m, struct sw_writer_cursor *w, const struct sw_source *source)
{
	const struct sw_chunk_ref *c = &w->chunks.at[w->chunk];
	if (m->ended || w->have != w->at || w->left)
		return REST_NONE;
	if (w->chunk + 1 == w->chunks.n)
		return c->closed ? REST_NONE : REST_LATER;
	/* The next one has begun: what is still to come in this one was reserved before. */
	if (chunk_grew(w, w->chunk, source))
		return REST_MORE;
	if (c->closed || !is_being_written(source, c))
		return REST_NONE;
	if (!w->stuck)
		w->stuck = m->looks;
	if (m->looks - w->stuck < STUCK_LOOKS)
		return REST_LATER;
	w->stuck = 0;
	return REST_NONE;
}

/*
 * Moves to the next record (the first one when none is loaded).  1: head is set; 0: no more records in this chunk, the
 * next chunk, if any, is not loaded yet and key says when it is due, or the writer is idle; <0: reading failed.
 */
static int writer_advance(const struct sw_merge *m, struct sw_writer_cursor *w, const struct sw_source *source,
			  struct sw_damage *damage, struct sw_error *error)
{
	int rc;
	if (!w->loaded && (rc = load_window(w, source, m->scratch, damage, error)) <= 0)
		return rc;
	if (w->head)
		w->at += w->head->words * 8u;
	w->head = NULL;
	while (!(rc = look_at_head(w, source, damage, error)) && m->follows) {
		const enum rest left = chunk_rest(m, w, source);
		if (left == REST_LATER)
			w->idle = true;
		if (left == REST_LATER || left == REST_NONE)
			break;
	}
	if (!rc && !w->idle)
		leave_chunk(w);
	return rc;
}

struct sw_param_block *sw_writer_define_params(struct sw_writer_cursor *w, uint32_t id, const void *block,
					       uint32_t bytes)
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
	return b;
}

/* The parameter block of a number of this writer; NULL: unknown. */
const struct sw_param_block *sw_writer_params(const struct sw_writer_cursor *w, uint32_t id)
{
	const struct sw_param_block *b = sw_map_ptr(&w->params, id % SW_FORMAT_LIVE_IDS);
	return b && b->id == id ? b : NULL;
}

/* Notes a writer's number.  Only the last SW_FORMAT_LIVE_IDS numbers are in use at a time. */
static void define_id(struct sw_map *ids, uint32_t id, uint32_t index)
{
	*sw_map_put(ids, id % SW_FORMAT_LIVE_IDS) = (uint64_t)id << 32 | index;
}

/* The index that define_id() noted for the number; 0: it is not known any more. */
static uint32_t look_up(const struct sw_map *ids, uint32_t id)
{
	uint64_t known = sw_map_get(ids, id % SW_FORMAT_LIVE_IDS);
	return known >> 32 == id ? (uint32_t)known : 0;
}

void sw_writer_define_stack(struct sw_writer_cursor *w, uint32_t id, uint32_t index)
{
	define_id(&w->stacks, id, index);
}

/* The reader's index of a stack of this writer; 0 unknown. */
uint32_t sw_writer_stack(const struct sw_writer_cursor *w, uint32_t id)
{
	return look_up(&w->stacks, id);
}

void sw_writer_define_code(struct sw_writer_cursor *w, uint32_t id, uint32_t index)
{
	define_id(&w->codes, id, index);
}

/* The reader's index of Python code of this writer; 0 unknown. */
uint32_t sw_writer_code(const struct sw_writer_cursor *w, uint32_t id)
{
	return look_up(&w->codes, id);
}

/* Frees what is kept of a writer. */
static void writer_free(struct sw_writer_cursor *w)
{
	forget_params(w);
	sw_map_free(&w->stacks);
	sw_map_free(&w->codes);
	free(w->chunks.at);
	free(w->window);
	free(w);
}

/* Is the record of writer `a` before that of `b` in the order of the process? */
static bool comes_before(const struct sw_writer_cursor *a, const struct sw_writer_cursor *b)
{
	return a->key != b->key ? a->key < b->key : a->id < b->id;
}

/* Restores the heap where the writer at this place has moved on to a later record. */
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

/* The writer with this id, added if it is new. */
static struct sw_writer_cursor *writer_of(struct sw_merge *m, uint32_t id)
{
	uint64_t *at = sw_map_put(&m->by_id, id);
	if (!*at) {
		struct sw_writer_cursor *w = sw_calloc(1, sizeof *w);
		w->id = id;
		*sw_vec_push(&m->writers) = w;
		*at = m->writers.n;
	}
	return m->writers.at[*at - 1];
}

/* Takes up chunk `number` unless it was never begun or its header is damaged. */
static void add_chunk(struct sw_merge *m, const struct sw_source *s, uint64_t number, const struct sw_chunk_header *c,
		      struct sw_damage *damage)
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
	*sw_vec_push(&writer_of(m, c->writer)->chunks) = ref;
}

/* The number of the next chunk that has any bytes on disk: a sparse file of terabytes costs what is in it. */
static uint64_t past_hole(const struct sw_source *s, uint64_t number)
{
	const uint64_t header = s->header.header_bytes, offset = header + number * s->header.chunk_bytes;
	const off_t data = lseek(s->fd, (off_t)offset, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? (s->bytes - header) / s->header.chunk_bytes : number;
	return ((uint64_t)data - header) / s->header.chunk_bytes;
}

/* Reads the headers of all chunks of the file. */
static int find_chunks(struct sw_merge *m, const struct sw_source *s, struct sw_damage *damage, struct sw_error *error)
{
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
		add_chunk(m, s, number, &c, damage);
		if (!c.magic)
			number = past_hole(s, number);
	}
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
		writer_begin(m.writers.at[i], damage);
		m.heap[m.n++] = m.writers.at[i];
	}
	for (size_t i = m.n / 2; i-- > 0;)
		sift_down(&m, i);
	*merge = m;
	return 0;
}

/* Frees all writers. */
void sw_merge_close(struct sw_merge *m)
{
	for (size_t i = 0; i < m->writers.n; i++)
		writer_free(m->writers.at[i]);
	free(m->writers.at);
	free(m->blank.at);
	sw_map_free(&m->by_id);
	free(m->heap);
	free(m->scratch);
}

/* After the first writer of the heap moved on: restores the order; a writer without more records leaves. */
static void settle_top(struct sw_merge *m)
{
	if (sw_writer_ended(m->heap[0]) || m->heap[0]->idle) {
		m->heap[0]->queued = false;
		m->heap[0] = m->heap[--m->n];
	}
	if (m->n)
		sift_down(m, 0);
}

int sw_merge_next(struct sw_merge *m, const struct sw_source *source, struct sw_damage *damage,
		  struct sw_writer_cursor **out, struct sw_error *error)
{
	/* The head handed out last is still on top; it is passed only now, so that it stayed valid. */
	if (m->n && *out == m->heap[0] && m->heap[0]->head) {
		int rc = writer_advance(m, m->heap[0], source, damage, error);
		if (rc < 0)
			return rc;
		settle_top(m);
	}
	while (m->n && !m->heap[0]->head) {
		int rc = writer_advance(m, m->heap[0], source, damage, error);
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

/* ---- following -----------------------------------------------------------------------------------------------------
 */

/* Chunks of a writer that are read and need not be known any more. */
#define MOST_READ 64u
/* No program has begun so few of the chunks that it took: what its header says is not to be trusted. */
#define MOST_BLANK 65536u

void sw_merge_follow(struct sw_merge *merge, const struct sw_source *source)
{
	*merge = (struct sw_merge){.follows = true, .scratch = sw_alloc(source->header.chunk_bytes)};
}

/* Takes up a chunk.  False: not yet, as no thread has begun it, or an earlier one of its thread was not seen. */
static bool take_up(struct sw_merge *m, const struct sw_source *source, uint64_t number, struct sw_damage *damage)
{
	const uint64_t offset = source->header.header_bytes + number * source->header.chunk_bytes;
	struct sw_chunk_header c;
	size_t got;
	if (sw_source_read(source, offset, &c, sizeof c, &got, NULL) || got < sizeof c || !c.magic)
		return false;
	if (c.magic == SW_FORMAT_CHUNK_MAGIC && !m->ended && c.index > writer_of(m, c.writer)->known)
		return false;
	add_chunk(m, source, number, &c, damage);
	if (c.magic != SW_FORMAT_CHUNK_MAGIC)
		return true;
	struct sw_writer_cursor *w = writer_of(m, c.writer);
	w->known = c.index + 1;
	if (!w->loaded)
		set_due(w);
	return true;
}

/* Takes up the chunks that threads have begun since the last look. */
static void take_up_new(struct sw_merge *m, const struct sw_source *source, struct sw_damage *damage)
{
	size_t kept = 0;
	for (; m->seen < source->header.chunks && m->blank.n < MOST_BLANK; m->seen++)
		*sw_vec_push(&m->blank) = m->seen;
	for (size_t i = 0; i < m->blank.n; i++)
		if (!take_up(m, source, m->blank.at[i], damage))
			m->blank.at[kept++] = m->blank.at[i];
	m->blank.n = kept;
}

/* Restores the heap where the writer at this place may come before others. */
static void sift_up(struct sw_merge *m, size_t at)
{
	struct sw_writer_cursor *w = m->heap[at];
	for (size_t parent; at && comes_before(w, m->heap[parent = (at - 1) / 2]); at = parent)
		m->heap[at] = m->heap[parent];
	m->heap[at] = w;
}

/* Puts the writer, which has a record again, into the heap. */
static void enqueue_writer(struct sw_merge *m, struct sw_writer_cursor *w)
{
	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : 64;
		m->heap = sw_realloc(m->heap, m->room, sizeof(struct sw_writer_cursor *));
	}
	w->queued = true;
	w->idle = false;
	m->heap[m->n] = w;
	sift_up(m, m->n++);
}

/* Looks again how many records the chunks of one writer hold now, from the one on that it has not passed; those that
   were passed are forgotten. */
static void look_at_writer(struct sw_merge *m, struct sw_writer_cursor *w, const struct sw_source *source)
{
	for (size_t i = w->chunk; i < w->chunks.n; i++) {
		struct sw_chunk_ref *c = &w->chunks.at[i];
		c->sure = c->bytes;
		chunk_grew(w, i, source);
		if (m->ended)
			c->sure = c->bytes;
	}
	if (w->chunk > MOST_READ) {
		const size_t gone = w->chunk - 1; /* the last one passed says which is next */
		memmove(w->chunks.at, w->chunks.at + gone, (w->chunks.n - gone) * sizeof *w->chunks.at);
		w->chunks.n -= gone;
		w->chunk -= gone;
	}
	const bool more = w->chunk < w->chunks.n && (!w->loaded || w->left || w->chunk + 1 < w->chunks.n || m->ended);
	if (!w->queued && more)
		enqueue_writer(m, w);
}

/* Looks at the file of a program that runs: new chunks, and new records in known ones. */
void sw_merge_look(struct sw_merge *m, const struct sw_source *source, bool ended, struct sw_damage *damage)
{
	m->looks++;
	m->ended |= ended;
	take_up_new(m, source, damage);
	for (size_t i = 0; i < m->writers.n; i++)
		look_at_writer(m, m->writers.at[i], source);
}

/* Was the writer's record seen in time, so that no record that must come before it can still be missed
   (sw_merge_follow())? */
bool sw_merge_is_sure(const struct sw_merge *m, const struct sw_writer_cursor *w)
{
	const struct sw_chunk_ref *c = &w->chunks.at[w->chunk];
	const uint64_t end = sw_writer_offset(w) - c->offset - sizeof(struct sw_chunk_header) + w->head->words * 8u;
	return m->ended || end <= c->sure;
}

int sw_merge_reread(const struct sw_source *source, struct sw_writer_cursor *w, struct sw_error *error)
{
	struct sw_rec now;
	size_t got;
	const int rc = sw_source_read(source, sw_writer_offset(w), &now, sizeof now, &got, error);
	if (!rc && got == sizeof now && now.kind == w->head->kind && now.words == w->head->words)
		memcpy(w->window + w->at, &now, sizeof now);
	return rc;
}
