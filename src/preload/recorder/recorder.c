/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of every call.  See recorder.h for what each function promises.
 *
 * What nearly every call does is straight-line code that calls nothing but the stack's look-up; all else is in
 * functions that are called last, so that the path needs neither a frame nor saved registers.
 */
#ifndef __clang__
#pragma GCC optimize("omit-frame-pointer", "no-tree-slp-vectorize")
#endif

#include "preload/recorder/recorder.h"

#include <signal.h>
#include <string.h>

#include "preload/recorder/call_record.h"
#include "preload/recorder/window.h"

/* Does the thread run on the alternate stack of a signal handler? */
static bool on_signal_stack(void)
{
	stack_t s;
	return sigaltstack(NULL, &s) == 0 && (s.ss_flags & SS_ONSTACK);
}

/*
 * Is the call that set the guard still running?  Not when it was left by longjmp, an exception or cancellation: then
 * we stand at the same depth of the stack or higher up, or its return address has been overwritten.
 */
static bool guard_holds(const struct sw_thread *t, const void *frame)
{
	if (on_signal_stack())
		return true; /* depths can't be compared: the safe answer */
	return (const char *)frame < (const char *)t->guard && ((void *const *)t->guard)[1] == t->guard_return;
}

/* Does the work that is due before a call is recorded; false: pass through. */
static __attribute__((noinline, cold)) bool enter_slow(struct sw_thread *t, void *frame)
{
	if (!sw_process_on() && t->busy)
		return false; /* a call that our own start-up caused, or a signal handler during it */
	if (!sw_process_on() && !sw_process_ready(true)) {
		if (sw_process_state() == SW_STATE_FULL && !t->guard)
			sw_writer_lost(t->writer, 0, sw_process_loss());
		return false;
	}
	if (t->guard) {
		if (guard_holds(t, frame)) {
			if (t->busy || on_signal_stack())
				sw_writer_lost(t->writer, 0, SW_LOSS_REENTERED);
			else
				sw_process_nested();
			return false;
		}
		if (t->writer)
			sw_writer_abandon(t->writer); /* before the guard goes: this may be jumped out of as well */
		sw_thread_busy(t, 0);
		t->guard = NULL;
	}
	if (!t->writer) {
		t->guard = frame;
		t->guard_return = ((void **)frame)[1];
		sw_thread_busy(t, 1);
		bool attached = sw_writer_attach(t);
		sw_thread_busy(t, 0);
		t->guard = NULL;
		return attached;
	}
	return true;
}

/* The slow way into a call: first call of a thread, nested calls, states in which a window has to be looked at. */
__attribute__((noinline, cold)) bool sw_call_enter_late(struct sw_call *call, uint32_t what, void *frame)
{
	if (!enter_slow(&sw_thread, frame))
		return false;
	if (sw_process_state() == SW_STATE_ON_ASKED)
		sw_window_ask();
	if (sw_process_state() == SW_STATE_TURN)
		sw_window_turn();
	if (sw_process_state() == SW_STATE_PAUSED && sw_window_leaves_out((uint16_t)what))
		return false;
	sw_call_begin(call, what, frame);
	return true;
}

/* Begins a recorded call; false: it is not recorded.  The common case is inline, all else is in
   sw_call_enter_late(). */
bool sw_call_enter(struct sw_call *call, uint16_t api, uint16_t flags, void *frame)
{
	if (!sw_call_simple())
		return sw_call_enter_late(call, SW_CALL_WHAT(api, flags), frame);
	sw_call_begin(call, SW_CALL_WHAT(api, flags), frame);
	return true;
}

/* sw_call_record() where the chunk is full, the record is a copy's, or nothing can be written (then it is counted as
   lost).  `flags`: SW_RF_PENDING while the call has not returned. */
static __attribute__((noinline)) struct sw_rec *reserve_slow(struct sw_call *call, enum sw_rec_kind kind, size_t bytes,
							     uint16_t flags)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = call->writer;
	struct sw_rec *r = NULL;
	const uint32_t rounded = (uint32_t)(bytes + 7) & ~7u;
	if (!sw_call_usable(t, call) || t->busy)
		return NULL;
	sw_thread_busy(t, 1);
	/* The content of a copy may follow: else what is left of a chunk would do for many copies, and for none of
	   their tables. */
	const uint32_t more = kind == SW_REC_COPY ? SW_COPY_CONTENT_MAX : 0;
	if (bytes <= SW_REC_MAX_BYTES)
		r = sw_writer_reserve(w, rounded + more);
	if (r) {
		w->at -= more;
		sw_call_number(call, w, r, kind, rounded, flags);
	} else {
		sw_writer_lost(w, rounded, sw_process_loss());
	}
	sw_thread_busy(t, 0);
	return r;
}

