/* SPDX-License-Identifier: Apache-2.0 */
/* The library that is loaded, and its functions. */
#include "preload/nccl/nccl.h"
#include "preload/platform/loaded_function.h"

static const char *const names[] = {
#define MOVES(name, ...) #name,
#define TAKES(name, ...) #name,
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES
};

static struct sw_loaded_site at[1024];
static struct sw_loaded_sites sites = {sizeof at / sizeof *at, at};

void *sw_nccl_real(enum sw_nccl_function function, const void *caller)
{
	return sw_loaded_function_at(&sites, function, names[function], SW_NCCL_OBJECT, caller);
}

void *sw_nccl_other(const char *name, const void *caller)
{
	return sw_loaded_function(name, SW_NCCL_OBJECT, caller);
}
