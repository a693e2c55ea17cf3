/* SPDX-License-Identifier: Apache-2.0 */
/* Where slices of a track lie: two of one track never overlap in part. */
#include "report/timeline/chrome.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 8192 }; /* work held a stream, about a mebibyte */

/* The work that is kept for the stream. */
static struct sw_slice_layout_stream *stream_at(struct sw_slice_layout *lay, uint32_t stream)
{
	while (lay->streams.n <= stream)
		*sw_vec_push(&lay->streams) = (struct sw_slice_layout_stream){0};
	return &lay->streams.at[stream];
}

/* The later of two times. */
static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How many pieces of the stream's work are kept. */
static size_t slices_held(const struct sw_slice_layout_stream *s)
{
	return s->work.n - s->first;
}

/* How many of the held pieces have at most this sequence number. */
static size_t up_to(const struct sw_slice_layout_stream *s, uint64_t seq)
{
	size_t low = 0, high = slices_held(s);
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (s->work.at[s->first + middle].seq <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Removes the oldest n pieces of a stream. */
static void forget_slices(struct sw_slice_layout_stream *s, size_t n)
{
	s->first += n;
	s->done = 0;
	if (s->first < MOST && slices_held(s))
		return;
	memmove(s->work.at, s->work.at + s->first, slices_held(s) * sizeof *s->work.at);
	s->work.n -= s->first;
	s->first = 0;
}

/* Draws the oldest n pieces of a stream, one after the other, so that the last ends at time `by`; known: the host saw
   then that all were done, else it is assumed. */
static void lay_out(struct sw_slice_layout *lay, uint32_t stream, size_t n, uint64_t by, bool known)
{
	struct sw_slice_layout_stream *s = &lay->streams.at[stream];
	if (!n)
		return;
	const struct sw_work *work = s->work.at + s->first;
	uint64_t low = later_of(s->end, work[0].not_before), start = low;
	uint64_t span = by > low ? by - low : 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t next = by;
		if (i + 1 < n)
			next = later_of(work[i + 1].not_before, low + span / n * (i + 1));
		struct sw_laid laid = {start, later_of(start + 1, next), known ? by : 0, (uint32_t)i + 1, (uint32_t)n};
		lay->draw(lay->arg, stream, &work[i], &laid);
		start = laid.end;
	}
	s->end = start;
	forget_slices(s, n);
}

/* Keeps a piece of work until it was seen done; too many are drawn without that. */
void sw_slice_layout_push(struct sw_slice_layout *lay, uint32_t stream, const struct sw_work *work)
{
	struct sw_slice_layout_stream *s = stream_at(lay, stream);
	if (s->done && work->seq > s->done_seq)
		lay_out(lay, stream, s->done, s->done_ns, true);
	if (slices_held(s) >= MOST)
		lay_out(lay, stream, MOST / 2, s->work.at[s->first + MOST / 2].not_before, false);
	/* A call that waits is reported when it ends, after work that other threads enqueued meanwhile. */
	size_t at = s->work.n;
	sw_vec_push(&s->work);
	for (; at > s->first && s->work.at[at - 1].seq > work->seq; at--)
		s->work.at[at] = s->work.at[at - 1];
	s->work.at[at] = *work;
	s->done += work->seq <= s->done_seq;
}

size_t sw_slice_layout_done(struct sw_slice_layout *lay, uint32_t stream, uint64_t seq, uint64_t t_ns)
{
	struct sw_slice_layout_stream *s = stream_at(lay, stream);
	if (seq <= s->done_seq)
		return 0;
	if (s->done && s->done_ns != t_ns)
		lay_out(lay, stream, s->done, s->done_ns, true);
	size_t before = s->done;
	s->done = up_to(s, seq);
	s->done_seq = seq;
	s->done_ns = t_ns;
	return s->done - before;
}

struct sw_work *sw_slice_layout_find(struct sw_slice_layout *lay, uint32_t stream, uint64_t seq)
{
	struct sw_slice_layout_stream *s = stream_at(lay, stream);
	size_t n = up_to(s, seq);
	return n ? &s->work.at[s->first + n - 1] : NULL;
}

void sw_slice_layout_finish(struct sw_slice_layout *lay, uint64_t end_ns)
{
	for (uint32_t i = 0; i < lay->streams.n; i++) {
		struct sw_slice_layout_stream *s = &lay->streams.at[i];
		lay_out(lay, i, s->done, s->done_ns, true);
		lay_out(lay, i, slices_held(s), end_ns, false);
	}
}

/* Frees the work that is kept. */
void sw_slice_layout_free(struct sw_slice_layout *lay)
{
	for (size_t i = 0; i < lay->streams.n; i++)
		free(lay->streams.at[i].work.at);
	free(lay->streams.at);
	*lay = (struct sw_slice_layout){0};
}
