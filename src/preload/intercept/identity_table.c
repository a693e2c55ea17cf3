/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/intercept/identity_table.h"

#include <errno.h>
#include <sys/mman.h>

#define FIRST_LOG 8u /* a page */
#define LOG_MASK  SW_TABLE_LOG

/* Zeroed memory from the kernel; errno stays the program's. */
static void *map_pages(size_t bytes)
{
	const int saved = errno;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return at == MAP_FAILED ? NULL : at;
}

/* Makes `n` slots empty and gives their memory back to the kernel; they stay mapped, as a reader may be in them. */
static void empty_slots(struct sw_table_slot *slots, uint64_t n)
{
	const int saved = errno;

	if (madvise(slots, n * sizeof *slots, MADV_DONTNEED)) { /* mlockall() */
		for (uint64_t i = 0; i < n; i++) {
			__atomic_store_n(&slots[i].value, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&slots[i].key, 0, __ATOMIC_RELAXED);
		}
	}
	errno = saved;
}

/* The slots that a word names: its upper bits are their address. */
static inline struct sw_table_slot *slots_of(uint64_t word)
{
	return (struct sw_table_slot *)(uintptr_t)(word & ~(uint64_t)LOG_MASK);
}

/* How many slots a word names: its lowest bits are the logarithm. */
static inline uint64_t room_of(uint64_t word)
{
	return word ? UINT64_C(1) << (word & LOG_MASK) : 0;
}

/* Packs the address of slots and the logarithm of their number, so that a reader gets both in one load. */
static inline uint64_t word_of(const struct sw_table_slot *slots, uint32_t log)
{
	return (uint64_t)(uintptr_t)slots | log;
}

/* The value of a key in the slots that `word` names, 0: absent.  Linear probing, for at most all slots: a reader in
   slots that were emptied and reused may find neither its key nor a free one. */
static inline __attribute__((always_inline)) uint64_t find_value(uint64_t word, uint64_t key)
{
	const struct sw_table_slot *slots = slots_of(word);
	const uint64_t room = room_of(word), first = word ? sw_table_first(word, key) : 0;

	for (uint64_t i = 0; i < room; i++) {
		const struct sw_table_slot *slot = &slots[(first + i) & (room - 1)];
		const uint64_t held = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);

		if (held == key)
			return __atomic_load_n(&slot->value, __ATOMIC_ACQUIRE);
		if (held == 0)
			break;
	}
	return 0;
}

/* The value of a key, 0: absent.  Needs no lock: a version tells whether the table was changed meanwhile, and then the
   search is repeated. */
uint64_t sw_table_get(const struct sw_table *table, uint64_t key)
{
	uint32_t version;
	uint64_t value;

	if (!key)
		return 0;
	do {
		version = __atomic_load_n(&table->version, __ATOMIC_ACQUIRE);
		value = find_value(__atomic_load_n(&table->slots, __ATOMIC_ACQUIRE), key);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__builtin_expect(version != __atomic_load_n(&table->version, __ATOMIC_RELAXED), 0));
	return value;
}

/* ---- the writer -------------------------------------------------------------------------------------------------- */

/* A reader that sees anything that is stored after it sees the version, too: a store that releases alone keeps only
   what comes before it in its place (table_grown.litmus). */
