/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the intervals of operands. */
#include <string.h>

#include "footprint/launch/spans/spans.h"
#include "footprint/rules.h"

/* ---- quotients and remainders */

/*
 * An index of several dimensions is taken apart by divisions, which code writes as products
 * with a magic number: q = (umulhi(x, m) + x) >> s.  The remainder x - d * q is small, which the intervals of x and q
 * alone do not show.
 */

#define NONE ((struct sw_span_quotient){0})

/* The hint of the term that it may be a copy of, whatever the launch. */
static uint8_t hint_of(const struct sw_spans *s, uint32_t number)
{
	for (int i = 0; i < 4; i++) {
		const struct sw_term *t = &s->f->term[number];
		if (t->op != SW_OP_MOV && t->op != SW_OP_EXTEND)
			break;
		number = t->a;
	}
	return s->hint[number];
}

void sw_span_hint(struct sw_spans *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	uint8_t hint = 0;
	switch (t->op) {
	case SW_OP_MULWIDE:
		hint = SW_SPAN_QUOTIENT;
		break;
	case SW_OP_MULHI:
	case SW_OP_DIV:
	case SW_OP_SHR:
		hint = SW_SPAN_QUOTIENT | SW_SPAN_DIVIDED;
		break;
	case SW_OP_ADD:
	case SW_OP_SUB: {
		uint8_t both = hint_of(s, t->a) | hint_of(s, t->b);
		if (t->op == SW_OP_ADD && both & SW_SPAN_DIVIDED)
			hint = SW_SPAN_QUOTIENT | SW_SPAN_DIVIDED;
		if (t->op == SW_OP_ADD && t->width == 64 && hint_of(s, t->a) & hint_of(s, t->b) & SW_SPAN_QUOTIENT)
			hint |= SW_SPAN_QUOTIENT;
		hint |= both & SW_SPAN_MULTIPLE ? SW_SPAN_REMAINDER : 0;
		break;
	}
	case SW_OP_NEG:
	case SW_OP_SHL:
	case SW_OP_MUL:
		hint = hint_of(s, t->a) | (t->op == SW_OP_MUL ? hint_of(s, t->b) : 0) ? SW_SPAN_MULTIPLE : 0;
		hint |= t->op == SW_OP_MUL && t->width == 64 ? SW_SPAN_QUOTIENT : 0;
		break;
	case SW_OP_AND: /* x & -32 */
		hint = s->f->term[t->a].op == SW_OP_CONST || s->f->term[t->b].op == SW_OP_CONST ? SW_SPAN_MULTIPLE : 0;
		break;
	case SW_OP_SELECT: /* n == 1 ? x : umulhi(x, m) >> s */
		hint = (hint_of(s, t->b) | hint_of(s, t->c)) & SW_SPAN_DIVIDED ? SW_SPAN_QUOTIENT | SW_SPAN_DIVIDED : 0;
		break;
	default:
		break;
	}
	s->hint[number] = hint;
}

/* The term whose value this one has: passes over terms that only copy or widen a number, four at most. */
static uint32_t plain_term(const struct sw_spans *s, uint32_t number)
{
	for (int i = 0; i < 4; i++) {
		const struct sw_term *t = &s->f->term[number];
		if (t->op != SW_OP_MOV && t->op != SW_OP_EXTEND)
			break;
		unsigned own = s->f->term[t->a].width;
		struct sw_bounds x = sw_span_exact(s, t->a, own, false);
		unsigned bits = t->op == SW_OP_MOV || t->imm >= t->width ? t->width : (unsigned)t->imm;
		bool is_signed = t->op == SW_OP_EXTEND && t->imm < t->width && t->flags & SW_SIGNED;
		if (bits < 1 || x.hi > sw_span_type(bits, is_signed).hi)
			break;
		number = t->a;
	}
	return number;
}

/* Is the interval of x that of its value read without a sign, so that it is no less than 0 and does not wrap? */
static bool is_number(const struct sw_spans *s, uint32_t x)
{
	struct sw_bounds range = s->value[x].range;
	return range.lo >= 0 && range.hi <= sw_span_type(s->f->term[x].width, false).hi;
}

/* Splits a product: *x is the operand that varies, *by the value of the other one, no less than 0.
   False: no operand is fixed so, or the other one may wrap around. */
