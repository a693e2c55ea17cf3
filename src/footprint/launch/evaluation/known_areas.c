/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/launch/evaluation/known_areas.h"

#include <stdlib.h>

struct sw_known_areas {
	struct sw_map of; /* hash -> area + 1 */
	SW_VEC(struct sw_known_area) area;
	SW_VEC(struct sw_known_box) box;
};

void sw_known_areas_free(struct sw_known_areas *areas)
{
	if (!areas)
		return;
	sw_map_free(&areas->of);
	free(areas->area.at);
	free(areas->box.at);
	free(areas);
}

const struct sw_known_area *sw_known_areas_find(const struct sw_eval *e, const uint64_t hash[2])
{
	uint64_t found = e->areas ? sw_map_get(&e->areas->of, hash[0]) : 0;
	const struct sw_known_area *area = found ? &e->areas->area.at[found - 1] : NULL;
	return area && area->check == hash[1] ? area : NULL;
}

void sw_known_areas_keep(struct sw_eval *e, const uint64_t hash[2], struct sw_known_area area,
			 const struct sw_known_box *box)
{
	if (!e->areas)
		e->areas = sw_calloc(1, sizeof *e->areas);
	area.check = hash[1];
	area.first = (uint32_t)e->areas->box.n;
	for (uint32_t i = 0; i < area.n; i++)
		*sw_vec_push(&e->areas->box) = box[i];
	*sw_vec_push(&e->areas->area) = area;
	*sw_map_put(&e->areas->of, hash[0]) = e->areas->area.n;
}

const struct sw_known_box *sw_known_areas_boxes(const struct sw_eval *e, const struct sw_known_area *area)
{
	return area->n ? &e->areas->box.at[area->first] : NULL;
}
