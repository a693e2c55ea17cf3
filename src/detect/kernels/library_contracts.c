/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/library_contracts.h"

#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/model/call.h"
#include "detect/model/model.h"

static const struct sw_evidence_detail workspace = {.via = SW_VIA_WORKSPACE, .extent = SW_EXTENT_HULL};

/* How much of it a call uses depends on the algorithm that the library takes: never more than likely. */
void sw_library_contract(struct sw_model *m, const struct sw_wait *w)
{
	const struct sw_library_call *call = w->what.library ? &m->j->library_calls.at[w->what.library - 1] : NULL;
	if (!call || !call->workspace_bytes)
		return;
	struct sw_range range = sw_range_bytes(call->workspace, call->workspace_bytes, SW_READ_WRITE, SW_EV_DIRECTION);
	range.param = -1;
	range.loose = true;
	range.evidence_detail = &workspace;
	sw_model_touch(m, &w->what, &range, &(struct sw_touch){.guess = true});
}
