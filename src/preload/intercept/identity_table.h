/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash table from a handle to a word, read without a lock.
 *
 * One writer at a time (the caller holds a lock); any number of readers.  Memory follows the live keys: what is too
 * large or too small is copied into other slots, and the old ones are emptied.  They stay mapped, since a reader may
 * still use them: it detects that by the version, and searches again.  Keys and values are never 0.  Memory comes from
 * mmap, never from the program's allocator.
 */
#ifndef SW_PRELOAD_TABLE_H
#define SW_PRELOAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_table {
	uint64_t slots;	  /* address, with the logarithm of their number in its lowest bits; 0: empty */
	uint64_t spare;	  /* slots of an earlier size, without memory; the logarithm is that of what is mapped */
	uint32_t mapped;  /* logarithm of the slots that are mapped at `slots` */
	uint32_t live;	  /* keys with a value */
	uint32_t taken;	  /* slots with a key, deleted ones included */
	uint32_t version; /* grows when a slot may mean something else */
};

struct sw_table_slot {
	uint64_t key, value; /* value 0: deleted, or not there yet */
};
#define SW_TABLE_LOG 63ull /* of sw_table.slots: the logarithm */

/* Where the search for a key begins; `slots` is not 0.  Handles differ in their middle bits. */
static inline uint64_t sw_table_first(uint64_t slots, uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> (64 - (slots & SW_TABLE_LOG));
}

/* 0: absent. */
uint64_t sw_table_get(const struct sw_table *table, uint64_t key);

/* The value if the key stands in its first slot, else 0: the path of nearly every call. */
static inline uint64_t sw_table_probe(const struct sw_table *table, uint64_t key)
{
	const uint32_t version = __atomic_load_n(&table->version, __ATOMIC_ACQUIRE);
	const uint64_t slots = __atomic_load_n(&table->slots, __ATOMIC_ACQUIRE);
	const struct sw_table_slot *slot;
	uint64_t value;

	if (__builtin_expect(!slots || !key, 0))
		return 0;
	slot = (struct sw_table_slot *)(uintptr_t)(slots & ~SW_TABLE_LOG) + sw_table_first(slots, key);
	if (__atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) != key)
		return 0;
	value = __atomic_load_n(&slot->value, __ATOMIC_ACQUIRE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return version == __atomic_load_n(&table->version, __ATOMIC_RELAXED) ? value : 0;
}
/* False: no memory; the table is unchanged. */
bool sw_table_put(struct sw_table *table, uint64_t key, uint64_t value);
void sw_table_delete(struct sw_table *table, uint64_t key);
/* Deletes every key for which `gone` says so. */
void sw_table_sweep(struct sw_table *table, bool (*gone)(uint64_t key, uint64_t value, uint64_t with), uint64_t with);

/* Memory that is never returned, zeroed, aligned to 16; NULL when there is none.  Any thread, no lock. */
void *sw_table_memory(size_t bytes);

#endif
