/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/linear/known_bounds.h"

#include <stdlib.h>

#include "base/memory.h"

/* 3 MB: some hundred evaluations of convolutions, which pose thousands of programs each. */
#define PLACES (UINT32_C(1) << 16)

struct sw_known_bounds {
	struct sw_known_bound at[PLACES];
};

struct sw_known_bounds *sw_known_bounds_new(void)
{
	return sw_calloc(1, sizeof(struct sw_known_bounds));
}

void sw_known_bounds_free(struct sw_known_bounds *known)
{
	free(known);
}

const struct sw_known_bound *sw_known_bounds_find(const struct sw_known_bounds *known, const uint64_t hash[2])
{
	const struct sw_known_bound *bound = &known->at[hash[0] % PLACES];
	return bound->hash[0] == hash[0] && bound->hash[1] == hash[1] && (hash[0] | hash[1]) ? bound : NULL;
}

void sw_known_bounds_keep(struct sw_known_bounds *known, const struct sw_known_bound *bound)
{
	known->at[bound->hash[0] % PLACES] = *bound;
}