/* Makes the call's record.  The fast path takes room from the thread's own chunk, where nobody else writes. */
SW_OFTEN void *sw_call_record(struct sw_call *call, enum sw_rec_kind kind, size_t bytes)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = call->writer;
	const uint32_t rounded = (uint32_t)(bytes + 7) & ~7u;
	if (__builtin_expect(!sw_call_usable(t, call) || t->busy || bytes > SW_REC_MAX_BYTES || w->at > w->end ||
				     w->end - w->at < rounded || kind == SW_REC_COPY,
			     0))
		return reserve_slow(call, kind, bytes, SW_RF_PENDING);
	struct sw_rec *r = (struct sw_rec *)(w->base + w->at);
	sw_thread_busy(t, 1);
	w->at += rounded;
	w->open++;
	sw_call_number(call, w, r, kind, rounded, SW_RF_PENDING);
	sw_thread_busy(t, 0);
	return r;
}

/* Duration into a record; in units of 1024 ticks when it would not fit. Returns the flag for that. */
static inline uint16_t set_duration(struct sw_rec *r, uint64_t ticks)
{
	if (__builtin_expect(ticks <= UINT32_MAX, 1)) {
		r->dur = (uint32_t)ticks;
		return 0;
	}
	ticks >>= 10;
	r->dur = ticks <= UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
	return SW_RF_DUR_1024;
}

/* Makes the record of a call that has returned, where its result decides what the record says. */
void *sw_call_record_after(struct sw_call *call, enum sw_rec_kind kind, size_t bytes, int status)
{
	uint64_t now = sw_clock_ticks();
	struct sw_rec *r = reserve_slow(call, kind, bytes, 0);
	if (r) {
		r->status = (uint16_t)status;
		r->flags |= set_duration(r, now - call->t0);
	}
	return r;
}

/* May the word be an address of a device?  These are from 4 GiB on, of 48 bits (measured: from 0x302000000, and
   0x7f...). */
static bool may_be_address(uint64_t word)
{
	return word >> 32 && !(word >> 48);
}

/* Copies host memory by a system call, which fails where it cannot be read, instead of raising SIGSEGV.  True: some
   word may be an address, or it is one word. */
bool sw_copy_pointers(uint64_t *to, const void *from, uint32_t bytes)
{
	const bool whole = sw_sys_copy(to, from, bytes) == (long)bytes;
	bool found = whole && bytes <= sizeof *to; /* a flag */
	for (uint32_t i = 0; i < bytes / 8 && whole; i++)
		found |= may_be_address(to[i]);
	return found;
}

/* Appends bytes of the program's memory to the last record, if they may be addresses: they are copied to where the
   record would continue, and it grows by them only then. */
bool sw_record_pointers(struct sw_rec *r, const void *from, uint32_t bytes)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = t->writer;
	const uint32_t rounded = (bytes + 7) & ~7u;
	uint64_t *to = (uint64_t *)(void *)r + r->words;
	if (!w || t->busy || (uint8_t *)to != w->base + w->at || w->at > w->end || w->end - w->at < rounded)
		return false;
	sw_thread_busy(t, 1);
	const bool found = sw_copy_pointers(to, from, bytes);
	if (found) {
		w->at += rounded;
		r->words = (uint16_t)(r->words + rounded / 8);
	} else {
		memset(to, 0, rounded); /* as the next record expects it */
	}
	sw_thread_busy(t, 0);
	return found;
}

/* sw_call_publish() where records nest or a companion wants to see the record; the companion is told of a lost one,
   too. */
static __attribute__((noinline, cold)) void publish_slow(struct sw_call *call)
{
	if (call->rec && sw_call_usable(&sw_thread, call)) {
		sw_thread_busy(&sw_thread, 1);
		sw_writer_commit(call->writer);
		sw_thread_busy(&sw_thread, 0);
	}
	if (sw_companion_hooked())
		sw_companion_hooks_now()->published(call->rec);
}

/* Makes the record visible: readers look at `committed`, which is stored after the record is whole. */
SW_OFTEN void sw_call_publish(struct sw_call *call)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = call->writer;
	if (__builtin_expect(!call->rec || !sw_call_usable(t, call) || w->open > 1 || w->held || sw_companion_hooked(),
			     0)) {
		publish_slow(call);
		return;
	}
	struct sw_chunk_header *h = (struct sw_chunk_header *)w->base;
	sw_thread_busy(t, 1);
	w->open = 0;
	__atomic_store_n(&h->committed, w->at - (uint32_t)sizeof *h, __ATOMIC_RELEASE);
	sw_thread_busy(t, 0);
}

