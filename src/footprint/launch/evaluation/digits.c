/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the number that an address is made from the digits of. */
#include "footprint/launch/evaluation/digits.h"

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

static void fold_fixed(const struct sw_eval *e, struct sw_form *form)
{
	for (uint32_t i = form->n; i-- > 0;) {
		uint32_t var = form->var[i];
		if (sw_eval_fixed(e, var))
			form->constant += e->variable.at[var].lo * sw_form_take(form, var);
	}
}

static uint32_t quotient_in(const struct sw_eval *e, const struct sw_form *form)
{
	for (uint32_t i = 0; i < form->n; i++) {
		if (e->variable.at[form->var[i]].quotient)
			return form->var[i];
	}
	return SW_NONE;
}

/* (y + floor(x / d)) / divisor is (d * y + x) / (d * divisor). */
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

/* The quotients of the form, by divisor; they are taken out of it. */
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
		for (; i && out->at[i - 1].divisor > part.divisor; i--)
			out->at[i] = out->at[i - 1];
		out->at[i] = part;
	}
	return out->n > 0;
}

/* *rest less by * (x - part's x) / divisor: the part is then one of x. */
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

/* What the rest has of x itself. */
static bool take_ones(struct sw_digits *d, struct sw_form *rest)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < d->x.n; i++) {
		if ((d->x.by[i] < 0 ? -d->x.by[i] : d->x.by[i]) < (d->x.by[best] < 0 ? -d->x.by[best] : d->x.by[best]))
			best = i;
	}
	int64_t by = d->x.n ? sw_form_by(rest, d->x.var[best]) : 1;
	if (!d->x.n || by % d->x.by[best])
		return false;
	d->by[0] = by / d->x.by[best];
	d->unit[0] = d->n = 1;
	return sw_form_sum(rest, rest, &d->x, -(int64_t)d->by[0], 0);
}

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

/* Nothing but its interval holds for it. */
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

/* What is left of the rest is free, or belongs to what the last digit counts. */
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

bool sw_digits_find(const struct sw_eval *e, const struct sw_form *address, struct sw_digits *d)
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
	if (!sw_digits_find(e, form, &d))
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
