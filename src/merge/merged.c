/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "merge/merged.h"

#include <stdlib.h>
#include <string.h>

#include "reader/clock.h"
#include "reader/ranks.h"
#include "report/json/report_parts.h"

struct sw_merged *sw_merged_new(void)
{
	return sw_calloc(1, sizeof(struct sw_merged));
}

/* Frees a process with its texts and gaps. */
void sw_merged_free_rank(struct sw_merged_rank *rank)
{
	char *texts[] = {rank->program, rank->trace, rank->host, rank->boot, rank->job, rank->recorder};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		free(texts[i]);
	for (size_t i = 0; i < rank->gaps.n; i++)
		free(rank->gaps.at[i]);
	free(rank->gaps.at);
	free(rank);
}

/* Frees a finding; its processes are the merged report's. */
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
		sw_merged_free_rank(merged->ranks.at[i]);
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

/* Adds a copy of the text to what is missing in the process's trace. */
static void add_gap(struct sw_merged_rank *rank, const char *text)
{
	for (size_t i = 0; i < rank->gaps.n; i++)
		if (strcmp(rank->gaps.at[i], text) == 0)
			return;
	*sw_vec_push(&rank->gaps) = sw_strdup(text);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Order of processes: by rank, those without one last; whatever the order in which they were added. */
int sw_merged_compare(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	int by = sw_merged_by_number(a->ranked ? a->rank : UINT64_MAX, b->ranked ? b->rank : UINT64_MAX);
	if (!by)
		by = strcmp(a->job, b->job);
	if (!by)
		by = sw_merged_by_number(a->restart, b->restart);
	if (!by)
		by = sw_merged_by_number(a->start_real_ns, b->start_real_ns);
	if (!by)
		by = strcmp(a->host, b->host);
	if (!by)
		by = sw_merged_by_number(a->pid, b->pid);
	return by ? by : sw_merged_by_number(a->start_monotonic_ns, b->start_monotonic_ns);
}

const char *sw_merged_machine(const struct sw_merged_rank *rank)
{
	return *rank->boot ? rank->boot : rank->host;
}

/* Joins what another trace of the same process says of it.  Gaps of both count; times are those of the trace whose path
   comes first, so that the order of adding makes no difference. */
void sw_merged_join_rank(struct sw_merged_rank *rank, struct sw_merged_rank *other)
{
	for (size_t i = 0; i < other->gaps.n; i++)
		add_gap(rank, other->gaps.at[i]);
	rank->left_out = rank->left_out > other->left_out ? rank->left_out : other->left_out;
	if (strcmp(rank->trace, other->trace) <= 0)
		return;
	char *trace = rank->trace;
	rank->trace = other->trace;
	other->trace = trace;
	rank->span_ns = other->span_ns;
	rank->host_wait_ns = other->host_wait_ns;
	rank->driver_calls = other->driver_calls;
	rank->ended_in_order = other->ended_in_order;
}

struct sw_merged_rank *sw_merged_find_rank(const struct sw_merged *merged, const struct sw_merged_rank *rank)
{
	for (size_t i = 0; i < merged->ranks.n; i++)
		if (sw_merged_compare(merged->ranks.at[i], rank) == 0)
			return merged->ranks.at[i];
	return NULL;
}

/* Equal fingerprints are one finding, unless the processes rate it differently or one of them suppresses it. */
static bool same_finding(const struct sw_merged_finding *a, const struct sw_merged_finding *b)
{
	return a->fingerprint == b->fingerprint && a->severity == b->severity && a->suppressed == b->suppressed;
}

/* Does the finding name this process already? */
static bool holds_rank(const struct sw_merged_finding *finding, const struct sw_merged_rank *rank)
{
	for (size_t i = 0; i < finding->in.n; i++)
		if (finding->in.at[i] == rank)
			return true;
	return false;
}

/* Adds the processes of `other` to `kept`, and frees `other`.  Text and JSON are those of the first process, so that
   they do not depend on the order of the merge. */
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

/* Counts the finding for those of its processes that were there before, unless `known`, which is the same (or NULL),
   has them. */
static void count_again(const struct sw_merged_finding *finding, const struct sw_merged_finding *known)
{
	for (size_t i = 0; i < finding->in.n && !finding->suppressed; i++) {
		struct sw_merged_rank *rank = finding->in.at[i];
		if (!rank->again || (known && holds_rank(known, rank)))
			continue;
		++*(finding->severity == SW_ERROR     ? &rank->errors
		    : finding->severity == SW_WARNING ? &rank->warnings
						      : &rank->notes);
	}
}

/* Takes the finding, or joins it to the one that is the same. */
void sw_merged_take_finding(struct sw_merged *merged, struct sw_merged_finding *finding)
{
	struct sw_merged_finding *known = NULL;
	for (size_t i = 0; i < merged->findings.n && !known; i++)
		if (same_finding(merged->findings.at[i], finding))
			known = merged->findings.at[i];
	count_again(finding, known);
	if (known)
		join_findings(known, finding);
	else
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

/* Adds all findings that the report shows, as findings of this process. */
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
		sw_merged_take_finding(merged, finding);
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

/* Copies what the merged report needs, since the process's report may be freed next. */
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
	rank->left_out = report->judgement->coverage.left_out;
	for (size_t i = 0; i < report->gaps.n; i++)
		add_gap(rank, report->gaps.at[i]);
	struct sw_merged_rank *there = sw_merged_find_rank(merged, rank);
	if (there) {
		sw_merged_join_rank(there, rank);
		sw_merged_free_rank(rank);
		return there;
	}
	*sw_vec_push(&merged->ranks) = rank;
	return rank;
}

/* Adds a process and its findings; of a process that was there before only those that it did not have. */
struct sw_merged_rank *sw_merged_add(struct sw_merged *merged, struct sw_report *report, const char *trace)
{
	const size_t before = merged->ranks.n;
	struct sw_merged_rank *rank = sw_merged_add_process(merged, report, trace);
	/* A copy adds nothing; windows of one process (--last, --keep) have findings of their own. */
	rank->again = merged->ranks.n == before;
	add_findings(merged, report, rank);
	rank->again = false;
	return rank;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Order of processes, for qsort. */
static int by_rank(const void *a, const void *b)
{
	return sw_merged_compare(*(struct sw_merged_rank *const *)a, *(struct sw_merged_rank *const *)b);
}

/* Errors first, then what most processes have. */
static int by_weight(const void *a, const void *b)
{
	const struct sw_merged_finding *x = *(struct sw_merged_finding *const *)a;
	const struct sw_merged_finding *y = *(struct sw_merged_finding *const *)b;
	int by = sw_merged_by_number(y->severity, x->severity);
	if (!by)
		by = sw_merged_by_number(y->in.n, x->in.n);
	if (!by)
		by = sw_merged_by_number(x->in.at[0]->index, y->in.at[0]->index);
	return by ? by : sw_merged_by_number(x->fingerprint, y->fingerprint);
}

/* Order of traces that could not be read. */
static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct sw_merged_unusable *)a)->path, ((const struct sw_merged_unusable *)b)->path);
}

/* Suppressed findings are counted as such, whatever their severity. */
static void count_finding(struct sw_merged *merged, const struct sw_merged_finding *finding)
{
	if (finding->suppressed)
		merged->suppressed++;
	else
		++*(finding->severity == SW_ERROR     ? &merged->errors
		    : finding->severity == SW_WARNING ? &merged->warnings
						      : &merged->notes);
}

/* As qsort(), which must not be called with the NULL of an empty vector. */
static void sort_array(void *at, size_t n, size_t bytes, int (*by)(const void *, const void *))
{
	if (n)
		qsort(at, n, bytes, by);
}

/* Sorts the processes and tells each its place: the JSON and the findings refer to them by it. */
static void number_ranks(struct sw_merged *merged)
{
	sort_array(merged->ranks.at, merged->ranks.n, sizeof *merged->ranks.at, by_rank);
	for (size_t i = 0; i < merged->ranks.n; i++)
		merged->ranks.at[i]->index = i;
}

/* Compares the processes only, which need not be all of a job. */
void sw_merged_compare_processes(struct sw_merged *merged)
{
	number_ranks(merged);
	sw_between_find(merged);
}

/* Sorts and counts all that was added, then compares the processes.  Processes are sorted first, since the order of all
   else depends on theirs. */
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
