/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/waits/device_times.h"

#include <stdlib.h>
#include <string.h>

#include "reader/kinds.h"

/* From the clock of the time stamps to nanoseconds of the trace. */

/* A clock may deviate so much between two readings before it is said to have jumped: crystals are a hundred times
 * better.
 */
#define UNEVEN_NS    1000000u
#define UNEVEN_SHARE 1000u
#define JUMPS	     64u /* distinguished; more make all times unknown */

static uint64_t distance_of(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* from + (at - from_at) * (to - from) / (to_at - from_at): the time at `at` on the line through two readings of both
   clocks, also outside of the two. */
static uint64_t interpolate_time(uint64_t at, uint64_t from_at, uint64_t to_at, uint64_t from, uint64_t to)
{
	const __int128 moved = (__int128)at - from_at;
	const __int128 value =
		to_at == from_at ? from : from + moved * ((__int128)to - from) / ((__int128)to_at - from_at);
	return value < 0 ? 0 : value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

/* Adds a reading of both clocks, that of the time stamps and that of the trace.  Where the two did not run alike since
   the reading before, the clock has jumped there. */
static void time_clock_add(struct sw_time_clock *clock, const struct sw_file_header *header,
			   const struct sw_record *record)
{
	const struct sw_rec_gpu_clock *r = (const void *)record->rec;
	const struct sw_time_pair pair = {r->gpu_ns, r->h.ticks, record->t_ns};
	/* The recorder's own clock goes back to the start of the trace: a long base line from the first reading on. */
	if (!clock->pairs.n && r->flags & SW_GPU_CLOCK_OURS)
		*sw_vec_push(&clock->pairs) = (struct sw_time_pair){header->start_monotonic_ns, header->start_ticks, 0};
	if (clock->pairs.n) {
		const struct sw_time_pair *last = &clock->pairs.at[clock->pairs.n - 1];
		const uint64_t passed = pair.t_ns - last->t_ns, ran = pair.gpu_ns - last->gpu_ns;
		if (pair.ticks <= last->ticks || pair.t_ns < last->t_ns)
			return; /* two threads wrote: the later one was there first */
		if (pair.gpu_ns <= last->gpu_ns || distance_of(passed, ran) > UNEVEN_NS + passed / UNEVEN_SHARE) {
			clock->jumps++;
			if (clock->jumped.n < JUMPS)
				*sw_vec_push(&clock->jumped) = clock->pairs.n - 1;
		}
	}
	clock->ticks_per_second = header->ticks_per_second ? header->ticks_per_second : 1000000000;
	const uint64_t width_ns = (uint64_t)((unsigned __int128)r->width * 1000000000u / clock->ticks_per_second);
	if (width_ns > clock->width_ns)
		clock->width_ns = width_ns;
	*sw_vec_push(&clock->pairs) = pair;
}

/* Index of the last reading at or before this time of the device's clock; the last but one at most, so that there is
   one after it to interpolate with. */
static size_t clock_before(const struct sw_time_clock *clock, uint64_t gpu_ns)
{
	size_t low = 0, high = clock->pairs.n - 1;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;
		if (clock->pairs.at[middle].gpu_ns <= gpu_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The processor's ticks at a time stamp, by the readings so far. */
static uint64_t time_clock_ticks(const struct sw_time_clock *clock, uint64_t gpu_ns)
{
	if (!clock->pairs.n)
		return 0;
	if (clock->pairs.n == 1) /* by the recorder's own rate: its first estimate is good for milliseconds */
		return interpolate_time(gpu_ns, clock->pairs.at[0].gpu_ns, clock->pairs.at[0].gpu_ns + 1000000000u,
					clock->pairs.at[0].ticks, clock->pairs.at[0].ticks + clock->ticks_per_second);
	const struct sw_time_pair *p = &clock->pairs.at[clock_before(clock, gpu_ns)];
	return interpolate_time(gpu_ns, p[0].gpu_ns, p[1].gpu_ns, p[0].ticks, p[1].ticks);
}

/* The trace's time in nanoseconds at a time stamp; false: the clock jumped there, or was never read. */
static bool time_clock_ns(const struct sw_time_clock *clock, uint64_t gpu_ns, uint64_t *t_ns)
{
	if (clock->pairs.n < 2 || clock->jumps > JUMPS)
		return false;
	const size_t i = clock_before(clock, gpu_ns);
	for (size_t j = 0; j < clock->jumped.n; j++)
		if (clock->jumped.at[j] == i)
			return false;
	const struct sw_time_pair *p = &clock->pairs.at[i];
	*t_ns = interpolate_time(gpu_ns, p[0].gpu_ns, p[1].gpu_ns, p[0].t_ns, p[1].t_ns);
	return true;
}

static void time_clock_free(struct sw_time_clock *clock)
{
	free(clock->pairs.at);
	free(clock->jumped.at);
}

/* For qsort(): by sequence number. */
static int by_seq(const void *x, const void *y)
{
	const struct sw_time *a = x, *b = y;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Sorts the times by call, and joins those of one call to the time from its first work's start to its last one's
   end. */
static void settle_times(struct sw_times *times)
{
	size_t kept = 0;
	if (times->at.n)
		qsort(times->at.at, times->at.n, sizeof *times->at.at, by_seq);
	for (size_t i = 0; i < times->at.n; i++) {
		struct sw_time *t = &times->at.at[i], *last = kept ? &times->at.at[kept - 1] : NULL;
		if (!last || last->seq != t->seq) {
			times->at.at[kept++] = *t;
			continue;
		}
		last->start = t->start < last->start ? t->start : last->start;
		last->end = t->end > last->end ? t->end : last->end;
	}
	times->at.n = kept;
}

/* Adds the time of a piece of work of a call; more work of one call makes its time longer.  False: the table is full
   (counted). */
static bool times_add(struct sw_times *times, uint64_t seq, uint64_t start, uint64_t end)
{
	if (times->at.n == SW_TIMES_MOST && !times->summary.left_out)
		settle_times(times); /* nodes of graphs become one each launch */
	if (times->at.n == SW_TIMES_MOST) {
		times->summary.left_out++;
		return false;
	}
	*sw_vec_push(&times->at) = (struct sw_time){seq, start, end};
	return true;
}

/* At the end: sorts the times, and converts them from the device's clock to the trace's; those that it was not read for
   are dropped and counted. */
static void times_finish(struct sw_times *times, const struct sw_time_clock *clock)
{
	size_t kept = 0;
	settle_times(times);
	for (size_t i = 0; i < times->at.n; i++) {
		struct sw_time t = times->at.at[i];
		if (time_clock_ns(clock, t.start, &t.start) && time_clock_ns(clock, t.end, &t.end) && t.start <= t.end)
			times->at.at[kept++] = t;
		else
			times->summary.untimed++;
	}
	times->at.n = kept;
}

const struct sw_time *sw_times_find(const struct sw_times *times, uint64_t seq)
{
	size_t low = 0, high = times->at.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (times->at.at[middle].seq == seq)
			return &times->at.at[middle];
		if (times->at.at[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

void sw_times_free(struct sw_times *times)
{
	free(times->at.at);
	times->at.at = NULL;
	times->at.n = times->at.room = 0;
}

/* One pass over the trace joins time stamps to the calls that put the work on the device. */

enum {
	CALLS = 1 << 20,   /* calls of one thread, and calls of CUPTI's, that are remembered */
	WAITING = 1 << 20, /* activities whose call has not come yet */
	BOUNDS = 1 << 16   /* waits that bound the clock's error */
};
#define SLACK_TICKS 64u /* rounding of a clock that is ours */

/* A call of the program. */
struct ours {
	uint64_t seq, from, to; /* ticks */
};
struct thread {
	SW_VEC(struct ours) calls; /* in the order of their times, from `first` on */
	size_t first;
};
/* A driver call as CUPTI saw it. */
struct theirs {
	uint64_t seq, start;
	uint32_t correlation;
};
struct activity {
	uint64_t start, end;
	uint32_t correlation;
};
/* A wait of the host that was over by then: the work was too.  t_ns 0: it is not over. */
struct bound {
	uint64_t seq, t_ns;
};
/* The last work that was put on a stream. */
struct last {
	uint64_t seq;
	uint32_t thread;
	uint8_t ctx;
};

struct join {
	struct sw_reader *reader;
	struct sw_times *times;
	struct sw_time_clock clock;
	struct sw_map threads; /* kernel's thread id -> struct thread */
	struct theirs *theirs; /* ring */
	uint64_t theirs_n;
	struct sw_map by_correlation; /* -> place in the ring + 1 */
	SW_VEC(struct activity) waiting;
	struct sw_map last; /* stream -> struct last */
	struct sw_map open; /* a wait that began -> its bounds: the first, how many */
	SW_VEC(struct bound) bounds;
	uint64_t lead_ns;  /* the least time from a call to the start of its work, by the activities' own clock */
	bool led;	   /* there was one */
	uint64_t early_ns; /* work started so much before its call */
};

/* ---- calls of the program ---------------------------------------------------------------------------------------- */

/* The calls of the thread with this id of the kernel's. */
static struct thread *thread_of(struct join *j, uint32_t tid)
{
	struct thread *t = sw_map_ptr(&j->threads, tid);
	if (!t) {
		t = sw_calloc(1, sizeof *t);
		sw_map_put_ptr(&j->threads, tid, t);
	}
	return t;
}

/* Keeps when a recorded call was made, so that call_at() finds the call in which CUPTI saw one of its own begin.  Of a
   thread the last CALLS / 2 to CALLS calls are kept: half of them are dropped at a time. */
static void remember_call(struct join *j, const struct sw_record *r)
{
	const struct sw_trace_thread *who = sw_reader_thread(j->reader, r->thread);
	const uint64_t units = r->rec->flags & SW_RF_DUR_1024 ? 1024 : 1;
	const uint64_t to = r->rec->flags & SW_RF_PENDING ? UINT64_MAX : r->rec->ticks + (r->rec->dur + 1u) * units;
	if (!who)
		return;
	struct thread *t = thread_of(j, who->tid);
	if (t->calls.n - t->first >= CALLS)
		t->first += CALLS / 2;
	if (t->first > CALLS) {
		memmove(t->calls.at, t->calls.at + t->first, (t->calls.n - t->first) * sizeof *t->calls.at);
		t->calls.n -= t->first;
		t->first = 0;
	}
	*sw_vec_push(&t->calls) = (struct ours){r->seq, r->rec->ticks, to};
}

/* For how many ticks the call overlaps [from, to). */
static uint64_t common_ticks(const struct ours *o, uint64_t from, uint64_t to)
{
	const uint64_t low = o->from > from ? o->from : from, high = o->to < to ? o->to : to;
	return low < high ? high - low : 0;
}

/* The recorded call of this thread that was in progress from `from` to `to` (ticks, give or take `slack`); 0: none is
   known.  A clock that is not ours may be set or steered while the program runs, and is then wrong by more than its
   readings tell: without a call that encloses the time, the one that has more than half of it. */
static uint64_t call_at(const struct thread *t, uint64_t from, uint64_t to, uint64_t slack)
{
	size_t low = t->first, high = t->calls.n;
	uint64_t most = (to - from) / 2, nearest = 0;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (t->calls.at[middle].from <= from + slack)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < t->calls.n && common_ticks(&t->calls.at[low], from, to) > most)
		nearest = t->calls.at[low].seq;
	for (size_t i = low; i > t->first && i + 64 > low;
	     i--) { /* elements of a batch come before their call's own record */
		const struct ours *o = &t->calls.at[i - 1];
		if (o->to >= to || o->to + slack >= to)
			return o->seq;
		if (!nearest && common_ticks(o, from, to) > most)
			nearest = o->seq;
	}
	return nearest;
}

/* ---- waits: what bounds the error of the clock ------------------------------------------------------------------- */

/* Default streams share their handles: of those, and of work that another thread may only just be enqueueing, nothing
   is said but by the thread's own waits. */
#define FIRST_HANDLE 3u

/* A key for the stream of a record.  Default streams share their handles among contexts and threads, so theirs has
   both. */
static uint64_t stream_key(const struct sw_record *r, uint64_t stream)
{
	if (stream >= FIRST_HANDLE)
		return stream;
	return 1ull << 63 | (uint64_t)r->thread << 16 | (uint64_t)r->rec->ctx << 8 |
	       (r->rec->flags & SW_RF_PER_THREAD ? 4 : 0) | stream;
}

/* Notes that this work will be over when the current wait is, if the waiting thread itself put it on the stream in the
   same context. */
static void expect_bound(struct join *j, const struct sw_record *r, const struct last *last)
{
	if (last->ctx == r->rec->ctx && last->thread == r->thread && j->bounds.n < BOUNDS)
		*sw_vec_push(&j->bounds) = (struct bound){last->seq, 0};
}

/* At the begin of a wait: keeps the work that it waits for, whose end the wait's end will bound. */
static void wait_begins(struct join *j, const struct sw_record *r)
{
	const struct sw_rec_sync *sync = (const void *)r->rec;
	const size_t first = j->bounds.n;
	struct sw_map_slot slot;
	const struct last *last = NULL;
	if (sync->what == SW_SYNC_STREAM)
		last = sw_map_ptr(&j->last, stream_key(r, sync->handle));
	for (size_t i = 0; sync->what == SW_SYNC_CONTEXT && (i = sw_map_next(&j->last, i, &slot));)
		expect_bound(j, r, (const struct last *)(uintptr_t)slot.value);
	if (last)
		expect_bound(j, r, last);
	if (j->bounds.n > first && j->open.n < CALLS)
		*sw_map_put(&j->open, r->seq) = (uint64_t)first << 32 | (j->bounds.n - first);
}

/* At the end of a wait: the work that it waited for had ended by now; a failed wait bounds nothing. */
static void wait_ends(struct join *j, const struct sw_record *r)
{
	const uint64_t begin = ((const struct sw_rec_end *)(const void *)r->rec)->begin_seq;
	const uint64_t range = sw_map_get(&j->open, begin);
	sw_map_delete(&j->open, begin);
	for (size_t i = range >> 32; !r->failed && i < (range >> 32) + (uint32_t)range; i++)
		j->bounds.at[i].t_ns = r->t_ns;
}

/* Follows the work that was put on each stream last, and the waits that bound when it ended. */
static void watch_work(struct join *j, const struct sw_record *r)
{
	uint64_t stream;
	if (r->rec->flags & SW_RF_END) {
		wait_ends(j, r);
	} else if (r->rec->kind == SW_REC_SYNC) {
		wait_begins(j, r);
	} else if (!r->failed && sw_kind_has(r->rec->kind, SW_KIND_BOUNDS)) {
		sw_record_stream_of(r->rec, &stream);
		struct last *last = sw_map_ptr(&j->last, stream_key(r, stream));
		if (!last)
			sw_map_put_ptr(&j->last, stream_key(r, stream), last = sw_alloc(sizeof *last));
		*last = (struct last){r->seq, r->thread, r->rec->ctx};
	} else if (r->rec->kind == SW_REC_STREAM_DESTROY) {
		stream = ((const struct sw_rec_stream *)(const void *)r->rec)->stream;
		free(sw_map_ptr(&j->last, stream));
		sw_map_delete(&j->last, stream);
	}
}

/* Computes by how much the device's clock, as converted, can be wrong at most: work starts after the call that puts it
   there began, and has ended before a wait for it ends. */
static void bound_error(struct join *j)
{
	struct sw_gpu_summary *s = &j->times->summary;
	uint64_t trail = UINT64_MAX, over = 0;
	for (size_t i = 0; i < j->bounds.n; i++) {
		const struct bound *b = &j->bounds.at[i];
		const struct sw_time *t = b->t_ns ? sw_times_find(j->times, b->seq) : NULL;
		if (!t)
			continue;
		if (t->end > b->t_ns && t->end - b->t_ns > over)
			over = t->end - b->t_ns;
		else if (t->end <= b->t_ns && b->t_ns - t->end < trail)
			trail = b->t_ns - t->end;
	}
	s->clock_wrong_ns = over > j->early_ns ? over : j->early_ns;
	s->clock_bounded = j->led && trail != UINT64_MAX;
	if (s->clock_bounded)
		s->clock_error_ns = j->lead_ns > trail ? j->lead_ns : trail;
	if (s->clock_error_ns < s->clock_wrong_ns)
		s->clock_error_ns = s->clock_wrong_ns;
}

/* ---- activities -------------------------------------------------------------------------------------------------- */

/* Finds the recorded call in which this driver call, as CUPTI saw it, was made: by thread and time.  Work with its
   correlation id is the recorded call's. */
static void join_call(struct join *j, const struct sw_rec_activity *a)
{
	const uint64_t from = time_clock_ticks(&j->clock, a->start), to = time_clock_ticks(&j->clock, a->end);
	const uint64_t slack = SLACK_TICKS + (uint64_t)((unsigned __int128)j->clock.width_ns *
							j->clock.ticks_per_second / 1000000000u);
	const struct thread *t = sw_map_ptr(&j->threads, a->on);
	struct theirs *place = &j->theirs[j->theirs_n % CALLS];
	uint64_t seq = t ? call_at(t, from, to, slack) : 0;
	if (!seq)
		return;
	if (j->theirs_n >= CALLS && sw_map_get(&j->by_correlation, place->correlation) == j->theirs_n % CALLS + 1)
		sw_map_delete(&j->by_correlation, place->correlation);
	*place = (struct theirs){seq, a->start, a->correlation};
	*sw_map_put(&j->by_correlation, a->correlation) = j->theirs_n++ % CALLS + 1;
}

/* Adds the time of this work on the device to the call that put it there.  False: that call has not come yet. */
static bool place_activity(struct join *j, const struct activity *a)
{
	const uint64_t at = sw_map_get(&j->by_correlation, a->correlation);
	if (!at)
		return false;
	const struct theirs *c = &j->theirs[at - 1];
	if (a->start < c->start && c->start - a->start > j->early_ns)
		j->early_ns = c->start - a->start;
	else if (a->start >= c->start && (!j->led || a->start - c->start < j->lead_ns))
		j->lead_ns = a->start - c->start;
	j->led = true;
	if (times_add(j->times, c->seq, a->start, a->end))
		j->times->summary.joined++;
	return true;
}

/* Tries again to find the calls of work that came before them in the trace. */
static void place_waiting(struct join *j)
{
	size_t kept = 0;
	for (size_t i = 0; i < j->waiting.n; i++)
		if (!place_activity(j, &j->waiting.at[i]))
			j->waiting.at[kept++] = j->waiting.at[i];
	j->waiting.n = kept;
}

/* Handles a record of CUPTI's: a driver call, or work on the device. */
static void take_activity(struct join *j, const struct sw_rec_activity *a)
{
	struct sw_gpu_summary *s = &j->times->summary;
	const struct activity work = {a->start, a->end, a->correlation};
	if (a->what == SW_ACTIVITY_CALL) {
		join_call(j, a);
		return;
	}
	if (a->what == SW_ACTIVITY_OVERHEAD)
		return;
	s->records++;
	if (!a->start || !a->end) {
		s->untimed++;
		return;
	}
	if (place_activity(j, &work))
		return;
	if (j->waiting.n == WAITING)
		place_waiting(j);
	if (j->waiting.n == WAITING)
		j->waiting.n = 0; /* none of a million ever found its call; they are counted as such */
	*sw_vec_push(&j->waiting) = work;
}

/* Handles one record of the trace: work on the device, a clock reading, or a call of the program. */
static void take_record(struct join *j, const struct sw_record *r)
{
	if (r->rec->kind == SW_REC_ACTIVITY) {
		take_activity(j, (const void *)r->rec);
	} else if (r->rec->kind == SW_REC_GPU_CLOCK) {
		time_clock_add(&j->clock, sw_reader_header(j->reader), r);
		j->times->summary.lost = ((const struct sw_rec_gpu_clock *)(const void *)r->rec)->lost;
		j->times->summary.complete |=
			((const struct sw_rec_gpu_clock *)(const void *)r->rec)->flags & SW_GPU_CLOCK_LAST;
	} else if (sw_kind_is_operation(r->rec->kind)) {
		if (!(r->rec->flags & SW_RF_END))
			remember_call(j, r);
		watch_work(j, r);
	}
}

/* After the last record: converts all times, bounds their error, and counts the work without a call. */
static void finish_join(struct join *j)
{
	struct sw_gpu_summary *s = &j->times->summary;
	place_waiting(j);
	times_finish(j->times, &j->clock);
	bound_error(j);
	s->clock_jumps = j->clock.jumps;
	if (s->clock_error_ns < j->clock.width_ns)
		s->clock_error_ns = j->clock.width_ns;
	s->unmatched = s->records - s->untimed > s->joined + s->left_out
			       ? s->records - s->untimed - s->joined - s->left_out
			       : 0;
}

static void free_join(struct join *j)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&j->threads, i, &slot));) {
		struct thread *t = (struct thread *)(uintptr_t)slot.value;
		free(t->calls.at);
		free(t);
	}
	sw_map_free(&j->threads);
	sw_map_free(&j->by_correlation);
	for (size_t i = 0; (i = sw_map_next(&j->last, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&j->last);
	sw_map_free(&j->open);
	time_clock_free(&j->clock);
	free(j->theirs);
	free(j->waiting.at);
	free(j->bounds.at);
	sw_reader_close(j->reader);
}

int sw_times_load(const struct sw_reader *of, struct sw_times *out, struct sw_error *error)
{
	struct join j = {.times = out};
	struct sw_record record;
	int rc;
	*out = (struct sw_times){0};
	if (!(sw_reader_header(of)->flags & SW_FILE_GPU))
		return 0;
	if ((rc = sw_reader_open(sw_reader_path(of), &j.reader, error)))
		return rc;
	out->summary.recorded = true;
	j.theirs = sw_calloc(CALLS, sizeof *j.theirs);
	while ((rc = sw_reader_next(j.reader, &record, error)) > 0)
		take_record(&j, &record);
	finish_join(&j);
	free_join(&j);
	return rc < 0 ? rc : 0;
}
