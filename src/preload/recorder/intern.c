/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/intern.h"

#include <string.h>
uint32_t sw_intern(struct sw_intern *table, uint64_t hash, bool *fresh)
{
	uint32_t at = (uint32_t)hash % SW_INTERN_SLOTS;
	for (; table->slots[at].hash; at = (at + 1) % SW_INTERN_SLOTS) {
		if (table->slots[at].hash == hash) {
			*fresh = false;
			return table->slots[at].id;
		}
	}
	if (table->used >= SW_INTERN_SLOTS / 4 * 3) {
		sw_intern_clear(table);
		at = (uint32_t)hash % SW_INTERN_SLOTS;
	}
	table->used++;
	table->slots[at].id = ++table->last;
	__atomic_store_n(&table->slots[at].hash, hash,
			 __ATOMIC_RELEASE); /* last: a signal handler may jump away here */
	*fresh = true;
	return table->last;
}

void sw_intern_clear(struct sw_intern *table)
{
	memset(table->slots, 0, sizeof table->slots);
	table->used = 0;
}

void sw_intern_undo(struct sw_intern *table, uint64_t hash)
{
	/* The newest entry ends its probe sequence: no other lies after it. */
	for (uint32_t at = (uint32_t)hash % SW_INTERN_SLOTS; table->slots[at].hash; at = (at + 1) % SW_INTERN_SLOTS) {
		if (table->slots[at].hash == hash) {
			table->slots[at] = (struct sw_intern_slot){0};
			table->used--;
			return;
		}
	}
}
