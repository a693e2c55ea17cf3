/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/stored_values.h"

#include <stdlib.h>
#include <string.h>

#include "detect/hazards/deferred.h"
#include "detect/memory/address_space.h"
#include "detect/memory/physical_memory.h"
#include "detect/model/model.h"

#define SW_WAIT_KIND                                                                                                   \
	3u /* CU_STREAM_WAIT_VALUE_GEQ 0, _EQ 1, _AND 2, _NOR 3; CU_STREAM_WAIT_VALUE_FLUSH may be set as well */
#define SW_WRITE_UNORDERED 1u /* CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER */

/* Addresses: a program has one a stream or two. */
#define SW_MAX_CELLS 4096u
/* Writes of unknown values that are remembered for each address. */
#define SW_MAX_UNKNOWN 8u
/* Addresses that are looked through for each write. */
#define SW_MANY_CELLS 64u

struct store {
	uint64_t value, step;
	uint64_t event; /* what came before it; 0: not known */
	struct sw_point point;
	uint32_t after; /* bit i: it is ordered after store i of the cell */
	uint8_t bytes;
	bool content; /* by a set or a copy, not by the stream's own write */
	bool fenced;  /* what came before it is visible to what sees it */
};

struct unknown {
	struct sw_point point;
	uint64_t step;
};

struct cell {
	uint32_t block; /* number of the allocation */
	uint32_t n, unknowns;
	bool dropped; /* older stores were */
	struct store store[SW_MAX_STORES];
	struct unknown unknown[SW_MAX_UNKNOWN]; /* the last of them, by number */
};

struct sw_stored_values {
	struct sw_map cells; /* address -> struct cell */
	uint64_t events;
	uint64_t unknown_from; /* contents of before this step may have been overwritten */
};

struct sw_stored_values *sw_stored_values_new(void)
{
	return sw_calloc(1, sizeof(struct sw_stored_values));
}

/* A number for an event of ours in the order engine; no handle of the program's can have it, as events are pointers. */
static uint64_t new_event(struct sw_model *m)
{
	return UINT64_C(3) << 62 | ++m->values->events;
}

/* Does a document order the point before whatever comes next on the lane? */
static bool is_ordered(const struct sw_model *m, struct sw_point point, uint32_t lane)
{
	return sw_hb_ordered(m->hb, point, lane) == SW_ORDER_DOCUMENTED;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Forgets the oldest store of the address; the bits in `after` move down with the stores. */
static void drop_first(struct sw_model *m, struct cell *cell)
{
	if (cell->store[0].event)
		sw_hb_event_destroy(m->hb, cell->store[0].event);
	cell->n--;
	for (uint32_t i = 0; i < cell->n; i++) {
		cell->store[i] = cell->store[i + 1];
		cell->store[i].after >>= 1;
	}
}

/* Forgets all that is known of the values at an address. */
static void clear_cell(struct sw_model *m, struct cell *cell)
{
	while (cell->n)
		drop_first(m, cell);
	cell->unknowns = 0;
	cell->dropped = false;
}

void sw_stored_values_forget(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->values->cells, i, &slot));) {
		struct cell *cell = (struct cell *)(uintptr_t)slot.value;
		clear_cell(m, cell);
		free(cell);
	}
	sw_map_free(&m->values->cells);
	sw_values_unknown(m, m->step);
}

void sw_stored_values_free(struct sw_model *m)
{
	sw_stored_values_forget(m);
	free(m->values);
}

/* Adds a store to the address (the oldest goes if there are 32) and notes which stores it is ordered after.  The caller
   fills in the value. */
static struct store *add_store(struct sw_model *m, struct cell *cell, struct sw_point point)
{
	uint32_t after = 0;
	if (cell->n == SW_MAX_STORES) {
		drop_first(m, cell);
		cell->dropped = true;
	}
	for (uint32_t i = 0; i < cell->n; i++)
		after |= (uint32_t)is_ordered(m, cell->store[i].point, point.lane) << i;
	struct store *store = &cell->store[cell->n++];
	*store = (struct store){.step = m->step, .point = point, .after = after, .fenced = true};
	return store;
}