static bool split_product(const struct sw_spans *s, const struct sw_term *t, unsigned width, bool is_signed,
			  uint32_t *x, sw_wide *by)
{
	for (int swap = 0; swap < 2; swap++) {
		struct sw_bounds other = sw_span_exact(s, swap ? t->a : t->b, width, is_signed);
		*x = plain_term(s, swap ? t->b : t->a);
		*by = other.lo;
		if (sw_span_fixed(other) && other.lo >= 0 && is_number(s, *x) &&
		    s->value[*x].range.hi <= sw_span_type(width, is_signed).hi)
			return true;
	}
	return false;
}

/* x * by, where that does not wrap around 64 bits. */
static struct sw_span_quotient long_product(const struct sw_spans *s, uint32_t x, sw_wide by)
{
	if (!is_number(s, x) || sw_wide_mul(s->value[x].range.hi, by) > (sw_wide)UINT64_MAX)
		return NONE;
	return (struct sw_span_quotient){x, by, 1};
}

/* A product of 64 bits by a fixed number. */
static struct sw_span_quotient of_long_product(const struct sw_spans *s, const struct sw_term *t)
{
	uint32_t x;
	sw_wide by;
	if (t->width != 64 || !split_product(s, t, t->width, false, &x, &by))
		return NONE;
	return long_product(s, x, by);
}

/* A choice that the launch decides: the quotient that it is, or x itself as x / 1. */
static struct sw_span_quotient of_choice(const struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds which = sw_span_exact(s, t->a, 1, false);
	if (!sw_span_fixed(which))
		return NONE;
	uint32_t x = plain_term(s, which.lo ? t->b : t->c);
	if (s->value[x].quotient.over)
		return s->value[x].quotient;
	return is_number(s, x) ? (struct sw_span_quotient){x, 1, 1} : NONE;
}

/* The upper half (MULHI) or all (MULWIDE) of a product by a fixed number of 32 bits: floor(x * by / 2^width), or x *
   by. */
static struct sw_span_quotient of_product(const struct sw_spans *s, const struct sw_term *t)
{
	bool wide = t->op == SW_OP_MULWIDE;
	unsigned width = wide ? t->width / 2u : t->width;
	uint32_t x;
	sw_wide by;
	if (width < 1 || width > 32 || !split_product(s, t, width, t->flags & SW_SIGNED, &x, &by))
		return NONE;
	return (struct sw_span_quotient){x, by, (sw_wide)1 << (wide ? 0 : width)};
}

/* x * m + x * 2^32, as x * (m + 2^32): machine code adds x to the upper half of the product. */
static struct sw_span_quotient of_long_sum(const struct sw_spans *s, const struct sw_term *t)
{
	struct sw_span_quotient a = s->value[plain_term(s, t->a)].quotient, b = s->value[plain_term(s, t->b)].quotient;
	if (t->width != 64 || a.over != 1 || b.over != 1 || a.of != b.of)
		return NONE;
	return long_product(s, a.of, a.by + b.by);
}

/* floor(x * m / 2^w) + x, as floor(x * (m + 2^w) / 2^w): divisions whose magic number has a bit too many. */
static struct sw_span_quotient of_sum(const struct sw_spans *s, const struct sw_term *t, uint32_t number)
{
	for (int swap = 0; swap < 2; swap++) {
		uint32_t part = plain_term(s, swap ? t->b : t->a), x = plain_term(s, swap ? t->a : t->b);
		struct sw_span_quotient q = s->value[part].quotient;
		if (q.over > 1 && q.of == x && is_number(s, x) && is_number(s, number))
			return (struct sw_span_quotient){x, q.by + q.over, q.over};
	}
	return of_long_sum(s, t);
}

/* Divisors of more bits are not followed, as no code divides an index by so much; nor are products of divisors that
   have more than twice as many, so that what is computed from them stays exact. */
#define DIVISOR_BITS 40

/* A number, or a quotient that the term is already, divided by a fixed number. */
static struct sw_span_quotient of_division(const struct sw_spans *s, const struct sw_term *t, sw_wide divisor)
{
	uint32_t x = plain_term(s, t->a);
	struct sw_span_quotient q = s->value[x].quotient;
	if (divisor < 1 || divisor > (sw_wide)1 << DIVISOR_BITS || !is_number(s, x) ||
	    sw_span_exact(s, t->a, t->width, t->flags & SW_SIGNED).lo < 0)
		return NONE;
	if (q.over && q.by > 1 && q.over <= ((sw_wide)1 << 2 * DIVISOR_BITS) / divisor)
		return (struct sw_span_quotient){q.of, q.by, q.over * divisor};
	return (struct sw_span_quotient){x, 1, divisor};
}

