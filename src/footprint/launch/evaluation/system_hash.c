/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which linear program is it, whatever the numbers of its variables are?  Cases and launches make new variables for the
 * same values, and pose the same programs over them.
 *
 * Two systems have the same hash if one becomes the other where variables are replaced by others of the same intervals
 * that come in the same order.  All that a bound follows from goes in: rows, intervals, and what quotients divide, with
 * which form_bounds.c tries points.
 */
#include "base/hash.h"
#include "footprint/launch/evaluation/eval.h"

#define MOST_QUOTIENTS (sizeof((struct sw_system *)0)->var / sizeof(uint32_t))

/* Variables that only quotients have, in the order in which they are met. */
struct others {
	uint32_t n, var[MOST_QUOTIENTS * SW_FORM_VARS];
};

/* Enters a number into both hashes. */
static void mix_hash(uint64_t hash[2], uint64_t x)
{
	hash[0] = sw_hash_u64(hash[0] ^ x);
	hash[1] = hash[1] * 5 + hash[0];
}

/* The number that stands for a variable in the hash: its place in the system, or in *others; else the hash of its
   interval, and *others (may be NULL) gets it.  So two variables of the same interval in the same place look alike. */
static uint64_t number_of(const struct sw_eval *e, const struct sw_system *s, struct others *others, uint32_t var)
{
	const struct sw_variable *v = &e->variable.at[var];
	if (v->lo == v->hi)
		return v->mark;
	if (v->column < s->n && s->var[v->column] == var)
		return v->column;
	for (uint32_t i = 0; others && i < others->n; i++) {
		if (others->var[i] == var)
			return s->n + i;
	}
	if (others)
		others->var[others->n++] = var;
	return v->mark;
}

/* Enters a form into the hashes, with its variables by number_of(). */
static void mix_form(const struct sw_eval *e, const struct sw_system *s, struct others *others,
		     const struct sw_form *form, uint64_t hash[2])
{
	mix_hash(hash,
		 form->n + sw_hash_u64((uint64_t)form->constant) * 3 + sw_hash_u64((uint64_t)(form->constant >> 64)));
	for (uint32_t k = 0; k < form->n; k++)
		mix_hash(hash, sw_hash_u64((uint64_t)form->by[k]) + number_of(e, s, others, form->var[k]));
}

/* Computes the hashes of a system without any form, which it keeps in s->shape. */
static void hash_system(const struct sw_eval *e, struct sw_system *s)
{
	struct others others = {.n = 0};
	s->shape[0] = s->n;
	s->shape[1] = s->rows;
	for (uint32_t j = 0; j < s->n; j++)
		mix_hash(s->shape, e->variable.at[s->var[j]].mark + s->order[j]);
	for (uint32_t i = 0; i < s->rows; i++)
		mix_form(e, s, NULL, s->row[i], s->shape);
	for (uint32_t j = 0; j < s->n; j++) {
		const struct sw_variable *v = &e->variable.at[s->var[j]];
		if (!v->quotient)
			continue;
		const struct sw_quotient *q = &e->quotient.at[v->of];
		mix_hash(s->shape, sw_hash_u64((uint64_t)q->divisor) + j);
		mix_form(e, s, &others, &q->x, s->shape);
	}
	s->has_shape = true;
}

void sw_system_hash(const struct sw_eval *e, struct sw_system *s, const struct sw_form *form, uint64_t hash[2])
{
	sw_system_number(e, s);
	if (!s->has_shape)
		hash_system(e, s);
	hash[0] = s->shape[0];
	hash[1] = s->shape[1];
	mix_form(e, s, NULL, form, hash);
}
