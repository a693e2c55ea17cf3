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
