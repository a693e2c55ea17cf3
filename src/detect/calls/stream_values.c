/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that signal each other through memory: cuStreamWriteValue, cuStreamWaitValue, cuStreamBatchMemOp.
 *
 * A wait is ordered after the write that let it go, which is known where the writes before it leave no choice: of those
 * whose value lets it go and that nothing is known to have overwritten, one comes before all the others.  A wait that
 * none lets go is let go by a kernel, by the host or by a write that comes later: that is not followed.
 *
 * CUDA Driver API, "Stream Memory Operations": a write is preceded by a system-wide memory barrier unless
 * CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER; a wait holds "further work" of its stream.
 */
#include "detect/calls/stream_values.h"

#include <stdlib.h>

#include "detect/hazards/host_knowledge.h"
#include "detect/hazards/touch.h"
#include "detect/hazards/uploads.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/contexts.h"
#include "detect/model/handlers.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

#define SW_WAIT_KIND                                                                                                   \
	3u /* CU_STREAM_WAIT_VALUE_GEQ 0, _EQ 1, _AND 2, _NOR 3; CU_STREAM_WAIT_VALUE_FLUSH may be set as well */
#define SW_WRITE_UNORDERED 1u /* CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER */

/* Writes of one address that are remembered: a flag has one or two, a counter is waited for near its end. */
#define SW_MAX_WRITES 8u
/* Addresses: a program has one a stream or two. */
#define SW_MAX_CELLS 4096u

struct sw_cell {
	uint32_t n;
	struct {
		uint64_t value, event;
		struct sw_point point;
		uint32_t bytes;
		bool ordered; /* what came before it is visible to what sees it */
	} write[SW_MAX_WRITES];
};

struct sw_stream_values {
	struct sw_map cells; /* address -> struct sw_cell: values that streams wrote there */
	uint64_t written;
};

struct sw_stream_values *sw_stream_values_new(void)
{
	return sw_calloc(1, sizeof(struct sw_stream_values));
}

/* Events of ours: no program can hold these handles, events are pointers. */
static uint64_t new_event(struct sw_model *m)
{
	return UINT64_C(3) << 62 | ++m->values->written;
}

static void cell_drop(struct sw_model *m, struct sw_cell *cell, uint32_t i)
{
	sw_hb_event_destroy(m->hb, cell->write[i].event);
	cell->n--;
	for (; i < cell->n; i++)
		cell->write[i] = cell->write[i + 1];
}

static void forget_cells(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->values->cells, i, &slot));) {
		struct sw_cell *cell = (struct sw_cell *)(uintptr_t)slot.value;
		while (cell->n)
			cell_drop(m, cell, 0);
		free(cell);
	}
	sw_map_free(&m->values->cells);
}

void sw_stream_values_free(struct sw_model *m)
{
	forget_cells(m);
	free(m->values);
}

static struct sw_cell *cell_of(struct sw_model *m, uint64_t address)
{
	struct sw_cell *cell = sw_map_ptr(&m->values->cells, address);
	if (cell)
		return cell;
	if (m->values->cells.n >= SW_MAX_CELLS)
		forget_cells(m); /* waits for what was forgotten count as not modelled */
	cell = sw_calloc(1, sizeof *cell);
	sw_map_put_ptr(&m->values->cells, address, cell);
	return cell;
}

/* Does the value let the wait go?  GEQ is cyclic: "(int32_t)(*addr - value) >= 0", the same for 64 bits. */
static bool lets_go(const struct sw_rec_mem_op *wait, uint64_t value)
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

/* A write that came after this one for sure, and that the waiting stream is ordered after. */
static bool overwritten(const struct sw_model *m, const struct sw_cell *cell, uint32_t i, uint32_t lane)
{
	for (uint32_t k = i + 1; k < cell->n; k++)
		if (cell->write[k].point.lane == cell->write[i].point.lane &&
		    sw_hb_ordered(m->hb, cell->write[k].point, lane) == SW_ORDER_DOCUMENTED)
			return true;
	return false;
}

