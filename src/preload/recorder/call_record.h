/* SPDX-License-Identifier: Apache-2.0 */
/* The second half of the path of every call: its record.  See recorder.h for what it promises. */
#ifndef SW_PRELOAD_RECORDER_CALL_RECORD_H
#define SW_PRELOAD_RECORDER_CALL_RECORD_H

#include "preload/recorder/call_begin.h"

/* Is the writer of the call still the thread's?  Not in a child that was forked inside the call, nor after an exit. */
static inline bool sw_call_usable(const struct sw_thread *t, const struct sw_call *call)
{
	return t->writer == call->writer && sw_process_state() != SW_STATE_FRESH;
}

typedef uint64_t __attribute__((may_alias)) sw_rec_word;

/* Word by word: a header that is put together in memory and copied from there in larger pieces waits until the pieces
   have left the processor's store buffer, behind everything before them. */
static inline __attribute__((always_inline)) void sw_call_number(struct sw_call *call, struct sw_writer *w,
								 struct sw_rec *r, enum sw_rec_kind kind,
								 uint32_t bytes, uint16_t flags)
{
	_Static_assert(sizeof *r == 4 * sizeof(sw_rec_word), "all of the header");
	const uint64_t seq = sw_sequence_next(), t0 = call->t0, stack = (uint64_t)call->stack << 32;
	const uint64_t head = (uint64_t)(call->what | (uint32_t)flags << 16) << 32 | (bytes / 8) << 16 |
			      (uint32_t)call->ctx << 8 | kind;
	sw_rec_word *to = (sw_rec_word *)r;
	call->seq = seq;
	call->rec = r;
	call->kind = (uint8_t)kind;
	if (flags & SW_RF_PENDING)
		w->pending = r;
	to[0] = head;
	to[1] = seq & 0xffffffffffff;
	to[2] = t0;
	to[3] = stack;
}

/*
 * sw_call_record() and sw_call_publish() of a record with at most three words after its header.  False: something else
 * is due, they do it.
 */
static inline __attribute__((always_inline)) bool sw_call_write(struct sw_call *call, enum sw_rec_kind kind,
								uint32_t words, uint64_t a, uint64_t b, uint64_t c)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = call->writer;
	const uint32_t bytes = (uint32_t)sizeof(struct sw_rec) + words * 8;
	if (__builtin_expect(!sw_call_usable(t, call) || t->busy, 0))
		return false;
	sw_thread_busy(t, 1);
	const uint32_t at = w->at, next = at + bytes;
	if (__builtin_expect(w->open || w->held || sw_companion_hooked() || next > w->end, 0)) {
		sw_thread_busy(t, 0);
		return false;
	}
	struct sw_chunk_header *h = (struct sw_chunk_header *)w->base;
	struct sw_rec *r = (struct sw_rec *)(w->base + at);
	sw_rec_word *to = (sw_rec_word *)(r + 1);
	w->at = next;
	sw_call_number(call, w, r, kind, bytes, SW_RF_PENDING);
	to[0] = a;
	if (words > 1)
		to[1] = b;
	if (words > 2)
		to[2] = c;
	__atomic_store_n(&h->committed, next - (uint32_t)sizeof *h, __ATOMIC_RELEASE);
	sw_thread_busy(t, 0);
	return true;
}

#endif
