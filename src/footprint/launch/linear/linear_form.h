/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear forms over the integers: constant + sum of coefficient x variable.
 *
 * A form stands for a number in one of two ways: modulo 2^width (what a register holds: coefficients are kept as signed
 * numbers of `width` bits) or exactly (what a comparison or an address needs).  Which one is the caller's knowledge.
 */
#ifndef SW_FOOTPRINT_LAUNCH_LINEAR_LINEAR_FORM_H
#define SW_FOOTPRINT_LAUNCH_LINEAR_LINEAR_FORM_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 sw_wide;

/* Anything this large or larger is infinite.  Sums of finite numbers stay far from overflow. */
#define SW_INFINITE ((sw_wide)1 << 120)

#define SW_FORM_VARS 10 /* three thread and three block numbers, and four more; beyond: one opaque variable */

struct sw_form {
	sw_wide constant;
	uint32_t n;
	uint32_t var[SW_FORM_VARS]; /* ascending */
	int64_t by[SW_FORM_VARS];   /* never 0 */
};

struct sw_bounds {
	sw_wide lo, hi;
};

/* The form of a number. */
static inline struct sw_form sw_form_constant(sw_wide constant)
{
	return (struct sw_form){.constant = constant};
}
/* The form of one variable. */
static inline struct sw_form sw_form_variable(uint32_t var)
{
	return (struct sw_form){.n = 1, .var = {var}, .by = {1}};
}

/* *out = a + b * by; modulo 2^width, or exactly with width 0.  false: too many variables, or (exact) too large; *out is
   untouched then.  out may be a or b. */
bool sw_form_sum(struct sw_form *out, const struct sw_form *a, const struct sw_form *b, int64_t by, unsigned width);
/* Brings the numbers of a form that is meant modulo 2^width into the signed range. */
void sw_form_wrap(struct sw_form *form, unsigned width);
/* Are the forms the same, number by number? */
bool sw_form_equal(const struct sw_form *a, const struct sw_form *b);
/* A hash of a form, the same for equal forms. */
uint64_t sw_form_hash(const struct sw_form *form); /* of equal forms the same */
/* Coefficient of a variable, 0 if it does not occur. */
int64_t sw_form_by(const struct sw_form *form, uint32_t var);
/* form - coefficient x variable; the coefficient is returned. */
int64_t sw_form_take(struct sw_form *form, uint32_t var);
/* Greatest common divisor of the coefficients; 0 for a constant. */
uint64_t sw_form_divisor(const struct sw_form *form);

/* ---- numbers that saturate at infinity */
/* a + b, infinite where one of them is or the sum gets too large. */
static inline sw_wide sw_wide_add(sw_wide a, sw_wide b)
{
	if (a >= SW_INFINITE || b >= SW_INFINITE)
		return SW_INFINITE;
	if (a <= -SW_INFINITE || b <= -SW_INFINITE)
		return -SW_INFINITE;
	sw_wide sum = a + b;
	return sum >= SW_INFINITE ? SW_INFINITE : sum <= -SW_INFINITE ? -SW_INFINITE : sum;
}
/* sw_wide_mul() for numbers of any size. */
sw_wide sw_wide_mul_large(sw_wide a, sw_wide b);
/* a * b, infinite where one of them is or the product gets too large; 0 times infinity is 0. */
static inline sw_wide sw_wide_mul(sw_wide a, sw_wide b)
{
	/* Most numbers are small: their product is far from infinity. */
	if (a == (int32_t)a && b == (int64_t)b)
		return (sw_wide)(int32_t)a * (int64_t)b;
	if (b == (int32_t)b && a == (int64_t)a)
		return (sw_wide)(int32_t)b * (int64_t)a;
	return sw_wide_mul_large(a, b);
}
/* The number without its sign. */
static inline sw_wide sw_wide_magnitude(sw_wide a)
{
	return a < 0 ? -a : a;
}
/* The bounds of a product of a number within `a` and a number within `b`. */
struct sw_bounds sw_bounds_product(struct sw_bounds a, struct sw_bounds b);
sw_wide sw_wide_floor(sw_wide a, sw_wide b); /* a / b rounded down, b > 0; infinite a stays */
/* The signed number that the low `width` bits of a number stand for. */
sw_wide sw_wide_wrap(sw_wide a, unsigned width);
/* The greatest common divisor; that of 0 and another number is the other one. */
uint64_t sw_gcd(uint64_t a, uint64_t b);

#endif
