/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/feed_trace.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "reader/kinds.h"
#include "syncwatch/format.h"

/* A record, with the descriptions after it: those become visible with it. */
struct group {
	uint64_t seq;	       /* 0: descriptions at the start of a chunk */
	uint32_t from, to;     /* bytes of the chunk's records */
	bool pending, patched; /* it is revealed before its call returns */
};

struct chunk {
	uint64_t offset;
	uint32_t writer, index, committed;
	struct sw_chunk_header header; /* as in the trace */
	unsigned char *records;
	SW_VEC(struct group) groups;
	size_t next; /* group */
	bool begun, moved;
};

/* The chunks of a writer, in order. */
struct line {
	SW_VEC(size_t) chunks;
	size_t at;
	struct chunk *waits; /* for the call of this group to return */
	size_t group;
};

struct feed {
	struct sw_file_header header;
	int file, memory;
	uint32_t random;
	SW_VEC(struct chunk) chunks; /* by number */
	SW_VEC(struct line) lines;   /* by writer */
	uint64_t highest, inversions, pending;
	SW_VEC(uint8_t) seen; /* by sequence number */
	uint64_t lowest;      /* that was not revealed */
};

static uint32_t draw(struct feed *f, uint32_t below)
{
	f->random = f->random * 1664525u + 1013904223u;
	return (f->random >> 8) % below;
}

static void put(int fd, const void *data, size_t bytes, uint64_t offset)
{
	const ssize_t put = pwrite(fd, data, bytes, (off_t)offset);
	assert(put == (ssize_t)bytes);
	(void)put;
}

/* ---- taking the trace apart ----------------------------------------------------------------------------------------
 */

static bool may_be_pending(struct feed *f, const struct sw_rec *r)
{
	return sw_kind_is_operation(r->kind) && !(r->flags & (SW_RF_END | SW_RF_PENDING)) && draw(f, 2);
}

static void split(struct feed *f, struct chunk *c)
{
	for (uint32_t at = 0; at < c->header.committed;) {
		const struct sw_rec *r = (const void *)(c->records + at);
		const uint32_t bytes = r->words * 8u;
		if (!bytes)
			break;
		if (sw_rec_seq(r) || !c->groups.n)
			*sw_vec_push(&c->groups) = (struct group){sw_rec_seq(r), at, at, may_be_pending(f, r), false};
		c->groups.at[c->groups.n - 1].to = at += bytes;
		while (sw_rec_seq(r) && f->seen.n <= sw_rec_seq(r))
			*sw_vec_push(&f->seen) = 1; /* numbers that no record has are not waited for */
		if (sw_rec_seq(r))
			f->seen.at[sw_rec_seq(r)] = 0;
	}
}

static void load(struct feed *f, int trace, uint64_t number)
{
	const uint32_t most = f->header.chunk_bytes - (uint32_t)sizeof(struct sw_chunk_header);
	struct chunk c = {.offset = f->header.header_bytes + number * f->header.chunk_bytes};
	if (pread(trace, &c.header, sizeof c.header, (off_t)c.offset) != sizeof c.header ||
	    c.header.magic != SW_FORMAT_CHUNK_MAGIC || c.header.committed > most)
		c.header = (struct sw_chunk_header){.magic = 0};
	c.records = calloc(1, most);
	if (c.header.magic && pread(trace, c.records, c.header.committed, (off_t)(c.offset + sizeof c.header)) < 0)
		abort();
	*sw_vec_push(&f->chunks) = c;
	split(f, &f->chunks.at[f->chunks.n - 1]);
	while (c.header.magic && f->lines.n <= c.header.writer)
		*sw_vec_push(&f->lines) = (struct line){.waits = NULL};
	if (c.header.magic)
		*sw_vec_push(&f->lines.at[c.header.writer].chunks) = f->chunks.n - 1;
}

struct feed *feed_new(int trace, uint32_t seed)
{
	struct feed *f = calloc(1, sizeof *f);
	f->random = seed * 2654435761u + 1;
	f->memory = memfd_create("feed", MFD_CLOEXEC);
	f->file = memfd_create("feed", MFD_CLOEXEC);
	const ssize_t got = pread(trace, &f->header, sizeof f->header, 0);
	assert(got == sizeof f->header && f->memory >= 0 && f->file >= 0);
	(void)got;
	*sw_vec_push(&f->seen) = 1;
	for (uint64_t i = 0; i < f->header.chunks; i++)
		load(f, trace, i);
	if (ftruncate(f->memory, (off_t)(f->header.header_bytes + f->header.chunks * f->header.chunk_bytes)))
		abort();
	struct sw_file_header first = f->header;
	first.chunks = 0;
	put(f->memory, &first, sizeof first, 0);
	put(f->file, &first, sizeof first, 0);
	return f;
}

void feed_open(const struct feed *feed, int *file, int *memory)
{
	*file = fcntl(feed->file, F_DUPFD_CLOEXEC, 0);
	*memory = fcntl(feed->memory, F_DUPFD_CLOEXEC, 0);
}

