/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of linear forms, and numbers that saturate at infinity (linear_form.h). */
#include "footprint/launch/linear/linear_form.h"

#include <string.h>

#include "base/hash.h"

/* Is the number so large that it counts as infinite? */
static bool is_infinite(sw_wide a)
{
	return a >= SW_INFINITE || a <= -SW_INFINITE;
}

sw_wide sw_wide_mul_large(sw_wide a, sw_wide b)
{
	sw_wide product;
	if (a == 0 || b == 0)
		return 0;
	if (__builtin_mul_overflow(a, b, &product) || is_infinite(product))
		return (a < 0) == (b < 0) ? SW_INFINITE : -SW_INFINITE;
	return product;
}

struct sw_bounds sw_bounds_product(struct sw_bounds a, struct sw_bounds b)
{
	const sw_wide corner[] = {sw_wide_mul(a.lo, b.lo), sw_wide_mul(a.lo, b.hi), sw_wide_mul(a.hi, b.lo),
				  sw_wide_mul(a.hi, b.hi)};
	struct sw_bounds all = {corner[0], corner[0]};
	for (int i = 1; i < 4; i++) {
		all.lo = corner[i] < all.lo ? corner[i] : all.lo;
		all.hi = corner[i] > all.hi ? corner[i] : all.hi;
	}
	return all;
}

sw_wide sw_wide_floor(sw_wide a, sw_wide b)
{
	if (is_infinite(a))
		return a;
	if (a == (int64_t)a && b == (int64_t)b) {
		int64_t x = (int64_t)a, y = (int64_t)b, small = x / y;
		return x % y < 0 ? (sw_wide)small - 1 : small;
	}
	if (!(b & (b - 1)) && b <= (sw_wide)1 << 64) /* a right shift rounds down */
		return a >> (b >> 64 ? 64 : __builtin_ctzll((uint64_t)b));
	sw_wide quotient = a / b;
	return a % b < 0 ? quotient - 1 : quotient;
}

sw_wide sw_wide_wrap(sw_wide a, unsigned width)
{
	if (width >= 64)
		return (int64_t)(uint64_t)a;
	uint64_t bits = (uint64_t)a & ((UINT64_C(1) << width) - 1);
	return bits >> (width - 1) ? (sw_wide)bits - ((sw_wide)1 << width) : (sw_wide)bits;
}

uint64_t sw_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

void sw_form_wrap(struct sw_form *form, unsigned width)
{
	uint32_t n = 0;
	form->constant = sw_wide_wrap(form->constant, width);
	for (uint32_t i = 0; i < form->n; i++) {
		int64_t by = (int64_t)sw_wide_wrap(form->by[i], width);
		if (!by)
			continue;
		form->var[n] = form->var[i];
		form->by[n++] = by;
	}
	form->n = n;
}

/* a + b * by for one coefficient, modulo 2^width, or exactly with width 0; false: it does not fit. */
static inline bool combine_coefficients(int64_t a, int64_t b, int64_t by, unsigned width, int64_t *out)
{
	if (width) {
		/* Modulo 2^64 is enough for every narrower width. */
		uint64_t sum = (uint64_t)a + (uint64_t)b * (uint64_t)by;
		*out = width < 64 ? (int64_t)(sum << (64 - width)) >> (64 - width) : (int64_t)sum;
		return true;
	}
	sw_wide exact = (sw_wide)b * by + a;
	*out = (int64_t)exact;
	return exact == *out;
}

/* a + b * by for the constants, modulo 2^width, or exactly with width 0; false: it is infinite. */
static bool combine_constants(sw_wide a, sw_wide b, int64_t by, unsigned width, sw_wide *out)
{
	if (width) {
		*out = sw_wide_wrap((sw_wide)((uint64_t)a + (uint64_t)b * (uint64_t)by), width);
		return true;
	}
	*out = sw_wide_add(a, sw_wide_mul(b, by));
	return !is_infinite(*out);
}

bool sw_form_sum(struct sw_form *out, const struct sw_form *a, const struct sw_form *b, int64_t by, unsigned width)
{
	struct sw_form sum; /* only n of its variables are set, and copied */
	uint32_t n = 0;
	if (!combine_constants(a->constant, b->constant, by, width, &sum.constant))
		return false;
	for (uint32_t i = 0, j = 0; i < a->n || j < b->n;) {
		uint32_t var = i == a->n || (j < b->n && b->var[j] < a->var[i]) ? b->var[j] : a->var[i];
		int64_t left = i < a->n && a->var[i] == var ? a->by[i++] : 0;
		int64_t right = j < b->n && b->var[j] == var ? b->by[j++] : 0;
		int64_t coefficient;
		if (!combine_coefficients(left, right, by, width, &coefficient))
			return false;
		if (!coefficient)
			continue;
		if (n == SW_FORM_VARS)
			return false;
		sum.var[n] = var;
		sum.by[n++] = coefficient;
	}
	out->constant = sum.constant;
	out->n = n;
	memcpy(out->var, sum.var, n * sizeof *sum.var);
	memcpy(out->by, sum.by, n * sizeof *sum.by);
	return true;
}

bool sw_form_equal(const struct sw_form *a, const struct sw_form *b)
{
	if (a->constant != b->constant || a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->var[i] != b->var[i] || a->by[i] != b->by[i])
			return false;
	}
	return true;
}

uint64_t sw_form_hash(const struct sw_form *form)
{
	const uint64_t halves[2] = {(uint64_t)form->constant, (uint64_t)(form->constant >> 64)};
	uint64_t hash = sw_hash_words(halves, sizeof halves);
	for (uint32_t i = 0; i < form->n; i++)
		hash = sw_hash_u64(sw_hash_u64(hash ^ (uint64_t)form->by[i]) + form->var[i]);
	return hash;
}

int64_t sw_form_by(const struct sw_form *form, uint32_t var)
{
	for (uint32_t i = 0; i < form->n; i++) {
		if (form->var[i] == var)
			return form->by[i];
	}
	return 0;
}

int64_t sw_form_take(struct sw_form *form, uint32_t var)
{
	for (uint32_t i = 0; i < form->n; i++) {
		if (form->var[i] != var)
			continue;
		int64_t by = form->by[i];
		form->n--;
		for (; i < form->n; i++) {
			form->var[i] = form->var[i + 1];
			form->by[i] = form->by[i + 1];
		}
		return by;
	}
	return 0;
}

uint64_t sw_form_divisor(const struct sw_form *form)
{
	uint64_t divisor = 0;
	for (uint32_t i = 0; i < form->n; i++)
		divisor = sw_gcd(divisor, form->by[i] < 0 ? 0 - (uint64_t)form->by[i] : (uint64_t)form->by[i]);
	return divisor;
}
