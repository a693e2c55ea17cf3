/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/own_calls.h"

#include <stdlib.h>

/* By the record alone, as Kineto names it: the function of the runtime where there was one. */
static uint32_t name_of(struct sw_own_calls *own, const struct sw_access *what)
{
	const uint16_t runtime = what->flags & SW_RF_RUNTIME;
	uint64_t *name = sw_map_put(&own->name_of, (uint64_t)what->api << 16 | runtime);
	if (!*name) {
		uint32_t found = sw_profile_name(own->profile, sw_name_api(&own->names, what->api, runtime, 0));
		*name = found ? found : UINT64_MAX;
	}
	return *name == UINT64_MAX ? 0 : (uint32_t)*name;
}

/* Calls of which there is one record each, whatever library asks for them: not what the runtime may know by itself. */
static bool is_reported(uint8_t kind)
{
	switch (kind) {
	case SW_REC_LAUNCH:
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
	case SW_REC_SET:
	case SW_REC_ALLOC:
	case SW_REC_FREE:
	case SW_REC_EVENT_RECORD:
	case SW_REC_STREAM_WAIT:
	case SW_REC_SYNC:
	case SW_REC_HOST_FUNC:
	case SW_REC_GRAPH_LAUNCH:
		return true;
	default:
		return false;
	}
}

static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_own_calls *own = arg;
	const struct sw_access *what = &op->what;
	uint32_t name = what->api && is_reported(what->kind) ? name_of(own, what) : 0;
	const bool in_flight = (op->record->rec->flags & SW_RF_PENDING) && !what->dur_ns;
	if (!name || in_flight) {
		own->waits_left_out += op->blocks;
		return;
	}
	*sw_vec_push(&own->calls) = (struct sw_own_call){.seq = what->seq,
							 .start = what->t_ns,
							 .end = what->t_ns + what->dur_ns,
							 .name = name - 1,
							 .thread = what->thread,
							 .stream = what->stream,
							 .stack = what->stack,
							 .function = what->function,
							 .api = what->api,
							 .waited = op->blocks,
							 .enqueues = op->enqueues};
}

static void on_hazard(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		      const struct sw_access *later)
{
	struct sw_own_calls *own = arg;
	struct sw_own_hazard hazard = {.id = finding->id,
				       .earlier = earlier->seq,
				       .later = later->seq,
				       .earlier_stack = earlier->stack,
				       .later_stack = later->stack};
	if (own->hazards.n < SW_OWN_HAZARDS)
		*sw_vec_push(&own->hazards) = hazard;
	else
		own->hazards.at[own->hazards_seen % SW_OWN_HAZARDS] = hazard;
	own->hazards_seen++;
}

void sw_own_calls_init(struct sw_own_calls *own, const struct sw_reader *reader, const struct sw_profile *profile)
{
	*own = (struct sw_own_calls){.profile = profile, .reader = reader};
	own->observer =
		(struct sw_observer){.arg = own, .operation = on_operation, .hazard = on_hazard, .every_hazard = true};
	sw_names_init(&own->names, reader, NULL);
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct sw_own_call *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void sw_own_calls_sort(struct sw_own_calls *own)
{
	if (own->calls.n)
		qsort(own->calls.at, own->calls.n, sizeof *own->calls.at, by_thread_and_time);
	for (size_t i = 0; i < own->calls.n; i++)
		*sw_map_put(&own->call_of, own->calls.at[i].seq) = i + 1;
}

struct sw_own_call *sw_own_call_at(const struct sw_own_calls *own, uint64_t seq)
{
	uint64_t index = sw_map_get(&own->call_of, seq);
	return index ? &own->calls.at[index - 1] : NULL;
}

void sw_own_calls_free(struct sw_own_calls *own)
{
	sw_names_free(&own->names);
	sw_map_free(&own->name_of);
	sw_map_free(&own->call_of);
	free(own->calls.at);
	free(own->hazards.at);
}