/* Adds the value that the address has by what filled its block; NULL: that is not known. */
static struct store *add_content(struct sw_model *m, struct cell *cell, const struct sw_block *block, uint64_t address)
{
	const struct sw_filling *filling = &block->filling;
	if (address < filling->lo || address >= filling->hi || filling->hi - address < 4)
		return NULL;
	struct store *store = add_store(m, cell, filling->point);
	unsigned shift = (address - filling->lo) % 8 * 8;
	store->value = shift ? filling->word >> shift | filling->word << (64 - shift) : filling->word;
	store->bytes = filling->hi - address < 8 ? 4 : 8;
	store->step = filling->step;
	store->content = true;
	return store;
}

/* The stores known for an address.  They begin anew, with what filled the block, if the address belongs to another
   allocation than when it was last asked for. */
static struct cell *cell_of(struct sw_model *m, uint64_t address)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find_outer(&m->space, address, &offset);
	struct cell *cell = sw_map_ptr(&m->values->cells, address);
	uint32_t number = block ? block->number : 0;
	if (cell && cell->block == number)
		return cell;
	if (!cell && m->values->cells.n >= SW_MAX_CELLS)
		sw_stored_values_forget(m); /* waits for what was forgotten count as not modelled */
	if (!cell) {
		cell = sw_calloc(1, sizeof *cell);
		sw_map_put_ptr(&m->values->cells, address, cell);
	}
	clear_cell(m, cell); /* of memory that was freed */
	cell->block = number;
	if (block)
		add_content(m, cell, block, address);
	return cell;
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

void sw_value_stored(struct sw_model *m, struct sw_point point, const struct sw_rec_mem_op *o)
{
	struct store *store = add_store(m, cell_of(m, o->address), point);
	store->value = o->value;
	store->bytes = (uint8_t)o->bytes;
	store->fenced = !(o->flags & SW_WRITE_UNORDERED);
	store->event = new_event(m);
	sw_hb_event_snapshot(m->hb, store->event, point.lane);
}

/* Can a value in this block be followed?  Only where nothing writes there by another address, and the host does
   not. */
static bool is_plain_value(const struct sw_block *block)
{
	enum sw_memory memory = sw_block_memory(block);
	return (memory == SW_MEM_DEVICE || memory == SW_MEM_ASYNC || memory == SW_MEM_SYMBOL) && !block->shared &&
	       !block->passed_on && !sw_physical_alias(block, 0);
}

/* Takes back the last note of an unknown value if this same write made it: its value is known after all. */
static void forget_unknown(struct cell *cell, struct sw_point point, uint64_t step)
{
	const struct unknown *last = &cell->unknown[(cell->unknowns - 1) % SW_MAX_UNKNOWN];
	if (cell->unknowns && last->step == step && last->point.lane == point.lane && last->point.tick == point.tick)
		cell->unknowns--;
}

void sw_value_filled(struct sw_model *m, struct sw_point point, uint64_t lo, uint64_t hi, uint64_t word)
{
	uint64_t offset;
	struct sw_block *block = sw_space_find_outer(&m->space, lo, &offset);
	struct sw_map_slot slot;
	if (!block || hi - lo > block->bytes - offset || !is_plain_value(block))
		return;
	block->filling = (struct sw_filling){lo, hi, word, m->step, point};
	for (size_t i = 0; (i = sw_map_next(&m->values->cells, i, &slot));) {
		struct cell *cell = (struct cell *)(uintptr_t)slot.value;
		if (slot.key < lo || slot.key >= hi || cell->block != block->number)
			continue;
		forget_unknown(cell, point, m->step);
		struct store *store = add_content(m, cell, block, slot.key);
		if (store) {
			store->event = new_event(m);
			sw_hb_event_snapshot(m->hb, store->event, point.lane);
		}
	}
}

/* Notes that work may have written an unknown value to the address; the last eight are kept. */
static void note_unknown(struct cell *cell, struct sw_point point, uint64_t step)
{
	cell->unknown[cell->unknowns++ % SW_MAX_UNKNOWN] = (struct unknown){point, step};
}

void sw_value_overwritten(struct sw_model *m, struct sw_point point, struct sw_block *block, uint64_t lo, uint64_t hi,
			  uint64_t step)
{
	struct sw_map_slot slot;
	if (block->filling.hi > lo && block->filling.lo < hi && block->filling.step < step)
		block->filling.hi = 0;
	if (m->values->cells.n > SW_MANY_CELLS)
		sw_values_unknown(m, step);
	else
		for (size_t i = 0; (i = sw_map_next(&m->values->cells, i, &slot));)
			if (slot.key >= lo && slot.key < hi)
				note_unknown((struct cell *)(uintptr_t)slot.value, point, step);
}

