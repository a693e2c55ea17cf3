/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/waits/device_times.h"

#include <stdlib.h>

static int by_seq(const void *x, const void *y)
{
	const struct sw_time *a = x, *b = y;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Sorts, and makes one of those that have the same sequence number. */
static void settle(struct sw_times *times)
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

bool sw_times_add(struct sw_times *times, uint64_t seq, uint64_t start, uint64_t end)
{
	if (times->at.n == SW_TIMES_MOST && !times->summary.left_out)
		settle(times); /* nodes of graphs become one each launch */
	if (times->at.n == SW_TIMES_MOST) {
		times->summary.left_out++;
		return false;
	}
	*sw_vec_push(&times->at) = (struct sw_time){seq, start, end};
	return true;
}

void sw_times_finish(struct sw_times *times, const struct sw_time_clock *clock)
{
	size_t kept = 0;
	settle(times);
	for (size_t i = 0; i < times->at.n; i++) {
		struct sw_time t = times->at.at[i];
		if (sw_time_clock_ns(clock, t.start, &t.start) && sw_time_clock_ns(clock, t.end, &t.end) &&
		    t.start <= t.end)
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