/* The write that the wait is ordered after in any case; -1: none can be named. */
static int let_go_by(const struct sw_model *m, const struct sw_cell *cell, const struct sw_rec_mem_op *wait,
		     uint32_t lane)
{
	int found = -1;
	for (uint32_t i = 0; i < cell->n; i++) {
		if (cell->write[i].bytes != wait->bytes)
			return -1;
		if (!lets_go(wait, cell->write[i].value) || overwritten(m, cell, i, lane))
			continue;
		if (!cell->write[i].ordered)
			return -1;
		if (found < 0)
			found = (int)i;
		else if (cell->write[i].point.lane != cell->write[found].point.lane)
			return -1; /* either of two */
	}
	return found;
}

void sw_value_not_followed(struct sw_model *m, const struct sw_access *call)
{
	struct sw_finding seen = {.id = SW_FINDING_UNCLASSIFIED_CALL,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = call};
	uint8_t ctx = m->record->rec->ctx;
	m->j->coverage.unclassified_calls++;
	if (!m->context[ctx].unclassified)
		m->context[ctx].unclassified = m->record->seq;
	sw_collect_add(&m->collect, &seen, NULL);
}

void sw_value_written(struct sw_model *m, const struct sw_hb_at *at, struct sw_point point,
		      const struct sw_rec_mem_op *o)
{
	struct sw_cell *cell = cell_of(m, o->address);
	const struct sw_range range = sw_range_bytes(o->address, o->bytes, SW_WRITE, SW_EV_EXACT);
	sw_upload_written(m, &range, m->step);
	if (cell->n == SW_MAX_WRITES)
		cell_drop(m, cell, 0);
	uint64_t event = new_event(m);
	sw_hb_event_record(m->hb, event, at, 0, NULL);
	cell->write[cell->n].value = o->value;
	cell->write[cell->n].event = event;
	cell->write[cell->n].point = point;
	cell->write[cell->n].bytes = (uint32_t)o->bytes;
	cell->write[cell->n].ordered = !(o->flags & SW_WRITE_UNORDERED);
	cell->n++;
	sw_host_signalled(m, point);
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, o->address, &offset);
	if (!block || sw_host_sees(block->memory))
		sw_host_flag_written(m, point);
}

void sw_value_waited(struct sw_model *m, const struct sw_hb_at *at, const struct sw_rec_mem_op *o)
{
	const struct sw_cell *cell = sw_map_ptr(&m->values->cells, o->address);
	struct sw_hb_event_state state;
	int by = cell ? let_go_by(m, cell, o, sw_hb_lane(m->hb, at)) : -1;
	if (by < 0)
		sw_value_not_followed(m, &m->wait->what);
	else
		sw_hb_stream_wait(m->hb, at, cell->write[by].event, 0, &state);
}

/* CUDA Driver API, cuMemDiscardBatchAsync: reading from a discarded range "will return an indeterminate value", and
   "any reads, writes or prefetches [...] that occur simultaneously with the discard" are undefined behaviour: a write.
   Each range of a batch is work of its own. */
static void discarded(struct sw_model *m, const struct sw_access *what, const struct sw_rec_mem_op *o)
{
	const struct sw_range range = sw_range_bytes(o->address, o->bytes, SW_WRITE, SW_EV_EXACT);
	if (o->bytes)
		sw_model_touch(m, what, &range, &(struct sw_touch){0});
}

/* A prefetch and an attachment are work; advice is not.  A batch's barriers and flushes order what its other members
   order anyway. */
void sw_on_mem_op(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_mem_op *o = (const struct sw_rec_mem_op *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, o->stream);
	if (o->op == SW_MEMOP_ADVISE || !sw_model_enqueue(m, r, o->stream))
		return;
	if (o->op == SW_MEMOP_DISCARD) {
		discarded(m, &w->what, o);
		return;
	}
	if (o->op == SW_MEMOP_WRITE_VALUE)
		sw_value_written(m, &at, w->what.point, o);
	else if (o->op == SW_MEMOP_WAIT_VALUE)
		sw_value_waited(m, &at, o);
	sw_wide_poison(m);
}
