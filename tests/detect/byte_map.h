/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access map without segments, to compare shadow.h with: each byte holds the uses that nothing took over there.  So
 * however shadow.h cuts its segments, a new use must meet those that still have a byte in common with it, each once.
 */
#ifndef TESTS_DETECT_BYTE_MAP_H
#define TESTS_DETECT_BYTE_MAP_H

#include "detect/memory/shadow.h"

enum { BYTE_MAP_BYTES = 160 };

struct byte_map {
	struct sw_arena arena;
	sw_use_vec byte[BYTE_MAP_BYTES];
};

/* Enters a bounded use and fails the test where `met`, the uses that it met elsewhere, are not the ones that it meets
   here. */
void byte_map_enter(struct byte_map *map, const struct sw_hb *hb, const struct sw_shadow_use *use,
		    const sw_use_vec *met);
void byte_map_free(struct byte_map *map);

#endif