struct sw_span_quotient sw_span_quotient_of(const struct sw_spans *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	struct sw_bounds by;
	if (!(s->hint[number] & SW_SPAN_QUOTIENT))
		return NONE;
	switch (t->op) {
	case SW_OP_MULHI:
	case SW_OP_MULWIDE:
		return of_product(s, t);
	case SW_OP_MUL:
		return of_long_product(s, t);
	case SW_OP_SELECT:
		return of_choice(s, t);
	case SW_OP_ADD:
		return of_sum(s, t, number);
	case SW_OP_DIV:
		by = sw_span_exact(s, t->b, t->width, t->flags & SW_SIGNED);
		return sw_span_fixed(by) ? of_division(s, t, by.lo) : NONE;
	case SW_OP_SHR:
		by = sw_span_exact(s, t->b, s->f->term[t->b].width, false);
		return sw_span_fixed(by) && by.lo < DIVISOR_BITS && by.lo < t->width
			       ? of_division(s, t, (sw_wide)1 << (unsigned)by.lo)
			       : NONE;
	default:
		return NONE;
	}
}

/* Is the term factor * *q, as far as `width` bits go?  Finds both. */
static bool is_multiple(const struct sw_spans *s, uint32_t number, unsigned width, uint32_t *q, sw_wide *factor)
{
	const struct sw_term *t = &s->f->term[number];
	if (t->width != width)
		return false;
	if (t->op == SW_OP_NEG) {
		if (s->f->term[t->a].op == SW_OP_NEG || !is_multiple(s, t->a, width, q, factor))
			return false;
		*factor = -*factor;
		return true;
	}
	if (t->op == SW_OP_SHL) {
		struct sw_bounds by = sw_span_exact(s, t->b, s->f->term[t->b].width, false);
		*q = plain_term(s, t->a);
		*factor = (sw_wide)1 << (by.hi < 32 ? (unsigned)by.hi : 32);
		return sw_span_fixed(by) && by.hi < 32;
	}
	if (t->op != SW_OP_MUL)
		return false;
	for (int swap = 0; swap < 2; swap++) {
		struct sw_bounds other = sw_span_exact(s, swap ? t->a : t->b, width, true);
		*q = plain_term(s, swap ? t->b : t->a);
		*factor = other.lo;
		if (s->f->term[*q].op == SW_OP_NEG && s->f->term[*q].width == width) {
			*q = plain_term(s, s->f->term[*q].a);
			*factor = -*factor;
		}
		if (sw_span_fixed(other) && s->value[*q].quotient.over)
			return true;
	}
	return false;
}

/* a / b rounded up. */
static sw_wide divide_up(sw_wide a, sw_wide b)
{
	return -sw_wide_floor(-a, b);
}

/* Bounds x - d * floor(x * by / over) for every x of the interval.  False: the numbers get too large. */
static bool remainder_of(struct sw_bounds x, sw_wide d, const struct sw_span_quotient *q, struct sw_bounds *out)
{
	sw_wide part = q->over - sw_wide_mul(d, q->by);
	sw_wide a = sw_wide_mul(x.lo, part), b = sw_wide_mul(x.hi, part), slack = sw_wide_mul(d, q->over - 1);
	sw_wide least = a < b ? a : b, most = sw_wide_add(a > b ? a : b, slack);
	if (least <= -SW_INFINITE || most >= SW_INFINITE || d < 1)
		return false;
	*out = (struct sw_bounds){divide_up(least, q->over), sw_wide_floor(most, q->over)};
	return true;
}

/* Is the dividend x + *more modulo 2^width?  Rows of an unrolled loop are (x - d * ((x + 8) / d)) + 8. */
static bool lies_from(const struct sw_spans *s, uint32_t divided, uint32_t x, unsigned width, sw_wide *more)
{
	const struct sw_term *t = &s->f->term[divided];
	*more = 0;
	if (divided == x)
		return true;
	for (int swap = 0; swap < 2 && t->op == SW_OP_ADD && t->width == width && s->f->term[x].width == width;
	     swap++) {
		struct sw_bounds other = sw_span_exact(s, swap ? t->a : t->b, t->width, true);
		*more = other.lo;
		if (sw_span_fixed(other) && plain_term(s, swap ? t->b : t->a) == x)
			return true;
	}
	return false;
}

