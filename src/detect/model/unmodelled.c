/* SPDX-License-Identifier: Apache-2.0 */
/* What is not known: calls that are not modelled, records that were lost. */
#include "detect/model/model.h"

void sw_on_unclassified(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	struct sw_finding seen = {.id = SW_FINDING_UNCLASSIFIED_CALL,
				  .severity = SW_WARNING,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = w->what};
	m->j->coverage.unclassified_calls++;
	if (!m->context[r->rec->ctx].unclassified)
		m->context[r->rec->ctx].unclassified = r->seq;
	m->wide.poisoned = true;
	sw_collect_add(&m->collect, &seen, NULL);
}

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

/* Records were lost: everything before is taken to be ordered before everything after, and what is still remembered
   could only give findings that straddle the gap. */
void sw_on_loss(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	(void)w;
	m->j->coverage.straddling_dropped += forget_uses(m);
	sw_space_forget_freed(&m->space);
	sw_wait_forget(m);
	sw_map_free(&m->host_funcs);
	sw_graphs_free(m);
	sw_wide_forget(m);
	sw_hb_barrier(m->hb, r->seq);
	if (m->schedule)
		sw_schedule_break(m->schedule);
}
