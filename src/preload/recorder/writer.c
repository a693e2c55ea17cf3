/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/writer.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/recorder/process.h"
#include "preload/recorder/window.h"
#include "preload/platform/say.h"
#include "preload/stacks/stack.h"

__thread struct sw_thread sw_thread __attribute__((tls_model("initial-exec")));

static struct {
	struct sw_lock lock;
	struct sw_writer *free, *all;
	uint32_t writers, threads;
	uint32_t look_again; /* with so many writers: some of their threads may have ended unseen */
	pthread_key_t key;
	bool key_made;
	_Atomic uint64_t missed, missed_seq; /* records of threads that got no writer, and since when */
} pool;

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

/* Bytes at the end of each chunk that only a LOSS record may use. */
#define LOSS_ROOM ((uint32_t)sizeof(struct sw_rec_loss))

/* Does the record lie in this chunk? */
static bool holds_record(const uint8_t *chunk, const void *record)
{
	return (const uint8_t *)record >= chunk && (const uint8_t *)record < chunk + SW_CHUNK_BYTES;
}

/* Publishes the records in the earlier chunk, which come first in the trace; then that chunk is passed on. */
void sw_writer_commit_held(struct sw_writer *w)
{
	if (w->held_at) {
		struct sw_chunk_header *h = (struct sw_chunk_header *)w->held;
		__atomic_store_n(&h->committed, w->held_at - (uint32_t)sizeof *h, __ATOMIC_RELEASE);
		w->held_at = 0;
	}
	if (!holds_record(w->held, w->pending))
		sw_writer_settle(w);
}

/* Passes an earlier chunk to the helper, if the reason for holding it (an unfinished record) is gone. */
void sw_writer_settle(struct sw_writer *w)
{
	if (w->held && !w->held_at) {
		sw_trace_retire(w->held);
		w->held = NULL;
	}
}

/* Leaves the full chunk.  A record in it that is open, or pending until its call returns, keeps it mapped.  False: an
   earlier chunk is kept so already, and there is place for only one. */
static bool leave_chunk(struct sw_writer *w)
{
	if (!w->base)
		return true;
	if (!w->open && !holds_record(w->base, w->pending)) {
		sw_trace_retire(w->base);
	} else if (w->held) {
		return false; /* two chunks with open records: one call described more than a whole chunk */
	} else {
		w->held = w->base;
		w->held_at = w->open ? w->at : 0;
	}
	return true;
}

/* Begins a chunk: fills its header, whose magic comes last, and lets the writer write there.  References to earlier
   launches do not go beyond a chunk, so it notes where its ids begin. */
static void begin_chunk(struct sw_writer *w, uint8_t *chunk)
{
	struct sw_chunk_header *h = (struct sw_chunk_header *)chunk;
	h->writer = w->id;
	h->index = w->index++;
	h->first_seq = atomic_load_explicit(&sw_sequence.last, memory_order_relaxed) + 1;
	__atomic_store_n(&h->magic, SW_FORMAT_CHUNK_MAGIC, __ATOMIC_RELEASE);
	w->base = chunk;
	w->chunk_ids = w->launch_ids.last;
	w->at = sizeof *h;
	w->end = SW_CHUNK_RECORDS_END - LOSS_ROOM;
}

/* Replaces the full chunk by a new one.  False: there is none, or the old one cannot be left; the caller loses its
   record. */
static bool next_chunk(struct sw_writer *w)
{
	enum sw_loss_why why = SW_LOSS_OTHER;
	int error;
	uint8_t *chunk = sw_trace_take(&why, &error);
	if (!chunk) {
		sw_process_full(why, error);
		return false;
	}
	w->moving = true;
	atomic_signal_fence(memory_order_seq_cst);
	bool left = leave_chunk(w);
	if (left)
		begin_chunk(w, chunk);
	atomic_signal_fence(memory_order_seq_cst);
	w->moving = false;
	if (!left)
		sw_trace_retire(chunk);
	return left;
}

/* ---- losses ----------------------------------------------------------------------------------------------------- */

