/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

enum { FREE, TAKEN, DELETED };

/* The value of a key, NULL: absent.  Open addressing: a deleted place is passed, a free one ends the search. */
uint64_t *sw_map_find(const struct sw_map *map, uint64_t key)
{
	if (!map->n)
		return NULL;
	for (size_t i = sw_hash_u64(key) & (map->room - 1);; i = (i + 1) & (map->room - 1)) {
		if (map->used[i] == FREE)
			return NULL;
		if (map->used[i] == TAKEN && map->slots[i].key == key)
			return &map->slots[i].value;
	}
}

/* The value of a key, 0: absent. */
uint64_t sw_map_get(const struct sw_map *map, uint64_t key)
{
	const uint64_t *value = sw_map_find(map, key);
	return value ? *value : 0;
}

/* Takes a free or deleted slot for a key that the map does not have. */
static uint64_t *insert_slot(struct sw_map *map, uint64_t key)
{
	size_t i = sw_hash_u64(key) & (map->room - 1);
	while (map->used[i] == TAKEN)
		i = (i + 1) & (map->room - 1);
	if (map->used[i] == FREE)
		map->filled++;
	map->used[i] = TAKEN;
	map->n++;
	map->slots[i] = (struct sw_map_slot){key, 0};
	return &map->slots[i].value;
}

/* Makes the table four times as large as its keys need, without deleted slots. */
static void rehash_all(struct sw_map *map)
{
	struct sw_map old = *map;
	map->room = 16;
	while (map->room < old.n * 4)
		map->room *= 2;
	map->slots = sw_alloc(map->room * sizeof *map->slots);
	map->used = sw_calloc(map->room, 1);
	map->n = map->filled = 0;
	for (size_t i = 0; i < old.room; i++)
		if (old.used[i] == TAKEN)
			*insert_slot(map, old.slots[i].key) = old.slots[i].value;
	free(old.slots);
	free(old.used);
}

/* The value of a key, added as 0 if it is absent.  The table grows at three quarters, deleted places included. */
uint64_t *sw_map_put(struct sw_map *map, uint64_t key)
{
	uint64_t *value = sw_map_find(map, key);
	if (value)
		return value;
	if (map->filled * 4 >= map->room * 3)
		rehash_all(map);
	return insert_slot(map, key);
}

/* Removes a key; its place stays marked, so that searches for other keys pass it. */
bool sw_map_delete(struct sw_map *map, uint64_t key)
{
	uint64_t *value = sw_map_find(map, key);
	if (!value)
		return false;
	map->used[(size_t)((struct sw_map_slot *)((char *)value - offsetof(struct sw_map_slot, value)) - map->slots)] =
		DELETED;
	map->n--;
	return true;
}

/* The next key and value from place `at` on; returns the place after it, 0: no more. */
size_t sw_map_next(const struct sw_map *map, size_t at, struct sw_map_slot *out)
{
	for (; at < map->room; at++)
		if (map->used[at] == TAKEN) {
			*out = map->slots[at];
			return at + 1;
		}
	return 0;
}

void sw_map_free(struct sw_map *map)
{
	free(map->slots);
	free(map->used);
	*map = (struct sw_map){0};
}