void sw_values_unknown(struct sw_model *m, uint64_t step)
{
	m->values->unknown_from = step > m->values->unknown_from ? step : m->values->unknown_from;
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

/* Does the value satisfy the wait?  GEQ is cyclic: "(int32_t)(*addr - value) >= 0", the same for 64 bits. */
static bool satisfies_wait(const struct sw_rec_mem_op *wait, uint64_t value)
{
	uint64_t mask = wait->bytes == 8 ? UINT64_MAX : UINT32_MAX, asked = wait->value & mask;
	value &= mask;
	switch (wait->flags & SW_WAIT_KIND) {
	case 0:
		return wait->bytes == 8 ? (int64_t)(value - asked) >= 0 : (int32_t)(uint32_t)(value - asked) >= 0;
	case 1:
		return value == asked;
	case 2:
		return value & asked;
	default:
		return ~(value | asked) & mask;
	}
}

/* Was store i of the address overwritten before the lane's wait: by a store that is ordered after it and before the
   wait? */
static bool is_overwritten(const struct sw_model *m, const struct cell *cell, uint32_t i, uint32_t lane)
{
	for (uint32_t k = i + 1; k < cell->n; k++)
		if (cell->store[k].after >> i & 1 && is_ordered(m, cell->store[k].point, lane))
			return true;
	return false;
}

/* May a write of an unknown value have replaced the store before the lane's wait?  Content by a set or a copy is given
   up sooner: other writes to it may have been forgotten. */
static bool may_be_overwritten(const struct sw_model *m, const struct cell *cell, const struct store *store,
			       uint32_t lane)
{
	uint32_t n = cell->unknowns < SW_MAX_UNKNOWN ? cell->unknowns : SW_MAX_UNKNOWN;
	if (store->content && (store->step < m->values->unknown_from || cell->unknowns > SW_MAX_UNKNOWN))
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (cell->unknown[i].step > store->step && is_ordered(m, cell->unknown[i].point, lane))
			return true;
	return false;
}

/* Stores that may have released a wait: bits by number. */
struct candidates {
	uint32_t sure;	/* nothing may have overwritten them before */
	uint32_t other; /* what has an unknown value may have */
	bool unclear;	/* of another width: what the wait sees is not known */
};

/* Sorts the stores of the address by whether they may have released the wait: satisfying its value, of its width, and
   not overwritten before. */
static struct candidates find_candidates(const struct sw_model *m, const struct cell *cell,
					 const struct sw_rec_mem_op *wait, uint32_t lane)
{
	struct candidates found = {0};
	for (uint32_t i = 0; i < cell->n; i++) {
		const struct store *store = &cell->store[i];
		bool wide = store->content ? store->bytes >= wait->bytes : store->bytes == wait->bytes;
		if (is_overwritten(m, cell, i, lane))
			continue;
		found.unclear |= !wide && !store->content;
		if (!wide || !satisfies_wait(wait, store->value))
			continue;
		if (!may_be_overwritten(m, cell, store, lane))
			found.sure |= 1u << i;
		else if (!store->content)
			found.other |= 1u << i;
	}
	return found;
}

int sw_value_releases(struct sw_model *m, const struct sw_rec_mem_op *wait, uint32_t lane,
		      uint64_t events[SW_MAX_STORES])
{
	uint64_t offset;
	struct sw_block *block = sw_space_find_outer(&m->space, wait->address, &offset);
	struct cell *cell = cell_of(m, wait->address);
	uint32_t lanes[SW_MAX_STORES];
	int n = 0;
	if (cell->n && block)
		sw_deferred_settle(m, block); /* launches that may have written there */
	struct candidates found = find_candidates(m, cell, wait, lane);
	uint32_t chosen = found.sure ? found.sure : found.other;
	m->j->coverage.edges_for_safety +=
		chosen && (!found.sure || (cell->dropped && !is_overwritten(m, cell, 0, lane)));
	if (found.unclear)
		return -1;
	for (uint32_t i = 0; i < cell->n; i++) {
		const struct store *store = &cell->store[i];
		bool known = false;
		if (!(chosen >> i & 1))
			continue;
		if (!store->fenced || (!store->event && !is_ordered(m, store->point, lane)))
			return -1;
		for (int k = 0; k < n; k++)
			known |= lanes[k] == store->point.lane; /* by an earlier store of the same stream */
		if (known)
			continue;
		lanes[n] = store->point.lane;
		events[n++] = store->event;
	}
	if (!n)
		return -1;
	for (int k = 0; k < n; k++)
		if (!events[k])
			return 0;
	return n;
}

/* Is any aligned word of the data an address of live memory? */
static bool leads_somewhere(const struct sw_model *m, const unsigned char *data, uint32_t bytes)
{
	for (uint32_t at = 0; at + 8 <= bytes; at += 8) {
		uint64_t word, offset;
		memcpy(&word, data + at, sizeof word);
		if (word >= m->space.lowest && word < m->space.highest && sw_space_find(&m->space, word, &offset))
			return true;
	}
	return false;
}

/* Can content in this block be followed?  Only where nothing writes there by another address. */
static bool is_plain_upload(const struct sw_block *block)
{
	enum sw_memory memory = sw_block_memory(block);
	return (memory == SW_MEM_DEVICE || memory == SW_MEM_ASYNC || memory == SW_MEM_SYMBOL) &&
	       !sw_physical_alias(block, 0);
}

void sw_uploaded(struct sw_model *m, const struct sw_access *what, uint64_t address, uint32_t bytes, const void *data,
		 bool may_change)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find_outer(&m->space, address, &offset);
	struct sw_content_part part = {.address = address,
				       .bytes = bytes,
				       .may_change = may_change,
				       .point = what->point,
				       .step = m->step,
				       .data = (unsigned char *)(uintptr_t)data};
	if (block && bytes <= block->bytes - offset && is_plain_upload(block) && leads_somewhere(m, data, bytes))
		sw_contents_put(m->contents, &part);
}