static void next_version(struct sw_table *table)
{
	__atomic_store_n(&table->version, table->version + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* The slot of the key; else the first that it could have: a deleted one, or the free one at the end. */
static struct sw_table_slot *place_of(uint64_t word, uint64_t key)
{
	struct sw_table_slot *slots = slots_of(word), *deleted = NULL;
	const uint64_t room = room_of(word);

	for (uint64_t i = sw_table_first(word, key);; i++) {
		struct sw_table_slot *slot = &slots[i & (room - 1)];

		if (slot->key == key)
			return slot;
		if (slot->key == 0)
			return deleted ? deleted : slot;
		if (!deleted && slot->value == 0)
			deleted = slot;
	}
}

/* Takes 2^log slots: those that were left before, where they are large enough; *mapped: the logarithm of how many it
   really has. */
static struct sw_table_slot *take_slots(struct sw_table *table, uint32_t log, uint32_t *mapped)
{
	struct sw_table_slot *slots;

	if (table->spare && (table->spare & LOG_MASK) >= log) {
		*mapped = table->spare & LOG_MASK;
		slots = slots_of(table->spare);
		table->spare = 0;
		return slots;
	}
	*mapped = log;
	return map_pages(sizeof(struct sw_table_slot) << log);
}

/* Copies what lives into slots of the right number.  Smaller ones that were left before stay mapped, without memory:
   all of them together are no larger than the newest. */
static __attribute__((cold)) bool resize_table(struct sw_table *table)
{
	const uint64_t old = table->slots;
	uint32_t log = FIRST_LOG, mapped, taken = 0;
	struct sw_table_slot *slots;

	while (UINT64_C(1) << log < 4 * ((uint64_t)table->live + 1))
		log++;
	slots = take_slots(table, log, &mapped);
	if (!slots)
		return false;
	for (uint64_t i = 0; i < room_of(old); i++) {
		const struct sw_table_slot *from = &slots_of(old)[i];

		if (from->value) {
			struct sw_table_slot *to = place_of(word_of(slots, log), from->key);

			__atomic_store_n(&to->key, from->key, __ATOMIC_RELAXED);
			__atomic_store_n(&to->value, from->value, __ATOMIC_RELAXED);
			taken++;
		}
	}
	__atomic_store_n(&table->slots, word_of(slots, log), __ATOMIC_RELEASE);
	next_version(table); /* before the old slots change */
	if (old) {
		empty_slots(slots_of(old), room_of(old));
		if (!table->spare || (table->spare & LOG_MASK) < table->mapped)
			table->spare = word_of(slots_of(old), table->mapped);
	}
	table->mapped = mapped;
	table->taken = taken;
	return true;
}

/* Sets the value of a key, under the caller's lock.  Readers see the key before its value, and a new version in
   between. */
bool sw_table_put(struct sw_table *table, uint64_t key, uint64_t value)
{
	struct sw_table_slot *slot;

	if ((!table->slots || table->taken * 2ull >= room_of(table->slots)) && !resize_table(table))
		return false;
	slot = place_of(table->slots, key);
	if (slot->key != key) {
		table->taken += slot->key == 0;
		__atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
		/* Before the value: a reader that found the key of before must not take it for that one's. */
		next_version(table);
	}
	table->live += slot->value == 0;
	__atomic_store_n(&slot->value, value, __ATOMIC_RELEASE);
	return true;
}

/* Frees slots of deleted keys that are followed by a free slot, as those are on no search path. */
static void clean_slots(struct sw_table *table, uint64_t at)
{
	struct sw_table_slot *slots = slots_of(table->slots);
	const uint64_t mask = room_of(table->slots) - 1;

	if (slots[(at + 1) & mask].key)
		return;
	for (; slots[at & mask].key && !slots[at & mask].value; at--) {
		__atomic_store_n(&slots[at & mask].key, 0, __ATOMIC_RELEASE);
		table->taken--;
	}
}

/* Deletes a key if it is there. */
static void delete_key(struct sw_table *table, uint64_t key)
{
	struct sw_table_slot *slot = table->slots && key ? place_of(table->slots, key) : NULL;

	if (!slot || slot->key != key || !slot->value)
		return;
	__atomic_store_n(&slot->value, 0, __ATOMIC_RELEASE);
	table->live--;
	clean_slots(table, (uint64_t)(slot - slots_of(table->slots)));
}

/* Makes a table smaller of which most is not needed any more. */
static void shrink_table(struct sw_table *table)
{
	if (table->live * 32ull < room_of(table->slots) && (table->slots & LOG_MASK) > FIRST_LOG)
		resize_table(table);
}

/* Deletes a key, under the caller's lock; the table becomes smaller where few are left. */
void sw_table_delete(struct sw_table *table, uint64_t key)
{
	delete_key(table, key);
	shrink_table(table);
}

/* Deletes all keys that `gone` chooses, under the caller's lock, and makes the table smaller where few are left. */
__attribute__((cold)) void sw_table_sweep(struct sw_table *table,
					  bool (*gone)(uint64_t key, uint64_t value, uint64_t with), uint64_t with)
{
	for (uint64_t i = 0; i < room_of(table->slots); i++) {
		const struct sw_table_slot *slot = &slots_of(table->slots)[i];

		if (slot->value && gone(slot->key, slot->value, with))
			delete_key(table, slot->key);
	}
	shrink_table(table);
}

#define BLOCK_BYTES (64u << 10)

/* Memory that is never freed, from a block by one atomic addition; a full block is replaced by compare-and-swap. */
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
