/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities by content: 64-bit hash -> small id.  One per writer and purpose, used by its thread alone.
 *
 * The table has a fixed size; when it is three quarters full it is emptied and everything gets a new id, so that
 * memory stays bounded and an id never means two things.  Two contents with one hash would be taken for the same:
 * with 64 bits that happens once in about 4e9 different ones.
 */
#ifndef SW_PRELOAD_RECORDER_INTERN_H
#define SW_PRELOAD_RECORDER_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SW_INTERN_SLOTS 8192u

struct sw_intern {
	struct sw_intern_slot {
		uint64_t hash; /* 0 free */
		uint32_t id, reserved;
	} slots[SW_INTERN_SLOTS];
	uint32_t used, last;
};

/* The id of a hash; *fresh: it is new. */
uint32_t sw_intern(struct sw_intern *table, uint64_t hash, bool *fresh);
void sw_intern_clear(struct sw_intern *table);

/* Takes back the id that was given last, because its definition could not be written. */
void sw_intern_undo(struct sw_intern *table, uint64_t hash);

#endif
