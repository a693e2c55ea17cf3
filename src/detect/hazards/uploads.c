/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/uploads.h"

#include <string.h>

#include "detect/hazards/deferred.h"
#include "detect/hazards/stored_values.h"
#include "detect/memory/physical_memory.h"
#include "detect/model/model.h"

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

static bool is_plain(const struct sw_block *block)
{
	enum sw_memory memory = block->memory;
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
	if (block && bytes <= block->bytes - offset && is_plain(block) && leads_somewhere(m, data, bytes))
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

/* The block that holds the address; `last` is asked first, parts of one lie next to each other. */
static struct sw_block *block_of(const struct sw_model *m, struct sw_block *last, uint64_t address)
{
	uint64_t offset;
	if (last && !last->mapping && address - last->address < last->bytes)
		return last;
	return sw_space_find_outer(&m->space, address, &offset);
}

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
