/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "merge/merged.h"

#include <stdlib.h>
#include <string.h>

#include "reader/clock.h"
#include "reader/ranks.h"
#include "report/json/report_parts.h"

/* Collectives of a partial result.  It may be anybody's file: nothing that an index says is believed. */

#ifdef HAVE_JANSSON

#include "merge/merged.h"

#include <stdlib.h>

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

static struct sw_merged_rank *process_at(struct sw_merged *merged, const json_t *array, size_t index, bool *ok)
{
	const uint64_t i = number_at(array, index, UINT32_MAX, ok);
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

#endif

struct sw_merged *sw_merged_new(void)
{
	return sw_calloc(1, sizeof(struct sw_merged));
}

static void merged_free_rank(struct sw_merged_rank *rank)
{
	char *texts[] = {rank->program, rank->trace, rank->host, rank->boot, rank->job, rank->recorder};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		free(texts[i]);
	for (size_t i = 0; i < rank->gaps.n; i++)
		free(rank->gaps.at[i]);
	free(rank->gaps.at);
	free(rank);
}

static void free_finding(struct sw_merged_finding *finding)
{
	free(finding->text);
	free(finding->json);
	free(finding->in.at);
	free(finding);
}

void sw_merged_free(struct sw_merged *merged)
{
	for (size_t i = 0; i < merged->ranks.n; i++)
		merged_free_rank(merged->ranks.at[i]);
	for (size_t i = 0; i < merged->findings.n; i++)
		free_finding(merged->findings.at[i]);
	for (size_t i = 0; i < merged->unusable.n; i++) {
		free(merged->unusable.at[i].path);
		free(merged->unusable.at[i].why);
	}
	for (size_t i = 0; i < merged->gaps.n; i++)
		free(merged->gaps.at[i]);
	for (size_t i = 0; i < merged->between.n; i++) {
		free(merged->between.at[i]->title);
		free(merged->between.at[i]->text);
		free(merged->between.at[i]->ranks.at);
		free(merged->between.at[i]);
	}
	sw_collective_set_free(&merged->collectives);
	sw_shared_free(&merged->shared);
	free(merged->between.at);
	free(merged->clocks.at);
	free(merged->ranks.at);
	free(merged->findings.at);
	free(merged->unusable.at);
	free(merged->gaps.at);
	free(merged);
}

void sw_merged_unusable(struct sw_merged *merged, const char *path, const char *why)
{
	*sw_vec_push(&merged->unusable) = (struct sw_merged_unusable){sw_strdup(path), sw_strdup(why)};
}

static void merged_gap(struct sw_merged_rank *rank, const char *text)
{
	*sw_vec_push(&rank->gaps) = sw_strdup(text);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Order of processes: by rank, those without one last; whatever the order in which they were added. */
int sw_merged_compare(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	int by = compare_numbers(a->ranked ? a->rank : UINT64_MAX, b->ranked ? b->rank : UINT64_MAX);
	if (!by)
		by = strcmp(a->job, b->job);
	if (!by)
		by = compare_numbers(a->restart, b->restart);
	if (!by)
		by = compare_numbers(a->start_real_ns, b->start_real_ns);
	if (!by)
		by = strcmp(a->host, b->host);
	if (!by)
		by = compare_numbers(a->pid, b->pid);
	return by ? by : compare_numbers(a->start_monotonic_ns, b->start_monotonic_ns);
}

/* This process in the other result, if it is there. */
static struct sw_merged_rank *merged_find_rank(const struct sw_merged *merged, const struct sw_merged_rank *rank)
{
	for (size_t i = 0; i < merged->ranks.n; i++)
		if (sw_merged_compare(merged->ranks.at[i], rank) == 0)
			return merged->ranks.at[i];
	return NULL;
}

static bool same_finding(const struct sw_merged_finding *a, const struct sw_merged_finding *b)
{
	return a->fingerprint == b->fingerprint && a->severity == b->severity && a->suppressed == b->suppressed;
}

static bool holds_rank(const struct sw_merged_finding *finding, const struct sw_merged_rank *rank)
{
	for (size_t i = 0; i < finding->in.n; i++)
		if (finding->in.at[i] == rank)
			return true;
	return false;
}

/* Text and JSON are those of the first process, so that they do not depend on the order of the merge. */
static void join_findings(struct sw_merged_finding *kept, struct sw_merged_finding *other)
{
	if (sw_merged_compare(other->in.at[0], kept->in.at[0]) < 0) {
		const struct sw_merged_finding first = *other;
		other->text = kept->text;
		other->json = kept->json;
		kept->text = first.text;
		kept->json = first.json;
	}
	for (size_t i = 0; i < other->in.n; i++) {
		struct sw_merged_rank *rank = other->in.at[i];
		if (holds_rank(kept, rank))
			continue;
		*sw_vec_push(&kept->in) = rank;
		if (sw_merged_compare(rank, kept->in.at[0]) < 0) {
			kept->in.at[kept->in.n - 1] = kept->in.at[0];
			kept->in.at[0] = rank;
		}
	}
	free_finding(other);
}

/* Takes the finding; puts it together with one that is the same. */
static void merged_take_finding(struct sw_merged *merged, struct sw_merged_finding *finding)
{
	for (size_t i = 0; i < merged->findings.n; i++)
		if (same_finding(merged->findings.at[i], finding)) {
			join_findings(merged->findings.at[i], finding);
			return;
		}
	*sw_vec_push(&merged->findings) = finding;
}

/* ---- a report ---------------------------------------------------------------------------------------------------- */

/* A finding as an object of the merged report in JSON, three levels deep, kept as text since the rank's report is freed
   before the merged one is written; malloc'ed. */
static char *finding_json(struct sw_report *report, size_t index)
{
	char *text;
	size_t bytes;
	struct sw_json json = {.out = sw_memory_stream(&text, &bytes), .depth = 3, .first = true};
	sw_report_json_open_finding(&json, report, index);
	sw_json_close(&json, '}');
	fclose(json.out);
	return text;
}

/* The finding, and its group, as the report prints it; NULL: it leads no group there, or is a note.  malloc'ed. */
static char *finding_text(struct sw_report *report, size_t index)
{
	const struct sw_text_style style = {0};
	char *text;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	const bool printed = sw_report_text_finding(report, index, out, &style);
	fclose(out);
	if (printed)
		return text;
	free(text);
	return NULL;
}

static void add_findings(struct sw_merged *merged, struct sw_report *report, struct sw_merged_rank *rank)
{
	for (size_t i = 0; i < report->shown.n; i++) {
		const struct sw_shown_finding *shown = &report->shown.at[i];
		struct sw_merged_finding *finding = sw_calloc(1, sizeof *finding);
		finding->fingerprint = shown->fingerprint;
		finding->severity = shown->finding->severity;
		finding->suppressed = shown->suppressed;
		finding->text = finding_text(report, i);
		finding->json = finding_json(report, i);
		*sw_vec_push(&finding->in) = rank;
		merged_take_finding(merged, finding);
	}
}

/* Reads who a rank is: process, host, job, times. */
static void fill_identity(struct sw_merged_rank *rank, const struct sw_reader *reader)
{
	const struct sw_trace_environment *environment = sw_reader_environment(reader);
	const struct sw_file_header *header = sw_reader_header(reader);
	const struct sw_trace_process *process = sw_reader_process(reader);
	struct sw_rank found = {.job = ""};
	rank->ranked = sw_rank_of(environment, &found);
	rank->rank = found.rank;
	rank->size = found.size;
	rank->restart = found.restart;
	rank->job = sw_strdup(found.job);
	rank->host = sw_strdup(environment ? environment->host : "");
	rank->boot = sw_strdup(environment ? environment->boot : "");
	const char *slash = process ? strrchr(process->exe, '/') : NULL;
	rank->program = sw_strdup(!process ? "" : slash ? slash + 1 : process->exe);
	rank->recorder = sw_format("%.*s (format %u.%u)", (int)sizeof header->recorder_version,
				   header->recorder_version, header->major, header->minor);
	rank->pid = header->pid;
	rank->ppid = header->ppid;
	rank->start_real_ns = header->start_realtime_ns;
	rank->start_monotonic_ns = header->start_monotonic_ns;
	struct sw_trace_clock clock;
	if (header->flags & SW_FILE_TSC && sw_trace_clock_start(&clock, header) && clock.fixed) {
		rank->start_ticks = clock.start_ticks;
		rank->tick_rate = clock.rate;
	}
}

struct sw_merged_rank *sw_merged_add_process(struct sw_merged *merged, struct sw_report *report, const char *trace)
{
	struct sw_merged_rank *rank = sw_calloc(1, sizeof *rank);
	fill_identity(rank, report->reader);
	rank->trace = sw_strdup(trace);
	rank->span_ns = report->judgement->span_ns;
	rank->host_wait_ns = report->judgement->host_wait_ns;
	rank->ended_in_order = sw_reader_totals(report->reader).closed;
	rank->simulated = report->judgement->simulated;
	rank->errors = report->totals.errors;
	rank->warnings = report->totals.warnings;
	rank->notes = report->totals.notes;
	rank->driver_calls = report->judgement->coverage.driver_calls;
	struct sw_merged_rank *there = merged_find_rank(merged, rank);
	if (there) {
		merged_free_rank(rank);
		return there;
	}
	for (size_t i = 0; i < report->gaps.n; i++)
		merged_gap(rank, report->gaps.at[i]);
	*sw_vec_push(&merged->ranks) = rank;
	return rank;
}

struct sw_merged_rank *sw_merged_add(struct sw_merged *merged, struct sw_report *report, const char *trace)
{
	const size_t before = merged->ranks.n;
	struct sw_merged_rank *rank = sw_merged_add_process(merged, report, trace);
	if (merged->ranks.n > before)
		add_findings(merged, report, rank);
	return rank;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
	return sw_merged_compare(*(struct sw_merged_rank *const *)a, *(struct sw_merged_rank *const *)b);
}

/* Errors first, then what most processes have. */
static int by_weight(const void *a, const void *b)
{
	const struct sw_merged_finding *x = *(struct sw_merged_finding *const *)a;
	const struct sw_merged_finding *y = *(struct sw_merged_finding *const *)b;
	int by = compare_numbers(y->severity, x->severity);
	if (!by)
		by = compare_numbers(y->in.n, x->in.n);
	if (!by)
		by = compare_numbers(x->in.at[0]->index, y->in.at[0]->index);
	return by ? by : compare_numbers(x->fingerprint, y->fingerprint);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct sw_merged_unusable *)a)->path, ((const struct sw_merged_unusable *)b)->path);
}

