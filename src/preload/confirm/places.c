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

/* A call of few entry points comes here, so that nothing is remembered between two. */
static uint64_t stack_of(void)
{
	const uint64_t *ips;
	const uint32_t n = sw_confirm_recorder->frames(&ips), depth = sw_confirm_recorder->options()->depth;
	uint64_t hash = SW_FNV_START;
	for (uint32_t i = 0; i < n && i < depth; i++) {
		struct visit visit = {.ip = ips[i]};
		dl_iterate_phdr(visit_object, &visit);
		if (visit.found)
			hash = sw_plan_frame(hash, ips[i] - visit.base);
	}
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

uint32_t sw_places_of_call(const struct sw_rec *rec, uint32_t *exact)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	const struct sw_plan_call *calls[CALLS] = {&plan->earlier, &plan->later, &plan->buffer};
	uint32_t places = 0;
	*exact = 0;
	if (!may_be(calls[EARLIER], rec->api) && !may_be(calls[LATER], rec->api) && !may_be(calls[BUFFER], rec->api))
		return 0;
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	const uint64_t stack = stack_of();
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