void sw_upload_written(struct sw_model *m, const struct sw_range *range, uint64_t step)
{
	uint64_t lo = range->address, span = sw_range_span(range), offset;
	if (!sw_contents_any(m->contents) || !sw_role_writes(range->role))
		return;
	if (!range->bounded) { /* somewhere in its allocation */
		const struct sw_block *block = sw_space_find_outer(&m->space, lo, &offset);
		lo = block ? block->address : lo;
		span = block ? block->bytes : 0;
	}
	sw_contents_forget(m->contents, lo, span > UINT64_MAX - lo ? UINT64_MAX : lo + span, step);
}

void sw_uploads_forget(struct sw_model *m)
{
	sw_contents_forget(m->contents, 0, UINT64_MAX, UINT64_MAX);
	sw_values_unknown(m, m->step);
}

/* The block that holds the address.  `last` is asked first: parts of known content lie next to each other. */
static struct sw_block *block_of(const struct sw_model *m, struct sw_block *last, uint64_t address)
{
	uint64_t offset;
	if (last && !last->mapping && address - last->address < last->bytes)
		return last;
	return sw_space_find_outer(&m->space, address, &offset);
}

/* Evaluates deferred launches that may have written to known content, block by block. */
static void settle_all(struct sw_model *m)
{
	struct sw_block *last = NULL;
	const struct sw_content_part *part;
	uint64_t from = 0;
	while ((part = sw_contents_from(m->contents, from))) { /* what is evaluated may remove parts */
		from = part->address + part->bytes;
		struct sw_block *block = block_of(m, last, part->address);
		if (block && block != last)
			sw_deferred_settle(m, block);
		last = block;
	}
}

bool sw_uploads_known(struct sw_model *m)
{
	if (sw_contents_any(m->contents) && sw_deferred_may_overwrite(m, m->contents->settled))
		settle_all(m);
	m->contents->settled = m->step;
	return sw_contents_any(m->contents);
}

const struct sw_content_part *sw_upload_find(struct sw_model *m, struct sw_point point, uint64_t address,
					     uint32_t bytes)
{
	const struct sw_content_part *part = sw_contents_find(m->contents, address, bytes);
	/* Where nothing orders the two it is not known which comes first. */
	return part && sw_hb_ordered(m->hb, part->point, point.lane) > SW_ORDER_OBSERVED ? part : NULL;
}
