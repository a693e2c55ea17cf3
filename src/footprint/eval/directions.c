/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel does through each of its pointers, whatever the launch: read, write, update. */
#include "footprint/eval/eval.h"

static struct sw_reach *reach_of(struct sw_reaches *out, size_t from, const struct sw_root *root)
{
	for (size_t i = from; i < out->n; i++) {
		if (sw_root_equal(&out->at[i].root, root))
			return &out->at[i];
	}
	return NULL;
}

static void add(struct sw_reaches *out, size_t from, const struct sw_access_site *site, uint32_t number,
		const struct sw_root *root)
{
	struct sw_reach *reach = reach_of(out, from, root);
	if (!reach) {
		reach = sw_vec_push(out);
		*reach = (struct sw_reach){.extent = SW_EXTENT_OPEN,
					   .why = site->why,
					   .site = number,
					   .root = *root,
					   .rows = 1,
					   .slices = 1};
	}
	/* The site that is shown is one that writes. */
	if ((site->role & ~SW_TOUCH_READ) && !(reach->role & ~SW_TOUCH_READ))
		reach->site = number;
	reach->role |= site->role;
	reach->polls |= site->polls;
}

void sw_footprint_directions(const struct sw_footprint *footprint, struct sw_reaches *out)
{
	static const struct sw_root unknown = {.kind = SW_ROOT_UNKNOWN};
	size_t from = out->n;
	for (uint32_t i = 0; i < footprint->sites; i++) {
		const struct sw_access_site *site = &footprint->site[i];
		for (uint32_t j = 0; j < site->roots; j++)
			add(out, from, site, i, &footprint->root[site->root + j]);
		if (!site->roots)
			add(out, from, site, i, &unknown);
	}
}
