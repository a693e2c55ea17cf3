/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/sites/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Of one origin, whole beats half and sure beats weak; sorted so, it is the first of its elements. */
static uint32_t tidy_elements(uint32_t *e, uint32_t n)
{
	uint32_t kept = 0;
	if (n == 1)
		return 1;
	qsort(e, n, sizeof *e, by_number);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || e[kept - 1] >> SW_ELEMENT_SHIFT != e[i] >> SW_ELEMENT_SHIFT)
			e[kept++] = e[i];
		else if (!(e[i] & SW_ELEMENT_HALF) && e[kept - 1] & SW_ELEMENT_HALF)
			e[kept - 1] = e[i];
	return kept;
}

static sw_origin_set intern_set(struct sw_origins *o, const uint32_t *e, uint32_t n)
{
	uint64_t key = sw_hash_words(e, n * sizeof *e), *found;
	for (; (found = sw_map_find(&o->sets, key)); key++) {
		sw_origin_set set = (sw_origin_set)*found;
		if (o->set.at[set].n == n && !memcmp(o->element.at + o->set.at[set].first, e, n * sizeof *e))
			return set;
	}
	sw_origin_set set = (sw_origin_set)o->set.n;
	*sw_map_put(&o->sets, key) = set;
	uint32_t first = (uint32_t)o->element.n;
	sw_vec_reserve(&o->element, o->element.n + n);
	memcpy(o->element.at + first, e, n * sizeof *e);
	o->element.n += n;
	*sw_vec_push(&o->set) = (struct sw_origin_span){first, n};
	return set;
}

sw_origin_set sw_origins_of(struct sw_origins *o, uint32_t *elements, uint32_t n)
{
	n = n ? tidy_elements(elements, n) : 0;
	if (!n)
		return 0;
	return n > SW_ORIGINS_MAX ? o->unknown : intern_set(o, elements, n);
}

sw_origin_set sw_origins_one(struct sw_origins *o, enum sw_origin_kind kind, uint32_t a, uint32_t b, uint32_t flags)
{
	struct sw_origin wanted = {kind, a, b};
	uint64_t key = (uint64_t)a << 32 ^ (uint64_t)b << 4 ^ kind, *found;
	uint32_t at;
	for (; (found = sw_map_find(&o->origins, key)); key++)
		if (!memcmp(&o->origin.at[*found], &wanted, sizeof wanted))
			break;
	if (found) {
		at = (uint32_t)*found;
	} else {
		at = (uint32_t)o->origin.n;
		*sw_map_put(&o->origins, key) = at;
		*sw_vec_push(&o->origin) = wanted;
		*sw_vec_push(&o->alone) = (struct sw_origin_alone){0};
	}
	uint32_t element = at << SW_ELEMENT_SHIFT | flags;
	if (!o->alone.at[at].of[flags])
		o->alone.at[at].of[flags] = sw_origins_of(o, &element, 1);
	return o->alone.at[at].of[flags];
}

uint32_t sw_origins_copy(const struct sw_origins *o, sw_origin_set set, uint32_t out[SW_ORIGINS_MAX])
{
	uint32_t n = o->set.at[set].n;
	if (n)
		memcpy(out, o->element.at + o->set.at[set].first, n * sizeof *out);
	return n;
}

sw_origin_set sw_origins_union(struct sw_origins *o, sw_origin_set a, sw_origin_set b)
{
	uint32_t both[2 * SW_ORIGINS_MAX];
	if (a == b || !b)
		return a;
	if (!a)
		return b;
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a, *known = sw_map_find(&o->unions, key);
	if (known)
		return (sw_origin_set)*known;
	uint32_t n = sw_origins_copy(o, a, both);
	n += sw_origins_copy(o, b, both + n);
	sw_origin_set set = sw_origins_of(o, both, n);
	*sw_map_put(&o->unions, key) = set;
	return set;
}

sw_origin_set sw_origins_flag(struct sw_origins *o, sw_origin_set set, uint32_t flags)
{
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(o, set, e);
	bool all = true;
	for (uint32_t i = 0; i < n; i++) {
		all &= (e[i] & flags) == flags;
		e[i] |= flags;
	}
	return all ? set : sw_origins_of(o, e, n);
}

void sw_origins_init(struct sw_origins *o)
{
	*o = (struct sw_origins){0};
	*sw_vec_push(&o->set) = (struct sw_origin_span){0, 0};
	o->unknown = sw_origins_one(o, SW_ORIGIN_UNKNOWN, 0, 0, 0);
}

void sw_origins_free(struct sw_origins *o)
{
	free(o->origin.at);
	free(o->alone.at);
	free(o->element.at);
	free(o->set.at);
	sw_map_free(&o->sets);
	sw_map_free(&o->origins);
	sw_map_free(&o->unions);
	*o = (struct sw_origins){0};
}
