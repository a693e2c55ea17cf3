/* SPDX-License-Identifier: Apache-2.0 */
/* The interval of a median: percentiles of the medians of samples drawn from the numbers (Efron, "The Jackknife, the
   Bootstrap and Other Resampling Plans", percentile method). */
#include "confirm/bootstrap.h"

#include <stdlib.h>

#include "base/hash.h"

#define SAMPLES 2000u
#define OUTSIDE 50u /* on each side: 2.5 % of the samples */

/* For qsort(): by value. */
static int compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* The median of n numbers, which it sorts. */
static int64_t median_of(int64_t *numbers, size_t n)
{
	qsort(numbers, n, sizeof *numbers, compare_ns);
	return n % 2 ? numbers[n / 2] : numbers[n / 2 - 1] + (numbers[n / 2] - numbers[n / 2 - 1]) / 2;
}

/* The median of n numbers and its 95 % interval, by drawing samples from them; the same numbers give the same
   interval. */
struct sw_interval sw_bootstrap_median(const int64_t *numbers, size_t n)
{
	static int64_t medians[SAMPLES];
	int64_t sample[SW_BOOTSTRAP_MOST];
	uint64_t dice = SW_FNV_START;
	if (n == 0 || n > SW_BOOTSTRAP_MOST)
		return (struct sw_interval){0};
	for (size_t k = 0; k < SAMPLES; k++) {
		for (size_t i = 0; i < n; i++) {
			dice = sw_hash_u64(dice + 1);
			sample[i] = numbers[dice % n];
		}
		medians[k] = median_of(sample, n);
	}
	qsort(medians, SAMPLES, sizeof *medians, compare_ns);
	for (size_t i = 0; i < n; i++)
		sample[i] = numbers[i];
	return (struct sw_interval){median_of(sample, n), medians[OUTSIDE], medians[SAMPLES - 1 - OUTSIDE]};
}