/* ---- revealing ----------------------------------------------------------------------------------------------------
 */

static void begin(struct feed *f, size_t number)
{
	struct chunk *c = &f->chunks.at[number];
	struct sw_chunk_header header = c->header;
	struct sw_file_header now = f->header;
	header.committed = header.closed = header.crc = 0;
	put(f->memory, &header, sizeof header, c->offset);
	c->begun = true;
	now.chunks = 0;
	for (size_t i = 0; i < f->chunks.n; i++)
		if (f->chunks.at[i].begun)
			now.chunks = i + 1;
	put(f->memory, &now, sizeof now, 0);
}

static void commit(struct feed *f, struct chunk *c, struct line *line)
{
	struct group *g = &c->groups.at[c->next];
	struct sw_rec first;
	memcpy(&first, c->records + g->from, sizeof first);
	put(f->memory, c->records + g->from, g->to - g->from, c->offset + sizeof c->header + g->from);
	if (g->pending) {
		first.flags |= SW_RF_PENDING;
		first.status = 0;
		first.dur = 0;
		put(f->memory, &first, sizeof first, c->offset + sizeof c->header + g->from);
		line->waits = c;
		line->group = c->next;
		f->pending++;
	}
	put(f->memory, &g->to, sizeof g->to, c->offset + offsetof(struct sw_chunk_header, committed));
	c->next++;
	if (!g->seq)
		return;
	f->inversions += f->highest > g->seq;
	f->highest = g->seq > f->highest ? g->seq : f->highest;
	f->seen.at[g->seq] = 1;
	while (f->lowest < f->seen.n && f->seen.at[f->lowest])
		f->lowest++;
}

static void give_back_call(struct feed *f, struct line *line)
{
	struct chunk *c = line->waits;
	put(f->memory, c->records + c->groups.at[line->group].from, sizeof(struct sw_rec),
	    c->offset + sizeof c->header + c->groups.at[line->group].from);
	line->waits = NULL;
}

/* A chunk that is over leaves the memory: the file has it, its header last. */
static void move(struct feed *f, struct chunk *c)
{
	put(f->file, c->records, c->header.committed, c->offset + sizeof c->header);
	put(f->file, &c->header, sizeof c->header, c->offset);
	if (fallocate(f->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)c->offset, f->header.chunk_bytes))
		abort();
	c->moved = true;
}

/* The next group of a line may be revealed: threads run apart by so many numbers at most. */
#define APART 40u

static bool step_line(struct feed *f, struct line *line)
{
	if (line->at == line->chunks.n && !line->waits)
		return false;
	struct chunk *c = line->at < line->chunks.n ? &f->chunks.at[line->chunks.at[line->at]] : NULL;
	if (line->waits && (!c || c->next == c->groups.n ? draw(f, 3) : draw(f, 4))) {
		give_back_call(f, line);
		return true;
	}
	if (!c)
		return true;
	if (!c->begun) {
		begin(f, line->chunks.at[line->at]);
		return true;
	}
	if (c->next == c->groups.n) {
		line->at++;
		return true;
	}
	const struct group *g = &c->groups.at[c->next];
	/* The next call of a thread begins when the one before it has returned. */
	if (line->waits)
		give_back_call(f, line);
	if (g->seq > f->lowest + APART)
		return false;
	commit(f, c, line);
	return true;
}

bool feed_step(struct feed *f)
{
	size_t left = 0;
	for (size_t i = 0; i < f->lines.n; i++)
		left += f->lines.at[i].at < f->lines.at[i].chunks.n || f->lines.at[i].waits;
	for (size_t i = 0; i < f->chunks.n && !draw(f, 8); i++) {
		struct chunk *c = &f->chunks.at[i];
		bool waits = false;
		for (size_t k = 0; k < f->lines.n; k++)
			waits |= f->lines.at[k].waits == c;
		if (c->begun && !c->moved && !waits && c->next == c->groups.n && c->header.closed)
			move(f, c);
	}
	if (!left)
		return false;
	for (bool done = false; !done;) {
		const size_t first = draw(f, (uint32_t)f->lines.n);
		for (size_t i = 0; i < f->lines.n && !done; i++)
			done = step_line(f, &f->lines.at[(first + i) % f->lines.n]);
	}
	return true;
}

uint64_t feed_inversions(const struct feed *feed)
{
	return feed->inversions;
}

uint64_t feed_pending(const struct feed *feed)
{
	return feed->pending;
}

void feed_free(struct feed *f)
{
	for (size_t i = 0; i < f->chunks.n; i++) {
		free(f->chunks.at[i].records);
		free(f->chunks.at[i].groups.at);
	}
	for (size_t i = 0; i < f->lines.n; i++)
		free(f->lines.at[i].chunks.at);
	free(f->chunks.at);
	free(f->lines.at);
	free(f->seen.at);
	close(f->file);
	close(f->memory);
	free(f);
}