/* Patches the pending record: duration and status first, then the flag, so that a reader that sees the flag cleared
   sees both. */
static void patch_pending(struct sw_writer *w, uint64_t t0, uint64_t now, int status)
{
	struct sw_rec *r = w->pending;
	if (r) {
		r->status = (uint16_t)status;
		uint16_t flags = (uint16_t)((r->flags & ~SW_RF_PENDING) | set_duration(r, now - t0));
		__atomic_store_n(&r->flags, flags, __ATOMIC_RELEASE);
		w->pending = NULL;
	}
	if (__builtin_expect(w->held != NULL, 0))
		sw_writer_settle(w);
}

/* Writes the END record of a call whose BEGIN record was written before other calls of its thread (a host function, a
   callback). */
static void write_end(const struct sw_call *call, struct sw_writer *w, uint64_t now, int status)
{
	struct sw_rec_end *end = (struct sw_rec_end *)sw_writer_reserve(w, sizeof *end);
	if (!end) {
		sw_writer_lost(w, sizeof *end, sw_process_loss());
		return;
	}
	uint64_t seq = sw_sequence_next();
	end->h = (struct sw_rec){
		.kind = call->kind,
		.ctx = call->ctx,
		.words = sizeof *end / 8,
		.api = call->api,
		.flags = (uint16_t)((call->flags & ~SW_RF_BEGIN) | SW_RF_END),
		.seq_lo = (uint32_t)seq,
		.seq_hi = (uint16_t)(seq >> 32),
		.status = (uint16_t)status,
		.ticks = now,
		.stack = call->stack,
	};
	end->h.flags |= set_duration(&end->h, now - call->t0);
	end->begin_seq = call->seq;
	sw_writer_commit(w);
}

#define NOT_READY 600 /* CUDA_ERROR_NOT_READY */

/* Is the status an answer, not a failure?  "Not ready" is one to a query. */
static bool is_answer(const struct sw_call *call, int status)
{
	return status == NOT_READY && call->rec && call->kind == SW_REC_QUERY;
}

/* sw_call_leave() in full: counts failures, completes the pending record, writes END if asked, calls the companion, and
   gives up the writer of a thread that is ending. */
static __attribute__((noinline)) void leave(struct sw_call *call, int status, bool end)
{
	struct sw_thread *t = &sw_thread;
	if (__builtin_expect(!sw_call_usable(t, call), 0)) {
		t->guard = NULL; /* a fork child that came out of the call: the record belongs to the parent */
		return;
	}
	struct sw_writer *w = t->writer;
	sw_thread_busy(t, 1);
	/* A record that was written after its call has its times already: the counter is not read a third time. */
	uint64_t now = w->pending || end ? sw_clock_ticks() : 0;
	if (__builtin_expect(status != 0, 0) && !is_answer(call, status))
		w->failed[call->api < SW_API_IDS ? call->api : 0]++;
	patch_pending(w, call->t0, now, status);
	if (end && call->rec)
		write_end(call, w, now, status);
	if (__builtin_expect(sw_companion_hooked(), 0)) {
		sw_thread_busy(t, 0); /* the hook may describe something, as in sw_call_publish() */
		sw_companion_hooks_now()->left(status);
		sw_thread_busy(t, 1);
	}
	t->guard = NULL;
	if (__builtin_expect(t->ending, 0))
		sw_writer_release(t);
	sw_thread_busy(t, 0);
}

/* The BEGIN record has all that it will ever have; its END is reported by sw_call_end(). */
void sw_call_pause(struct sw_call *call)
{
	struct sw_thread *t = &sw_thread;
	if (!sw_call_usable(t, call))
		return;
	sw_thread_busy(t, 1);
	patch_pending(t->writer, call->t0, call->t0, 0);
	t->functions++;
	t->guard = NULL;
	sw_thread_busy(t, 0);
}

/* The program's function that the driver called inside of this call has returned. */
void sw_call_resume(struct sw_call *call)
{
	struct sw_thread *t = &sw_thread;
	if (sw_call_usable(t, call) && t->functions)
		t->functions--;
}

/* Around a callback of the program that the driver calls inside of a call: its own calls are recorded. */
void sw_thread_pause(struct sw_pause *pause)
{
	struct sw_thread *t = &sw_thread;
	*pause = (struct sw_pause){t->guard, t->guard_return};
	if (!t->guard)
		return;
	sw_thread_busy(t, 1);
	if (t->writer && t->writer->pending)
		patch_pending(t->writer, 0, 0, 0);
	t->guard = NULL;
	sw_thread_busy(t, 0);
}