static void count_finding(struct sw_merged *merged, const struct sw_merged_finding *finding)
{
	if (finding->suppressed)
		merged->suppressed++;
	else
		++*(finding->severity == SW_ERROR     ? &merged->errors
		    : finding->severity == SW_WARNING ? &merged->warnings
						      : &merged->notes);
}

static void sort_array(void *at, size_t n, size_t bytes, int (*by)(const void *, const void *))
{
	if (n)
		qsort(at, n, bytes, by);
}

static void number_ranks(struct sw_merged *merged)
{
	sort_array(merged->ranks.at, merged->ranks.n, sizeof *merged->ranks.at, by_rank);
	for (size_t i = 0; i < merged->ranks.n; i++)
		merged->ranks.at[i]->index = i;
}

void sw_merged_compare_processes(struct sw_merged *merged)
{
	number_ranks(merged);
	sw_between_find(merged);
}

void sw_merged_finish(struct sw_merged *merged)
{
	number_ranks(merged);
	for (size_t i = 0; i < merged->findings.n; i++) {
		struct sw_merged_finding *finding = merged->findings.at[i];
		sort_array(finding->in.at, finding->in.n, sizeof *finding->in.at, by_rank);
		count_finding(merged, finding);
	}
	sort_array(merged->findings.at, merged->findings.n, sizeof *merged->findings.at, by_weight);
	sort_array(merged->unusable.at, merged->unusable.n, sizeof *merged->unusable.at, by_path);
	sw_between_find(merged);
	sw_merged_check_ranks(merged);
}

