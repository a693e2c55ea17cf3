/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/library_contracts.h"

#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/model/call.h"
#include "detect/model/model.h"

static const struct sw_evidence_detail workspace = {.via = SW_VIA_WORKSPACE, .extent = SW_EXTENT_HULL};
static const struct sw_evidence_detail operand = {.via = SW_VIA_OPERAND, .extent = SW_EXTENT_BOX};

/* A node of a graph is launched outside of the call that made it: of that call the workspace alone is known. */
struct sw_operands sw_library_known(const struct sw_model *m, const struct sw_access *what)
{
	const struct sw_library_call *call = what->library ? &m->j->library_calls.at[what->library - 1] : NULL;
	const struct sw_library_open *open = call && !m->listing ? sw_library_open_of(m, what->thread) : NULL;
	struct sw_operands known = {0};
	if (open && open->index == what->library)
		known = sw_library_operands(open, call->function);
	for (uint32_t i = 0; i < known.n; i++) {
		known.at[i].param = -1;
		known.at[i].evidence_detail = &operand;
	}
	/* How much of it a call uses depends on the algorithm that the library takes: never more than likely. */
	if (call && call->workspace_bytes && known.n < SW_LIBRARY_OPERANDS) {
		struct sw_range *range = &known.at[known.n++];
		*range = sw_range_bytes(call->workspace, call->workspace_bytes, SW_READ_WRITE, SW_EV_DIRECTION);
		range->param = -1;
		range->loose = true;
		range->evidence_detail = &workspace;
	}
	return known;
}

struct sw_plan_touch sw_library_bound(const struct sw_operands *known, const struct sw_plan_touch *touch)
{
	struct sw_plan_touch bounded = *touch;
	const struct sw_range *open = &touch->range;
	uint64_t lo = open->address, hi = 0;
	if (open->bounded || touch->array)
		return bounded;
	/* In place it leads into several. */
	for (uint32_t i = 0; i < known->n; i++) {
		const uint64_t from = known->at[i].address, bytes = sw_range_span(&known->at[i]);
		if (open->address < from || open->address - from >= bytes)
			continue;
		lo = open->below && from < lo ? from : lo;
		hi = from + bytes > hi ? from + bytes : hi;
	}
	if (hi <= lo)
		return bounded;
	bounded.range = sw_range_bytes(lo, hi - lo, open->role, open->evidence);
	bounded.range.base = open->base;
	bounded.range.param = open->param;
	bounded.range.polls = open->polls;
	bounded.range.own_flags = open->own_flags;
	bounded.range.perhaps = open->perhaps;
	bounded.range.evidence_detail = open->evidence_detail;
	bounded.range.loose = true;
	return bounded;
}

void sw_library_contract(struct sw_model *m, const struct sw_wait *w)
{
	const struct sw_operands known = sw_library_known(m, &w->what);
	for (uint32_t i = 0; i < known.n; i++)
		sw_model_touch(m, &w->what, &known.at[i], &(struct sw_touch){.guess = true});
}
