/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child of fork must not write into its parent's trace, however it was made: _Fork and clone run no atfork handlers.
 * So the state of the recorder lies in a page that the kernel clears in children (MADV_WIPEONFORK, Linux 4.14): to a
 * child the recorder looks as if no CUDA call had been made yet.
 *
 * A child of vfork shares the page with its suspended parent.  All it may do is to exec or _exit, and nothing of the
 * recorder runs then.
 */
#include "preload/platform/seldom.h"

#include "preload/recorder/process.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/recorder/helper.h"
#include "preload/recorder/memory.h"
#include "preload/stacks/modules.h"
#include "preload/recorder/notice.h"
#include "preload/stacks/stack.h"
#include "preload/recorder/trace.h"
#include "preload/recorder/writer.h"

static struct sw_process_page first_page;
struct sw_process_page *sw_process_page = &first_page;
static pid_t owner;
static bool wiped; /* the page is one that forks clear */

bool sw_process_is_owner(void)
{
	return owner == getpid();
}

/* Puts the state into a page that forks clear. SW_STATE_ON or, where there is no such page, SW_STATE_ON_CHECKED. */
int sw_fork_page(void)
{
	owner = getpid();
	if (wiped)
		return SW_STATE_ON;
	int error;
	struct sw_process_page *page = sw_sys_map(-1, 0, 4096, &error);
	if (!page)
		return SW_STATE_ON_CHECKED;
	if (sw_sys_madvise(page, 4096, MADV_WIPEONFORK)) {
		sw_sys_unmap(page, 4096);
		return SW_STATE_ON_CHECKED;
	}
	atomic_store(&page->state, atomic_load(&sw_process_page->state));
	__atomic_store_n(&sw_process_page, page, __ATOMIC_RELEASE);
	/* Threads that wait for the start wait on the first page, whose state no longer changes. */
	sw_sys_wake((const uint32_t *)&first_page.state, INT32_MAX);
	wiped = true;
	return SW_STATE_ON;
}

/* In a child, before it starts its own trace: leaves the parent's file alone. */
void sw_fork_forget(void)
{
	if (!owner || sw_process_is_owner())
		return;
	memset(&sw_trace, 0, sizeof sw_trace);
	sw_trace.file.fd = sw_trace.memory.fd = -1;
	atomic_store(&sw_sequence.last, 0);
	sw_writer_forget();
	sw_modules_forget();
	sw_helper_forget();
	sw_memory_forget();
	sw_notice_forget();
	sw_stack_depth = 0;
	owner = 0;
}