/* Reads a partial result. It may be anybody's file: each member is checked, and text is printed without control
   characters. */

#ifndef HAVE_JANSSON

int sw_merged_read(struct sw_merged *merged, FILE *file, const char *path, struct sw_error *error)
{
	(void)merged;
	(void)file;
	return sw_fail(error, SW_E_UNSUPPORTED,
		       "%s: this build cannot read JSON (it needs libjansson); merge the traces", path);
}

#else

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define JSON_DIGITS 15 /* what a double holds of milliseconds with six decimals */

/* The fault, NULL: none so far. */
struct partial {
	const char *wrong;
	struct sw_merged *merged;
};

static const json_t *typed_member(struct partial *p, const json_t *object, const char *name, json_type type)
{
	const json_t *value = json_object_get(object, name);
	if (value && json_typeof(value) == type)
		return value;
	if (!p->wrong)
		p->wrong = name;
	return NULL;
}

/* Lines stay; nothing else that a terminal would obey. */
static char *plain_text(const char *text)
{
	char *copy = sw_strdup(text);
	for (char *c = copy; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\n') || *c == 0x7f)
			*c = '?';
	return copy;
}

static char *text_of(struct partial *p, const json_t *object, const char *name)
{
	const json_t *value = typed_member(p, object, name, JSON_STRING);
	return plain_text(value ? json_string_value(value) : "");
}

static uint64_t number_of(struct partial *p, const json_t *object, const char *name, uint64_t most)
{
	const json_t *value = typed_member(p, object, name, JSON_INTEGER);
	const json_int_t number = value ? json_integer_value(value) : 0;
	if ((number < 0 || (uint64_t)number > most) && !p->wrong)
		p->wrong = name;
	return (uint64_t)number;
}

static uint64_t hash_of(struct partial *p, const json_t *object, const char *name)
{
	const json_t *hash = typed_member(p, object, name, JSON_STRING);
	return hash ? strtoull(json_string_value(hash), NULL, 16) : 0;
}

/* Members that were added later. */
static uint64_t later_number_of(struct partial *p, const json_t *object, const char *name)
{
	return json_object_get(object, name) ? number_of(p, object, name, INT64_MAX) : 0;
}

static bool bool_of(struct partial *p, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	if (!json_is_boolean(value) && !p->wrong)
		p->wrong = name;
	return json_is_true(value);
}

static void take_gaps(struct partial *p, struct sw_merged_rank *rank, const json_t *object)
{
	const json_t *gaps = typed_member(p, object, "gaps", JSON_ARRAY), *gap;
	size_t i;
	json_array_foreach(gaps, i, gap) * sw_vec_push(&rank->gaps) =
		plain_text(json_is_string(gap) ? json_string_value(gap) : "?");
}

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
	rank->span_ns = number_of(p, object, "span_ns", INT64_MAX);
	rank->host_wait_ns = number_of(p, object, "host_wait_ns", INT64_MAX);
	rank->ended_in_order = bool_of(p, object, "ended_in_order");
	rank->simulated = bool_of(p, object, "simulated");
	rank->errors = (uint32_t)number_of(p, object, "errors", UINT32_MAX);
	rank->warnings = (uint32_t)number_of(p, object, "warnings", UINT32_MAX);
	rank->notes = (uint32_t)number_of(p, object, "notes", UINT32_MAX);
	take_gaps(p, rank, object);
}

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

