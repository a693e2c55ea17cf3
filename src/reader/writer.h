/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_READER_WRITER_H
#define SW_READER_WRITER_H

#include "reader/reader.h"

/*
 * One writer of a trace: its chunks in order, and a cursor over their records.
 *
 * Holds one window of the current chunk, so memory grows with the writers that are in use at one time, not with the
 * length of the trace; a writer whose next chunk begins later holds nothing.
 */

struct sw_chunk_ref {
	uint64_t offset;    /* of the chunk in the file */
	uint64_t first_seq; /* as its header says: not before this number is it loaded */
	uint32_t index, bytes;
	uint32_t crc;
	bool closed;   /* crc is to be checked */
	uint32_t sure; /* of bytes, while the program runs: seen one look ago */
};

struct sw_writer_cursor {
	uint32_t id;
	SW_VEC(struct sw_chunk_ref) chunks;
	size_t chunk; /* the current one, chunks.n at the end */
	bool loaded;

	unsigned char *window;
	size_t room, have, at;	/* bytes: allocated, valid, before the head */
	uint64_t window_offset; /* in the file, of window[0] */
	uint64_t left;		/* bytes of the chunk after the window */

	const struct sw_rec *head; /* NULL: see loaded */
	uint64_t key; /* merge key: sequence number of the head, or not less than that of its predecessor */

	uint32_t thread; /* of the records that follow */
	/* The last SW_FORMAT_LIVE_IDS ids, by remainder. */
	struct sw_map stacks; /* the writer's id and the reader's index */
	struct sw_map codes;  /* the same of Python code */
	struct sw_map params; /* struct sw_param_block * */

	/* While the program runs. */
	bool queued, idle; /* it is in the heap; it has no more records yet */
	uint32_t known;	   /* chunks found so far: the index of the next one */
	uint64_t stuck;	   /* the look since which a record is being written, 0: none is */
};

struct sw_param_block {
	uint32_t id, bytes, room;
	_Alignas(8) unsigned char data[];
};

static inline bool sw_writer_ended(const struct sw_writer_cursor *writer)
{
	return !writer->loaded && writer->chunk >= writer->chunks.n;
}

static inline uint64_t sw_writer_offset(const struct sw_writer_cursor *writer)
{
	return writer->window_offset + writer->at;
}

/* Keeps a copy of a parameter block, to which later launches of the writer refer by its number, and returns it. */
struct sw_param_block *sw_writer_define_params(struct sw_writer_cursor *writer, uint32_t id, const void *block,
					       uint32_t bytes);
/* The parameter block of a number; NULL: unknown. */
const struct sw_param_block *sw_writer_params(const struct sw_writer_cursor *writer, uint32_t id);

/* Notes that this writer's number of a stack means the reader's index. */
void sw_writer_define_stack(struct sw_writer_cursor *writer, uint32_t id, uint32_t index);
/* The reader's index of a stack of this writer; 0 unknown. */
uint32_t sw_writer_stack(const struct sw_writer_cursor *writer, uint32_t id);
/* Notes that this writer's number of Python code means the reader's index. */
void sw_writer_define_code(struct sw_writer_cursor *writer, uint32_t id, uint32_t index);
/* The reader's index of Python code of this writer; 0 unknown. */
uint32_t sw_writer_code(const struct sw_writer_cursor *writer, uint32_t id);

/* Finds the chunks of a trace and merges its writers by sequence number. */

struct sw_merge {
	SW_VEC(struct sw_writer_cursor *) writers;
	struct sw_map by_id;		/* -> index in writers + 1 */
	struct sw_writer_cursor **heap; /* smallest key first */
	size_t n, room;
	unsigned char *scratch; /* one chunk */

	bool follows, ended;	/* the program runs; it has ended, and what is there is all */
	uint64_t looks, seen;	/* chunks that were looked at */
	SW_VEC(uint64_t) blank; /* of these, those that no thread had begun */
};

/* Reads all chunk headers.  Faults of the file become lines of `damage`; <0 with error filled: it cannot be read. */
int sw_merge_open(struct sw_merge *merge, const struct sw_source *source, struct sw_damage *damage,
		  struct sw_error *error);
void sw_merge_close(struct sw_merge *merge);

/* Finds the next record of all threads in their order.  1: *out's head is it, until the next call; 0: end; <0: reading
   failed. */
int sw_merge_next(struct sw_merge *merge, const struct sw_source *source, struct sw_damage *damage,
		  struct sw_writer_cursor **out, struct sw_error *error);

/* Gives up the chunk of the head last returned, which is not to be trusted any further. */
void sw_merge_skip_chunk(struct sw_merge *merge);

/*
 * A program that runs: sw_merge_follow() instead of sw_merge_open(), then sw_merge_look() again and again;
 * sw_merge_next() returns 0 when there is nothing more yet.  `ended`: the program has ended, and what is there now is
 * all.
 *
 * A record without a number must come before those of other threads that rely on it, and they can be seen first only
 * if it is committed between two reads of one look.  So a record is sure when the look before the last saw it.
 */
void sw_merge_follow(struct sw_merge *merge, const struct sw_source *source);
void sw_merge_look(struct sw_merge *merge, const struct sw_source *source, bool ended, struct sw_damage *damage);
bool sw_merge_is_sure(const struct sw_merge *merge, const struct sw_writer_cursor *writer);
/* Reads the record that was returned last once more, to see whether its call has returned meanwhile. */
int sw_merge_reread(const struct sw_source *source, struct sw_writer_cursor *writer, struct sw_error *error);

#endif
