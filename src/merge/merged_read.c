/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a partial result.  It may be anybody's file: each member is checked, no index in it is believed, and text is
   printed without control characters. */
#include "config.h"

#include "merge/merged.h"

#include <stdlib.h>
#include <string.h>

#ifndef HAVE_JANSSON

/* Reads into a result of its own, so that a fault leaves `merged` as it was. */
int sw_merged_read(struct sw_merged *merged, FILE *file, const char *path, struct sw_error *error)
{
	(void)merged;
	(void)file;
	return sw_fail(error, SW_E_UNSUPPORTED,
		       "%s: this build cannot read JSON (it needs libjansson); merge the traces", path);
}

#else

#include <jansson.h>

/* ---- collectives ------------------------------------------------------------------------------------------------- */

#define MAX_CALLS (1u << 24)

/* Element of an array as a number from 0 to `most`; *ok is cleared where it is none. */
static uint64_t number_at(const json_t *array, size_t index, uint64_t most, bool *ok)
{
	const json_t *value = json_array_get(array, index);
	const json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
	if (number < 0 || (uint64_t)number > most) {
		*ok = false;
		return 0;
	}
	return (uint64_t)number;
}

/* Element of an array as the index of a process that was read before. */
static struct sw_merged_rank *process_at(struct sw_merged *merged, const json_t *array, size_t index, bool *ok)
{
	const uint64_t i = number_at(array, index, UINT32_MAX, ok);
	if (i < merged->ranks.n)
		return merged->ranks.at[i];
	*ok = false;
	return NULL;
}

/* Reads the different calls of a communicator, to which its sequences refer. */
static void take_kinds(struct sw_communicator *c, const json_t *kinds, bool *ok)
{
	const json_t *kind;
	size_t i;
	json_array_foreach(kinds, i, kind)
	{
		const json_t *root = json_array_get(kind, 3);
		const struct sw_collective_call call = {
			.op = (uint32_t)number_at(kind, 0, UINT32_MAX, ok),
			.type = (uint32_t)number_at(kind, 1, UINT32_MAX, ok),
			.reduction = (uint32_t)number_at(kind, 2, UINT32_MAX, ok),
			.root = (int32_t)json_integer_value(root),
			.count = number_at(kind, 4, INT64_MAX, ok),
		};
		if (sw_communicator_kind(c, &call) != i + 1)
			*ok = false; /* the same twice: numbers would not fit */
	}
}

