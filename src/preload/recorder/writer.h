/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer: the buffer of one thread, its chunk and its dictionaries.
 *
 * Used by its thread alone.  When the thread ends the writer goes to a list, and the next new thread inherits it with
 * everything it has interned, so that a program with many short threads needs as many writers as it has threads at a
 * time.
 */
#ifndef SW_PRELOAD_RECORDER_WRITER_H
#define SW_PRELOAD_RECORDER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/recorder/counted.h"
#include "preload/recorder/intern.h"
#include "preload/recorder/trace.h"
#include "syncwatch/format.h"

#define SW_API_IDS	2048u /* calls of entry points above are counted under 0 */
#define SW_LAUNCH_WORDS ((sizeof(struct sw_rec_launch) - sizeof(struct sw_rec)) / 8)
#define SW_LAUNCH_MEMOS 128u
#define SW_LAUNCH_SHORT 1024u /* bytes of the parameter blocks of nearly all kernels */
#define SW_LAUNCH_LONG	64u   /* longer ones that are remembered: of each kernel those of several launches in turn */
/* The changes of a block are relative to the one before, and so on: a whole one comes at least once in so many chunks,
   so that a chunk that is lost does not make all later ones unknown. */
#define SW_LAUNCH_CHAIN 8u

struct sw_stack_cache;
struct sw_python_stacks;

/* A parameter block that the thread wrote. */
struct sw_last_block {
	uint32_t params, bytes; /* its number, 0: none */
	uint32_t whole;		/* index of the chunk with the block that its changes begin with */
};

struct sw_writer {
	uint8_t *base;		  /* chunk, NULL: none yet */
	uint32_t at, end;	  /* next free byte, first byte that records must not reach */
	uint32_t open;		  /* records reserved and not yet published */
	volatile bool moving;	  /* between two chunks: nothing above can be relied on */
	uint32_t index;		  /* of the chunk within the writer */
	uint8_t *held;		  /* an earlier chunk that still holds an open or pending record */
	uint32_t held_at;	  /* what to publish of it, 0: nothing */
	struct sw_rec *pending;	  /* record of the call in progress */
	volatile uint32_t missed; /* single records lost since the last LOSS record: signal handlers, oversized ones */
	uint32_t missed_why;	  /* enum sw_loss_why of the first */
	uint64_t missed_seq;	  /* since when */
	struct sw_rec_loss *loss; /* written when the trace became full */
	uint32_t id;
	uint32_t tid;		     /* of the thread that uses it, 0: none */
	uint32_t modules;	     /* generation of the module map that the stacks below were interned under */
	struct sw_writer *next_free; /* list of writers without a thread */
	struct sw_writer *next;	     /* list of all writers */
	struct sw_stack_cache *stacks;
	struct sw_python_stacks *python; /* of libsyncwatch-python.so */
	struct sw_intern stack_ids;
	struct sw_intern launch_ids; /* of launches and parameter blocks */
	uint32_t chunk_ids;	     /* the last one of those when the chunk was begun */
	_Alignas(64) struct sw_last_launch {
		/* The last launch of a kernel as struct sw_launch_tail has it, and its number, 0: none; then the
		   kernel's last new parameter block of those that are short. */
		uint64_t launch[SW_LAUNCH_WORDS];
		uint32_t like;
		uint32_t news; /* blocks that were all new, the last ones in a row */
		struct sw_last_block last;
		uint64_t block[SW_LAUNCH_SHORT / 8]; /* of it */
	} memos[SW_LAUNCH_MEMOS];
	struct sw_long_block {
		uint32_t function;
		struct sw_last_block last;
	} long_blocks[SW_LAUNCH_LONG];
	char *long_data; /* SW_LAUNCH_BLOCK_MAX bytes for each; NULL: none was needed so far */
	struct sw_counts_of_calls counted;
	uint64_t left_out; /* calls outside of all windows */
	uint32_t failed[SW_API_IDS];
	uint64_t calls[SW_API_IDS];
};

