/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a digest: read from a trace or from JSON, for comparison with another one. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/diff/diff.h"
#include "report/symbols/stack.h"

/* A copy that lives as long as the digest; "" for NULL. */
static const char *keep_text(struct sw_digest *digest, const char *text)
{
	return text ? sw_arena_strndup(&digest->arena, text, strlen(text)) : "";
}

/* The last part of the path. */
static const char *file_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path;
}

/* Takes one side of a finding: the operation and its call stack. */
static void take_side(struct sw_digest *digest, struct sw_names *names, const struct sw_access *access,
		      struct sw_digest_side *side)
{
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function);
	struct sw_digest_frame *frame = sw_arena_alloc(&digest->arena, view.n * sizeof *frame);
	side->what =
		keep_text(digest, access->function ? sw_name_kernel(names, access->function, true)
						   : sw_name_api(names, access->api, access->flags, access->stack));
	side->frame = frame;
	side->frames = view.n;
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *from = view.at[i].frame;
		frame[i] = (struct sw_digest_frame){.function = keep_text(digest, from->function),
						    .file = keep_text(digest, file_name(from->file)),
						    .module = keep_text(digest, from->module),
						    .line = from->line};
	}
}

/* Takes a finding of a report. */
static void take_finding(struct sw_digest *digest, struct sw_report *report, const struct sw_shown_finding *shown)
{
	const struct sw_finding *from = shown->finding;
	struct sw_digest_side *side = sw_arena_alloc(&digest->arena, from->accesses * sizeof *side);
	for (uint32_t i = 0; i < from->accesses; i++)
		take_side(digest, &report->names, sw_finding_access(from, i), &side[i]);
	*sw_vec_push(&digest->findings) = (struct sw_digest_finding){
		.id = from->id,
		.kind = keep_text(digest, shown->info->kind),
		.message = keep_text(digest, sw_report_words(report, shown).message),
		.severity = from->severity,
		.confidence = from->confidence,
		.hidden = from->hidden,
		.count = from->count,
		.calls = from->cost->calls,
		.total_ns = from->cost->total_ns,
		.worst_ns = from->cost->worst_ns,
		.least_ns = from->cost->recoverable_low_ns,
		.recoverable_ns = from->cost->recoverable_high_ns,
		.fingerprint = shown->fingerprint,
		.side = side,
		.sides = from->accesses,
	};
}

void sw_digest_take(struct sw_digest *digest, struct sw_report *report)
{
	const struct sw_trace_process *process = sw_reader_process(report->reader);
	*digest = (struct sw_digest){
		.span_ns = report->judgement->span_ns, .simulated = report->judgement->simulated, .all = report->all};
	digest->path = keep_text(digest, sw_reader_path(report->reader));
	digest->program = keep_text(digest, process ? file_name(process->exe) : "");
	const struct sw_trace_totals totals = sw_reader_totals(report->reader);
	digest->whole = report->gaps.n == 0;
	digest->complete = totals.closed && digest->whole;
	digest->damaged = totals.damaged || !process;
	digest->calls_seen = report->judgement->coverage.driver_calls;
	digest->left_out = report->judgement->coverage.left_out;
	for (size_t i = 0; i < report->shown.n; i++) {
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		if (!report->shown.at[i].suppressed)
			take_finding(digest, report, &report->shown.at[i]);
		sw_names_scope_end(&report->names, &scope);
	}
}

/* Frees the digest. */
void sw_digest_free(struct sw_digest *digest)
{
	free(digest->findings.at);
	sw_arena_free(&digest->arena);
	*digest = (struct sw_digest){0};
}

/* Reads a digest from a report in JSON; what is wrong with the file is said by member. */

#ifndef HAVE_JANSSON

int sw_digest_read(struct sw_digest *digest, FILE *file, const char *path, struct sw_error *error)
{
	(void)digest;
	(void)file;
	return sw_fail(error, SW_E_UNSUPPORTED,
		       "%s: this build reads no JSON (it was made without jansson): give the trace", path);
}

#else

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The contents of one file, and the first error in it. */
struct source {
	struct sw_digest *digest;
	const char *path;
	struct sw_error *error;
	int rc;
};

/* Fills in the first error: a member that is not as wanted. */
static void fail_wrong(struct source *s, const char *key, const char *wanted)
{
	if (!s->rc)
		s->rc = sw_fail(s->error, SW_E_FORMAT, "%s: a report's '%s' is %s", s->path, key, wanted);
}

/* ---- members: what is missing or null has its plain value, what is of another type is an error ------------------- */

