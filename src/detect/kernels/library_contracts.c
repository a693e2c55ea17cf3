/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/library_contracts.h"

#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/model/call.h"
#include "detect/libraries/library_calls.h"
#include "detect/model/model.h"

static const struct sw_evidence_detail workspace = {.via = SW_VIA_WORKSPACE, .extent = SW_EXTENT_HULL};
static const struct sw_evidence_detail operand = {.via = SW_VIA_OPERAND, .extent = SW_EXTENT_BOX};

/* Ends of what is known, in which an open access begins. */
struct reach {
	uint64_t from, lo, hi;
	bool below;
};

static bool widen(struct reach *reach, uint64_t address, uint64_t bytes)
{
	if (reach->from < address || reach->from - address >= bytes)
		return false;
	reach->lo = reach->below && address < reach->lo ? address : reach->lo;
	reach->hi = address + bytes > reach->hi ? address + bytes : reach->hi;
	return true;
}

const struct sw_plan_touch *sw_library_bound(const struct sw_model *m, const struct sw_access *what,
					     const struct sw_plan_touch *touch, struct sw_plan_touch *room)
{
	const struct sw_range *open = &touch->range;
	if (!what->library || open->bounded || touch->array)
		return touch;
	const struct sw_operand_set *set = sw_library_operand_set(m, what->operands);
	const struct sw_library_call *call = &m->j->library_calls.at[what->library - 1];
	struct reach reach = {open->address, open->address, 0, open->below};
	/* In place it leads into several.  A write does not end where it is documented to be none: that is not
	   understood. */
	for (uint32_t i = 0; i < set->n; i++)
		if (sw_role_writes(set->at[i].role) || !sw_role_writes(open->role))
			widen(&reach, set->at[i].address, sw_range_span(&set->at[i]));
	bool works = widen(&reach, call->workspace, call->workspace_bytes);
	if (reach.hi <= reach.lo)
		return touch;
	*room = *touch;
	room->range = sw_range_bytes(reach.lo, reach.hi - reach.lo, open->role, open->evidence);
	room->range.base = open->base;
	room->range.param = open->param;
	room->range.polls = open->polls;
	room->range.own_flags = open->own_flags;
	room->range.perhaps = open->perhaps;
	room->range.evidence_detail = open->evidence_detail;
	room->range.loose = true;
	/* One pointer into a workspace says nothing of its other parts (cudnnRNNForward(), H200, cuDNN 9). */
	room->range.vague = works;
	return room;
}

/* A node of a graph may have got other parameters since its call was captured: its operands touch nothing by
   themselves. How much of a workspace a call uses depends on the algorithm that the library takes: never more than
   likely. */
void sw_library_contract(struct sw_model *m, const struct sw_wait *w)
{
	const struct sw_library_call *call = w->what.library ? &m->j->library_calls.at[w->what.library - 1] : NULL;
	const struct sw_operand_set *set = sw_library_operand_set(m, w->what.node ? 0 : w->what.operands);
	for (uint32_t i = 0; i < set->n; i++) {
		struct sw_range range = set->at[i];
		range.param = -1;
		range.evidence_detail = &operand;
		sw_model_touch(m, &w->what, &range, &(struct sw_touch){.guess = true});
	}
	if (!call || !call->workspace_bytes)
		return;
	struct sw_range range = sw_range_bytes(call->workspace, call->workspace_bytes, SW_READ_WRITE, SW_EV_DIRECTION);
	range.param = -1;
	range.loose = true;
	range.evidence_detail = &workspace;
	sw_model_touch(m, &w->what, &range, &(struct sw_touch){.guess = true});
}
