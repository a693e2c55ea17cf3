/* SPDX-License-Identifier: Apache-2.0 */
/* SW403: loops of queries. */
#include "detect/waits/polls.h"

#include <stdlib.h>

#include "detect/model/collect.h"
#include "detect/model/model.h"

/* As many unsuccessful calls in a row from one place on one thread, over at least this time and this close to each
   other: a loop that burns a core (a query takes 3 to 6 us: "cudaEventQuery", measured on H200 with driver 580). */
#define SW_POLLS       100u
#define SW_POLL_NS     1000000u
#define SW_POLL_GAP_NS 50000u

struct poll {
	uint64_t calls, since_ns;
	uint64_t asking_ns; /* inside the calls */
};

struct sw_polls {
	struct sw_map by_site; /* call site of a query loop, and thread -> struct poll */
};

struct sw_polls *sw_polls_new(void)
{
	return sw_calloc(1, sizeof(struct sw_polls));
}

void sw_polls_free(struct sw_polls *polls)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&polls->by_site, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&polls->by_site);
	free(polls);
}

static void report_poll(struct sw_model *m, const struct poll *poll, const struct sw_access *what, uint64_t ns)
{
	struct sw_finding seen = {.id = SW_FINDING_BUSY_POLL,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .basis = SW_BASIS_MEASURED,
				  .accesses = 1,
				  .access[0] = what,
				  .fix = SW_FIX_SLEEP,
				  .polls = poll->calls};
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (!f)
		return;
	sw_collect_cost(&m->collect, f, &(struct sw_wait_cost){.ns = ns, .waited = true, .parts.work_ns = ns});
	/* Between two questions the thread may have done something useful, or slept. */
	struct sw_cost *cost = sw_collect_own_cost(&m->collect, f);
	cost->core_low_ns += poll->asking_ns < ns ? poll->asking_ns : ns;
	cost->core_high_ns += ns;
	m->j->host_waits[SW_HOST_WAIT_POLL].calls += poll->calls;
	m->j->host_waits[SW_HOST_WAIT_POLL].ns += ns;
}

void sw_poll_again(struct sw_model *m, const struct sw_record *r, const struct sw_access *what, bool done)
{
	uint64_t key = (uint64_t)r->stack << 32 | (uint64_t)r->rec->api << 16 | (r->thread & 0xffff);
	struct poll *poll = sw_map_ptr(&m->polls->by_site, key);
	if (!poll && done)
		return;
	if (!poll) {
		poll = sw_calloc(1, sizeof *poll);
		sw_map_put_ptr(&m->polls->by_site, key, poll);
	}
	if (!poll->calls++)
		poll->since_ns = r->t_ns;
	poll->asking_ns += r->dur_ns;
	if (!done)
		return;
	uint64_t ns = r->t_ns + r->dur_ns - poll->since_ns;
	if (poll->calls > SW_POLLS && ns > SW_POLL_NS && ns / poll->calls < SW_POLL_GAP_NS)
		report_poll(m, poll, what, ns);
	*poll = (struct poll){0};
}
