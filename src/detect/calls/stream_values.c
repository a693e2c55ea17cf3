/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that signal each other through memory: cuStreamWriteValue, cuStreamWaitValue, cuStreamBatchMemOp.
 *
 * A wait is ordered after what all stores have in common that may have released it (hazards/stored_values.h).  A wait
 * that none releases is released by a kernel, by the host or by a write that comes later: that is not followed.
 *
 * CUDA Driver API, "Stream Memory Operations": a write is preceded by a system-wide memory barrier unless
 * CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER; a wait holds "further work" of its stream.
 */
#include "detect/calls/stream_values.h"

#include "detect/hazards/host_knowledge.h"
#include "detect/hazards/stored_values.h"
#include "detect/hazards/touch.h"
#include "detect/hazards/uploads.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/contexts.h"
#include "detect/model/handlers.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

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

void sw_value_written(struct sw_model *m, struct sw_point point, const struct sw_rec_mem_op *o)
{
	const struct sw_range range = sw_range_bytes(o->address, o->bytes, SW_WRITE, SW_EV_EXACT);
	sw_upload_written(m, &range, m->step);
	sw_value_stored(m, point, o);
	sw_host_signalled(m, point);
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, o->address, &offset);
	if (!block || sw_host_sees(block->memory))
		sw_host_flag_written(m, point);
}

void sw_value_waited(struct sw_model *m, const struct sw_hb_at *at, const struct sw_rec_mem_op *o)
{
	uint64_t events[SW_MAX_STORES];
	int n = sw_value_releases(m, o, sw_hb_lane(m->hb, at), events);
	if (n < 0)
		sw_value_not_followed(m, &m->wait->what);
	else if (n)
		sw_hb_stream_wait_common(m->hb, at, events, (size_t)n);
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
		sw_value_written(m, w->what.point, o);
	else if (o->op == SW_MEMOP_WAIT_VALUE)
		sw_value_waited(m, &at, o);
	sw_wide_poison(m);
}
