/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities by content: 64-bit hash -> small id.  One per writer and purpose, used by its thread alone.
 *
 * Sets of four slots, a cache line each: a new entry replaces the oldest of its set, so that a look-up costs one line
 * and memory stays bounded.  Ids only go up, and one that is too old to be referred to (SW_FORMAT_LIVE_IDS) counts as
 * absent: an id never means two things.  Two contents with one hash would be taken for the same: with 64 bits that
 * happens once in about 4e9 different ones.
 */
#ifndef SW_PRELOAD_RECORDER_INTERN_H
#define SW_PRELOAD_RECORDER_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syncwatch/format.h"

#define SW_INTERN_SLOTS 8192u
#define SW_INTERN_WAYS	4u
/* An id that was returned may be referred to for a while. */
#define SW_INTERN_LIVE (SW_FORMAT_LIVE_IDS / 2)

struct sw_intern {
	_Alignas(64) struct sw_intern_slot {
		uint64_t hash; /* 0 free */
		uint32_t id, reserved;
	} slots[SW_INTERN_SLOTS];
	uint32_t last; /* id */
};

static inline struct sw_intern_slot *sw_intern_set(struct sw_intern *table, uint64_t hash)
{
	return &table->slots[(hash >> 20) % (SW_INTERN_SLOTS / SW_INTERN_WAYS) * SW_INTERN_WAYS];
}

/* A new id for it. */
uint32_t sw_intern_add(struct sw_intern *table, uint64_t hash);

/* The id of a hash, 0: it has none that may be referred to. */
static inline uint32_t sw_intern_find(struct sw_intern *table, uint64_t hash)
{
	const struct sw_intern_slot *set = sw_intern_set(table, hash);
	for (unsigned i = 0; i < SW_INTERN_WAYS; i++)
		if (set[i].hash == hash && table->last - set[i].id < SW_INTERN_LIVE)
			return set[i].id;
	return 0;
}

/* The id of a hash (not 0); *fresh: it is new. */
static inline uint32_t sw_intern(struct sw_intern *table, uint64_t hash, bool *fresh)
{
	const uint32_t id = sw_intern_find(table, hash);
	*fresh = !id;
	return id ? id : sw_intern_add(table, hash);
}

void sw_intern_clear(struct sw_intern *table);

/* Takes back the id that was given last, because its definition could not be written. */
void sw_intern_undo(struct sw_intern *table, uint64_t hash);

#endif