/* The LOSS record that says: from here on nothing more was recorded. It is written into the room kept for it. */
static void write_full(struct sw_writer *w)
{
	if (!w || !w->base || w->loss || w->open || w->at > SW_CHUNK_RECORDS_END - LOSS_ROOM)
		return;
	struct sw_rec_loss *loss = (struct sw_rec_loss *)(w->base + w->at);
	uint64_t seq = sw_sequence_next();
	*loss = (struct sw_rec_loss){
		.h = {.kind = SW_REC_LOSS,
		      .words = sizeof *loss / 8,
		      .seq_lo = (uint32_t)seq,
		      .seq_hi = (uint16_t)(seq >> 32),
		      .ticks = sw_clock_ticks()},
		.first_seq = seq,
		.last_seq = (1ull << 48) - 1,
		.why = sw_process_loss(),
	};
	w->loss = loss;
	w->at += LOSS_ROOM;
	w->end = 0;
	sw_writer_commit(w);
}

/* Counts a record that is lost.  Losses of one reason in a row are one LOSS record; a full trace has one that counts
   on. */
void sw_writer_lost(struct sw_writer *w, uint32_t bytes, enum sw_loss_why why)
{
	if (sw_trace.header) {
		__atomic_fetch_add(&sw_trace.header->records_lost, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&sw_trace.header->bytes_lost, bytes, __ATOMIC_RELAXED);
	}
	if (!w) {
		if (!atomic_fetch_add(&pool.missed, 1))
			atomic_store(&pool.missed_seq, atomic_load(&sw_sequence.last));
		return;
	}
	if (why == SW_LOSS_REENTERED || why == SW_LOSS_OTHER) {
		if (!w->missed++) {
			w->missed_seq = atomic_load_explicit(&sw_sequence.last, memory_order_relaxed);
			w->missed_why = why;
		}
		w->end = 0; /* the next record takes the slow path and writes the LOSS */
		return;
	}
	write_full(w);
	if (w->loss)
		__atomic_fetch_add(&w->loss->records, 1, __ATOMIC_RELAXED);
}