/* The text of a member; "" where it is missing. */
static const char *text_of(struct source *s, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (!value || json_is_null(value))
		return "";
	if (!json_is_string(value)) {
		fail_wrong(s, key, "a string");
		return "";
	}
	return sw_arena_strndup(&s->digest->arena, json_string_value(value), json_string_length(value));
}

/* The number of a member; 0 where it is missing. */
static uint64_t count_of(struct source *s, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0) {
		fail_wrong(s, key, "a number from 0");
		return 0;
	}
	return (uint64_t)json_integer_value(value);
}

#define MAX_MS 1e12 /* 30 years, far below what nanoseconds in 64 bits hold */

/* The milliseconds of a member, as nanoseconds; 0 where it is missing. */
static uint64_t time_of(struct source *s, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (!value || json_is_null(value))
		return 0;
	double ms = json_number_value(value);
	if (!json_is_number(value) || !(ms >= 0 && ms <= MAX_MS)) {
		fail_wrong(s, key, "milliseconds from 0");
		return 0;
	}
	return (uint64_t)(ms * 1e6 + 0.5);
}

/* The truth of a member; false where it is missing. */
static bool flag_of(struct source *s, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (value && !json_is_null(value) && !json_is_boolean(value))
		fail_wrong(s, key, "true or false");
	return json_is_true(value);
}

/* The list of a member; an error where it is missing or no list. */
static const json_t *list_of(struct source *s, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	if (!json_is_array(value))
		fail_wrong(s, key, "a list");
	return value;
}

/* Place of a member's word in a list of words; 0, and an error, for any other. */
static int word_of(struct source *s, const json_t *object, const char *key, const char *(*name)(int), int last)
{
	const char *text = text_of(s, object, key);
	for (int i = 0; i <= last; i++)
		if (strcmp(text, name(i)) == 0)
			return i;
	fail_wrong(s, key, "none that is known");
	return 0;
}

/* The word for severity i. */
static const char *severity_name(int i)
{
	return sw_name_severity((enum sw_severity)i);
}

