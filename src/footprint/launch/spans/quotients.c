/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotients and remainders.  An index of several dimensions is taken apart by divisions, which code writes as products
 * with a magic number: q = (umulhi(x, m) + x) >> s.  The remainder x - d * q is small, which the intervals of x and q
 * alone do not show.
 */
#include "footprint/launch/spans/spans.h"

#define NONE ((struct sw_span_quotient){0})

/* Whatever the launch: of the term that it may be a copy of. */
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

/* The term that a term is, wherever it only is made wider or is copied. */
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

/* x, if it is no less than 0 as a number of its width. */
static bool is_number(const struct sw_spans *s, uint32_t x)
{
	struct sw_bounds range = s->value[x].range;
	return range.lo >= 0 && range.hi <= sw_span_type(s->f->term[x].width, false).hi;
}

/* Of a product: *x is the operand that varies, *by what the other one always is, no less than 0. */
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

static struct sw_span_quotient of_long_product(const struct sw_spans *s, const struct sw_term *t)
{
	uint32_t x;
	sw_wide by;
	if (t->width != 64 || !split_product(s, t, t->width, false, &x, &by))
		return NONE;
	return long_product(s, x, by);
}

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

/* x * m + x * 2^32: machine code adds x to the upper half of the product. */
static struct sw_span_quotient of_long_sum(const struct sw_spans *s, const struct sw_term *t)
{
	struct sw_span_quotient a = s->value[plain_term(s, t->a)].quotient, b = s->value[plain_term(s, t->b)].quotient;
	if (t->width != 64 || a.over != 1 || b.over != 1 || a.of != b.of)
		return NONE;
	return long_product(s, a.of, a.by + b.by);
}

/* floor(x * m / 2^w) + x */
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

static struct sw_span_quotient of_division(const struct sw_spans *s, const struct sw_term *t, sw_wide divisor)
{
	uint32_t x = plain_term(s, t->a);
	struct sw_span_quotient q = s->value[x].quotient;
	if (divisor < 1 || divisor > (sw_wide)1 << 40 || !is_number(s, x) ||
	    sw_span_exact(s, t->a, t->width, t->flags & SW_SIGNED).lo < 0)
		return NONE;
	if (q.over && q.by > 1)
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
		return sw_span_fixed(by) && by.lo < 40 && by.lo < t->width
			       ? of_division(s, t, (sw_wide)1 << (unsigned)by.lo)
			       : NONE;
	default:
		return NONE;
	}
}

/* A term that is factor * *q, as far as `width` bits go. */
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

static sw_wide divide_up(sw_wide a, sw_wide b)
{
	return -sw_wide_floor(-a, b);
}

/* x - d * floor(x * by / over), for every x of the interval. */
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

/* What is divided, as x + *more modulo 2^width: rows of an unrolled loop are (x - d * ((x + 8) / d)) + 8. */
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

/* What is divided less x; false: not known. */
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

/* x - ((x + more) & -2^k), C's remainder by a power of two: what is cleared is less than 2^k. */
static bool low_bits(const struct sw_spans *s, const struct sw_term *t, struct sw_bounds *out)
{
	const struct sw_term *cleared = &s->f->term[t->b];
	if (t->op != SW_OP_SUB || cleared->op != SW_OP_AND || cleared->width != t->width)
		return false;
	for (int swap = 0; swap < 2; swap++) {
		struct sw_bounds mask = sw_span_exact(s, swap ? cleared->a : cleared->b, t->width, false), more;
		uint32_t divided = swap ? cleared->b : cleared->a;
		int bits = sw_span_clears(mask, sw_span_of(s, divided, t->width), t->width);
		if (bits < 0 || !more_than(s, divided, plain_term(s, t->a), t->width, &more))
			continue;
		*out = (struct sw_bounds){-more.hi, ((sw_wide)1 << (unsigned)bits) - 1 - more.lo};
		return true;
	}
	return false;
}

bool sw_span_remainder(const struct sw_spans *s, const struct sw_term *t, struct sw_bounds *out)
{
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
