/* SPDX-License-Identifier: Apache-2.0 */
/* From the clock of the time stamps to nanoseconds of the trace. */
#include "detect/waits/device_times.h"

#include <stdlib.h>

/* What a clock may deviate between two readings before it is said to have jumped: crystals are a hundred times better.
 */
#define UNEVEN_NS    1000000u
#define UNEVEN_SHARE 1000u
#define JUMPS	     64u /* distinguished; more make all times unknown */

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* from + (at - from_at) * (to - from) / (to_at - from_at), also outside of the two. */
static uint64_t along(uint64_t at, uint64_t from_at, uint64_t to_at, uint64_t from, uint64_t to)
{
	const __int128 moved = (__int128)at - from_at;
	const __int128 value =
		to_at == from_at ? from : from + moved * ((__int128)to - from) / ((__int128)to_at - from_at);
	return value < 0 ? 0 : value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

void sw_time_clock_add(struct sw_time_clock *clock, const struct sw_file_header *header, const struct sw_record *record)
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
		if (pair.gpu_ns <= last->gpu_ns || apart(passed, ran) > UNEVEN_NS + passed / UNEVEN_SHARE) {
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

/* The last pair whose clock is not behind; the last but one at most, so that there is one after it. */
static size_t before(const struct sw_time_clock *clock, uint64_t gpu_ns)
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

uint64_t sw_time_clock_ticks(const struct sw_time_clock *clock, uint64_t gpu_ns)
{
	if (!clock->pairs.n)
		return 0;
	if (clock->pairs.n == 1) /* by the recorder's own rate: its first estimate is good for milliseconds */
		return along(gpu_ns, clock->pairs.at[0].gpu_ns, clock->pairs.at[0].gpu_ns + 1000000000u,
			     clock->pairs.at[0].ticks, clock->pairs.at[0].ticks + clock->ticks_per_second);
	const struct sw_time_pair *p = &clock->pairs.at[before(clock, gpu_ns)];
	return along(gpu_ns, p[0].gpu_ns, p[1].gpu_ns, p[0].ticks, p[1].ticks);
}

bool sw_time_clock_ns(const struct sw_time_clock *clock, uint64_t gpu_ns, uint64_t *t_ns)
{
	if (clock->pairs.n < 2 || clock->jumps > JUMPS)
		return false;
	const size_t i = before(clock, gpu_ns);
	for (size_t j = 0; j < clock->jumped.n; j++)
		if (clock->jumped.at[j] == i)
			return false;
	const struct sw_time_pair *p = &clock->pairs.at[i];
	*t_ns = along(gpu_ns, p[0].gpu_ns, p[1].gpu_ns, p[0].t_ns, p[1].t_ns);
	return true;
}

void sw_time_clock_free(struct sw_time_clock *clock)
{
	free(clock->pairs.at);
	free(clock->jumped.at);
}
