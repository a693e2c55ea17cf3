/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of what the digits of an interval of numbers make. */
#include <stdlib.h>
#include <string.h>

#include "footprint/launch/evaluation/digits.h"

/* Boxes of one group of sites; beyond, hulls are as good. */
#define MOST_BOXES  128
#define MOST_LEVELS (2 * SW_FORM_VARS + 1)

/* count steps of `by` bytes. */
struct level {
	sw_wide by, count;
};

struct making {
	const struct sw_digits *digits;
	struct sw_reach like;
	sw_wide bytes;
	struct sw_reaches *out;
	size_t from;
};

/* ---- what a site stands for */

bool sw_digits_keep(struct sw_eval *e, const struct sw_form *address, uint64_t bytes, const struct sw_reach *hull)
{
	struct sw_digit_site site = {.hull = *hull, .bytes = bytes};
	struct sw_reaches x = {0};
	struct sw_reads *reads = e->reads;
	enum sw_why why;
	if (!sw_digits_find(e, address, &site.digits))
		return false;
	struct sw_digits *d = &site.digits;
	sw_wide unit = d->unit[d->n - 1], lo = sw_bound(e, &d->x).lo;
	if (lo <= -SW_INFINITE)
		return false;
	if (lo < 0) {
		sw_wide turns = sw_wide_floor(-lo, unit) + 1;
		d->x.constant += sw_wide_mul(turns, unit);
		d->constant -= sw_wide_mul(turns, d->by[d->n - 1]);
	}
	e->reads = NULL; /* it is no address */
	bool good = sw_eval_boxes(e, &d->x, 1, &(struct sw_reach){.role = SW_TOUCH_READ}, &x, &why) && !e->impossible &&
		    x.n && x.n <= SW_DIGIT_BOXES;
	e->reads = reads;
	for (size_t i = 0; good && i < x.n; i++) {
		good = x.at[i].extent == SW_EXTENT_BOX;
		site.x[site.n++] = x.at[i];
	}
	free(x.at);
	if (good)
		*sw_vec_push(&e->digits) = site;
	return good;
}

/* ---- boxes */

static void sort_levels(struct level *level, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct level one = level[i];
		uint32_t j = i;
		for (; j && level[j - 1].by > one.by; j--)
			level[j] = level[j - 1];
		level[j] = one;
	}
}

static bool push_box(const struct making *m, sw_wide at, sw_wide width, const struct level *level, uint32_t n)
{
	struct sw_reach reach = m->like;
	if (at < 0 || at > (sw_wide)INT64_MAX || m->out->n - m->from >= MOST_BOXES)
		return false;
	reach.extent = SW_EXTENT_BOX;
	reach.why = SW_WHY_NONE;
	reach.address = (uint64_t)at;
	reach.width = (uint64_t)width;
	reach.rows = n > 0 ? (uint64_t)level[0].count : 1;
	reach.pitch = n > 0 ? (uint64_t)level[0].by : reach.width;
	reach.slices = n > 1 ? (uint64_t)level[1].count : 1;
	reach.slice = n > 1 ? (uint64_t)level[1].by : reach.pitch * reach.rows;
	*sw_vec_push(m->out) = reach;
	return true;
}

/* What lies beyond rows and slices is reported piece by piece. */
static bool push_product(const struct making *m, sw_wide at, sw_wide width, const struct level *level, uint32_t n)
{
	if (n <= 2)
		return push_box(m, at, width, level, n);
	for (sw_wide i = 0; i < level[n - 1].count; i++) {
		if (!push_product(m, at + i * level[n - 1].by, width, level, n - 1))
			return false;
	}
	return true;
}

/* All sums of one step of each level. */
static bool make_product(const struct making *m, sw_wide at, struct level *level, uint32_t n)
{
	struct level kept[MOST_LEVELS];
	uint32_t kepts = 0;
	sw_wide width = m->bytes;
	for (uint32_t i = 0; i < n; i++) {
		if (level[i].by < 0) {
			at += level[i].by * (level[i].count - 1);
			level[i].by = -level[i].by;
		}
	}
	sort_levels(level, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct level *x = &level[i];
		struct level *last = kepts ? &kept[kepts - 1] : NULL;
		if (!x->by || x->count == 1)
			continue;
		if (!last && x->by <= width)
			width += x->by * (x->count - 1);
		else if (last && x->by % last->by == 0 && x->by / last->by <= last->count)
			last->count += x->by / last->by * (x->count - 1);
		else if (last && x->by < last->by * (last->count - 1) +
						 (kepts > 1 ? kept[0].by * (kept[0].count - 1) : 0) + width)
			return false; /* they interleave */
		else
			kept[kepts++] = *x;
	}
	return push_product(m, at, width, kept, kepts);
}

static bool make_full(const struct making *m, uint32_t top, sw_wide from, sw_wide to, sw_wide at)
{
	const struct sw_digits *d = m->digits;
	struct level level[MOST_LEVELS];
	uint32_t n = 0;
	level[n++] = (struct level){d->by[top], to - from};
	for (uint32_t j = 0; j < top; j++)
		level[n++] = (struct level){d->by[j], d->unit[j + 1] / d->unit[j]};
	for (uint32_t j = 0; j < d->frees; j++)
		level[n++] = (struct level){d->free_by[j], d->free_count[j]};
	return make_product(m, at + d->by[top] * from, level, n);
}

