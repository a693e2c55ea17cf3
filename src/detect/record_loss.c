/* SPDX-License-Identifier: Apache-2.0 */
/* Records were lost. */
#include "detect/dispatch.h"

#include "detect/calls/batch_copies.h"
#include "detect/calls/streams.h"
#include "detect/graphs/graphs.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/stored_values.h"
#include "detect/hazards/uploads.h"
#include "detect/memory/address_space.h"
#include "detect/memory/physical_memory.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/captures.h"
#include "detect/model/handlers.h"
#include "detect/libraries/library_calls.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"
#include "detect/waits/wide_syncs.h"

static uint64_t forget_uses(struct sw_model *m)
{
	uint64_t live = m->space.uses.live;
	for (struct sw_block *b = sw_space_next(&m->space, NULL); b; b = sw_space_next(&m->space, b))
		sw_shadow_clear(&b->shadow, &m->space.uses);
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->space.arrays, i, &slot));)
		sw_shadow_clear(&((struct sw_block *)(uintptr_t)slot.value)->shadow, &m->space.uses);
	sw_shadow_clear(&m->space.pageable.shadow, &m->space.uses);
	return live - m->space.uses.live;
}

/* Records were lost: everything before is taken to be ordered before everything after, and what is still known could
   only make findings that straddle the gap. */
void sw_on_loss(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	(void)w;
	sw_deferred_flush(m);
	m->j->coverage.straddling_dropped += forget_uses(m);
	sw_space_forget_freed(&m->space);
	sw_pool_blocks_forget(&m->space.pool_blocks);
	sw_wait_forget(m);
	sw_host_funcs_forget(m);
	sw_graphs_forget(m);
	sw_captures_forget(m);
	sw_wide_forget(m);
	sw_batches_forget(m->batches);
	sw_physical_forget(m->physical);
	sw_uploads_forget(m);
	sw_stored_values_forget(m);
	sw_library_lost(m);
	sw_hb_barrier(m->hb, r->seq);
	if (m->schedule)
		sw_schedule_break(m->schedule);
}
