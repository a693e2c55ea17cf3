/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map from a 64-bit key to a 64-bit value or pointer; open addressing, every key allowed.
 * Zero-initialise; not thread-safe.  A pointer returned is valid until the next put or delete.
 */
#ifndef SW_BASE_MAP_H
#define SW_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_map_slot {
	uint64_t key, value;
};
struct sw_map {
	struct sw_map_slot *slots;
	uint8_t *used; /* 0 free, 1 taken, 2 deleted */
	size_t room;   /* power of two */
	size_t n;      /* keys held */
	size_t filled; /* slots that are not free */
};

uint64_t *sw_map_find(const struct sw_map *map, uint64_t key); /* NULL when absent */
uint64_t sw_map_get(const struct sw_map *map, uint64_t key);   /* 0 when absent */
uint64_t *sw_map_put(struct sw_map *map, uint64_t key);	       /* finds or adds with value 0 */
bool sw_map_delete(struct sw_map *map, uint64_t key);	       /* true: it was there */
void sw_map_free(struct sw_map *map);

/* Iterates: for (size_t i = 0; (i = sw_map_next(map, i, &slot)); ) ... Order is arbitrary. */
size_t sw_map_next(const struct sw_map *map, size_t at, struct sw_map_slot *out);

static inline void *sw_map_ptr(const struct sw_map *map, uint64_t key)
{
	return (void *)(uintptr_t)sw_map_get(map, key);
}

static inline void sw_map_put_ptr(struct sw_map *map, uint64_t key, const void *value)
{
	*sw_map_put(map, key) = (uint64_t)(uintptr_t)value;
}

#endif