/* Numbers from `from` up to, without, `to`; what digits above the top one add is in `at`. */
static bool make_interval(const struct making *m, uint32_t top, sw_wide from, sw_wide to, sw_wide at)
{
	const struct sw_digits *d = m->digits;
	for (;; top--) {
		sw_wide unit = d->unit[top], first = sw_wide_floor(from, unit), last = sw_wide_floor(to, unit);
		if (from >= to)
			return true;
		if (first * unit == from && last * unit == to)
			return make_full(m, top, first, last, at);
		if (first != last) {
			/* the numbers before and after those with all digits below */
			sw_wide full = first * unit == from ? first : first + 1;
			if (full < last && !make_full(m, top, full, last, at))
				return false;
			if (full > first &&
			    !make_interval(m, top - 1, from - first * unit, unit, at + d->by[top] * first))
				return false;
			first = last;
			from = last * unit;
		}
		at += d->by[top] * first;
		from -= first * unit;
		to -= first * unit;
	}
}

/* ---- groups of sites */

static bool same_way(const struct sw_digit_site *a, const struct sw_digit_site *b)
{
	const struct sw_digits *x = &a->digits, *y = &b->digits;
	sw_wide top = x->by[x->n - 1], apart = y->constant - x->constant;
	return a->bytes == b->bytes && a->hull.role == b->hull.role && a->hull.polls == b->hull.polls &&
	       a->hull.order == b->hull.order && a->hull.content == b->hull.content &&
	       sw_root_equal(&a->hull.root, &b->hull.root) && x->n == y->n && x->frees == y->frees &&
	       !memcmp(x->unit, y->unit, sizeof x->unit) && !memcmp(x->by, y->by, sizeof x->by) &&
	       !memcmp(x->free_by, y->free_by, sizeof x->free_by) &&
	       !memcmp(x->free_count, y->free_count, sizeof x->free_count) && (top ? apart % top == 0 : !apart);
}

/* By how much the numbers of b are larger than those that make the same addresses with a's constant. */
static sw_wide shift_of(const struct sw_digit_site *a, const struct sw_digit_site *b)
{
	const struct sw_digits *x = &a->digits;
	sw_wide top = x->by[x->n - 1];
	return top ? (b->digits.constant - x->constant) / top * x->unit[x->n - 1] : 0;
}

static bool add_numbers(const struct sw_digit_site *first, struct sw_digit_site *site, struct sw_reaches *out)
{
	sw_wide shift = shift_of(first, site);
	if (shift < 0 || shift > UINT32_MAX * (sw_wide)UINT32_MAX / 4)
		return false;
	for (uint32_t i = 0; i < site->n; i++) {
		struct sw_reach x = site->x[i];
		x.address += (uint64_t)shift;
		*sw_vec_push(out) = x;
	}
	return true;
}

/* The one of the group with the least constant: the numbers of the others are larger. */
static size_t first_of(const struct sw_eval *e, size_t i)
{
	size_t first = i;
	for (size_t j = i; j < e->digits.n; j++) {
		const struct sw_digit_site *site = &e->digits.at[j];
		if (!site->done && same_way(&e->digits.at[i], site) && shift_of(&e->digits.at[first], site) < 0)
			first = j;
	}
	return first;
}

static bool make_boxes(const struct sw_digit_site *first, struct sw_reaches *numbers, struct sw_reaches *out)
{
	struct making m = {&first->digits, first->hull, (sw_wide)first->bytes, out, out->n};
	sw_reaches_join(numbers, 0, SW_MAX_REACHES);
	for (size_t i = 0; i < numbers->n; i++) {
		const struct sw_reach *x = &numbers->at[i];
		if (x->rows * x->slices > MOST_BOXES)
			return false;
		for (uint64_t k = 0; k < x->rows * x->slices; k++) {
			sw_wide at = (sw_wide)x->address + (sw_wide)(k % x->rows * x->pitch) +
				     (sw_wide)(k / x->rows * x->slice);
			if (!make_interval(&m, first->digits.n - 1, at, at + (sw_wide)x->width, first->digits.constant))
				return false;
		}
	}
	return true;
}

void sw_digits_finish(struct sw_eval *e, struct sw_reaches *out)
{
	struct sw_reaches numbers = {0};
	for (size_t i = 0; i < e->digits.n; i++) {
		if (e->digits.at[i].done)
			continue;
		const struct sw_digit_site *first = &e->digits.at[first_of(e, i)];
		size_t from = out->n;
		bool good = true;
		numbers.n = 0;
		for (size_t j = i; j < e->digits.n; j++) {
			struct sw_digit_site *site = &e->digits.at[j];
			if (!site->done && same_way(first, site))
				good = add_numbers(first, site, &numbers) && good;
		}
		good = good && make_boxes(first, &numbers, out);
		out->n = good ? out->n : from;
		for (size_t j = i; j < e->digits.n; j++) {
			struct sw_digit_site *site = &e->digits.at[j];
			if (site->done || !same_way(first, site))
				continue;
			if (!good)
				*sw_vec_push(out) = site->hull;
			site->done = true;
		}
	}
	free(numbers.at);
	e->digits.n = 0;
}
