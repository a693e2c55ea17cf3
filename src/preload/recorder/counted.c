/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/counted.h"

#include <string.h>

#include "base/hash.h"
#include "preload/recorder/call_record.h"

static _Atomic uint32_t unloads;

#define NOT_READY 600 /* CUDA_ERROR_NOT_READY */

/* Nanoseconds in ticks of the trace's clock; divided in two steps, so that the product stays within 64 bits. */
static uint64_t ticks_of(uint32_t ns)
{
	return sw_trace.header->ticks_per_second / 1000000u * ns / 1000u;
}

/* Is the calling thread's writer one that calls can be counted in?  Companions want to see each record, an ending
   thread releases its writer after each call, and what is lost is counted as lost. */
static bool may_count(const struct sw_thread *t, const struct sw_call *call)
{
	const struct sw_writer *w = call->writer;
	return sw_call_usable(t, call) && !t->busy && !t->ending && !sw_companion_hooked() && !w->loss && !w->missed &&
	       !w->held && !w->pending && w->base;
}

/* Keeps where the writer stands: its chunk and the next free byte.  As long as is_at_place() holds, the thread has
   recorded nothing since. */
static void remember_place(struct sw_place_in_trace *place, const struct sw_writer *w)
{
	place->base = w->base;
	place->at = w->at;
}

/* Is the end of the writer's trace still this place, that is, was nothing written since? */
static bool is_at_place(const struct sw_place_in_trace *place, const struct sw_writer *w)
{
	return place->base == w->base && place->at == w->at;
}

/* Keeps of a call what an equal one, which is counted, must share: handle, entry point, stack and device context. */
static void set_question(struct sw_counted_calls *c, const struct sw_call *call, uint64_t handle)
{
	c->handle = handle;
	c->what = call->what;
	c->stack = call->stack;
	c->ctx = call->ctx;
}

/* Counts one more call, with the time that it took. */
static void count_call(struct sw_counted_calls *c, struct sw_writer *w, const struct sw_call *call, uint64_t now)
{
	if (!c->calls++)
		c->first = call->t0;
	c->inside += now - call->t0;
	w->end = 0; /* the next record takes the slow path, which flushes */
}

/* A record for what is counted, with `bytes` before the count. NULL: lost. */
static void *write_counted(struct sw_writer *w, struct sw_counted_calls *c, enum sw_rec_kind kind, size_t bytes,
			   uint64_t first, uint64_t last)
{
	const struct sw_counted_calls was = *c;
	const uint64_t took = last - first;
	c->calls = c->inside = 0; /* room for the record may take the slow path as well */
	struct sw_rec *r = sw_writer_describe(w, kind, bytes + sizeof(struct sw_rec_calls), true);
	if (!r) {
		sw_writer_lost(w, (uint32_t)bytes, sw_process_loss());
		return NULL;
	}
	struct sw_rec_calls *calls = (struct sw_rec_calls *)(void *)((uint8_t *)r + bytes);
	r->ctx = was.ctx;
	r->api = (uint16_t)was.what;
	r->flags = (uint16_t)(was.what >> 16 | (took > UINT32_MAX ? SW_RF_DUR_1024 : 0));
	r->ticks = first;
	r->dur = (uint32_t)(took > UINT32_MAX ? took >> 10 : took);
	r->stack = was.stack;
	calls->calls = was.calls;
	calls->inside = was.inside;
	return r;
}

/* Ends a call that was counted, without a record of its own.  True, for its callers to return: it has ended. */
static bool end_call(struct sw_thread *t)
{
	t->guard = NULL;
	sw_thread_busy(t, 0);
	return true;
}

/* ---- polls ------------------------------------------------------------------------------------------------------- */

/* Writes one record for the polls (queries that returned "not ready") that were counted: a QUERY that spans all of
   them. */
static void write_polls(struct sw_writer *w)
{
	struct sw_counts_of_calls *counts = &w->counted;
	struct sw_rec_sync *r =
		write_counted(w, &counts->polls, SW_REC_QUERY, sizeof *r, counts->polls.first, counts->polled_last);
	if (r) {
		r->h.status = NOT_READY;
		r->what = counts->polled;
		r->handle = counts->polls.handle;
		sw_writer_commit(w);
	}
	remember_place(&counts->polled_at, w);
}

