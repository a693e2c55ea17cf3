/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of our trace that a profile may hold as well, and the hazards between them. */
#ifndef SW_REPORT_KINETO_OWN_CALLS_H
#define SW_REPORT_KINETO_OWN_CALLS_H

#include "report/kineto/profile.h"
#include "report/symbols/names.h"

struct sw_own_call {
	uint64_t seq, start, end; /* nanoseconds of our trace */
	uint32_t name;		  /* as in the profile */
	uint32_t thread;	  /* ours */
	uint32_t stream, stack, function;
	uint16_t api;
	bool waited, enqueues;
	size_t match; /* the call of the profile: its index + 1, 0: none */
};

struct sw_own_hazard {
	int id;
	uint64_t earlier, later; /* sequence numbers */
	uint32_t earlier_stack, later_stack;
};

/* Hazards that are kept, the last ones: a profile is rarely of the beginning. */
#define SW_OWN_HAZARDS (1u << 20)

struct sw_own_calls {
	const struct sw_profile *profile;
	const struct sw_reader *reader;
	struct sw_observer observer;
	struct sw_names names;
	struct sw_map name_of; /* entry point and API -> name of the profile + 1, or UINT64_MAX: it has none */
	SW_VEC(struct sw_own_call) calls; /* by thread and time, once sorted */
	struct sw_map call_of;		  /* sequence number -> index + 1, once sorted */
	SW_VEC(struct sw_own_hazard) hazards;
	uint64_t hazards_seen, waits_left_out;
};

void sw_own_calls_init(struct sw_own_calls *own, const struct sw_reader *reader, const struct sw_profile *profile);
void sw_own_calls_sort(struct sw_own_calls *own);
void sw_own_calls_free(struct sw_own_calls *own);

struct sw_own_call *sw_own_call_at(const struct sw_own_calls *own, uint64_t seq); /* NULL unknown */

#endif
