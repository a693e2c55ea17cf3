/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a loop turns at most: by the conditions that hold at the end of each completed iteration, where one side
 * moves by the same step each time.  That it does not wrap around follows as in evaluation/loop_counters.c.
 */
#include "footprint/launch/spans/spans.h"

#define DEEP 12

/* start + step * k */
struct moving {
	struct sw_bounds start;
	sw_wide step;
};

static bool follow_term(const struct sw_spans *s, uint32_t number, uint32_t loop, unsigned width, unsigned depth,
			struct moving *out);

static bool follow_sum(const struct sw_spans *s, const struct sw_term *t, uint32_t loop, unsigned depth,
		       struct moving *out)
{
	struct moving x, y;
	if (!follow_term(s, t->a, loop, t->width, depth, &x) || !follow_term(s, t->b, loop, t->width, depth, &y))
		return false;
	if (t->op == SW_OP_SUB)
		y = (struct moving){{-y.start.hi, -y.start.lo}, -y.step};
	*out = (struct moving){{x.start.lo + y.start.lo, x.start.hi + y.start.hi}, x.step + y.step};
	return true;
}

/* A number that is no less than -limit and no more than limit. */
static bool is_small(sw_wide x, sw_wide limit)
{
	return x >= -limit && x <= limit;
}

/* 4 * i + 3 < n: index arithmetic of vectors. */
static bool follow_product(const struct sw_spans *s, const struct sw_term *t, uint32_t loop, unsigned depth,
			   struct moving *out)
{
	const sw_wide most = (sw_wide)1 << 64;
	for (int swap = 0; swap < 2; swap++) {
		struct sw_bounds by = sw_span_exact(s, swap ? t->a : t->b, t->width, true);
		struct moving x;
		if (!sw_span_fixed(by) || !is_small(by.lo, UINT32_MAX))
			continue;
		if (!follow_term(s, swap ? t->b : t->a, loop, t->width, depth, &x) || !is_small(x.start.lo, most) ||
		    !is_small(x.start.hi, most) || !is_small(x.step, most))
			return false;
		*out = (struct moving){sw_bounds_product(x.start, by), x.step * by.lo};
		return true;
	}
	return false;
}

static bool follow_step(const struct sw_spans *s, const struct sw_term *t, uint32_t loop, struct moving *out)
{
	struct sw_bounds step = sw_span_exact(s, t->b, t->width, true);
	uint64_t bit = UINT64_C(1) << loop;
	if (t->c != loop || (s->loops[t->a] | s->loops[t->b]) & bit || !sw_span_fixed(step))
		return false;
	*out = (struct moving){sw_span_of(s, t->a, t->width), step.lo};
	return true;
}

/* The term modulo 2^width. */
static bool follow_term(const struct sw_spans *s, uint32_t number, uint32_t loop, unsigned width, unsigned depth,
			struct moving *out)
{
	const struct sw_term *t = &s->f->term[number];
	if (!(s->loops[number] >> loop & 1)) {
		*out = (struct moving){sw_span_of(s, number, width), 0};
		return true;
	}
	if (!depth || t->width < width)
		return false;
	switch (t->op) {
	case SW_TERM_STEP:
		return follow_step(s, t, loop, out);
	case SW_OP_ADD:
	case SW_OP_SUB:
		return follow_sum(s, t, loop, depth - 1, out);
	case SW_OP_MUL:
		return follow_product(s, t, loop, depth - 1, out);
	case SW_OP_MOV:
		return follow_term(s, t->a, loop, width, depth - 1, out);
	default:
		return false;
	}
}

static struct sw_bounds negated_bounds(struct sw_bounds x)
{
	return (struct sw_bounds){-x.hi, -x.lo};
}

/* Into the type, by a multiple of its size; false: that takes different ones. */
static bool move_into(struct sw_bounds *x, struct sw_bounds type)
{
	sw_wide modulus = type.hi - type.lo + 1, turns = sw_wide_floor(x->lo - type.lo, modulus);
	if (turns != sw_wide_floor(x->hi - type.lo, modulus))
		return false;
	x->lo -= turns * modulus;
	x->hi -= turns * modulus;
	return true;
}

/* Goes on while moving <= limit - below. */
static sw_wide turns_below(struct moving m, struct sw_bounds limit, struct sw_bounds type, sw_wide below)
{
	if (limit.hi - below + m.step > type.hi)
		return SW_INFINITE;
	sw_wide last = sw_wide_floor(limit.hi - below - m.start.lo, m.step);
	return last < 0 ? 0 : last + 1;
}

/* Goes on until both are equal, which they become. */
static sw_wide turns_until(struct moving m, struct sw_bounds limit, unsigned width)
{
	sw_wide modulus = (sw_wide)1 << width, ahead = m.step > 0 ? limit.lo - m.start.lo : m.start.lo - limit.lo;
	sw_wide step = m.step > 0 ? m.step : -m.step;
	if (!sw_span_fixed(m.start) || !sw_span_fixed(limit))
		return SW_INFINITE;
	ahead -= sw_wide_floor(ahead, modulus) * modulus;
	return ahead % step ? SW_INFINITE : ahead / step;
}

static sw_wide turns_by(const struct sw_spans *s, uint32_t loop, const struct sw_term *t, bool truth)
{
	static const uint8_t negated[] = {SW_NE, SW_EQ, SW_GE, SW_GT, SW_LE, SW_LT};
	static const uint8_t turned[] = {SW_EQ, SW_NE, SW_GT, SW_GE, SW_LT, SW_LE};
	unsigned width = (unsigned)t->imm2;
	bool is_signed = t->flags & SW_SIGNED;
	struct moving a, b;
	if (t->op != SW_OP_COMPARE || t->imm < SW_EQ || t->imm > SW_GE || t->imm2 < 1 || t->imm2 > 64 ||
	    !follow_term(s, t->a, loop, width, DEEP, &a) || !follow_term(s, t->b, loop, width, DEEP, &b) ||
	    !a.step == !b.step)
		return SW_INFINITE;
	uint8_t condition = truth ? (uint8_t)t->imm : negated[t->imm];
	struct moving m = a.step ? a : b;
	struct sw_bounds limit = sw_span_exact(s, a.step ? t->b : t->a, width, is_signed);
	struct sw_bounds type = sw_span_type(width, is_signed);
	if (!a.step)
		condition = turned[condition];
	if (condition == SW_NE)
		return turns_until(m, limit, width);
	if (!move_into(&m.start, type))
		return SW_INFINITE;
	if (m.step < 0) {
		m = (struct moving){negated_bounds(m.start), -m.step};
		limit = negated_bounds(limit);
		type = negated_bounds(type);
		condition = turned[condition];
	}
	return condition == SW_LT || condition == SW_LE ? turns_below(m, limit, type, condition == SW_LT) : SW_INFINITE;
}

bool sw_span_count_turns(struct sw_spans *s)
{
	const struct sw_footprint *f = s->f;
	bool better = false;
	for (uint32_t i = 0; i < f->loops; i++)
		for (uint32_t k = 0; k < f->loop[i].backs; k++) {
			const struct sw_fact *fact = &f->fact[f->loop[i].back + k];
			sw_wide turns = turns_by(s, i, &f->term[fact->term], fact->truth);
			better |= turns < s->turns[i];
			s->turns[i] = turns < s->turns[i] ? turns : s->turns[i];
		}
	return better;
}
