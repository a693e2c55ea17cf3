/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/byte_map.h"

#include <check.h>
#include <stdlib.h>

static unsigned times_in(const sw_use_vec *uses, uint64_t seq)
{
	unsigned n = 0;
	for (size_t i = 0; i < uses->n; i++)
		n += uses->at[i]->access.seq == seq;
	return n;
}

static void enter_byte(struct byte_map *map, uint64_t at, const struct sw_hb *hb, struct sw_shadow_use *use,
		       sw_use_vec *want)
{
	size_t kept = 0;
	ck_assert_uint_lt(at, BYTE_MAP_BYTES);
	for (size_t i = 0; i < map->byte[at].n; i++) {
		struct sw_shadow_use *m = map->byte[at].at[i];
		bool ordered = m->access.point.lane == use->access.point.lane ||
			       sw_hb_ordered(hb, m->access.point, use->access.point.lane) == SW_ORDER_DOCUMENTED;
		if (!ordered && sw_use_conflicts(m, use) && !times_in(want, m->access.seq))
			*sw_vec_push(want) = m;
		if (!ordered || !sw_use_stands_for(use, m))
			map->byte[at].at[kept++] = m;
	}
	map->byte[at].n = kept;
	*sw_vec_push(&map->byte[at]) = use;
}

void byte_map_enter(struct byte_map *map, const struct sw_hb *hb, const struct sw_shadow_use *use,
		    const sw_use_vec *met)
{
	const struct sw_range *range = &use->range;
	sw_use_vec want = {0};
	struct sw_shadow_use *copy = sw_arena_alloc(&map->arena, sizeof *copy);
	*copy = *use;
	for (uint64_t i = 0; i < range->slices * range->rows; i++)
		for (uint64_t x = 0; x < range->width; x++)
			enter_byte(map,
				   range->address + i / range->rows * range->slice + i % range->rows * range->pitch + x,
				   hb, copy, &want);
	for (size_t i = 0; i < want.n; i++)
		ck_assert_msg(times_in(met, want.at[i]->access.seq) == 1, "access %llu meets %llu, once",
			      (unsigned long long)use->access.seq, (unsigned long long)want.at[i]->access.seq);
	ck_assert_msg(met->n == want.n, "access %llu meets %zu others, %zu share bytes that nothing took over",
		      (unsigned long long)use->access.seq, met->n, want.n);
	free(want.at);
}

void byte_map_free(struct byte_map *map)
{
	for (int i = 0; i < BYTE_MAP_BYTES; i++)
		free(map->byte[i].at);
	sw_arena_free(&map->arena);
}
