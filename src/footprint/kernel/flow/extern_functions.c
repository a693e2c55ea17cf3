/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/flow/extern_functions.h"

#include <string.h>

enum sw_extern sw_extern_of(const struct sw_program_call *call)
{
	static const struct {
		const char *name;
		enum sw_extern gives;
	} known[] = {
#define SW_EXTERN(name, gives) {#name, SW_EXTERN_##gives},
#include "footprint/kernel/flow/extern_functions.def"
	};
	if (call->function != UINT32_MAX || !call->name)
		return SW_EXTERN_UNKNOWN;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(call->name, known[i].name))
			return known[i].gives;
	return SW_EXTERN_UNKNOWN;
}

bool sw_extern_never_returns(const struct sw_program_call *call)
{
	return sw_extern_of(call) == SW_EXTERN_NEVER;
}
