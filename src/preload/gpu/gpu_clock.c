/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of readings that tie the clock of the devices to the trace's. */
#include <stdatomic.h>

#include "preload/platform/clock.h"
#include "preload/gpu/gpu.h"

bool sw_clock_is_tsc; /* as the recorder's own */

static uint64_t first_ticks, first_ns;
static uint64_t rate = 1ull << 32; /* nanoseconds a tick, 2^-32 */
static _Atomic bool used;

/* The recorder's estimate comes from a fifth of a millisecond; by now some milliseconds have passed. */
static uint64_t rate_by_now(const struct sw_file_header *header)
{
	const uint64_t ticks = sw_clock_ticks() - header->start_ticks;
	const uint64_t ns = sw_clock_ns(CLOCK_MONOTONIC) - header->start_monotonic_ns;

	if (ns < 1000000 || ns >> 31 || !ticks)
		return header->ticks_per_second ? (1000000000ull << 32) / header->ticks_per_second : 1ull << 32;
	return (ns << 32) / ticks;
}

void sw_gpu_clock_start(const struct sw_file_header *header)
{
	sw_clock_is_tsc = header->flags & SW_FILE_TSC;
	first_ticks = header->start_ticks;
	first_ns = header->start_monotonic_ns;
	if (sw_clock_is_tsc)
		rate = rate_by_now(header);
}

uint64_t sw_gpu_clock_now(void)
{
	/* A plain store would take the cache line from the other processors at each call. */
	if (!atomic_load_explicit(&used, memory_order_relaxed))
		atomic_store_explicit(&used, true, memory_order_relaxed);
	return first_ns + (uint64_t)((unsigned __int128)(sw_clock_ticks() - first_ticks) * rate >> 32);
}

bool sw_gpu_clock_used(void)
{
	return atomic_exchange(&used, false);
}

bool sw_gpu_clock_write(struct sw_gpu *gpu, uint32_t flags, bool replaced)
{
	uint64_t before = 0, after = 0, ns = 0, width = UINT64_MAX, middle = 0, best = 0;
	struct sw_rec_gpu_clock *r;
	bool ours;

	sw_gpu_clock_used();
	for (int i = 0; i < 3; i++) { /* the tightest: an interrupt may fall between */
		before = sw_clock_ticks();
		if (SW_CUPTI(&gpu->cupti, cuptiGetTimestamp, &ns) != CUPTI_SUCCESS)
			return false;
		after = sw_clock_ticks();
		if (after - before < width) {
			width = after - before;
			middle = before + width / 2;
			best = ns;
		}
	}
	ours = sw_gpu_clock_used();
	if (!ours && gpu->own_clock && !replaced)
		return false;
	r = gpu->recorder->describe(SW_REC_GPU_CLOCK, sizeof *r, true);
	if (!r)
		return ours || !gpu->own_clock;
	if (ours) { /* no reading is needed to know how the two belong together */
		middle = after;
		best = first_ns + (uint64_t)((unsigned __int128)(after - first_ticks) * rate >> 32);
		width = 0;
	}
	r->h.ticks = middle;
	r->gpu_ns = best;
	r->lost = gpu->dropped;
	r->width = width < UINT32_MAX ? (uint32_t)width : UINT32_MAX;
	r->flags = flags | (ours ? SW_GPU_CLOCK_OURS : 0);
	gpu->recorder->described(r);
	return ours || !gpu->own_clock;
}
