/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of a partial result.  It may be anybody's file: nothing that an index says is believed. */
#include "config.h"

#ifdef HAVE_JANSSON

#include "merge/collectives_read.h"

#include <stdlib.h>

#include "merge/merged.h"

#define MAX_CALLS (1u << 24)

/* Element of an array as a number from 0 to `most`; *ok is cleared where it is none. */
static uint64_t at(const json_t *array, size_t index, uint64_t most, bool *ok)
{
	const json_t *value = json_array_get(array, index);
	const json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
	if (number < 0 || (uint64_t)number > most) {
		*ok = false;
		return 0;
	}
	return (uint64_t)number;
}

static struct sw_merged_rank *process_at(struct sw_merged *merged, const json_t *array, size_t index, bool *ok)
{
	const uint64_t i = at(array, index, UINT32_MAX, ok);
	if (i < merged->ranks.n)
		return merged->ranks.at[i];
	*ok = false;
	return NULL;
}

static void take_kinds(struct sw_communicator *c, const json_t *kinds, bool *ok)
{
	const json_t *kind;
	size_t i;
	json_array_foreach(kinds, i, kind)
	{
		const json_t *root = json_array_get(kind, 3);
		const struct sw_collective_call call = {
			.op = (uint32_t)at(kind, 0, UINT32_MAX, ok),
			.type = (uint32_t)at(kind, 1, UINT32_MAX, ok),
			.reduction = (uint32_t)at(kind, 2, UINT32_MAX, ok),
			.root = (int32_t)json_integer_value(root),
			.count = at(kind, 4, INT64_MAX, ok),
		};
		if (sw_communicator_kind(c, &call) != i + 1)
			*ok = false; /* the same twice: numbers would not fit */
	}
}

static void take_sequence(struct sw_merged *merged, struct sw_communicator *c, const json_t *object, bool *ok)
{
	const json_t *calls = json_object_get(object, "calls"), *members = json_object_get(object, "members");
	struct sw_collective_sequence *s = sw_calloc(1, sizeof *s);
	for (size_t i = 0; *ok && i < json_array_size(calls) && i < MAX_CALLS; i++)
		*sw_vec_push(&s->calls) = (uint32_t)at(calls, i, c->kinds.n, ok);
	for (size_t i = 0; *ok && i < json_array_size(members); i++) {
		const json_t *m = json_array_get(members, i);
		*sw_vec_push(&s->members) = (struct sw_collective_member){
			.process = process_at(merged, m, 0, ok),
			.rank = (uint32_t)at(m, 1, UINT32_MAX, ok),
			.calls = (uint32_t)at(m, 2, s->calls.n, ok),
			.end_ns = at(m, 3, INT64_MAX, ok),
			.last_ns = at(m, 4, INT64_MAX, ok),
		};
	}
	if (!s->members.n)
		*ok = false;
	if (*ok) {
		sw_communicator_take(c, s);
		return;
	}
	free(s->calls.at);
	free(s->members.at);
	free(s);
}

static void take_times(struct sw_merged *merged, struct sw_communicator *c, const json_t *object, bool *ok)
{
	const json_t *times = json_object_get(object, "times");
	const char *boot = json_string_value(json_object_get(object, "boot"));
	if (!boot)
		*ok = false;
	for (size_t i = 0; *ok && i < json_array_size(times); i++) {
		const json_t *t = json_array_get(times, i), *done = json_array_get(t, 6);
		struct sw_arrival a = {
			.number = (uint32_t)at(t, 0, MAX_CALLS, ok),
			.n = (uint32_t)at(t, 1, UINT32_MAX, ok),
			.first_ns = at(t, 2, INT64_MAX, ok),
			.last_ns = at(t, 3, INT64_MAX, ok),
			.second_ns = at(t, 4, INT64_MAX, ok),
			.waited_ns = at(t, 5, INT64_MAX, ok),
			.done_ns = UINT64_MAX,
			.last = process_at(merged, t, 7, ok),
			.wait_ns = at(t, 8, INT64_MAX, ok),
			.copy_ns = at(t, 9, INT64_MAX, ok),
			.host_ns = at(t, 10, INT64_MAX, ok),
			.second_busy_ns = at(t, 11, INT64_MAX, ok),
		};
		if (json_is_integer(done) && json_integer_value(done) >= 0)
			a.done_ns = (uint64_t)json_integer_value(done);
		if (a.number == 0 || a.n == 0 || a.second_ns > a.last_ns)
			*ok = false;
		if (*ok)
			sw_communicator_arrive(c, boot, &a);
	}
}

bool sw_merged_read_communicator(struct sw_merged *merged, const json_t *object)
{
	const char *identity = json_string_value(json_object_get(object, "identity"));
	const json_t *size = json_object_get(object, "size"), *sequences = json_object_get(object, "sequences");
	const json_t *machines = json_object_get(object, "machines");
	bool ok = identity && json_is_integer(size) && json_integer_value(size) >= 0 && json_is_array(sequences) &&
		  json_is_array(machines);
	if (!ok)
		return false;
	struct sw_communicator *c = sw_communicator_of(&merged->collectives, strtoull(identity, NULL, 16),
						       (uint32_t)json_integer_value(size));
	take_kinds(c, json_object_get(object, "kinds"), &ok);
	for (size_t i = 0; ok && i < json_array_size(sequences); i++)
		take_sequence(merged, c, json_array_get(sequences, i), &ok);
	for (size_t i = 0; ok && i < json_array_size(machines); i++)
		take_times(merged, c, json_array_get(machines, i), &ok);
	return ok;
}

#endif