/* The interval of the dividend less x; false: not known. */
static bool more_than(const struct sw_spans *s, uint32_t divided, uint32_t x, unsigned width, struct sw_bounds *more)
{
	const struct sw_term *sum = &s->f->term[divided];
	*more = (struct sw_bounds){0, 0};
	if (plain_term(s, divided) == x)
		return true;
	if (sum->op != SW_OP_ADD || sum->width != width)
		return false;
	bool first = plain_term(s, sum->a) == x;
	*more = sw_span_exact(s, first ? sum->b : sum->a, width, true);
	return first || plain_term(s, sum->b) == x;
}

/* k, if x & mask is the multiple of 2^k below x (all bits above are kept that x has); else -1.  mask: no less than 0.
 */
static int clears_low_bits(struct sw_bounds mask, struct sw_bounds x, unsigned width)
{
	if (!sw_span_fixed(mask) || mask.lo < 1)
		return -1;
	unsigned bits = (unsigned)__builtin_ctzll((uint64_t)mask.lo);
	sw_wide kept = mask.lo + ((sw_wide)1 << bits);
	bool all = kept == (sw_wide)1 << width;
	return !(kept & (kept - 1)) && (all || (x.lo >= 0 && x.hi < kept)) ? (int)bits : -1;
}

/* Bounds x - ((x + more) & -2^k), C's remainder by a power of two: what is cleared is less than 2^k.  False: it is
   no such difference. */
static bool low_bits(const struct sw_spans *s, const struct sw_term *t, struct sw_bounds *out)
{
	const struct sw_term *cleared = &s->f->term[t->b];
	if (t->op != SW_OP_SUB || cleared->op != SW_OP_AND || cleared->width != t->width)
		return false;
	for (int swap = 0; swap < 2; swap++) {
		struct sw_bounds mask = sw_span_exact(s, swap ? cleared->a : cleared->b, t->width, false), more;
		uint32_t divided = swap ? cleared->b : cleared->a;
		int bits = clears_low_bits(mask, sw_span_of(s, divided, t->width), t->width);
		if (bits < 0 || !more_than(s, divided, plain_term(s, t->a), t->width, &more))
			continue;
		*out = (struct sw_bounds){-more.hi, ((sw_wide)1 << (unsigned)bits) - 1 - more.lo};
		return true;
	}
	return false;
}

/* x - d * floor(x / d), more tightly than by the intervals; false: it is no such thing. */
static bool span_remainder(const struct sw_spans *s, const struct sw_term *t, struct sw_bounds *out)
{
	if (SW_RULE_IS_OFF(span_quotients))
		return false;
	if (!(s->hint[t - s->f->term] & SW_SPAN_REMAINDER))
		return false;
	if (low_bits(s, t, out))
		return true;
	for (int swap = 0; swap < (t->op == SW_OP_ADD ? 2 : 1); swap++) {
		uint32_t x = plain_term(s, swap ? t->b : t->a), q;
		sw_wide factor, more;
		if (!is_multiple(s, swap ? t->a : t->b, t->width, &q, &factor))
			continue;
		const struct sw_span_quotient *quotient = &s->value[q].quotient;
		if (!quotient->over || !lies_from(s, quotient->of, x, t->width, &more) || !is_number(s, quotient->of) ||
		    !remainder_of(s->value[quotient->of].range, t->op == SW_OP_ADD ? -factor : factor, quotient, out))
			continue;
		*out = (struct sw_bounds){out->lo - more, out->hi - more};
		return true;
	}
	return false;
}

/* ---- operations */

/* Larger numbers are of no use: then any number of the width is possible. */
#define LARGE ((sw_wide)1 << 100)

typedef struct sw_bounds operation(struct sw_spans *s, const struct sw_term *t);

/* The interval of all numbers of the term's width. */
static struct sw_bounds any_value(const struct sw_term *t)
{
	return sw_span_type(t->width, false);
}

/* The interval of one number. */
static struct sw_bounds fixed_value(sw_wide x)
{
	return (struct sw_bounds){x, x};
}

/* The interval of a result modulo 2^width: one as wide as the type says nothing, and becomes any number. */
static struct sw_bounds within_type(const struct sw_term *t, sw_wide lo, sw_wide hi)
{
	if (lo < -LARGE || hi > LARGE || hi - lo >= (sw_wide)1 << t->width)
		return any_value(t);
	return (struct sw_bounds){lo, hi};
}