/* The call that was paused goes on; see sw_thread_pause(). */
void sw_thread_resume(const struct sw_pause *pause)
{
	struct sw_thread *t = &sw_thread;
	if (!pause->guard)
		return;
	sw_thread_busy(t, 1);
	t->guard = pause->guard;
	t->guard_return = pause->guard_return;
	sw_thread_busy(t, 0);
}

/* Is the thread inside of a recorded call?  A guard that was left by longjmp() is none: the frame must lie below it,
   with the return address still there. */
bool sw_call_inside(const void *frame)
{
	const struct sw_thread *t = &sw_thread;
	if (!t->guard)
		return false;
	return ((const char *)frame < (const char *)t->guard && ((void *const *)t->guard)[1] == t->guard_return) ||
	       on_signal_stack();
}

/* Records a step by which the host's threads are ordered: of a mutex, a thread's start or end and the like. */
bool sw_host_sync(enum sw_thread_op op, enum sw_through kind, uint64_t object)
{
	if ((op == SW_THREAD_ACQUIRE || op == SW_THREAD_RELEASE) && sw_window_paused())
		return true; /* a CUT orders all threads */
	struct sw_rec_host_sync *r = sw_describe(SW_REC_HOST_SYNC, sizeof *r, true);
	if (r) {
		r->object = object;
		r->op = op;
		r->kind = kind;
		sw_describe_done(r);
	} else if (sw_recording()) {
		sw_writer_lost(sw_thread.writer, 0, SW_LOSS_REENTERED);
	}
	return r != NULL;
}

struct sw_thread *sw_recorder_thread(void)
{
	return &sw_thread;
}

/* Ends a call.  The fast path writes the duration into its record, which no reader takes for complete before. */
SW_OFTEN void sw_call_leave(struct sw_call *call, int status)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = call->writer;
	struct sw_rec *r = w->pending;
	if (__builtin_expect(!sw_call_usable(t, call) || !r || status || w->held || sw_companion_hooked() ||
				     t->ending || !sw_clock_is_tsc,
			     0)) {
		leave(call, status, false);
		return;
	}
	const uint64_t took = sw_clock_ticks() - call->t0;
	if (__builtin_expect(took > UINT32_MAX, 0)) {
		leave(call, status, false);
		return;
	}
	sw_thread_busy(t, 1);
	r->dur = (uint32_t)took; /* the status is 0 */
	__atomic_store_n(&r->flags, (uint16_t)(r->flags & ~SW_RF_PENDING), __ATOMIC_RELEASE);
	w->pending = NULL;
	t->guard = NULL;
	sw_thread_busy(t, 0);
}

/* Ends a call that has two records, of its beginning and its end, since it may wait. */
void sw_call_end(struct sw_call *call, int status)
{
	leave(call, status, true);
}

/* Makes a record that is no call's; also does what a first call would: a writer for the thread, a window's change that
   is due. */
void *sw_describe(enum sw_rec_kind kind, size_t bytes, bool ordered)
{
	struct sw_thread *t = &sw_thread;
	if ((!sw_process_on() && !sw_process_ready(false)) || t->busy)
		return NULL;
	if (__builtin_expect(sw_process_state() == SW_STATE_TURN, 0) && t->writer)
		sw_window_turn();
	sw_thread_busy(t, 1);
	struct sw_rec *r = NULL;
	if (t->writer || sw_writer_attach(t)) {
		r = sw_writer_describe(t->writer, kind, bytes, ordered);
		if (r)
			r->ctx = t->ctx;
		else
			sw_writer_lost(t->writer, (uint32_t)bytes, sw_process_loss());
		if (__builtin_expect(t->ending, 0) && !r && !t->guard)
			sw_writer_release(t);
	}
	sw_thread_busy(t, 0);
	return r;
}

/* Publishes a record that sw_describe() made, and shows it to companions. */
void sw_describe_done(void *rec)
{
	struct sw_thread *t = &sw_thread;
	if (!rec || !t->writer || sw_process_state() == SW_STATE_FRESH)
		return;
	sw_thread_busy(t, 1);
	sw_writer_commit(t->writer);
	sw_thread_busy(t, 0);
	if (__builtin_expect(sw_companion_hooked(), 0))
		sw_companion_hooks_now()->published(rec);
	if (__builtin_expect(t->ending, 0) && !t->guard) {
		sw_thread_busy(t, 1);
		sw_writer_release(t);
		sw_thread_busy(t, 0);
	}
}

/* Where the thread remembers the id of its current context. */
uint8_t *sw_thread_context(void)
{
	return &sw_thread.ctx;
}

/* Is there a trace, and is it written to? */
bool sw_recording(void)
{
	return sw_state_records(sw_process_state());
}
