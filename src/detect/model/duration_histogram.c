/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/duration_histogram.h"

/* Below 8 a bucket is one number; from there on an octave has eight. */
static uint32_t bucket_of(uint64_t ns)
{
	if (ns < 8)
		return (uint32_t)ns;
	unsigned top = 63u - (unsigned)__builtin_clzll(ns);
	uint32_t at = 8 * (top - 2) + (uint32_t)(ns >> (top - 3) & 7);
	return at < 8 * SW_HISTOGRAM_OCTAVES ? at : 8 * SW_HISTOGRAM_OCTAVES - 1;
}

static uint64_t middle_of(uint32_t bucket)
{
	if (bucket < 16)
		return bucket;
	unsigned shift = bucket / 8 - 1;
	return ((8ull + bucket % 8) << shift) + (1ull << shift) / 2;
}

void sw_histogram_add(struct sw_histogram *spread, uint64_t ns)
{
	uint32_t *bucket = &spread->bucket[bucket_of(ns)];
	if (*bucket == UINT32_MAX)
		return;
	++*bucket;
	spread->n++;
}

uint64_t sw_histogram_quantile(const struct sw_histogram *spread, unsigned percent)
{
	uint64_t wanted = (spread->n * percent + 99) / 100, seen = 0;
	for (uint32_t i = 0; i < 8 * SW_HISTOGRAM_OCTAVES; i++) {
		seen += spread->bucket[i];
		if (seen && seen >= wanted)
			return middle_of(i);
	}
	return 0;
}
