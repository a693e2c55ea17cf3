/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of a kernel is loaded when it is first used, which may hold back other streams (CUDA programming guide,
 * "Lazy loading": loading may need the context to be idle).  No call says that it loaded: it is recognised by the time
 * that it took.
 */
#include "detect/kernels/first_uses.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"

/*
 * Longer first uses loaded code, wherever.  Measured on H200, driver 580, CUDA 13.0: launches of kernels whose code is
 * there mostly take 2 to 12 us, attribute queries below 7 us; first uses that load take from 40 us to milliseconds
 * ("first launch of a kernel, on nb2 (lazy load)" 0.10 to 0.15 ms, "first cudaFuncGetAttributes of a kernel (lazy
 * load)" 0.06 ms).
 */
#define SW_LOAD_NS 30000u
/*
 * Where a program loads one small kernel after the other, a load takes 14 to 80 us (kernels/lazy_load on that H200,
 * median 23; launches of loaded kernels 4 to 22, median 7).  Shorter ones count where first launches take twice as long
 * as others in this very run: with CUDA_MODULE_LOADING=EAGER they do not.
 */
#define SW_LOAD_LEAST_NS 12000u
#define SW_ENOUGH	 3u

/* Launches by microseconds; longer ones count as the last. */
struct durations {
	uint32_t of_us[32], count;
};

struct sw_first_uses {
	struct sw_map seen; /* function handles whose code is known to be loaded */
	struct durations first, later;
};

/* The functions whose code is known to be loaded, and how long launches took. */
struct sw_first_uses *sw_first_uses_new(void)
{
	return sw_calloc(1, sizeof(struct sw_first_uses));
}

void sw_first_uses_free(struct sw_first_uses *uses)
{
	sw_map_free(&uses->seen);
	free(uses);
}

/* Counts a call in its microsecond. */
static void count_duration(struct durations *d, uint64_t ns)
{
	uint64_t us = ns / 1000;
	d->of_us[us < 31 ? us : 31]++;
	d->count++;
}

/* The median of the durations, at the middle of its microsecond. */
static uint64_t median_ns(const struct durations *d)
{
	uint32_t us = 0;
	for (uint32_t below = 0; us < 31 && (below += d->of_us[us]) * 2 < d->count;)
		us++;
	return us * 1000u + 500;
}

/* How long a first use takes at least if it loaded code.  A lower bound than SW_LOAD_NS counts only where first
   launches of this run are seen to take twice as long as later ones. */
static uint64_t least_load_ns(const struct sw_first_uses *uses)
{
	if (uses->first.count < SW_ENOUGH || uses->later.count < SW_ENOUGH)
		return SW_LOAD_NS;
	uint64_t twice = 2 * median_ns(&uses->later);
	if (median_ns(&uses->first) < twice || twice > SW_LOAD_NS)
		return SW_LOAD_NS;
	return twice > SW_LOAD_LEAST_NS ? twice : SW_LOAD_LEAST_NS;
}

void sw_first_use(struct sw_model *m, struct sw_wait *w, uint64_t handle, uint8_t ctx, uint32_t own_lane)
{
	struct sw_first_uses *uses = m->first_uses;
	uint64_t *seen = sw_map_put(&uses->seen, handle), ns = m->record->dur_ns;
	bool launch = own_lane != UINT32_MAX, first = !*seen;
	*seen = 1;
	uint64_t least = launch && first ? least_load_ns(uses) : SW_LOAD_NS;
	if (launch)
		count_duration(first ? &uses->first : &uses->later, ns);
	/* Calls that were left out may have used it before. */
	if (!first || ns < least || m->cut_seq)
		return;
	sw_wait_peek(m, w, sw_hb_wait_context(m->hb, ctx));
	size_t others = 0;
	for (size_t i = 0; i < w->covered.n; i++)
		others += w->covered.at[i].lane != own_lane;
	w->pending = others > 0;
	w->id = SW_FINDING_MODULE_LOAD;
	w->basis = SW_BASIS_MAY;
	w->fix = SW_FIX_PRELOAD;
	w->own_ns = sw_wait_own(SW_OWN_LOAD, 0);
}