static void take_unusable(struct partial *p, const json_t *object)
{
	char *path = text_of(p, object, "path"), *why = text_of(p, object, "why");
	sw_merged_unusable(p->merged, path, why);
	free(path);
	free(why);
}

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

static void take_communicator(struct partial *p, const json_t *object)
{
	if (!p->wrong && !merged_read_communicator(p->merged, object))
		p->wrong = "communicators";
}

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

/* Moves what was read; a process that was already added replaces the one that was read. */
static void move_ranks(struct sw_merged *to, struct sw_merged *from)
{
	for (size_t i = 0; i < from->ranks.n; i++) {
		struct sw_merged_rank *there = merged_find_rank(to, from->ranks.at[i]);
		for (size_t k = 0; there && k < from->findings.n; k++)
			for (size_t n = 0; n < from->findings.at[k]->in.n; n++)
				if (from->findings.at[k]->in.at[n] == from->ranks.at[i])
					from->findings.at[k]->in.at[n] = there;
		if (there) {
			sw_collective_set_rename(&from->collectives, from->ranks.at[i], there);
			sw_shared_rename(&from->shared, from->ranks.at[i], there);
			merged_free_rank(from->ranks.at[i]);
		} else
			*sw_vec_push(&to->ranks) = from->ranks.at[i];
	}
	from->ranks.n = 0;
	sw_collective_set_join(&to->collectives, &from->collectives);
	sw_shared_join(&to->shared, &from->shared);
	for (size_t i = 0; i < from->findings.n; i++)
		merged_take_finding(to, from->findings.at[i]);
	from->findings.n = 0;
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
