/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the number that an address is made from the digits of. */
#include "footprint/launch/evaluation/digits.h"
#include "footprint/rules.h"

#include <stdlib.h>
#include <string.h>

/* Beyond, numbers are no sizes. */
#define MOST ((sw_wide)1 << 62)

/* floor(x / divisor), times by; x has no quotients. */
struct part {
	struct sw_form x;
	sw_wide divisor;
	int64_t by;
};

struct parts {
	uint32_t n;
	struct part at[SW_FORM_VARS];
};

/* Moves the variables that have only one value into the form's constant. */
static void fold_fixed(const struct sw_eval *e, struct sw_form *form)
{
	for (uint32_t i = form->n; i-- > 0;) {
		uint32_t var = form->var[i];
		if (sw_eval_fixed(e, var))
			form->constant += e->variable.at[var].lo * sw_form_take(form, var);
	}
}

/* The first variable of the form that is a quotient; SW_NONE: there is none. */
static uint32_t quotient_in(const struct sw_eval *e, const struct sw_form *form)
{
	for (uint32_t i = 0; i < form->n; i++) {
		if (e->variable.at[form->var[i]].quotient)
			return form->var[i];
	}
	return SW_NONE;
}

/* Writes a quotient as floor(x / divisor) of a number x that has no quotients in it, since (y + floor(x / d)) /
   divisor is (d * y + x) / (d * divisor).  False: it is of another form. */
static bool resolve_quotient(const struct sw_eval *e, uint32_t var, struct part *part)
{
	const struct sw_quotient *q = &e->quotient.at[e->variable.at[var].of];
	part->x = q->x;
	part->divisor = q->divisor;
	for (uint32_t level = 0; level < SW_FORM_VARS; level++) {
		fold_fixed(e, &part->x);
		uint32_t inner = quotient_in(e, &part->x);
		if (inner == SW_NONE)
			return true;
		q = &e->quotient.at[e->variable.at[inner].of];
		if (sw_form_take(&part->x, inner) != 1 || e->variable.at[inner].why ||
		    part->divisor > MOST / q->divisor || !sw_form_sum(&part->x, &q->x, &part->x, q->divisor, 0))
			return false;
		part->divisor *= q->divisor;
	}
	return false;
}

/* Takes all quotients out of the form, by ascending divisor.  False: there are none, or one is not understood. */
static bool take_quotients(const struct sw_eval *e, struct sw_form *form, struct parts *out)
{
	uint32_t var;
	out->n = 0;
	while ((var = quotient_in(e, form)) != SW_NONE) {
		struct part part;
		uint32_t i = out->n++;
		if (e->variable.at[var].why || !resolve_quotient(e, var, &part))
			return false;
		part.by = sw_form_take(form, var);
		if (sw_wide_magnitude(part.by) >= MOST)
			return false;
		for (; i && out->at[i - 1].divisor > part.divisor; i--)
			out->at[i] = out->at[i - 1];
		out->at[i] = part;
	}
	return out->n > 0;
}

/* Rewrites the part floor(y / divisor) over the number x of the address.  y must be x - k * divisor: then floor(y /
   divisor) is floor(x / divisor) - k, and k goes into *rest.  False: y is no such number. */
static bool turn_to(const struct sw_form *x, const struct part *part, struct sw_form *rest)
{
	struct sw_form difference;
	if (!sw_form_sum(&difference, x, &part->x, -1, 0) || difference.constant % part->divisor)
		return false;
	for (uint32_t i = 0; i < difference.n; i++) {
		if (difference.by[i] % part->divisor)
			return false;
		difference.by[i] /= (int64_t)part->divisor;
	}
	difference.constant /= part->divisor;
	return sw_form_sum(rest, rest, &difference, -part->by, 0);
}

/* Adds by * floor(x / divisor) to the address that digits make.  The factor of a lower digit counts for each higher
   one too, as a multiple.  False: the divisor is no multiple of the last one, or numbers get too large. */
static bool add_digit(struct sw_digits *d, const struct part *part)
{
	sw_wide last = d->unit[d->n - 1];
	if (part->divisor % last || part->divisor > MOST)
		return false;
	if (part->divisor > last) {
		d->by[d->n] = sw_wide_mul(d->by[d->n - 1], part->divisor / last);
		d->unit[d->n++] = part->divisor;
	}
	d->by[d->n - 1] += part->by;
	return d->by[d->n - 1] < MOST && d->by[d->n - 1] > -MOST;
}

/* Takes a multiple of x itself out of the rest, as the factor of the lowest digit, which counts ones.  False: x does
   not fit in evenly. */
static bool take_ones(struct sw_digits *d, struct sw_form *rest)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < d->x.n; i++) {
		if (sw_wide_magnitude(d->x.by[i]) < sw_wide_magnitude(d->x.by[best]))
			best = i;
	}
	if (!d->x.n)
		return false;
	sw_wide by = sw_form_by(rest, d->x.var[best]); /* -2^63 / -1 has more than 64 bits */
	if (by % d->x.by[best])
		return false;
	d->by[0] = by / d->x.by[best];
	d->unit[0] = d->n = 1;
	return sw_wide_magnitude(d->by[0]) < MOST && sw_form_sum(rest, rest, &d->x, -(int64_t)d->by[0], 0);
}

/* Is the variable a number of a thread or block? */
static bool is_thread_or_block(const struct sw_eval *e, uint32_t var)
{
	for (int i = 0; i < 3; i++) {
		if (e->special[SW_TID_X + i] == var + 1 || e->special[SW_CTAID_X + i] == var + 1)
			return true;
	}
	return false;
}

