/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions so far: threads, entry points, stacks, modules, devices, contexts, functions, images. */
#ifndef SW_READER_DICTIONARY_H
#define SW_READER_DICTIONARY_H

#include "base/map.h"
#include "base/memory.h"
#include "reader/clock.h"
#include "reader/packed.h"
#include "reader/writer.h"
#include "reader/source.h"

struct sw_image_entry;

struct sw_dictionary {
	struct sw_arena arena; /* everything that the tables point to */
	struct sw_trace_process *process;
	struct sw_trace_environment *environment;
	struct sw_map threads;	    /* thread -> struct sw_trace_thread * */
	struct sw_map tids;	    /* kernel's id -> the last thread that had it */
	struct sw_map thread_names; /* kernel's id -> name of a thread that has not come yet */
	struct sw_map functions;    /* id -> struct sw_trace_function * */
	struct sw_map images;	    /* id -> struct sw_image_entry * */
	struct sw_map image_hashes;
	struct sw_trace_context *contexts[256];
	SW_VEC(struct sw_trace_api *) apis;	      /* by id */
	SW_VEC(struct sw_trace_stack *) stacks;	      /* by index - 1 */
	struct sw_map stack_hashes;		      /* hash of the content -> index */
	uint64_t cut_stacks;			      /* STACK records with SW_STACK_CUT */
	SW_VEC(struct sw_trace_python_frame *) codes; /* by index - 1, without their lines */
	struct sw_map code_hashes;
	SW_VEC(struct sw_trace_module *) modules;
	struct sw_map cudarts; /* base -> enum sw_cudart_link, of modules described later */
	SW_VEC(struct sw_trace_device *) devices;
	SW_VEC(char *) notices;
	SW_VEC(uint64_t) calls; /* by entry point, from COUNTS */
	struct sw_packed packed;
	struct sw_trace_clock clock;
	uint32_t pid;
};

/*
 * Lets a record take effect.  NULL: done (or nothing to do); else what is wrong with it, and nothing was changed.
 * The record has at least the size of its kind's struct; what follows that is checked here.
 */
const char *sw_dictionary_take(struct sw_dictionary *d, struct sw_writer_cursor *writer, const struct sw_rec *rec);
void sw_dictionary_free(struct sw_dictionary *d);

/* Makes a short LAUNCH record a whole one, without its block.  False: the launch that it refers to is missing. */
bool sw_launch_expand(const struct sw_writer_cursor *w, const struct sw_rec *rec, struct sw_rec_launch *out);

/* The number of the parameter block whose changes a LAUNCH record says; 0: it says none.  The record has at least the
   size of its kind's struct. */
uint32_t sw_launch_base(const struct sw_rec *rec);

/* For the files of this module. */
struct sw_tail { /* the variable part of a record */
	const unsigned char *at;
	size_t left;
};
static inline struct sw_tail sw_tail_of(const struct sw_rec *rec, size_t fixed)
{
	return (struct sw_tail){(const unsigned char *)rec + fixed, rec->words * 8u - fixed};
}
/* The next `bytes`; NULL when the record is shorter. */
static inline const void *sw_tail_take(struct sw_tail *t, size_t bytes)
{
	if (bytes > t->left)
		return NULL;
	t->at += bytes;
	t->left -= bytes;
	return t->at - bytes;
}

#define SW_PACKED_TAKERS(X)                                                                                            \
	X(PACK, pack)                                                                                                  \
	X(PACK_CODE, pack_code)                                                                                        \
	X(PACK_DATA, pack_data)                                                                                        \
	X(PACK_MODULE, pack_module)                                                                                    \
	X(PACK_FRAME, pack_frame)                                                                                      \
	X(PACK_TABLE, pack_table)
#define SW_READER_TAKER(kind, name)                                                                                    \
	const char *sw_take_##name(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec);
SW_PACKED_TAKERS(SW_READER_TAKER)
#undef SW_READER_TAKER

/*
 * Code images whose content was recorded, in pieces.  Where the pieces lie in the trace is noted; they are read when
 * somebody asks for the content, which is of one image in ten: programs load libraries and launch a few of their
 * kernels. Equal contents are held once.
 */

struct sw_image_entry {
	struct sw_trace_image image;
	SW_VEC(struct sw_image_piece {
		uint64_t offset; /* in the file */
		uint32_t bytes;
	})
	piece;
	uint64_t have;		     /* bytes of all pieces */
	struct sw_image_entry *twin; /* an earlier image that has the content; NULL */
	bool recorded;		     /* its content follows, so it is known only then */
	bool whole;		     /* the last piece came */
	bool read;		     /* `content` was asked for */
	void *content;		     /* NULL: not what was loaded, or not readable any more */
};

/* After the content of an image, or its file, became known: takes the code that was packed for it. */
void sw_image_found(struct sw_dictionary *d, struct sw_image_entry *entry);
/* Reads the content at the first call.  Lives as long as the entry. */
const void *sw_image_content(struct sw_image_entry *entry, const struct sw_source *source);

#endif