/* The interval of an operand, read in the width and with the sign of `t`. */
static struct sw_bounds read_as(const struct sw_spans *s, const struct sw_term *t, uint32_t term)
{
	return sw_span_exact(s, term, t->width, t->flags & SW_SIGNED);
}

/* The interval of a product: its least and its largest value lie where the operands are at their ends. */
static struct sw_bounds bounds_of_product(const struct sw_term *t, struct sw_bounds x, struct sw_bounds y)
{
	struct sw_bounds all = sw_bounds_product(x, y);
	return within_type(t, all.lo, all.hi);
}

/* ---- values without operands */

/* A constant. */
static struct sw_bounds op_const(struct sw_spans *s, const struct sw_term *t)
{
	(void)s;
	return fixed_value(sw_wide_wrap(t->imm, t->width));
}

/* A parameter, which is a known number at a launch. */
static struct sw_bounds op_param(struct sw_spans *s, const struct sw_term *t)
{
	uint32_t bytes = (t->width + 7u) / 8;
	uint64_t word = 0;
	if (t->imm < 0 || t->imm > s->g->param_bytes || s->g->param_bytes - (uint64_t)t->imm < bytes ||
	    bytes > sizeof word)
		return any_value(t);
	memcpy(&word, (const char *)s->g->params + t->imm, bytes);
	return fixed_value(sw_wide_wrap((sw_wide)word, t->width));
}

/* Bounds of a special register, by the launch's geometry. */
static struct sw_bounds op_special(struct sw_spans *s, const struct sw_term *t)
{
	const struct sw_geometry *g = s->g;
	int64_t which = t->imm;
	uint32_t cluster = g->cluster ? g->cluster : 1;
	if (which >= SW_TID_X && which <= SW_TID_Z && g->block[which - SW_TID_X])
		return (struct sw_bounds){0, (sw_wide)g->block[which - SW_TID_X] - 1};
	if (which >= SW_CTAID_X && which <= SW_CTAID_Z && g->grid[which - SW_CTAID_X])
		return (struct sw_bounds){0, (sw_wide)g->grid[which - SW_CTAID_X] - 1};
	if (which >= SW_NTID_X && which <= SW_NTID_Z)
		return fixed_value(g->block[which - SW_NTID_X]);
	if (which >= SW_NCTAID_X && which <= SW_NCTAID_Z)
		return fixed_value(g->grid[which - SW_NCTAID_X]);
	if (which == SW_LANEID || which == SW_WARPID)
		return (struct sw_bounds){0, 31};
	if (which == SW_CLUSTER_BLOCKS)
		return fixed_value(cluster);
	if (which == SW_CLUSTER_RANK)
		return (struct sw_bounds){0, cluster - 1};
	return which == SW_SHARED_BYTES ? fixed_value(g->shared_bytes) : any_value(t);
}

/* A number that nothing computes, between bounds. */
static struct sw_bounds op_range(struct sw_spans *s, const struct sw_term *t)
{
	bool is_signed = t->flags & SW_SIGNED;
	struct sw_bounds type = sw_span_type(t->width, is_signed);
	sw_wide lo = is_signed ? t->imm : (sw_wide)(uint64_t)t->imm;
	sw_wide hi = is_signed ? t->imm2 : (sw_wide)(uint64_t)t->imm2;
	(void)s;
	return lo > hi || lo < type.lo || hi > type.hi ? type : (struct sw_bounds){lo, hi};
}

/* ---- arithmetic */

/* A copy. */
static struct sw_bounds op_mov(struct sw_spans *s, const struct sw_term *t)
{
	return within_type(t, sw_span_of(s, t->a, t->width).lo, sw_span_of(s, t->a, t->width).hi);
}

static struct sw_bounds shorter_of(struct sw_bounds x, struct sw_bounds y)
{
	return y.hi - y.lo < x.hi - x.lo ? y : x;
}

/* a + b, more tightly where it is a remainder x - d * (x / d). */
static struct sw_bounds op_add(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = sw_span_of(s, t->a, t->width), y = sw_span_of(s, t->b, t->width), better;
	struct sw_bounds sum = within_type(t, x.lo + y.lo, x.hi + y.hi);
	return span_remainder(s, t, &better) ? shorter_of(better, sum) : sum;
}

/* a - b, more tightly where it is a remainder x - d * (x / d). */
static struct sw_bounds op_sub(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = sw_span_of(s, t->a, t->width), y = sw_span_of(s, t->b, t->width), better;
	struct sw_bounds difference = within_type(t, x.lo - y.hi, x.hi - y.lo);
	return span_remainder(s, t, &better) ? shorter_of(better, difference) : difference;
}

