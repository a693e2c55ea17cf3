/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products that saturate at UINT64_MAX: sizes from traces and images may be anything. */
#ifndef SW_BASE_SATURATE_H
#define SW_BASE_SATURATE_H

#include <stdint.h>

static inline uint64_t sw_saturate_mul(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t sw_saturate_add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
