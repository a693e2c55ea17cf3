/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the calls of planned sites begin, whether they are made otherwise or not: so that two runs are compared in the
 * stretch in which these calls lie, and not with what differs before and after it.  What a change does once is no part
 * of these times.
 */
#include "preload/savings/savings.h"

#include <stdio.h>

#include "preload/platform/sys.h"

#define MARKS  16384u
#define A_LINE 200u /* sw_result() has room for one of them more */

static struct mark {
	uint32_t site, nth;
	uint64_t ns;
} marks[MARKS];
static _Atomic uint32_t n_marks, calls[SW_PLAN_SITES];
static _Atomic uint64_t once_ns, end_ns;
static __thread bool marked __attribute__((tls_model("initial-exec")));

static uint64_t now(void)
{
	return sw_sys_monotonic() - atomic_load(&once_ns);
}

/* The same calls in each run, and fewer the more there are. */
static bool is_kept(uint32_t nth)
{
	return nth <= 1024 || (nth <= 16384 && nth % 16 == 0) || nth % 1024 == 0;
}

void sw_marks_call(uint32_t site)
{
	const uint32_t nth = atomic_fetch_add(&calls[site], 1) + 1;
	marked = true;
	atomic_store(&end_ns, 0);
	if (!is_kept(nth))
		return;
	const uint32_t at = atomic_fetch_add(&n_marks, 1);
	if (at < MARKS)
		marks[at] = (struct mark){site, nth, now()};
}

void sw_marks_left(bool waited)
{
	uint64_t none = 0;
	/* A wait that is itself one of them may wait for less than it did. */
	if (waited && !marked && atomic_load(&n_marks))
		atomic_compare_exchange_strong(&end_ns, &none, now());
	marked = false;
}

void sw_marks_once(uint64_t ns)
{
	atomic_fetch_add(&once_ns, ns);
}

void sw_marks_end(uint64_t last_ns)
{
	const uint32_t n = atomic_load(&n_marks);
	char line[A_LINE + 64];
	const uint64_t end = atomic_load(&end_ns), once = atomic_load(&once_ns);
	int used = 0;
	for (uint32_t i = 0; i < n && i < MARKS; i++) {
		used += snprintf(line + used, sizeof line - (size_t)used, " %u.%u.%llu", marks[i].site, marks[i].nth,
				 (unsigned long long)marks[i].ns);
		if (used >= (int)A_LINE || i + 1 == n || i + 1 == MARKS) {
			sw_result("marks%s", line);
			used = 0;
		}
	}
	/* Where the host never waited: the end of the run. */
	sw_result("marked %llu %llu %u", (unsigned long long)(end ? end : last_ns - once), (unsigned long long)once,
		  n > MARKS ? n - MARKS : 0);
}
