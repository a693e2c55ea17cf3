/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block that record_stream() was called for is freed: for each of those streams, the allocator records an event
 * there before it takes the block back, and hands the block out again only when it has seen that event to be done.
 * Those events are known by their call stacks: recorded by the very call that takes the block back.  None was needed if
 * the block's own stream had waited by then for all that the other stream was given: whatever reuses the block comes
 * after it.
 */
#include "detect/calls/tensor_blocks.h"

#include <stdlib.h>

#include "detect/hazards/deferred.h"
#include "detect/hazards/touch.h"
#include "detect/memory/address_space.h"
#include "detect/model/collect.h"
#include "detect/model/events.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

/* Streams that one tensor is recorded for, and other threads' events in between. */
#define RECENT 16u
/* The call that frees a block has at most so many frames of its own when it reports that; its caller is
   the same, down to the first frame.  A program that records an event and then frees a tensor has its own frames in
   between. */
#define OWN_FRAMES   2u
#define LEAST_FRAMES 3u

struct sw_tensor_blocks {
	struct recent {
		uint64_t seq, event;
		uint32_t thread, stack;
	} recent[RECENT];
	unsigned n;
};

struct sw_tensor_blocks *sw_tensor_blocks_new(void)
{
	return sw_calloc(1, sizeof(struct sw_tensor_blocks));
}

void sw_tensor_blocks_free(struct sw_tensor_blocks *blocks)
{
	free(blocks);
}

void sw_tensor_event_recorded(struct sw_model *m, const struct sw_record *r, uint64_t event)
{
	struct sw_tensor_blocks *t = m->tensors;
	if (m->space.tenancy.made)
		t->recent[t->n++ % RECENT] = (struct recent){r->seq, event, r->thread, r->stack};
}

void sw_tensor_block_begin(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			   const struct sw_rec_annotation *a)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find_outer(&m->space, a->address, &offset);
	m->j->coverage.tenants++;
	if (!block || a->bytes > block->bytes - offset) {
		m->j->coverage.tenants_unplaced++;
		return;
	}
	struct sw_tenant *tenant = sw_tenant_begin(&m->space.tenancy, a->address, a->bytes, &w->what);
	if (tenant)
		tenant->one_stream = a->flags & SW_NOTE_ONE_STREAM;
	if (!tenant || a->flags & SW_NOTE_ON_HOST)
		return;
	const struct sw_hb_at at = sw_model_at(m, r, a->stream);
	tenant->own = sw_hb_lane(m->hb, &at);
	tenant->own_serial = sw_hb_lane_serial(m->hb, tenant->own);
}

static bool within_call(const struct sw_trace_stack *free, const struct sw_trace_stack *event)
{
	uint32_t same = 0;
	while (free && event && same < free->depth && same < event->depth &&
	       free->ips[free->depth - 1 - same] == event->ips[event->depth - 1 - same])
		same++;
	return same >= LEAST_FRAMES && free->depth - same <= OWN_FRAMES;
}

/* Every event of this free: was the block's own stream past it?  The last one is reported. */
struct told {
	unsigned needed, needless;
	uint32_t stream;
};

static void look_at(struct sw_model *m, const struct recent *recent, uint32_t own, struct told *told)
{
	const struct sw_event_state *event = sw_event_find(m, recent->event);
	if (!event || event->record.seq != recent->seq || event->work == UINT64_MAX)
		return;
	const struct sw_point work = {event->record.point.lane, event->work};
	if (event->work && sw_hb_ordered(m->hb, work, own) != SW_ORDER_DOCUMENTED) {
		told->needed++;
		return;
	}
	told->needless++;
	told->stream = event->record.stream;
}

/* One that was needed speaks for all of its place. */
static void tell(struct sw_model *m, const struct sw_access *free, struct sw_tenant *tenant, const struct told *told)
{
	uint64_t offset;
	struct sw_finding seen = {.id = SW_FINDING_RECORD_NEEDLESS,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = *free,
				  .fix = SW_FIX_NO_RECORD,
				  .fix_stream = told->stream};
	const struct sw_finding *known = sw_collect_find(&m->collect, seen.id, free);
	if (known && !known->count)
		return;
	bool first;
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, &first);
	struct sw_block *block = sw_space_find_outer(&m->space, tenant->at.lo, &offset);
	if (f && told->needed)
		sw_collect_drop(&m->collect, f);
	else if (f && first && block)
		f->access[0].allocation = sw_model_mention_tenant(m, block, tenant);
}

static void judge_events(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			 struct sw_tenant *tenant)
{
	const struct sw_tensor_blocks *t = m->tensors;
	const struct sw_trace_stack *free = sw_reader_stack(m->reader, r->stack);
	struct told told = {0};
	for (unsigned i = 0; i < RECENT && i < t->n; i++) {
		const struct recent *recent = &t->recent[(t->n - 1 - i) % RECENT];
		if (recent->seq < tenant->born.seq)
			break;
		if (recent->thread == r->thread && within_call(free, sw_reader_stack(m->reader, recent->stack)))
			look_at(m, recent, tenant->own, &told);
	}
	if (told.needed || told.needless)
		tell(m, &w->what, tenant, &told);
}

void sw_tensor_block_end(struct sw_model *m, const struct sw_record *r, const struct sw_wait *w,
			 const struct sw_rec_annotation *a)
{
	struct sw_tenant *tenant = sw_tenant_keep(sw_tenant_end(&m->space.tenancy, a->address, &w->what));
	if (tenant && !tenant->one_stream && tenant->own_serial && m->tensors->n &&
	    tenant->own_serial == sw_hb_lane_serial(m->hb, tenant->own))
		judge_events(m, r, w, tenant);
	sw_tenant_drop(tenant);
	if (sw_tenancy_is_long(&m->space.tenancy))
		sw_tenancy_trim(&m->space.tenancy, sw_deferred_oldest(m));
}
