/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/launch/linear/known_bounds.h"

#include <stdlib.h>

#include "base/memory.h"

/* 3 MB: some hundred evaluations of convolutions, which pose thousands of programs each.  Most traces need few: the
   table grows, since each page of it costs more to get than the programs that it saves there. */
#define FIRST_PLACES (UINT32_C(1) << 9)
#define MOST_PLACES  (UINT32_C(1) << 16)

struct sw_known_bounds {
	struct sw_known_bound *at;
	uint32_t places, kept;
};

struct sw_known_bounds *sw_known_bounds_new(void)
{
	struct sw_known_bounds *known = sw_calloc(1, sizeof *known);
	known->places = FIRST_PLACES;
	known->at = sw_calloc(known->places, sizeof *known->at);
	return known;
}

void sw_known_bounds_free(struct sw_known_bounds *known)
{
	if (known)
		free(known->at);
	free(known);
}

/* The only place where a bound with this hash may be. */
static struct sw_known_bound *place_of(const struct sw_known_bounds *known, uint64_t hash)
{
	return &known->at[hash & (known->places - 1)];
}

const struct sw_known_bound *sw_known_bounds_find(const struct sw_known_bounds *known, const uint64_t hash[2])
{
	const struct sw_known_bound *bound = place_of(known, hash[0]);
	return bound->hash[0] == hash[0] && bound->hash[1] == hash[1] && (hash[0] | hash[1]) ? bound : NULL;
}

/* Makes the table twice as large; of two bounds in one place the last one stays. */
static void grow_table(struct sw_known_bounds *known)
{
	struct sw_known_bound *old = known->at;
	uint32_t n = known->places;
	known->places *= 2;
	known->at = sw_calloc(known->places, sizeof *known->at);
	for (uint32_t i = 0; i < n; i++) {
		if (old[i].hash[0] | old[i].hash[1])
			*place_of(known, old[i].hash[0]) = old[i];
	}
	free(old);
}

void sw_known_bounds_keep(struct sw_known_bounds *known, const struct sw_known_bound *bound)
{
	if (++known->kept > known->places / 2 && known->places < MOST_PLACES)
		grow_table(known);
	*place_of(known, bound->hash[0]) = *bound;
}
