/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of a call, interned by the writer of its thread like native stacks.
 *
 * Each writer remembers chains of frames as pairs (code object, instruction).  Walking a chain takes three loads a
 * frame; one that is remembered has an id already.  Its code objects are those that were read, as none of them has
 * ended since (freed.c).
 */
#ifndef SW_PRELOAD_PYTHON_STACKS_H
#define SW_PRELOAD_PYTHON_STACKS_H

#include "preload/python/python.h"
#include "preload/recorder/companion.h"
#include "preload/recorder/writer.h"

#define SW_PYTHON_FRAMES 128u			  /* Python frames kept a stack, the innermost */
#define SW_PYTHON_LINKS	 (SW_PYTHON_FRAMES + 64u) /* frames walked, those of the interpreter itself included */

struct sw_python {
	struct sw_python_layout at;
	struct sw_python_types types;
	const char *runtime;
	void *(*thread_state)(void); /* PyGILState_GetThisThreadState */
	const struct sw_companion *recorder;
	const char *notice; /* to be written when a call is recorded next */
	bool several;	    /* interpreters: reported once */
	bool sound;	    /* a whole chain was read, and was what the layout says */
	/*
	 * The first thread of the process.  Its frames may be read by other threads while it waits for them: its stack,
	 * and the first chunk of its frames, stay where they are until Python ends.
	 */
	struct sw_python_main {
		int process;
		const char *thread;		    /* its thread state; NULL: not known yet */
		const char *frames, *end_of_frames; /* the first chunk */
		const char *stack, *end_of_stack;   /* none of it is unmapped */
	} main;
};
extern struct sw_python sw_python;

/* Joins the calling thread's Python frames with its native stack; returns the id of both, or `native`. */
typedef uint32_t sw_python_join(struct sw_writer *w, uint32_t native);
/* Is the calling thread inside of the function of --capture? */
bool sw_python_inside(void);
/* The calling thread's innermost frame; NULL: none, or none that may be read. */
const char *sw_python_innermost(void);

/* In its place: writes sw_python.notice, once, and is called no more. */
sw_python_join sw_python_refuse;

/* ---- join.c ----------------------------------------------------------------------------------------------------- */

/* A link of a chain.  Both as they stand in the frame; 3.11's flag is bit 0 of `code`. */
struct sw_python_link {
	uint64_t code, instruction;
};

/* In the arena, one after the other. */
struct sw_python_chain {
	uint32_t links; /* 0: dropped */
	uint32_t frames;
	uint32_t bytes;	      /* of it in the arena */
	uint32_t serial;      /* of this content */
	uint32_t oldest_code; /* its lowest id */
	bool waiting;	      /* frames of the first thread, for a thread without any */
	bool cut;	      /* the chain has more links than these */
	bool deeper;	      /* there are more frames than these */
	uint64_t hash;
	uint64_t codes;		      /* a bit or two for each code object in it */
	struct sw_python_chain *next; /* what came after it last time */
	struct sw_python_link link[]; /* then struct sw_python_frame each, innermost first */
};

static inline const struct sw_python_frame *sw_python_frames(const struct sw_python_chain *chain)
{
	return (const struct sw_python_frame *)(const void *)(chain->link + chain->links);
}

/* When one of them is full, all chains are dropped: about 8000 of 20 frames fit.  What torch.compile generates has a
   line for each launch. */
#define SW_PYTHON_ARENA (4u << 20)
#define SW_PYTHON_SLOTS 16384u /* powers of two */
#define SW_PYTHON_JOINS 8192u
#define SW_PYTHON_CODES 4096u
#define SW_PYTHON_LINES 8192u

struct sw_python_stacks {
	struct sw_python_chain *last;
	uint64_t freed; /* ends of code objects that were taken into account */
	uint32_t serials, reads;
	uint32_t chains, used;		/* how many; bytes of the arena */
	uint32_t slot[SW_PYTHON_SLOTS]; /* by hash: 1 + place in the arena in units of 8 bytes; 0: free */
	struct sw_python_joined {
		uint64_t key; /* native stack, serial of the chain */
		uint32_t id;
	} joined[SW_PYTHON_JOINS];
	struct sw_python_code {
		const void *code; /* NULL: free */
		struct sw_python_table table;
		uint32_t id;   /* PYTHON_CODE; 0: code of the interpreter itself */
		uint32_t read; /* how many were read until then: no other has this number */
		uint32_t first_line;
		struct sw_python_entry last;
		bool engine; /* PyTorch's function that waits for a backward pass */
	} code[SW_PYTHON_CODES];
	struct sw_python_known_line {
		uint64_t instruction;
		uint32_t read, line; /* of the code; 0: free */
	} line[SW_PYTHON_LINES];
	struct sw_intern code_ids;
	struct sw_python_link walked[SW_PYTHON_LINKS];	/* the chain looked for */
	const char *frame[SW_PYTHON_LINKS];		/* where its frames lie */
	struct sw_python_frame found[SW_PYTHON_FRAMES]; /* what it stands for */
	_Alignas(8) char arena[SW_PYTHON_ARENA];
};

static inline struct sw_python_chain *sw_python_chain_at(struct sw_python_stacks *s, uint32_t slot)
{
	return (struct sw_python_chain *)(void *)(s->arena + (size_t)(slot - 1) * 8);
}

/* Ids of a writer that are too old to be referred to are given again (SW_FORMAT_LIVE_IDS). */
#define SW_PYTHON_OLD (SW_FORMAT_LIVE_IDS / 2)

/* ---- join.c ----------------------------------------------------------------------------------------------------- */

/* May other threads read `bytes` there? */
static inline bool sw_python_main_has(const char *at, uint32_t bytes)
{
	const struct sw_python_main *m = &sw_python.main;
	return !((uintptr_t)at & 7) && ((at >= m->frames && at + bytes <= m->end_of_frames) ||
					(at >= m->stack && at + bytes <= m->end_of_stack));
}

#endif