/* Does this call ask the same as the last poll (same object, place in the program and device), with no record of the
   thread and at most 0.1 s in between?  Only such a poll may be counted instead of recorded. */
static bool is_same_poll(const struct sw_call *call, enum sw_sync_what what, uint64_t handle)
{
	const struct sw_writer *w = call->writer;
	const struct sw_counted_calls *c = &w->counted.polls;
	return w->counted.polled == what && c->handle == handle && c->what == call->what && c->stack == call->stack &&
	       c->ctx == call->ctx && is_at_place(&w->counted.polled_at, w) &&
	       call->t0 - w->counted.polled_last <= ticks_of(SW_COUNTED_MOST_NS);
}

/* Counts a "not ready" that repeats the last one, instead of recording it.  Polls in quick succession and polls with
   pauses between them are counted apart, so that the report can tell waiting from asking now and then. */
bool sw_counted_poll(struct sw_call *call, enum sw_sync_what what, uint64_t handle)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = call->writer;
	if (!may_count(t, call) || !is_same_poll(call, what, handle))
		return false;
	struct sw_counts_of_calls *counts = &w->counted;
	const bool apart = call->t0 - counts->polled_last > ticks_of(SW_COUNTED_POLL_GAP_NS);
	sw_thread_busy(t, 1);
	if (counts->polls.calls && apart != counts->apart)
		write_polls(w);
	counts->apart = apart;
	counts->polled_last = sw_clock_ticks();
	count_call(&counts->polls, w, call, counts->polled_last);
	if (counts->polled_last - counts->polls.first > ticks_of(SW_COUNTED_MOST_NS))
		write_polls(w);
	return end_call(t);
}

/* Remembers a poll that was recorded: those like it that follow are counted. */
void sw_counted_poll_recorded(const struct sw_call *call, enum sw_sync_what what, uint64_t handle)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = call->writer;
	if (!sw_call_usable(t, call) || t->busy || !call->rec)
		return;
	sw_thread_busy(t, 1);
	set_question(&w->counted.polls, call, handle);
	w->counted.polled_last = sw_clock_ticks();
	w->counted.polled = what;
	remember_place(&w->counted.polled_at, w);
	sw_thread_busy(t, 0);
}

/* ---- questions about kernels ------------------------------------------------------------------------------------- */

/* A 32-bit number of a question (entry point and kernel); never 0, which marks a free place.  Two questions share a
   number once in 4 billion; the second then counts as asked before. */
static uint32_t number_of(const struct sw_call *call, uint64_t kernel)
{
	return (uint32_t)(sw_hash_u64(kernel ^ (uint64_t)call->api << 48) >> 32) | 1;
}

/* Has the thread asked this of the kernel before?  The table has one place for each hash: a kernel that is pushed out
   is recorded again, which does no harm. */
bool sw_counted_knows(const struct sw_call *call, uint64_t kernel)
{
	struct sw_writer *w = call->writer;
	if (!may_count(&sw_thread, call))
		return false;
	const uint32_t now = atomic_load_explicit(&unloads, memory_order_acquire), number = number_of(call, kernel);
	if (w->counted.unloads != now) {
		memset(w->counted.known, 0, sizeof w->counted.known);
		w->counted.unloads = now;
	}
	uint32_t *place = &w->counted.known[(number >> 1) % SW_COUNTED_KERNELS];
	const bool known = *place == number;
	*place = number;
	return known;
}

/* After code was unloaded: handles may mean other kernels, so no question counts as asked before. */
void sw_counted_unloaded(void)
{
	atomic_fetch_add_explicit(&unloads, 1, memory_order_release);
}

/* More records than a thread writes between two questions. */
#define LOOK_MOST 64u

/* Ticks when the last call that the chunk has from `at` on returned; `none`: it has no call; 0: too many records. */
static uint64_t last_return(const struct sw_writer *w, uint32_t at, uint64_t none)
{
	uint64_t last = none;
	for (uint32_t n = 0; at < w->at; n++) {
		const struct sw_rec *r = (const struct sw_rec *)(const void *)(w->base + at);
		const uint64_t units = r->flags & SW_RF_DUR_1024 ? 1024 : 1;
		const uint64_t end = r->ticks + (r->flags & SW_RF_END ? 0 : r->dur * units);
		if (!r->words || n == LOOK_MOST)
			return 0;
		if (r->kind >= SW_REC_LAUNCH && r->kind <= SW_REC_OBJECT && end > last)
			last = end;
		at += r->words * 8u;
	}
	return last;
}