/* The calling thread, as the recorder sees it. */
struct sw_thread {
	struct sw_writer *writer;
	void *guard;	       /* frame of the wrapper of the call in progress, NULL: none */
	void *guard_return;    /* its return address, to recognise a frame that was left (longjmp) */
	volatile uint8_t busy; /* the writer is being changed: a signal handler must keep off */
	uint8_t ctx;	       /* sw_thread_context() */
	uint8_t functions; /* host functions of the program that run on it: its calls are not nested in one of CUDA */
	uint8_t ending;	   /* its destructors run: a writer that it takes now is released after each call */
	uint32_t number;   /* in the trace, 0: none yet; kept by a thread that gets another writer */
	uint64_t calls;	   /* recorded calls begun */
	uint64_t born;	   /* the creation that it came from (SW_THREAD_CREATE), until it has recorded it; 0: unknown */
};
extern __thread struct sw_thread sw_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

_Static_assert(sizeof(struct sw_thread) == 48, "small: it is initial-exec TLS");

/* Gives the calling thread a writer and announces the thread. False: no memory or no chunk (counted). */
bool sw_writer_attach(struct sw_thread *thread);

/* When a thread ends, after its call returned: writes what its writer still counts, and lets another thread use the
   writer. */
void sw_writer_release(struct sw_thread *thread);

/* Makes a pthread key by which the ends of threads become known.  Once a process. */
void sw_writer_start(void);

/* How many writers there are: each has a chunk. */
uint32_t sw_writer_count(void);

/* Every writer ever made in this process. */
struct sw_writer *sw_writer_all(void);

/* In a fork child: forgets all writers, which write to the parent's trace. */
void sw_writer_forget(void);

/* Room for a record of `bytes` (a multiple of 8) when the chunk is too full. NULL: lost, not yet counted. */
struct sw_rec *sw_writer_reserve_slow(struct sw_writer *w, uint32_t bytes);

/* Reserves `bytes` (a multiple of 8, at most SW_REC_MAX_BYTES): zeroed. NULL: lost, not yet counted. */
static inline struct sw_rec *sw_writer_reserve(struct sw_writer *w, uint32_t bytes)
{
	if (__builtin_expect(bytes > w->end - w->at, 0) || __builtin_expect(w->at > w->end, 0))
		return sw_writer_reserve_slow(w, bytes);
	struct sw_rec *r = (struct sw_rec *)(w->base + w->at);
	w->at += bytes;
	w->open++;
	return r;
}

/* Publishes what is reserved once no reservation is open. */
void sw_writer_commit_held(struct sw_writer *w);
static inline void sw_writer_commit(struct sw_writer *w)
{
	if (w->open && --w->open)
		return;
	if (__builtin_expect(w->held != NULL, 0))
		sw_writer_commit_held(w);
	struct sw_chunk_header *h = (struct sw_chunk_header *)w->base;
	__atomic_store_n(&h->committed, w->at - (uint32_t)sizeof *h, __ATOMIC_RELEASE);
}

/* When the call in progress has ended: passes an earlier chunk, which was held back since the call's record lies in
   it, to the helper. */
void sw_writer_settle(struct sw_writer *w);

/* The call in progress was left by longjmp or cancellation, perhaps inside the recorder: drops what it had reserved
   and makes the writer usable for the next call. */
void sw_writer_abandon(struct sw_writer *w);

/* Forgets what LAUNCH records defined (ids, parameters), where such a record was lost: later launches define it
   again. */
void sw_writer_forget_launches(struct sw_writer *w);

/* Writes the LOSS record for single records lost since the last one. */
void sw_writer_write_missed(struct sw_writer *w);

/* Counts a lost record; `w` NULL: of a thread without a writer. A signal handler may call it at any point. */
void sw_writer_lost(struct sw_writer *w, uint32_t bytes, enum sw_loss_why why);

/* A record of ours outside a call: header filled, `seq` taken if wanted. Publish with sw_writer_commit(). */
struct sw_rec *sw_writer_describe(struct sw_writer *w, enum sw_rec_kind kind, size_t bytes, bool ordered);

#endif
