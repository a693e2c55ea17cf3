/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of durations with eight buckets an octave, of constant size.
 *
 * A quantile is reported as the middle of its bucket: at most a sixteenth off.  Not thread-safe.
 */
#ifndef SW_DETECT_MODEL_DURATION_HISTOGRAM_H
#define SW_DETECT_MODEL_DURATION_HISTOGRAM_H

#include <stdint.h>

#define SW_HISTOGRAM_OCTAVES 38u /* up to 2^40 ns, 18 minutes: what is longer counts as that */

struct sw_histogram {
	uint64_t n;
	uint32_t bucket[8 * SW_HISTOGRAM_OCTAVES];
};

void sw_histogram_add(struct sw_histogram *spread, uint64_t ns);
/* The duration that `percent` of them do not exceed, in ns; 0 when there are none. */
uint64_t sw_histogram_quantile(const struct sw_histogram *spread, unsigned percent);

#endif