/* Begins another run of questions if something of the thread has been recorded since the last question about a
   kernel. */
static void look_at_trace(struct sw_writer *w)
{
	struct sw_counts_of_calls *counts = &w->counted;
	const struct sw_place_in_trace *was = &counts->asked_at;
	if (is_at_place(was, w))
		return;
	if (was->base == w->base && was->at < w->at)
		counts->silent_since = last_return(w, was->at, counts->silent_since);
	else
		counts->silent_since = last_return(w, sizeof(struct sw_chunk_header), 0);
	counts->last_asked = NULL;
	remember_place(&counts->asked_at, w);
}

/* Writes one record for the questions about kernels (of one entry point) that were counted.  It spans the whole run of
   questions without another record, so that a reader does not take the thread for idle. */
static void write_question(struct sw_writer *w, struct sw_counted_calls *c)
{
	struct sw_counts_of_calls *counts = &w->counted;
	struct sw_rec_code *r;
	counts->last_asked = NULL; /* before room is made for the record, which flushes */
	r = write_counted(w, c, SW_REC_CODE_TOUCH, sizeof *r, counts->run_first, counts->run_last);
	if (r) {
		r->handle = c->handle;
		sw_writer_commit(w);
	}
	counts->silent_since = counts->run_last;
	remember_place(&counts->asked_at, w);
}

/* Has the thread written no call for so long (50 us) that the judge would take it for one that waits? */
static bool is_silent(const struct sw_writer *w, uint64_t now)
{
	return now - w->counted.silent_since > ticks_of(SW_COUNTED_SILENCE_NS);
}

/* The counter of questions by one entry point, or a free one; NULL: all are taken by other entry points. */
static struct sw_counted_calls *find_question_slot(struct sw_counts_of_calls *counts, uint16_t api)
{
	struct sw_counted_calls *c = counts->asked;
	while (c < counts->asked + SW_COUNTED_QUESTIONS && c->what && (uint16_t)c->what != api)
		c++;
	return c < counts->asked + SW_COUNTED_QUESTIONS ? c : NULL;
}

/* Counts a question about a kernel that was asked before.  Counts are written when the thread is silent for a while, or
   too much time is in one. */
bool sw_counted_question(struct sw_call *call, uint64_t kernel)
{
	struct sw_thread *t = &sw_thread;
	struct sw_writer *w = call->writer;
	struct sw_counts_of_calls *counts = &w->counted;
	struct sw_counted_calls *c = find_question_slot(counts, call->api);
	if (!may_count(t, call) || !c)
		return false;
	sw_thread_busy(t, 1);
	const uint64_t now = sw_clock_ticks();
	look_at_trace(w);
	/* A slow one has its own record. */
	if (counts->last_asked && now - call->t0 > ticks_of(SW_COUNTED_SILENCE_NS))
		write_question(w, counts->last_asked);
	if (!counts->last_asked)
		counts->run_first = call->t0;
	counts->last_asked = c;
	counts->run_last = now;
	set_question(c, call, kernel);
	count_call(c, w, call, now);
	if (is_silent(w, now) || now - c->first > ticks_of(SW_COUNTED_MOST_NS))
		write_question(w, c);
	return end_call(t);
}

/* ---- records of the thread --------------------------------------------------------------------------------------- */

/* Writes the counts that must come before the thread's next record. */
void sw_counted_flush(struct sw_writer *w)
{
	struct sw_counts_of_calls *counts = &w->counted;
	if (counts->polls.calls)
		write_polls(w);
	if (counts->last_asked && is_at_place(&counts->asked_at, w) && is_silent(w, sw_clock_ticks()))
		write_question(w, counts->last_asked);
}

/* Writes all counts of a thread that ends. */
void sw_counted_flush_all(struct sw_writer *w)
{
	struct sw_counts_of_calls *counts = &w->counted;
	sw_counted_flush(w);
	for (unsigned i = 0; i < SW_COUNTED_QUESTIONS; i++)
		if (counts->asked[i].calls)
			write_question(w, &counts->asked[i]);
}
