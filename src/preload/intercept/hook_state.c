/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/intercept/hook_state.h"

#include <errno.h>
#include <sys/mman.h>

/* Used when no page can be had; a fork child then inherits what the parent knew. */
static struct sw_state fallback;
struct sw_state *sw_state_published;

/* Makes the state that belongs to the process, at first use, without a lock: of several threads one succeeds.  A fork
   child begins with zeros, as the pages are wiped there. */
struct sw_state *sw_state_begin(void)
{
	const int saved = errno;
	struct sw_state *expected = NULL;
	struct sw_state *fresh = mmap(NULL, sizeof *fresh, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fresh == MAP_FAILED)
		fresh = &fallback;
	else
		madvise(fresh, sizeof *fresh, MADV_WIPEONFORK);
	if (!__atomic_compare_exchange_n(&sw_state_published, &expected, fresh, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		if (fresh != &fallback)
			munmap(fresh, sizeof *fresh);
		fresh = expected;
	}
	errno = saved;
	return fresh;
}
