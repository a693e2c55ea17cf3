/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/intercept/identity_table.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/hash.h"

struct slot {
	uint64_t key, value; /* value 0: deleted, or not there yet */
};

struct sw_table_slots {
	uint32_t room;	/* power of two */
	uint32_t taken; /* keys, deleted ones included */
	struct slot at[];
};

#define FIRST_ROOM 64u

static void *map_pages(size_t bytes)
{
	const int saved = errno;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return at == MAP_FAILED ? NULL : at;
}

/* The slot of `key`, or the free one where it belongs. */
static inline __attribute__((always_inline)) struct slot *slot_of(struct sw_table_slots *slots, uint64_t key)
{
	for (uint64_t i = sw_hash_u64(key);; i++) {
		struct slot *slot = &slots->at[i & (slots->room - 1)];
		const uint64_t held = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);

		if (held == key || held == 0)
			return slot;
	}
}

uint64_t sw_table_get(const struct sw_table *table, uint64_t key)
{
	struct sw_table_slots *slots = __atomic_load_n(&table->slots, __ATOMIC_ACQUIRE);

	if (!slots || !key)
		return 0;
	/* A free slot has value 0 until after its key was stored, so a reader that loses that race sees "absent". */
	return __atomic_load_n(&slot_of(slots, key)->value, __ATOMIC_ACQUIRE);
}

static bool table_grow(struct sw_table *table)
{
	struct sw_table_slots *old = table->slots, *slots;
	uint32_t room = FIRST_ROOM;

	while (room < 4 * (table->live + 1))
		room *= 2;
	slots = map_pages(sizeof *slots + room * sizeof(struct slot));
	if (!slots)
		return false;
	slots->room = room;
	for (uint32_t i = 0; old && i < old->room; i++) {
		if (old->at[i].value) {
			*slot_of(slots, old->at[i].key) = old->at[i];
			slots->taken++;
		}
	}
	__atomic_store_n(&table->slots, slots, __ATOMIC_RELEASE);
	return true;
}

bool sw_table_put(struct sw_table *table, uint64_t key, uint64_t value)
{
	struct slot *slot;

	if (!table->slots || table->slots->taken * 2 >= table->slots->room) {
		if (!table_grow(table))
			return false;
	}
	slot = slot_of(table->slots, key);
	if (slot->key == 0) {
		table->slots->taken++;
		__atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
	}
	if (slot->value == 0)
		table->live++;
	__atomic_store_n(&slot->value, value, __ATOMIC_RELEASE);
	return true;
}

void sw_table_delete(struct sw_table *table, uint64_t key)
{
	struct slot *slot = table->slots && key ? slot_of(table->slots, key) : NULL;

	if (!slot || !slot->value)
		return;
	__atomic_store_n(&slot->value, 0, __ATOMIC_RELEASE);
	table->live--;
}

void sw_table_sweep(struct sw_table *table, bool (*gone)(uint64_t key, uint64_t value, uint64_t with), uint64_t with)
{
	for (uint32_t i = 0; table->slots && i < table->slots->room; i++) {
		const struct slot *slot = &table->slots->at[i];

		if (slot->value && gone(slot->key, slot->value, with))
			sw_table_delete(table, slot->key);
	}
}

#define BLOCK_BYTES (64u << 10)

void *sw_table_memory(size_t bytes)
{
	static struct block {
		size_t used; /* grows past the end: the block is full */
	} * current;
	const size_t need = (bytes + 15) & ~(size_t)15;

	if (need > BLOCK_BYTES / 2)
		return map_pages(need);
	for (;;) {
		struct block *block = __atomic_load_n(&current, __ATOMIC_ACQUIRE), *fresh;

		if (block) {
			const size_t at = __atomic_fetch_add(&block->used, need, __ATOMIC_RELAXED);

			if (at + need <= BLOCK_BYTES)
				return (char *)block + at;
		}
		fresh = map_pages(BLOCK_BYTES);
		if (!fresh)
			return NULL;
		fresh->used = 16; /* this header */
		if (!__atomic_compare_exchange_n(&current, &block, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			munmap(fresh, BLOCK_BYTES);
	}
}