/* a * b. */
static struct sw_bounds op_mul(struct sw_spans *s, const struct sw_term *t)
{
	return bounds_of_product(t, sw_span_of(s, t->a, t->width), sw_span_of(s, t->b, t->width));
}

/* The product of two numbers of half the width. */
static struct sw_bounds op_mulwide(struct sw_spans *s, const struct sw_term *t)
{
	unsigned half = t->width / 2;
	bool is_signed = t->flags & SW_SIGNED;
	if (!half)
		return any_value(t);
	return bounds_of_product(t, sw_span_exact(s, t->a, half, is_signed), sw_span_exact(s, t->b, half, is_signed));
}

/* The upper half of a product of numbers that are no less than 0; else any number. */
static struct sw_bounds op_mulhi(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = read_as(s, t, t->a), y = read_as(s, t, t->b);
	if (x.lo < 0 || y.lo < 0 || sw_wide_mul(x.hi, y.hi) >= SW_INFINITE)
		return any_value(t);
	return (struct sw_bounds){(x.lo * y.lo) >> t->width, (x.hi * y.hi) >> t->width};
}

/* a / b for a no less than 0 and b greater than 0; else any number. */
static struct sw_bounds op_div(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = read_as(s, t, t->a), y = read_as(s, t, t->b);
	if (x.lo < 0 || y.lo < 1)
		return any_value(t);
	return (struct sw_bounds){x.lo / y.hi, x.hi / y.lo};
}

/* a % b for a no less than 0 and b greater than 0: a itself if it is less than b, else less than b. */
static struct sw_bounds op_rem(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = read_as(s, t, t->a), y = read_as(s, t, t->b);
	if (x.lo < 0 || y.lo < 1)
		return any_value(t);
	if (x.hi < y.lo)
		return x;
	return (struct sw_bounds){0, x.hi < y.hi ? x.hi : y.hi - 1};
}