/* Does the variable go into the form, or into what it has quotients of? */
static bool goes_into(const struct sw_eval *e, const struct sw_form *form, uint32_t var)
{
	struct part whole;
	for (uint32_t i = 0; i < form->n; i++) {
		uint32_t own = form->var[i];
		if (own == var)
			return true;
		if (e->variable.at[own].quotient && (!resolve_quotient(e, own, &whole) || sw_form_by(&whole.x, var)))
			return true;
	}
	return false;
}

/* Is the variable bounded by nothing but its interval, in this case? */
static bool is_free(const struct sw_eval *e, uint32_t var)
{
	for (size_t i = 0; i < e->holds.n; i++) {
		const struct sw_form *row = &e->holds.at[i];
		if (sw_bound_plain(e, row).lo < 0 && !sw_depends_on_data_only(sw_eval_depends(e, row)) &&
		    goes_into(e, row, var))
			return false;
	}
	return true;
}

/* Takes the variables of the address that are left: each is free, and adds its own multiples, or is added to the
   number x where only the last digit can show it.  False: one is neither. */
static bool take_rest(const struct sw_eval *e, struct sw_digits *d, const struct sw_form *rest)
{
	sw_wide top = d->by[d->n - 1], unit = d->unit[d->n - 1];
	for (uint32_t i = 0; i < rest->n; i++) {
		uint32_t var = rest->var[i];
		const struct sw_variable *v = &e->variable.at[var];
		if (!sw_form_by(&d->x, var) && is_thread_or_block(e, var) && is_free(e, var)) {
			d->constant += rest->by[i] * v->lo;
			d->free_by[d->frees] = rest->by[i];
			d->free_count[d->frees++] = v->hi - v->lo + 1;
			continue;
		}
		struct sw_form one = sw_form_variable(var);
		sw_wide by = top ? rest->by[i] / top * unit : 0;
		if (!top || rest->by[i] % top || by > MOST || by < -MOST ||
		    !sw_form_sum(&d->x, &d->x, &one, (int64_t)by, 0))
			return false;
	}
	d->constant += rest->constant;
	return true;
}

/* Finds the number x and the factors for its digits that make this address.  False: it is made in another way. */
static bool digits_find(const struct sw_eval *e, const struct sw_form *address, struct sw_digits *d)
{
	struct sw_form rest = *address;
	struct parts parts;
	*d = (struct sw_digits){.n = 0};
	fold_fixed(e, &rest);
	if (!take_quotients(e, &rest, &parts))
		return false;
	d->x = parts.at[parts.n - 1].x;
	for (uint32_t i = 0; i < parts.n; i++) {
		if (!turn_to(&d->x, &parts.at[i], &rest))
			return false;
	}
	if (!take_ones(d, &rest))
		return false;
	for (uint32_t i = 0; i < parts.n; i++) {
		if (!add_digit(d, &parts.at[i]))
			return false;
	}
	return take_rest(e, d, &rest);
}

struct sw_bounds sw_digits_bound(const struct sw_eval *e, const struct sw_form *form)
{
	struct sw_digits d;
	if (SW_RULE_IS_OFF(digits_bound))
		return (struct sw_bounds){-SW_INFINITE, SW_INFINITE};
	if (!digits_find(e, form, &d))
		return (struct sw_bounds){-SW_INFINITE, SW_INFINITE};
	struct sw_bounds sum = {d.constant, d.constant}, x = sw_bound_plain(e, &d.x);
	for (uint32_t j = 0; j < d.n; j++) {
		bool last = j + 1 == d.n;
		sw_wide lo = last ? sw_wide_floor(x.lo, d.unit[j]) : 0;
		sw_wide hi = last ? sw_wide_floor(x.hi, d.unit[j]) : d.unit[j + 1] / d.unit[j] - 1;
		sum.lo = sw_wide_add(sum.lo, sw_wide_mul(d.by[j] > 0 ? lo : hi, d.by[j]));
		sum.hi = sw_wide_add(sum.hi, sw_wide_mul(d.by[j] > 0 ? hi : lo, d.by[j]));
	}
	for (uint32_t j = 0; j < d.frees; j++) {
		sw_wide part = sw_wide_mul(d.free_by[j], d.free_count[j] - 1);
		sum.lo = sw_wide_add(sum.lo, part < 0 ? part : 0);
		sum.hi = sw_wide_add(sum.hi, part > 0 ? part : 0);
	}
	return sum;
}

/* ---- boxes of the addresses that the digits of an interval of numbers make */

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
	if (SW_RULE_IS_OFF(digit_boxes))
		return false;
	if (!digits_find(e, address, &site.digits))
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

/* Sorts levels by ascending step. */
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

/* Appends a box of `width` bytes at `at`, repeated by n <= 2 levels, rows and slices.  False: there are too many
   boxes, or it lies outside of the address space. */
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

/* Appends the boxes of n levels.  A box has rows and slices only: each step of a further level is a box of its own.
   False: as push_box(). */
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

/* Makes boxes of all sums of `at` and one step of each level; false: the steps interleave, or there are too many
   boxes. */
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

/* Makes boxes of the numbers whose digit `top` is from .. to-1, and whose lower digits take all values.  at: the
   address that the higher digits add up to.  False: as make_product(). */
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

/* Makes boxes of the numbers from .. to-1, in digits up to `top`, split into parts in which all lower digits take
   all values.  at: the address that the higher digits add up to.  False: as make_product(). */
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

/* Do two sites make addresses from digits with the same units and factors, by the same kind of access?  They differ
   then only in their numbers, and in where they begin. */
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

/* Appends a site's numbers, shifted to those that make the same addresses with the first site's constant.  False:
   they get too large. */
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

/* Index of the site of this group with the least constant: the digits of the others are moved up from its own. */
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

/* Makes boxes of the numbers of all sites of a group, whose digits are those of its first one.  False: not possible,
   the hulls of the sites are kept. */
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
