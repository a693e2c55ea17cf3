/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/intern.h"

#include <string.h>

/* The slot for a hash: its own (whose id is too old), else a free one, else the one with the lowest id.  Without
   branches: which slot it is cannot be predicted. */
static struct sw_intern_slot *place_of(struct sw_intern *table, uint64_t hash)
{
	struct sw_intern_slot *set = sw_intern_set(table, hash), *best = set;
	uint64_t oldest = 0;
	for (unsigned i = 0; i < SW_INTERN_WAYS; i++) {
		uint64_t age = table->last - set[i].id;
		age = set[i].hash ? age : UINT64_C(1) << 32;
		age = set[i].hash == hash ? UINT64_C(2) << 32 : age;
		best = age > oldest ? &set[i] : best;
		oldest = age > oldest ? age : oldest;
	}
	return best;
}

/* Gives a text or stack, by its hash, the next id.  If all places of its set are taken, one of them is given up: that
   text gets a new id when it comes again. */
uint32_t sw_intern_add(struct sw_intern *table, uint64_t hash)
{
	struct sw_intern_slot *slot = place_of(table, hash);
	/* In this order: a signal handler may jump away between any two. */
	__atomic_store_n(&slot->hash, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->id, ++table->last, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->hash, hash, __ATOMIC_RELEASE);
	return table->last;
}

void sw_intern_clear(struct sw_intern *table)
{
	memset(table->slots, 0, sizeof table->slots);
}

/* Forgets a hash whose definition could not be written; its id stays unused. */
void sw_intern_undo(struct sw_intern *table, uint64_t hash)
{
	struct sw_intern_slot *set = sw_intern_set(table, hash);
	for (unsigned i = 0; i < SW_INTERN_WAYS; i++)
		if (set[i].hash == hash)
			set[i] = (struct sw_intern_slot){0};
}
