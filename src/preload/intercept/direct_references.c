/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the driver that an object is linked with and the table does not know: neither dlsym nor cuGetProcAddress
 * was asked for them, and we export no such name.  The slot that the loader filled leads to a trampoline instead.
 */
#include "preload/platform/seldom.h"

#include "preload/intercept/driver.h"

#include <link.h>

#include "api/names.h"
#include "preload/intercept/requesters.h"
#include "preload/intercept/trampoline.h"
#include "preload/platform/loaded_object.h"
#include "preload/platform/sys.h"

static unsigned long long objects_seen;

static void redirect(const char *name, void **slot, void *object)
{
	void *real, *now = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (name[0] != 'c' || name[1] != 'u' || name[2] < 'A' || name[2] > 'Z' || sw_api_find(name))
		return;
	real = sw_driver_unknown(name);
	/* A slot of somebody else's leads elsewhere; one that is not filled yet, into its own object. */
	if (real && now && (now == real || sw_object_has(object, now)))
		sw_object_set_import(slot, sw_trampoline(name, real));
}

static int visit(struct dl_phdr_info *info, size_t size, void *first)
{
	struct sw_loaded_object object;

	(void)size;
	if (*(bool *)first && info->dlpi_adds == objects_seen)
		return 1;
	*(bool *)first = false;
	objects_seen = info->dlpi_adds;
	sw_object_read(&object, info);
	if (!sw_object_has(&object, &objects_seen) && !sw_requester_tool_path(object.path))
		sw_object_imports(&object, redirect, &object);
	return 0;
}

void sw_driver_find_references(void)
{
	const uint64_t mask = sw_sys_block_signals();
	bool first = true;

	dl_iterate_phdr(visit, &first);
	sw_sys_set_signals(mask);
}
