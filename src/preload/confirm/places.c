/* SPDX-License-Identifier: Apache-2.0 */
/* Which call of the plan a call is: by thread, entry point, call stack and count. */
#include "preload/confirm/confirm.h"

#include <link.h>

#include "preload/recorder/writer.h"

/* Threads that make calls of the plan; calls of more are not counted, and not found. */
#define THREADS 64u

enum { EARLIER, LATER, BUFFER, CALLS };

struct counts {
	_Atomic uint32_t thread; /* 0: free */
	uint64_t calls[CALLS];	 /* by that thread alone */
};
static struct counts counted[THREADS];

struct visit {
	uint64_t ip, base;
	bool found;
};

static int visit_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct visit *visit = arg;
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t from = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && visit->ip >= from && visit->ip < from + p->p_memsz) {
			visit->base = info->dlpi_addr;
			visit->found = true;
			return 1;
		}
	}
	return 0;
}

/* Offsets of return addresses, by thread: a frame of a framework is seen thousands of times.  An object that is
   replaced by another at the same address makes a stack that is not found. */
#define KNOWN 512u
static __thread struct {
	uint64_t ip, offset;
	bool found;
} known[KNOWN] __attribute__((tls_model("initial-exec")));

/* False: it lies in no object. */
static bool offset_of(uint64_t ip, uint64_t *offset)
{
	const uint32_t at = (uint32_t)sw_hash_u64(ip) % KNOWN;
	if (known[at].ip != ip) {
		struct visit visit = {.ip = ip};
		dl_iterate_phdr(visit_object, &visit);
		known[at].ip = ip;
		known[at].offset = ip - visit.base;
		known[at].found = visit.found;
	}
	*offset = known[at].offset;
	return known[at].found;
}

uint64_t sw_places_stack(void)
{
	const uint64_t *ips;
	const uint32_t n = sw_confirm_recorder->frames(&ips), depth = sw_confirm_recorder->options()->depth;
	uint64_t hash = SW_FNV_START, offset;
	for (uint32_t i = 0; i < n && i < depth; i++)
		if (offset_of(ips[i], &offset))
			hash = sw_plan_frame(hash, offset);
	return hash;
}

static struct counts *counts_of(uint32_t thread)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t expected = 0;
		if (atomic_load(&counted[i].thread) == thread ||
		    atomic_compare_exchange_strong(&counted[i].thread, &expected, thread) || expected == thread)
			return &counted[i];
	}
	return NULL;
}

static bool may_be(const struct sw_plan_call *call, uint16_t api)
{
	return call->api && call->api == api;
}

bool sw_places_is_earlier(uint32_t id)
{
	const struct sw_plan_call *call = &sw_confirm_plan.earlier;
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	const struct counts *counts = thread == call->thread ? counts_of(thread) : NULL;
	return counts && call->api == id && counts->calls[EARLIER] + 1 == call->nth && call->stack == sw_places_stack();
}

uint32_t sw_places_of_call(const struct sw_rec *rec, uint32_t *exact)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	const struct sw_plan_call *calls[CALLS] = {&plan->earlier, &plan->later, &plan->buffer};
	uint32_t places = 0;
	*exact = 0;
	if (!may_be(calls[EARLIER], rec->api) && !may_be(calls[LATER], rec->api) && !may_be(calls[BUFFER], rec->api))
		return 0;
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	const uint64_t stack = sw_places_stack();
	struct counts *counts = counts_of(thread);
	for (uint32_t i = 0; i < CALLS && counts; i++) {
		if (!may_be(calls[i], rec->api) || calls[i]->stack != stack)
			continue;
		places |= 1u << i;
		if (++counts->calls[i] == calls[i]->nth && thread == calls[i]->thread)
			*exact |= 1u << i;
	}
	return places;
}

void sw_places_edges(const struct sw_rec *rec, uint64_t *after, uint64_t *before)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	uint64_t stack = 0;
	*after = *before = 0;
	for (uint32_t i = 0; i < plan->edges; i++) {
		const struct sw_plan_edge *edge = &plan->edge[i];
		if (edge->after_api != rec->api && edge->before_api != rec->api)
			continue;
		stack = stack ? stack : sw_places_stack();
		*after |= (uint64_t)(edge->after_api == rec->api && edge->after_stack == stack) << i;
		*before |= (uint64_t)(edge->before_api == rec->api && edge->before_stack == stack) << i;
	}
}