/* Writes the LOSS record: how many records are missing, and between which ones of the trace. */
void sw_writer_write_missed(struct sw_writer *w)
{
	if (!w->missed)
		return;
	struct sw_rec_loss *loss = (struct sw_rec_loss *)sw_writer_describe(w, SW_REC_LOSS, sizeof *loss, true);
	if (!loss)
		return;
	loss->first_seq = w->missed_seq;
	loss->last_seq = sw_rec_seq(&loss->h);
	loss->why = w->missed_why;
	loss->records = __atomic_exchange_n(&w->missed, 0, __ATOMIC_RELAXED); /* a handler may add to it right now */
	sw_writer_commit(w);
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

/* Writes a pair of the trace's clock and CLOCK_MONOTONIC at the beginning of each chunk, by which a reader converts
   ticks. */
static void write_clock(struct sw_writer *w)
{
	struct sw_rec_clock *r = (struct sw_rec_clock *)sw_writer_describe(w, SW_REC_CLOCK, sizeof *r, false);
	struct sw_clock_pair now = sw_clock_read();
	if (!r)
		return;
	r->h.ticks = now.ticks;
	r->monotonic_ns = now.monotonic_ns;
	sw_writer_commit(w);
}

/* Room for a record, in a new chunk if need be; first writes what is due before it: counts, losses, the clock of a new
   chunk. */
struct sw_rec *sw_writer_reserve_slow(struct sw_writer *w, uint32_t bytes)
{
	if (w->loss || bytes > SW_REC_MAX_BYTES)
		return NULL;
	if (w->base)
		w->end = SW_CHUNK_RECORDS_END - LOSS_ROOM; /* a signal handler or counted calls may have lowered it */
	sw_counted_flush(w);
	if (w->missed && w->base && w->at + LOSS_ROOM <= w->end)
		sw_writer_write_missed(w);
	if (!w->base || w->at + bytes > w->end) {
		if (!next_chunk(w))
			return NULL;
		write_clock(w);
	}
	struct sw_rec *r = (struct sw_rec *)(w->base + w->at);
	w->at += bytes;
	w->open++;
	return r;
}

/* Makes a record that is no call's: what the recorder itself knows. */
struct sw_rec *sw_writer_describe(struct sw_writer *w, enum sw_rec_kind kind, size_t bytes, bool ordered)
{
	uint32_t rounded = (uint32_t)(bytes + 7) & ~7u;
	struct sw_rec *r = bytes <= SW_REC_MAX_BYTES ? sw_writer_reserve(w, rounded) : NULL;
	if (!r)
		return NULL;
	uint64_t seq = ordered ? sw_sequence_next() : 0;
	r->kind = (uint8_t)kind;
	r->words = (uint16_t)(rounded / 8);
	r->seq_lo = (uint32_t)seq;
	r->seq_hi = (uint16_t)(seq >> 32);
	r->ticks = sw_clock_ticks();
	return r;
}

#include "preload/platform/seldom.h" /* from here on */

/* A LAUNCH record was lost: later ones must not refer to it, and define ids and parameters again. */
void sw_writer_forget_launches(struct sw_writer *w)
{
	sw_intern_clear(&w->launch_ids);
	for (unsigned i = 0; i < SW_LAUNCH_MEMOS; i++)
		w->memos[i].like = w->memos[i].last.params = 0;
	for (unsigned i = 0; i < SW_LAUNCH_LONG; i++)
		w->long_blocks[i].last.params = 0;
}

/* After a call that never returned (longjmp, cancellation): drops what it had reserved, as nothing unpublished can be
   trusted. */
void sw_writer_abandon(struct sw_writer *w)
{
	w->pending = NULL;
	w->open = 0;
	w->held_at = 0;
	if (w->moving) { /* its chunks stay mapped, as they are */
		w->base = w->held = NULL;
		w->at = w->end = 0;
		w->moving = false;
	}
	if (w->base && !w->loss) {
		struct sw_chunk_header *h = (struct sw_chunk_header *)w->base;
		uint32_t whole = h->committed + (uint32_t)sizeof *h;
		if (w->at > whole) {
			memset(w->base + whole, 0, w->at - whole);
			/* what those records would have defined */
			sw_intern_clear(&w->stack_ids);
			sw_writer_forget_launches(w);
			sw_stack_forget(w);
		}
		w->at = whole;
	}
	sw_writer_settle(w);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* A new writer, in memory from the kernel as the program's allocator must not be called here.  Under the lock.  NULL:
   the kernel has none. */
static struct sw_writer *make_writer(void)
{
	int error;
	struct sw_writer *w = sw_sys_map(-1, 0, sizeof *w, &error);
	if (!w)
		return NULL;
	w->id = pool.writers++;
	w->next = pool.all;
	__atomic_store_n(&pool.all, w, __ATOMIC_RELEASE);
	return w;
}

/* Writes the record that announces the thread: its number in the trace, tid and name. */
static void write_thread(struct sw_writer *w, uint32_t number)
{
	char name[16] = "";
	prctl(PR_GET_NAME, name);
	uint32_t tid = w->tid, length = (uint32_t)strnlen(name, sizeof name);
	struct sw_rec_thread *r =
		(struct sw_rec_thread *)sw_writer_describe(w, SW_REC_THREAD, sizeof *r + length, true);
	if (!r)
		return;
	r->thread = number;
	r->tid = tid;
	r->main = tid == (uint32_t)getpid();
	r->name_bytes = length;
	memcpy(r + 1, name, length);
	sw_writer_commit(w);
}

/* Writes that the thread was created, as the first thing that it does: then what its creator did comes before it. */
static void write_start(struct sw_writer *w, struct sw_thread *thread)
{
	struct sw_rec_host_sync *r = NULL;
	if (thread->born)
		r = (struct sw_rec_host_sync *)sw_writer_describe(w, SW_REC_HOST_SYNC, sizeof *r, true);
	if (!r)
		return;
	r->object = thread->born;
	r->op = SW_THREAD_START;
	r->kind = SW_THROUGH_THREAD;
	thread->born = 0;
	sw_writer_commit(w);
}

/* Lets the next thread that needs one have the writer.  Under the lock. */
static void put_free(struct sw_writer *w)
{
	w->tid = 0;
	w->next_free = pool.free;
	pool.free = w;
}

/*
 * Takes back the writers of threads that ended without a word: no key was left for us, the program jumped out of its
 * last destructor, or it makes threads past pthreads.  A number that another thread has by now keeps a writer for
 * longer. Under the lock; costs one system call a writer each time that there are twice as many.
 */
static void look_for_ended(void)
{
	const pid_t pid = getpid();
	uint32_t live = 0;
	for (struct sw_writer *w = pool.all; w; w = w->next) {
		const uint32_t tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE);
		if (!tid || sw_sys_thread_lives(pid, (pid_t)tid)) {
			live++;
			continue;
		}
		sw_writer_abandon(w);
		put_free(w);
	}
	pool.look_again = 2 * live + 16;
}

/* A writer for the calling thread, one that an ended thread left if there is any.  *number: the thread's number in the
   trace, given here if it is 0. */
static struct sw_writer *take_writer(uint32_t *number)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint64_t mask = sw_lock_enter(&pool.lock);
	if (!pool.free && pool.writers >= (pool.look_again ? pool.look_again : 16))
		look_for_ended();
	struct sw_writer *w = pool.free;
	if (w)
		pool.free = w->next_free;
	else
		w = make_writer();
	if (w)
		__atomic_store_n(&w->tid, tid, __ATOMIC_RELEASE);
	if (w && !*number)
		*number = ++pool.threads;
	sw_lock_leave(&pool.lock, mask);
	return w;
}

