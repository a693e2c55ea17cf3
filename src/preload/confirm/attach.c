/* SPDX-License-Identifier: Apache-2.0 */
/* How the object finds the recorder and its plan. */
#include "preload/confirm/confirm.h"
#include "preload/savings/savings.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

const struct sw_companion *sw_confirm_recorder;
struct sw_hold_plan sw_confirm_plan;
const struct sw_companion_hooks *sw_confirm_others;
static pid_t owner;

static void at_exit(void)
{
	if (getpid() != owner)
		return;
	if (sw_confirm_plan.mode == SW_PLAN_EXPLORE)
		sw_explore_end();
	else if (sw_confirm_plan.mode == SW_PLAN_CHANGE)
		sw_savings_end();
	else
		sw_watch_finish();
	sw_edges_end();
	sw_result("end");
}

/* The recorder is preloaded before us, and is there, whichever constructor runs first. */
static __attribute__((constructor)) void attach(void)
{
	const char *path = getenv(SW_PLAN_VARIABLE);
	const struct sw_companion *(*find)(uint32_t) =
		(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");
	sw_confirm_recorder = find ? find(SW_COMPANION_VERSION) : NULL;
	if (!path || !sw_confirm_recorder || !sw_plan_read(path, &sw_confirm_plan))
		return;
	owner = getpid();
	sw_confirm_others = sw_confirm_recorder->hook(&sw_confirm_hooks);
	atexit(at_exit);
}