/* The smaller (MIN) or larger (MAX) of two numbers. */
static struct sw_bounds op_min(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = read_as(s, t, t->a), y = read_as(s, t, t->b);
	if (t->op == SW_OP_MIN)
		return (struct sw_bounds){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
	return (struct sw_bounds){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}

/* -a; NOT is -a - 1. */
static struct sw_bounds op_neg(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = sw_span_of(s, t->a, t->width);
	sw_wide less = t->op == SW_OP_NOT;
	return within_type(t, -x.hi - less, -x.lo - less);
}

/* |a|. */
static struct sw_bounds op_abs(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = sw_span_exact(s, t->a, t->width, true);
	sw_wide most = -x.lo > x.hi ? -x.lo : x.hi;
	return x.lo >= 0 ? x : (struct sw_bounds){0, most};
}

/* ---- bits */

/* Ones in all bits up to the highest one of x. */
static sw_wide bits_up_to(sw_wide x)
{
	sw_wide mask = 0;
	while (mask < x)
		mask = 2 * mask + 1;
	return mask;
}

/* x & -2^bits is the multiple of 2^bits below x, whichever number stands for x modulo 2^width. */
static struct sw_bounds round_down(const struct sw_term *t, struct sw_bounds x, unsigned bits)
{
	sw_wide unit = (sw_wide)1 << bits;
	return within_type(t, sw_wide_floor(x.lo, unit) * unit, sw_wide_floor(x.hi, unit) * unit);
}

/* a & b: a multiple of a power of two for a mask that clears low bits, else at most the smaller of both. */
static struct sw_bounds op_and(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = sw_span_exact(s, t->a, t->width, false), y = sw_span_exact(s, t->b, t->width, false);
	if (t->width == 1)
		return (struct sw_bounds){x.lo & y.lo, x.hi & y.hi};
	struct sw_bounds of_x = sw_span_of(s, t->a, t->width), of_y = sw_span_of(s, t->b, t->width);
	int clears_x = clears_low_bits(y, of_x, t->width), clears_y = clears_low_bits(x, of_y, t->width);
	if (clears_x >= 0)
		return round_down(t, of_x, (unsigned)clears_x);
	if (clears_y >= 0)
		return round_down(t, of_y, (unsigned)clears_y);
	return (struct sw_bounds){0, x.hi < y.hi ? x.hi : y.hi};
}

/* a | b or a ^ b: no more than the sum, and no bits above the highest of both. */
static struct sw_bounds op_or(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = sw_span_exact(s, t->a, t->width, false), y = sw_span_exact(s, t->b, t->width, false);
	sw_wide least = x.lo > y.lo ? x.lo : y.lo, most = bits_up_to(x.hi > y.hi ? x.hi : y.hi);
	return (struct sw_bounds){t->op == SW_OP_OR ? least : 0, x.hi + y.hi < most ? x.hi + y.hi : most};
}

/* a << b for a fixed b, as a product; else any number. */
static struct sw_bounds op_shl(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds by = sw_span_exact(s, t->b, s->f->term[t->b].width, false);
	if (!sw_span_fixed(by))
		return any_value(t);
	if (by.lo < 0 || by.lo >= t->width)
		return fixed_value(0);
	return bounds_of_product(t, sw_span_of(s, t->a, t->width), fixed_value((sw_wide)1 << (unsigned)by.lo));
}

/* a >> b: exact for a fixed b, else between 0 and a. */
static struct sw_bounds op_shr(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x = read_as(s, t, t->a), by = sw_span_exact(s, t->b, s->f->term[t->b].width, false);
	if (!sw_span_fixed(by))
		return x.lo >= 0 ? (struct sw_bounds){0, x.hi} : sw_span_type(t->width, true);
	unsigned bits = by.lo < 0 || by.lo > t->width ? t->width : (unsigned)by.lo;
	return (struct sw_bounds){x.lo >> bits, x.hi >> bits};
}

/* Bounds the low bits of a shift to the right; they are the same whatever comes in above.  Machine code's x / 2^(32
   - k), (x * 2^k) >> 32 in 32 bits, may so be below zero.  False: it is no such shift. */
static bool low_bits_moved(struct sw_spans *s, uint32_t term, unsigned bits, struct sw_bounds *out)
{
	const struct sw_term *t = &s->f->term[term];
	if (t->op != SW_OP_SHR || s->f->term[t->a].width < t->width)
		return false;
	struct sw_bounds x = sw_span_of(s, t->a, t->width), by = sw_span_exact(s, t->b, s->f->term[t->b].width, false);
	if (!sw_span_fixed(by) || by.lo < 0 || by.lo + bits > t->width)
		return false;
	*out = (struct sw_bounds){x.lo >> (unsigned)by.lo, x.hi >> (unsigned)by.lo};
	return true;
}

/* The low imm bits of a, with or without sign. */
static struct sw_bounds op_extend(struct sw_spans *s, const struct sw_term *t)
{
	unsigned bits = t->imm < t->width ? (unsigned)t->imm : t->width;
	struct sw_bounds low;
	if (t->imm < 1)
		return any_value(t);
	if (low_bits_moved(s, t->a, bits, &low))
		return bits == t->width ? within_type(t, low.lo, low.hi)
					: sw_span_wrapped(low, sw_span_type(bits, t->flags & SW_SIGNED));
	return bits == t->width ? op_mov(s, t) : sw_span_exact(s, t->a, bits, t->flags & SW_SIGNED);
}

/* ---- one of several */

/* The least interval that both lie in. */
static struct sw_bounds hull_of(struct sw_bounds x, struct sw_bounds y)
{
	return (struct sw_bounds){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}

/* One of two values: the one that the condition selects where the launch decides it, else their hull. */
static struct sw_bounds op_select(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds which = sw_span_exact(s, t->a, 1, false);
	bool addresses = t->width == 64;
	if (sw_span_fixed(which))
		return sw_span_of(s, which.lo ? t->b : t->c, t->width);
	return hull_of(sw_span_exact(s, t->b, t->width, !addresses), sw_span_exact(s, t->c, t->width, !addresses));
}

/* Can it be this alternative, as far as the conditions are known? */
static bool is_possible(const struct sw_spans *s, const struct sw_term *t, uint32_t i)
{
	if (!t->imm2)
		return true;
	return sw_span_exact(s, s->f->alternative[t->a + t->b + i], 1, false).hi != 0;
}

/* The hull of the alternatives that are possible. */
static struct sw_bounds op_any(struct sw_spans *s, const struct sw_term *t)
{
	const uint32_t *from = s->f->alternative + t->a;
	bool addresses = t->width == 64, any = false;
	struct sw_bounds all = any_value(t);
	for (uint32_t i = 0; i < t->b; i++) {
		if (!is_possible(s, t, i))
			continue;
		struct sw_bounds one = sw_span_exact(s, from[i], t->width, !addresses);
		all = any ? hull_of(all, one) : one;
		any = true;
	}
	return all;
}

/* Does "x condition y" hold for the intervals: 1, 0, or -1: for some numbers. */
static int decide_comparison(int64_t condition, struct sw_bounds x, struct sw_bounds y)
{
	switch (condition) {
	case SW_EQ:
	case SW_NE:
		if (x.hi < y.lo || x.lo > y.hi)
			return condition == SW_NE;
		return sw_span_fixed(x) && sw_span_fixed(y) ? condition == SW_EQ : -1;
	case SW_LT:
		return x.hi < y.lo ? 1 : x.lo >= y.hi ? 0 : -1;
	case SW_LE:
		return x.hi <= y.lo ? 1 : x.lo > y.hi ? 0 : -1;
	case SW_GT:
		return x.lo > y.hi ? 1 : x.hi <= y.lo ? 0 : -1;
	case SW_GE:
		return x.lo >= y.hi ? 1 : x.hi < y.lo ? 0 : -1;
	default:
		return -1;
	}
}

/* A comparison: 1, 0, or either. */
static struct sw_bounds op_compare(struct sw_spans *s, const struct sw_term *t)
{
	bool is_signed = t->flags & SW_SIGNED;
	if (t->imm2 < 1 || t->imm2 > 64)
		return (struct sw_bounds){0, 1};
	int truth = decide_comparison(t->imm, sw_span_exact(s, t->a, (unsigned)t->imm2, is_signed),
				      sw_span_exact(s, t->b, (unsigned)t->imm2, is_signed));
	return truth < 0 ? (struct sw_bounds){0, 1} : fixed_value(truth);
}

struct sw_bounds sw_span_steps(const struct sw_spans *s, const struct sw_term *t)
{
	/* A step modulo 2^width may as well be a negative one. */
	struct sw_bounds step = sw_span_exact(s, t->b, t->width, true);
	sw_wide turns = t->c < s->f->loops ? s->turns[t->c] : SW_INFINITE;
	sw_wide lo = sw_wide_mul(step.lo, turns), hi = sw_wide_mul(step.hi, turns);
	return (struct sw_bounds){lo < 0 ? lo : 0, hi > 0 ? hi : 0};
}

/* A value that grows by a step in each iteration of a loop. */
static struct sw_bounds op_step(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds start = sw_span_of(s, t->a, t->width), more = sw_span_steps(s, t);
	return within_type(t, start.lo + more.lo, start.hi + more.hi);
}

/* An element of a table in the parameter block. */
static struct sw_bounds op_element(struct sw_spans *s, const struct sw_term *t)
{
	struct sw_bounds x;
	return sw_span_element(s, t, &x) ? x : any_value(t);
}

struct sw_bounds sw_span_operate(struct sw_spans *s, uint32_t number)
{
	static operation *const table[] = {
		[SW_OP_CONST] = op_const,     [SW_OP_PARAM] = op_param,
		[SW_OP_SPECIAL] = op_special, [SW_OP_RANGE] = op_range,
		[SW_OP_MOV] = op_mov,	      [SW_OP_ADD] = op_add,
		[SW_OP_SUB] = op_sub,	      [SW_OP_MUL] = op_mul,
		[SW_OP_MULHI] = op_mulhi,     [SW_OP_MULWIDE] = op_mulwide,
		[SW_OP_DIV] = op_div,	      [SW_OP_REM] = op_rem,
		[SW_OP_MIN] = op_min,	      [SW_OP_MAX] = op_min,
		[SW_OP_NEG] = op_neg,	      [SW_OP_NOT] = op_neg,
		[SW_OP_ABS] = op_abs,	      [SW_OP_AND] = op_and,
		[SW_OP_OR] = op_or,	      [SW_OP_XOR] = op_or,
		[SW_OP_SHL] = op_shl,	      [SW_OP_SHR] = op_shr,
		[SW_OP_EXTEND] = op_extend,   [SW_OP_SELECT] = op_select,
		[SW_OP_COMPARE] = op_compare, [SW_TERM_STEP] = op_step,
		[SW_TERM_ANY] = op_any,	      [SW_TERM_ELEMENT] = op_element,
		[SW_TERM_LOADED] = op_range,
	};
	const struct sw_term *t = &s->f->term[number];
	operation *run = t->op < sizeof table / sizeof *table ? table[t->op] : NULL;
	return run ? run(s, t) : any_value(t);
}