/* The word for confidence i. */
static const char *confidence_name(int i)
{
	return sw_name_confidence((enum sw_confidence)i);
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* Reads the call stack of a side. */
static void read_frames(struct source *s, const json_t *access, struct sw_digest_side *side)
{
	const json_t *list = list_of(s, access, "stack");
	struct sw_digest_frame *frame = sw_arena_alloc(&s->digest->arena, json_array_size(list) * sizeof *frame);
	side->frame = frame;
	side->frames = json_array_size(list);
	for (size_t i = 0; i < side->frames; i++) {
		const json_t *from = json_array_get(list, i);
		const char *file = text_of(s, from, "file"), *slash = strrchr(file, '/');
		uint64_t line = count_of(s, from, "line");
		frame[i] = (struct sw_digest_frame){.function = text_of(s, from, "function"),
						    .file = slash ? slash + 1 : file,
						    .module = text_of(s, from, "module"),
						    .line = line < INT32_MAX ? (int)line : 0};
	}
}

/* Reads the sides of a finding. */
static void read_sides(struct source *s, const json_t *object, struct sw_digest_finding *finding)
{
	const json_t *list = list_of(s, object, "accesses");
	struct sw_digest_side *side = sw_arena_alloc(&s->digest->arena, json_array_size(list) * sizeof *side);
	finding->side = side;
	finding->sides = json_array_size(list);
	for (size_t i = 0; i < finding->sides; i++) {
		const json_t *access = json_array_get(list, i);
		const char *kernel = text_of(s, access, "kernel");
		side[i].what = *kernel ? kernel : text_of(s, access, "api");
		read_frames(s, access, &side[i]);
	}
}

/* Reads a finding. */
static void read_finding(struct source *s, const json_t *object)
{
	const char *id = text_of(s, object, "id");
	const json_t *cost = json_object_get(object, "cost");
	char *end = NULL;
	struct sw_digest_finding finding = {
		.id = strncmp(id, "SW", 2) == 0 ? (int)strtoul(id + 2, &end, 10) : 0,
		.kind = text_of(s, object, "kind"),
		.message = text_of(s, object, "message"),
		.severity = (enum sw_severity)word_of(s, object, "severity", severity_name, SW_ERROR),
		.confidence = (enum sw_confidence)word_of(s, object, "confidence", confidence_name, SW_CERTAIN),
		.hidden = flag_of(s, object, "hidden"),
		.count = count_of(s, object, "count"),
		.calls = count_of(s, cost, "calls"),
		.total_ns = time_of(s, cost, "total_ms"),
		.worst_ns = time_of(s, cost, "worst_ms"),
		.least_ns = time_of(s, cost, "win_low_ms"),
		.recoverable_ns = time_of(s, cost, "win_high_ms"),
		.fingerprint = strtoull(text_of(s, object, "fingerprint"), NULL, 16),
	};
	if (!end || *end || finding.id <= 0 || finding.id > 999)
		fail_wrong(s, "id", "SW and three digits");
	read_sides(s, object, &finding);
	s->digest->all |= finding.hidden;
	if (!flag_of(s, object, "suppressed"))
		*sw_vec_push(&s->digest->findings) = finding;
}

/* Did the report see all of its run?  Reports of older versions have no "complete" in their summary: then the counts of
   what is missing say it. */
static bool is_whole(struct source *s, const json_t *root)
{
	const json_t *coverage = json_object_get(root, "coverage"), *run = json_object_get(root, "run");
	const json_t *summary = json_object_get(root, "summary");
	if (json_object_get(summary, "complete"))
		return flag_of(s, summary, "complete");
	return !count_of(s, coverage, "records_lost") && !json_array_size(json_object_get(coverage, "damage")) &&
	       !count_of(s, coverage, "forgotten_accesses") && !count_of(s, coverage, "uncompared_graphs") &&
	       !count_of(s, coverage, "judged_until_call") && (!run || flag_of(s, run, "complete"));
}

/* Reports of older versions, and of several processes, have no such count. */
static uint64_t left_out(struct source *s, const json_t *root)
{
	const json_t *coverage = json_object_get(root, "coverage");
	return json_object_get(coverage, "calls_left_out") ? count_of(s, coverage, "calls_left_out") : 0;
}

/* Was any call of CUDA recorded in the run, in whichever of its processes? */
static bool calls_seen(struct source *s, const json_t *root)
{
	const json_t *processes = json_object_get(root, "processes");
	bool seen = count_of(s, json_object_get(root, "coverage"), "driver_calls");
	for (size_t i = 0; i < json_array_size(processes); i++)
		seen |= count_of(s, json_object_get(json_array_get(processes, i), "coverage"), "driver_calls") > 0;
	return seen;
}

/* Reads a report in JSON, after checking that it is one of a known version. */
static void read_report(struct source *s, const json_t *root)
{
	static const char family[] = "syncwatch-report/", known[] = "syncwatch-report/1";
	const char *schema = text_of(s, root, "schema");
	if (s->rc || strncmp(schema, family, sizeof family - 1) != 0) {
		s->rc = sw_fail(s->error, SW_E_FORMAT, "%s: this JSON is no report of syncwatch", s->path);
		return;
	}
	/* Members are only ever added within a major version. */
	if (strncmp(schema, known, sizeof known - 1) != 0 ||
	    (schema[sizeof known - 1] && schema[sizeof known - 1] != '.')) {
		s->rc = sw_fail(s->error, SW_E_VERSION, "%s: a report of schema %.40s, of which this version knows %s",
				s->path, schema, known);
		return;
	}
	const json_t *program = json_object_get(root, "program"), *list = list_of(s, root, "findings");
	const char *exe = text_of(s, program, "path"), *slash = strrchr(exe, '/');
	s->digest->program = slash ? slash + 1 : exe;
	s->digest->span_ns = time_of(s, program, "span_ms");
	s->digest->simulated = flag_of(s, program, "simulated");
	s->digest->whole = is_whole(s, root);
	s->digest->complete = flag_of(s, program, "ended_in_order") && s->digest->whole;
	s->digest->calls_seen = calls_seen(s, root);
	s->digest->left_out = left_out(s, root);
	for (size_t i = 0; i < json_array_size(list) && !s->rc; i++)
		read_finding(s, json_array_get(list, i));
}

int sw_digest_read(struct sw_digest *digest, FILE *file, const char *path, struct sw_error *error)
{
	struct source s = {.digest = digest, .path = path, .error = error};
	json_error_t why;
	*digest = (struct sw_digest){0};
	digest->path = sw_arena_strndup(&digest->arena, path, strlen(path));
	json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		s.rc = sw_fail(error, SW_E_FORMAT, "%s:%d:%d: no JSON: %s", path, why.line, why.column, why.text);
	else
		read_report(&s, root);
	json_decref(root);
	if (s.rc)
		sw_digest_free(digest);
	return s.rc;
}

#endif
