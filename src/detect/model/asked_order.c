/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/asked_order.h"

#include <stdlib.h>

#include "base/memory.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/model/call.h"
#include "detect/model/model.h"

/* What the earlier one touches. */
struct sw_asked_uses {
	SW_VEC(struct sw_range) range;
};

void sw_asked_uses_free(struct sw_asked_uses *uses)
{
	if (uses)
		free(uses->range.at);
	free(uses);
}

void sw_asked_order_unclear(struct sw_model *m, const struct sw_access *what)
{
	struct sw_asked_order *asked = m->options->asked;
	if (asked && (what->seq == asked->earlier || what->seq == asked->later))
		asked->unclear = true;
}

/* One address for each byte: memory of the host may have several.  False: it may lie elsewhere, too. */
static bool place(const struct sw_model *m, struct sw_range *range)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, range->address, &offset);
	if (!block)
		return true;
	range->address = block->address + offset;
	return !block->pieces && !block->within;
}

void sw_asked_order_touch(struct sw_model *m, const struct sw_access *what, const struct sw_range *range, bool array)
{
	struct sw_asked_order *asked = m->options->asked;
	struct sw_range at = *range;
	if (!asked || m->listing || (what->seq != asked->earlier && what->seq != asked->later))
		return;
	if (array || !range->bounded || range->vague || range->perhaps || !place(m, &at)) {
		asked->unclear = true;
		return;
	}
	if (!m->asked_uses)
		m->asked_uses = sw_calloc(1, sizeof *m->asked_uses);
	if (what->seq == asked->earlier) {
		*sw_vec_push(&m->asked_uses->range) = at;
		return;
	}
	for (size_t i = 0; i < m->asked_uses->range.n; i++) {
		const struct sw_range *other = &m->asked_uses->range.at[i];
		if ((!sw_role_writes(at.role) && !sw_role_writes(other->role)) || !sw_range_overlap(&at, other))
			continue;
		/* Perhaps not all of it is touched, or the kernels have an order of their own. */
		if (at.loose || other->loose || at.polls || other->polls)
			asked->unclear = true;
		else
			asked->meet = true;
	}
}

void sw_asked_order_take(struct sw_model *m, const struct sw_wait *w)
{
	struct sw_asked_order *asked = m->options->asked;
	if (!asked || !w->enqueues)
		return;
	if (w->what.seq == asked->earlier) {
		asked->point = w->what.point;
	} else if (w->what.seq == asked->later && asked->point.tick) {
		asked->known = true;
		asked->order = sw_hb_ordered(m->hb, asked->point, w->what.point.lane);
	}
}
