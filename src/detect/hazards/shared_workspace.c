/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/shared_workspace.h"

#include "detect/memory/shadow.h"
#include "detect/model/model.h"

static bool lies_in(const struct sw_model *m, const struct sw_access *access)
{
	if (!access->library)
		return false;
	const struct sw_library_call *call = &m->j->library_calls.at[access->library - 1];
	return access->address >= call->workspace && access->address - call->workspace < call->workspace_bytes;
}

bool sw_workspace_shared(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b)
{
	return m->j->library_calls.n && lies_in(m, &a->access) && lies_in(m, &b->access);
}

/* By code alone, with all bounds. */
static bool is_exact(const struct sw_range *range)
{
	return range->bounded && !range->loose && range->evidence >= SW_EV_FOOTPRINT;
}

/* A call that is captured becomes several: one for each launch of the graph. */
static bool same_call(const struct sw_access *a, const struct sw_access *b)
{
	return a->library && a->library_call == b->library_call && !a->node == !b->node &&
	       (!a->node || a->seq == b->seq);
}

bool sw_library_may_order(const struct sw_shadow_use *a, const struct sw_shadow_use *b)
{
	return same_call(&a->access, &b->access) && !(is_exact(&a->range) && is_exact(&b->range));
}