/* Takes over what threads without a writer lost, so that the next record's LOSS counts it. */
static void inherit_missed(struct sw_writer *w)
{
	uint64_t missed = atomic_exchange(&pool.missed, 0);
	if (!missed)
		return;
	w->missed_seq = w->missed ? w->missed_seq : atomic_load(&pool.missed_seq);
	w->missed_why = SW_LOSS_NO_MEMORY;
	w->missed += (uint32_t)missed;
	w->end = 0; /* the next record takes the slow path and writes the LOSS */
}

/* Gives the thread a writer, if possible that of a thread that ended, whose chunk need not be full yet. */
bool sw_writer_attach(struct sw_thread *thread)
{
	uint64_t mask = sw_sys_block_signals(); /* a writer that a handler jumped away from would be lost */
	struct sw_writer *w = take_writer(&thread->number);
	if (w) {
		thread->writer = w;
		sw_stack_forget(w);
		if (pool.key_made)
			pthread_setspecific(pool.key, w);
		inherit_missed(w);
		write_thread(w, thread->number);
		write_start(w, thread);
	} else {
		sw_writer_lost(NULL, 0, SW_LOSS_NO_MEMORY);
		if (sw_process_state() != SW_STATE_STARTING && sw_process_warn())
			sw_say("out of memory; calls of a thread are not recorded");
	}
	sw_sys_set_signals(mask);
	return w != NULL;
}

/* At a thread's end: writes what is still counted, and lets another thread use the writer. */
void sw_writer_release(struct sw_thread *thread)
{
	struct sw_writer *w = thread->writer;
	thread->writer = NULL;
	thread->guard = NULL;
	if (!w || sw_process_state() == SW_STATE_FRESH)
		return;
	sw_writer_abandon(w);
	sw_writer_write_missed(w);
	sw_counted_flush_all(w);
	uint64_t mask = sw_lock_enter(&pool.lock);
	put_free(w);
	sw_lock_leave(&pool.lock, mask);
}

/*
 * Runs when a thread ends.  A pthread key rather than a C++ thread_local destructor: keys run after those.  Destructors
 * of other keys may call CUDA after it, in this round or in any later one: such a call takes a writer and releases it
 * itself.
 */
static void thread_ended(void *value)
{
	if (sw_thread.writer != value) /* inherited over a fork, or released meanwhile */
		return;
	sw_thread.ending = 1;
	sw_window_thread_ended();
	sw_writer_release(&sw_thread);
}

/* Learns of the ends of threads by a key of pthread. */
void sw_writer_start(void)
{
	/* Without a key (1024 are taken) look_for_ended() finds the writers that threads left. */
	if (!pool.key_made)
		pool.key_made = pthread_key_create(&pool.key, thread_ended) == 0;
}

uint32_t sw_writer_count(void)
{
	return __atomic_load_n(&pool.writers, __ATOMIC_RELAXED);
}

struct sw_writer *sw_writer_all(void)
{
	return __atomic_load_n(&pool.all, __ATOMIC_ACQUIRE);
}

/* In a fork child, whose parent owns all writers: begins with none; the calling thread gets one at its next record. */
void sw_writer_forget(void)
{
	/* The parent's buffers stay mapped, unused: another thread may have been changing them when the process was
	   copied, so nothing that they say can be trusted. */
	pool.lock = (struct sw_lock){0};
	pool.free = pool.all = NULL;
	pool.writers = pool.threads = 0;
	atomic_store(&pool.missed, 0);
	pool.look_again = 0;
	sw_thread = (struct sw_thread){.calls = sw_thread.calls + 1, .ending = sw_thread.ending};
	if (pool.key_made)
		pthread_setspecific(pool.key, NULL);
}
