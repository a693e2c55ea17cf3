/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/table_reads.h"

#include <stdlib.h>
#include <string.h>

#include "detect/hazards/deferred.h"
#include "detect/hazards/stored_values.h"
#include "detect/kernels/kernels.h"
#include "detect/model/call.h"
#include "detect/model/model.h"
#include "footprint/footprint.h"

/* Parts that one launch looks at, beyond which nothing is known. */
#define MOST_READS 4096u

/* A launch that is evaluated late would find what came after it; a graph is judged once for all its launches. */
bool sw_table_reads_wanted(const struct sw_model *m, const struct sw_kernel *kernel)
{
	return kernel->follows && kernel->ran && !m->listing && !(m->scope && m->scope->late) &&
	       sw_contents_any(m->contents);
}

bool sw_table_reads_begin(struct sw_table_reads *reads, struct sw_model *m)
{
	*reads = (struct sw_table_reads){.m = m};
	return sw_uploads_known(m);
}

void sw_table_reads_end(struct sw_table_reads *reads)
{
	free(reads->read.at);
	reads->read.at = NULL;
}

enum sw_memory_content sw_table_read(struct sw_table_reads *reads, uint64_t address, uint32_t bytes, void *out)
{
	const struct sw_content_part *part = sw_upload_find(reads->m, reads->m->wait->what.point, address, bytes);
	uint64_t offset;
	if (!part || reads->read.n == MOST_READS)
		return SW_CONTENT_UNKNOWN;
	const struct sw_block *block = sw_space_find(&reads->m->space, address, &offset);
	reads->variables |= block && block->memory == SW_MEM_SYMBOL;
	memcpy(out, part->data + (address - part->address), bytes);
	const struct sw_table_read *last = reads->read.n ? &reads->read.at[reads->read.n - 1] : NULL;
	if (!last || last->lo != part->address)
		*sw_vec_push(&reads->read) = (struct sw_table_read){part->address, part->address + part->bytes};
	return part->may_change ? SW_CONTENT_MAY_CHANGE : SW_CONTENT_KNOWN;
}

static bool looked_at(const struct sw_table_reads *reads, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < reads->read.n; i++)
		if (reads->read.at[i].lo < hi && lo < reads->read.at[i].hi)
			return true;
	return false;
}

static bool may_overwrite(const struct sw_table_reads *reads, const struct sw_reach *reach)
{
	uint64_t offset;
	if (reach->root.kind == SW_ROOT_ENVIRONMENT)
		return false; /* memory of another kind */
	if (reach->root.kind == SW_ROOT_SYMBOL)
		return reads->variables;
	if (reach->extent != SW_EXTENT_OPEN) {
		uint64_t bytes = reach->slice * (reach->slices - 1) + reach->pitch * (reach->rows - 1) + reach->width;
		return looked_at(reads, reach->address, reach->address + bytes);
	}
	bool followed = reach->root.kind == SW_ROOT_INDIRECT && reach->pointer;
	if (!followed && (reach->root.kind != SW_ROOT_PARAM || reach->root.span > 8))
		return true;
	const struct sw_block *block = sw_space_find_outer(&reads->m->space, reach->address, &offset);
	if (followed && !block)
		return true;
	return block && looked_at(reads, block->address, block->address + block->bytes);
}

bool sw_table_reads_overwritten(const struct sw_table_reads *reads, const struct sw_reaches *reaches)
{
	for (size_t i = 0; i < reaches->n; i++)
		if (reaches->at[i].role & (SW_TOUCH_WRITE | SW_TOUCH_ATOMIC) && may_overwrite(reads, &reaches->at[i]))
			return reads->read.n != 0;
	return false;
}