/* Reads the collectives that some ranks called in the same order. */
static void take_sequence(struct sw_merged *merged, struct sw_communicator *c, const json_t *object, bool *ok)
{
	const json_t *calls = json_object_get(object, "calls"), *members = json_object_get(object, "members");
	struct sw_collective_sequence *s = sw_calloc(1, sizeof *s);
	for (size_t i = 0; *ok && i < json_array_size(calls) && i < MAX_CALLS; i++)
		*sw_vec_push(&s->calls) = (uint32_t)number_at(calls, i, c->kinds.n, ok);
	for (size_t i = 0; *ok && i < json_array_size(members); i++) {
		const json_t *m = json_array_get(members, i);
		*sw_vec_push(&s->members) = (struct sw_collective_member){
			.process = process_at(merged, m, 0, ok),
			.rank = (uint32_t)number_at(m, 1, UINT32_MAX, ok),
			.calls = (uint32_t)number_at(m, 2, s->calls.n, ok),
			.end_ns = number_at(m, 3, INT64_MAX, ok),
			.last_ns = number_at(m, 4, INT64_MAX, ok),
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

/* Reads when ranks of one machine came to collectives. */
static void take_times(struct sw_merged *merged, struct sw_communicator *c, const json_t *object, bool *ok)
{
	const json_t *times = json_object_get(object, "times");
	const char *boot = json_string_value(json_object_get(object, "boot"));
	if (!boot)
		*ok = false;
	for (size_t i = 0; *ok && i < json_array_size(times); i++) {
		const json_t *t = json_array_get(times, i), *done = json_array_get(t, 6);
		struct sw_arrival a = {
			.number = (uint32_t)number_at(t, 0, MAX_CALLS, ok),
			.n = (uint32_t)number_at(t, 1, UINT32_MAX, ok),
			.first_ns = number_at(t, 2, INT64_MAX, ok),
			.last_ns = number_at(t, 3, INT64_MAX, ok),
			.second_ns = number_at(t, 4, INT64_MAX, ok),
			.waited_ns = number_at(t, 5, INT64_MAX, ok),
			.done_ns = UINT64_MAX,
			.last = process_at(merged, t, 7, ok),
			.wait_ns = number_at(t, 8, INT64_MAX, ok),
			.copy_ns = number_at(t, 9, INT64_MAX, ok),
			.host_ns = number_at(t, 10, INT64_MAX, ok),
			.second_busy_ns = number_at(t, 11, INT64_MAX, ok),
		};
		if (json_is_integer(done) && json_integer_value(done) >= 0)
			a.done_ns = (uint64_t)json_integer_value(done);
		if (a.number == 0 || a.n == 0 || a.second_ns > a.last_ns)
			*ok = false;
		if (*ok)
			sw_communicator_arrive(c, boot, &a);
	}
}

/* Adds a communicator; processes are those of `merged` by index.  False: something in it is wrong. */
static bool merged_read_communicator(struct sw_merged *merged, const json_t *object)
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

/* ---- members of an object ---------------------------------------------------------------------------------------- */

#define JSON_DIGITS 15 /* what a double holds of milliseconds with six decimals */

/* The fault, NULL: none so far. */
struct partial {
	const char *wrong;
	struct sw_merged *merged;
};

/* The member of this name and type; NULL, and a fault, where there is none. */
static const json_t *typed_member(struct partial *p, const json_t *object, const char *name, json_type type)
{
	const json_t *value = json_object_get(object, name);
	if (value && json_typeof(value) == type)
		return value;
	if (!p->wrong)
		p->wrong = name;
	return NULL;
}

/* A copy of the text in which lines stay, and nothing else that a terminal would obey. */
static char *plain_text(const char *text)
{
	char *copy = sw_strdup(text);
	for (char *c = copy; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\n') || *c == 0x7f)
			*c = '?';
	return copy;
}

/* The member as a text without control characters, "" if it is missing; the caller frees it. */
static char *text_of(struct partial *p, const json_t *object, const char *name)
{
	const json_t *value = typed_member(p, object, name, JSON_STRING);
	return plain_text(value ? json_string_value(value) : "");
}

/* The member as a number from 0 to `most`; else a fault is noted. */
static uint64_t number_of(struct partial *p, const json_t *object, const char *name, uint64_t most)
{
	const json_t *value = typed_member(p, object, name, JSON_INTEGER);
	const json_int_t number = value ? json_integer_value(value) : 0;
	if ((number < 0 || (uint64_t)number > most) && !p->wrong)
		p->wrong = name;
	return (uint64_t)number;
}

/* The member as put_hash() wrote it. */
static uint64_t hash_of(struct partial *p, const json_t *object, const char *name)
{
	const json_t *hash = typed_member(p, object, name, JSON_STRING);
	return hash ? strtoull(json_string_value(hash), NULL, 16) : 0;
}

/* A number that older versions did not write: 0 where it is missing. */
static uint64_t later_number_of(struct partial *p, const json_t *object, const char *name)
{
	return json_object_get(object, name) ? number_of(p, object, name, INT64_MAX) : 0;
}

/* The member as a boolean; false, and a fault, where it is none. */
static bool bool_of(struct partial *p, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	if (!json_is_boolean(value) && !p->wrong)
		p->wrong = name;
	return json_is_true(value);
}

/* Reads what was missing in the process's trace. */
static void take_gaps(struct partial *p, struct sw_merged_rank *rank, const json_t *object)
{
	const json_t *gaps = typed_member(p, object, "gaps", JSON_ARRAY), *gap;
	size_t i;
	json_array_foreach(gaps, i, gap) * sw_vec_push(&rank->gaps) =
		plain_text(json_is_string(gap) ? json_string_value(gap) : "?");
}

/* Reads one process, which the other members refer to by its index. */
static void take_rank(struct partial *p, const json_t *object)
{
	struct sw_merged_rank *rank = sw_calloc(1, sizeof *rank);
	*sw_vec_push(&p->merged->ranks) = rank;
	rank->ranked = json_object_get(object, "rank") != NULL;
	if (rank->ranked) {
		rank->rank = (uint32_t)number_of(p, object, "rank", 1000000000);
		rank->size = (uint32_t)number_of(p, object, "ranks", 1000000000);
		rank->restart = (uint32_t)number_of(p, object, "restart", UINT32_MAX);
	}
	rank->job = text_of(p, object, "job");
	rank->host = text_of(p, object, "host");
	rank->boot = text_of(p, object, "boot");
	rank->program = text_of(p, object, "program");
	rank->trace = text_of(p, object, "trace");
	rank->recorder = text_of(p, object, "recorder");
	rank->pid = (uint32_t)number_of(p, object, "pid", UINT32_MAX);
	rank->ppid = (uint32_t)number_of(p, object, "ppid", UINT32_MAX);
	rank->start_real_ns = number_of(p, object, "start_real_ns", INT64_MAX);
	rank->start_monotonic_ns = number_of(p, object, "start_monotonic_ns", INT64_MAX);
	rank->start_ticks = later_number_of(p, object, "start_ticks");
	rank->tick_rate = later_number_of(p, object, "tick_rate");
	/* An older version wrote none: processes without a call were rare. */
	rank->driver_calls = json_object_get(object, "driver_calls") ? later_number_of(p, object, "driver_calls") : 1;
	rank->left_out = later_number_of(p, object, "calls_left_out");
	rank->span_ns = number_of(p, object, "span_ns", INT64_MAX);
	rank->host_wait_ns = number_of(p, object, "host_wait_ns", INT64_MAX);
	rank->ended_in_order = bool_of(p, object, "ended_in_order");
	rank->simulated = bool_of(p, object, "simulated");
	rank->errors = (uint32_t)number_of(p, object, "errors", UINT32_MAX);
	rank->warnings = (uint32_t)number_of(p, object, "warnings", UINT32_MAX);
	rank->notes = (uint32_t)number_of(p, object, "notes", UINT32_MAX);
	take_gaps(p, rank, object);
}

/* The member as a severity; SW_NOTE, and a fault, where it is none. */
static enum sw_severity severity_of(struct partial *p, const json_t *object)
{
	const json_t *value = typed_member(p, object, "severity", JSON_STRING);
	const char *name = value ? json_string_value(value) : "note";
	if (strcmp(name, "error") == 0)
		return SW_ERROR;
	if (strcmp(name, "warning") == 0)
		return SW_WARNING;
	if (strcmp(name, "note") != 0 && !p->wrong)
		p->wrong = "severity";
	return SW_NOTE;
}

/* Reads which processes have the finding: at least one. */
static void take_processes(struct partial *p, struct sw_merged_finding *finding, const json_t *object)
{
	const json_t *processes = typed_member(p, object, "processes", JSON_ARRAY), *index;
	size_t i;
	json_array_foreach(processes, i, index)
	{
		const json_int_t at = json_is_integer(index) ? json_integer_value(index) : -1;
		if (at >= 0 && (size_t)at < p->merged->ranks.n)
			*sw_vec_push(&finding->in) = p->merged->ranks.at[at];
		else if (!p->wrong)
			p->wrong = "processes";
	}
	if (!finding->in.n && !p->wrong)
		p->wrong = "processes";
}

/* Reads one finding, with the rank's object of it, which is kept as it is. */
static void take_finding(struct partial *p, const json_t *object)
{
	struct sw_merged_finding *finding = sw_calloc(1, sizeof *finding);
	const json_t *fingerprint = typed_member(p, object, "fingerprint", JSON_STRING);
	const json_t *whole = typed_member(p, object, "finding", JSON_OBJECT), *text = json_object_get(object, "text");
	*sw_vec_push(&p->merged->findings) = finding;
	finding->fingerprint = fingerprint ? strtoull(json_string_value(fingerprint), NULL, 16) : 0;
	finding->severity = severity_of(p, object);
	finding->suppressed = bool_of(p, object, "suppressed");
	finding->text = json_is_string(text) ? plain_text(json_string_value(text)) : NULL;
	char *json = whole ? json_dumps(whole, JSON_COMPACT | JSON_REAL_PRECISION(JSON_DIGITS)) : NULL;
	finding->json = sw_strdup(json ? json : "{}");
	free(json);
	take_processes(p, finding, object);
}

/* Reads one trace that could not be read. */
static void take_unusable(struct partial *p, const json_t *object)
{
	char *path = text_of(p, object, "path"), *why = text_of(p, object, "why");
	sw_merged_unusable(p->merged, path, why);
	free(path);
	free(why);
}

/* The process that an object names by index; NULL, and a fault, where there is no such. */
static struct sw_merged_rank *process_of(struct partial *p, const json_t *object)
{
	const uint64_t index = number_of(p, object, "process", UINT32_MAX);
	if (index < p->merged->ranks.n)
		return p->merged->ranks.at[index];
	p->wrong = p->wrong ? p->wrong : "process";
	return NULL;
}

/* Reads memory that a process exported or opened. */
static void take_shared(struct partial *p, const json_t *object)
{
	const uint64_t hash = hash_of(p, object, "handle");
	const bool freed = json_object_get(object, "freed_at");
	struct sw_merged_rank *process = process_of(p, object);
	if (!process)
		return;
	if (json_object_get(object, "bytes"))
		*sw_vec_push(&p->merged->shared.exports) =
			(struct sw_shared_export){.process = process,
						  .hash = hash,
						  .bytes = number_of(p, object, "bytes", INT64_MAX),
						  .freed_ns = number_of(p, object, "freed_ns", INT64_MAX),
						  .freed_site = freed ? hash_of(p, object, "freed_site") : 0,
						  .freed_at = freed ? text_of(p, object, "freed_at") : NULL};
	else
		*sw_vec_push(&p->merged->shared.imports) =
			(struct sw_shared_import){.process = process,
						  .hash = hash,
						  .opened_ns = number_of(p, object, "opened_ns", INT64_MAX),
						  .closed_ns = number_of(p, object, "closed_ns", INT64_MAX),
						  .last_ns = number_of(p, object, "last_ns", INT64_MAX)};
}

/* Reads one use of shared memory. */
static void take_use(struct partial *p, const json_t *object)
{
	struct sw_merged_rank *process = process_of(p, object);
	if (!process)
		return;
	*sw_vec_push(&p->merged->shared.uses) = (struct sw_merged_use){
		.process = process,
		.handle = hash_of(p, object, "handle"),
		.lo = number_of(p, object, "first_byte", INT64_MAX),
		.hi = number_of(p, object, "end_byte", INT64_MAX),
		.call_ns = number_of(p, object, "call_ns", INT64_MAX),
		.learnt_ns = number_of(p, object, "learnt_ns", INT64_MAX),
		.known_ns = number_of(p, object, "known_ns", INT64_MAX),
		.signalled_ns = number_of(p, object, "told_ns", INT64_MAX),
		.signalled_more_ns = number_of(p, object, "told_more_ns", INT64_MAX),
		.waited_ns = number_of(p, object, "waited_ns", INT64_MAX),
		.signalled_event = (uint32_t)number_of(p, object, "told_event", UINT32_MAX),
		.waited_event = (uint32_t)number_of(p, object, "waited_event", UINT32_MAX),
		.reads = bool_of(p, object, "reads"),
		.writes = bool_of(p, object, "writes"),
		.atomic = bool_of(p, object, "atomic"),
		.learning = bool_of(p, object, "learning"),
		.site = hash_of(p, object, "site"),
		.what = text_of(p, object, "what"),
	};
}

/* Reads one communicator, unless there was a fault before: its processes may not be there then. */
static void take_communicator(struct partial *p, const json_t *object)
{
	if (!p->wrong && !merged_read_communicator(p->merged, object))
		p->wrong = "communicators";
}

/* Reads each object of the array by `take`. */
static void take_all(struct partial *p, const json_t *root, const char *name,
		     void (*take)(struct partial *, const json_t *))
{
	const json_t *array = typed_member(p, root, name, JSON_ARRAY), *object;
	size_t i;
	json_array_foreach(array, i, object)
	{
		if (json_is_object(object))
			take(p, object);
		else if (!p->wrong)
			p->wrong = name;
	}
}

/* Moves what was read.  A process that was already added replaces the one that was read, and gets what it did not
   have. */
static void move_ranks(struct sw_merged *to, struct sw_merged *from)
{
	for (size_t i = 0; i < from->ranks.n; i++) {
		struct sw_merged_rank *there = sw_merged_find_rank(to, from->ranks.at[i]);
		for (size_t k = 0; there && k < from->findings.n; k++)
			for (size_t n = 0; n < from->findings.at[k]->in.n; n++)
				if (from->findings.at[k]->in.at[n] == from->ranks.at[i])
					from->findings.at[k]->in.at[n] = there;
		if (there) {
			sw_collective_set_rename(&from->collectives, from->ranks.at[i], there);
			sw_shared_rename(&from->shared, from->ranks.at[i], there);
			sw_merged_join_rank(there, from->ranks.at[i]);
			there->again = true;
			sw_merged_free_rank(from->ranks.at[i]);
		} else
			*sw_vec_push(&to->ranks) = from->ranks.at[i];
	}
	from->ranks.n = 0;
	sw_collective_set_join(&to->collectives, &from->collectives);
	sw_shared_join(&to->shared, &from->shared);
	for (size_t i = 0; i < from->findings.n; i++)
		sw_merged_take_finding(to, from->findings.at[i]);
	from->findings.n = 0;
	for (size_t i = 0; i < to->ranks.n; i++)
		to->ranks.at[i]->again = false;
	for (size_t i = 0; i < from->unusable.n; i++)
		*sw_vec_push(&to->unusable) = from->unusable.at[i];
	from->unusable.n = 0;
}

int sw_merged_read(struct sw_merged *merged, FILE *file, const char *path, struct sw_error *error)
{
	json_error_t why;
	json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		return sw_fail(error, SW_E_FORMAT, "%s: line %d, column %d: %s", path, why.line, why.column, why.text);
	struct partial p = {.merged = sw_merged_new()};
	const json_t *schema = json_object_get(root, "schema");
	if (!json_is_string(schema) || strcmp(json_string_value(schema), "syncwatch-merge/1") != 0)
		p.wrong = "schema";
	if (!p.wrong) {
		take_all(&p, root, "processes", take_rank);
		take_all(&p, root, "findings", take_finding);
		take_all(&p, root, "unusable", take_unusable);
		if (json_object_get(root, "communicators")) /* not of the first versions */
			take_all(&p, root, "communicators", take_communicator);
		if (json_object_get(root, "shared_memory"))
			take_all(&p, root, "shared_memory", take_shared);
		if (json_object_get(root, "shared_uses"))
			take_all(&p, root, "shared_uses", take_use);
	}
	json_decref(root);
	int rc = 0;
	if (p.wrong)
		rc = sw_fail(error, SW_E_FORMAT,
			     "%s: no result of 'syncwatch merge --json': its member '%s' is "
			     "missing or wrong",
			     path, p.wrong);
	else
		move_ranks(merged, p.merged);
	sw_merged_free(p.merged);
	return rc;
}

#endif
