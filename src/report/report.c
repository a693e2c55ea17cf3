/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/counted.h"
#include "base/hash.h"
#include "report/groups.h"
#include "report/symbols/stack.h"
#include "report/symbols/module_names.h"

bool sw_coverage_count_at(const struct sw_coverage *coverage, size_t i, struct sw_coverage_count *out)
{
	const struct {
		uint64_t n;
		unsigned place;
		const char *words;
		bool indirect;
	} rows[] = {
#define SW_COVERAGE(member, key, limit, words, meaning)                                                                \
	{coverage->member, limit, words,                                                                               \
	 offsetof(struct sw_coverage, member) == offsetof(struct sw_coverage, indirect_kernels)},
#include "detect/coverage.def"
	};
	if (i >= sizeof rows / sizeof *rows)
		return false;
	out->n = rows[i].n;
	out->place = rows[i].place;
	sw_counted(out->text, sizeof out->text, rows[i].n, rows[i].words);
	/* A whole run would know pointers that were uploaded in a pause; contents of uploads are not recorded there, as
	   kernels that are not seen may change them. */
	if (rows[i].indirect && coverage->left_out)
		strncat(out->text, ": what was written there outside of the windows is not known",
			sizeof out->text - strlen(out->text) - 1);
	return true;
}

/* The entry of the file with this path, added if it is new. */
static struct sw_unusable_file *file_of(sw_unusable_file_vec *files, struct sw_map *by_path, const char *path)
{
	uint64_t *at = sw_map_put(by_path, sw_hash_bytes(SW_FNV_START, path, strlen(path)));
	if (!*at) {
		*sw_vec_push(files) = (struct sw_unusable_file){.path = path};
		*at = files->n;
	}
	return &files->at[*at - 1];
}

void sw_unusable_files(const struct sw_report *report, sw_unusable_file_vec *files)
{
	const struct sw_judgement *judgement = report->judgement;
	const struct sw_named_file *named;
	struct sw_map by_path = {0};
	*files = (sw_unusable_file_vec){0};
	for (size_t i = 0; i < judgement->unusable_code.n; i++) {
		const struct sw_unusable_code *code = &judgement->unusable_code.at[i];
		struct sw_unusable_file *file = file_of(files, &by_path, code->path);
		file->changed = code->changed;
		file->kernels = code->kernels;
	}
	for (size_t i = 0; (named = sw_symbols_unusable(report->names.symbols, i)); i++) {
		struct sw_unusable_file *file = file_of(files, &by_path, named->path);
		file->changed |= named->state == SW_OBJECT_CHANGED;
		file->names = true;
	}
	sw_map_free(&by_path);
}

const char *sw_unusable_files_fix(struct sw_report *report)
{
	const char *path = sw_reader_path(report->reader);
	if (sw_reader_packer(report->reader))
		return "the trace was packed without them: pack it again where it was recorded, with the files that "
		       "ran";
	return sw_names_format(
		&report->names,
		"run 'syncwatch pack %s' where it was recorded, with the files that ran, and judge what it writes",
		path);
}

/* Counts a finding in the totals by severity; a suppressed one is not counted. */
static void count(struct sw_report_totals *totals, const struct sw_shown_finding *shown)
{
	if (shown->suppressed)
		return;
	switch (shown->finding->severity) {
	case SW_ERROR:
		totals->errors++;
		break;
	case SW_WARNING:
		totals->warnings++;
		break;
	case SW_NOTE:
		totals->notes++;
		break;
	}
}

struct sw_wording sw_report_words(struct sw_report *report, const struct sw_shown_finding *shown)
{
	const char *home = report->names.home;
	const struct sw_frame *site = sw_report_site(report, shown->finding);
	struct sw_wording words;
	report->names.home = site ? site->file : NULL;
	sw_wording_of(&report->names, shown->finding, &words);
	report->names.home = home;
	return words;
}

/* The line for a suppressions file that hides this finding. */
const char *sw_report_suppression(struct sw_report *report, const struct sw_shown_finding *shown)
{
	return sw_suppress_line(&report->names, shown->finding, 0);
}

/* Adds the finding to those that are shown, unless it is suppressed or hidden; counts it in any case. */
static void add_shown(struct sw_report *report, const struct sw_finding *finding,
		      const struct sw_report_options *options)
{
	bool known = false;
	bool suppressed = sw_suppress_fits(options->suppressions, &report->names, finding, &known);
	report->totals.suppressed += suppressed;
	report->totals.known += known;
	report->totals.hidden += finding->hidden && !suppressed;
	report->totals.lowered += finding->lowered && !suppressed;
	if ((suppressed || finding->hidden) && !options->all)
		return;
	struct sw_shown_finding shown = {
		.finding = finding,
		.info = sw_finding_info(finding->id),
		.fingerprint = sw_fingerprint(&report->names, finding),
		.suppressed = suppressed,
		.known = known,
	};
	if (!shown.info)
		return;
	count(&report->totals, &shown);
	if (!suppressed && finding->severity == SW_NOTE && sw_is_hazard(finding))
		++*(finding->confidence == SW_POSSIBLE ? &report->totals.possible : &report->totals.hazard_notes);
	*sw_vec_push(&report->shown) = shown;
}

/* ---- findings that look alike ------------------------------------------------------------------------------------ */

/* For qsort_r() of indexes: findings with one fingerprint next to each other, told apart by their words. */
static int by_likeness(const void *x, const void *y, void *arg)
{
	struct sw_report *report = arg;
	const struct sw_shown_finding *a = &report->shown.at[*(const uint32_t *)x],
				      *b = &report->shown.at[*(const uint32_t *)y];
	if (a->fingerprint != b->fingerprint)
		return a->fingerprint < b->fingerprint ? -1 : 1;
	/* Findings that only --all shows come last, so that they change no number. */
	bool less = a->suppressed || a->finding->hidden, other = b->suppressed || b->finding->hidden;
	if (less != other)
		return less ? 1 : -1;
	struct sw_names_scope scope;
	sw_names_scope_begin(&report->names, &scope);
	int order = sw_fingerprint_order(&report->names, a->finding, b->finding);
	sw_names_scope_end(&report->names, &scope);
	return order ? order : *(const uint32_t *)x < *(const uint32_t *)y ? -1 : 1;
}

/* Gives findings that have one fingerprint different ones: each after the first is numbered. */
static void distinguish(struct sw_report *report)
{
	const size_t n = report->shown.n;
	uint32_t *index = sw_alloc((n + 1) * sizeof *index);
	for (uint32_t i = 0; i < n; i++)
		index[i] = i;
	if (n)
		qsort_r(index, n, sizeof *index, by_likeness, report);
	for (size_t i = 1, first = 0; i < n; i++) {
		struct sw_shown_finding *shown = &report->shown.at[index[i]];
		/* That of the first is its own. */
		if (shown->fingerprint != report->shown.at[index[first]].fingerprint)
			first = i;
		else
			shown->fingerprint = sw_fingerprint_of_twin(shown->fingerprint, i - first);
	}
	free(index);
}

/* ---- gaps -------------------------------------------------------------------------------------------------------- */

void sw_report_gap(struct sw_report *report, char *text)
{
	*sw_vec_push(&report->gaps) = text;
}

/* The end of a sentence about lost records: why they were lost; "" unknown. */
static const char *why_lost(uint32_t full)
{
	switch (full) {
	case SW_LOSS_SIZE_LIMIT:
		return ": the trace had reached its size limit (max-size)";
	case SW_LOSS_NO_SPACE:
		return ": there was no more room for the trace on the disk";
	case SW_LOSS_NO_MEMORY:
		return ": there was no more memory for the trace";
	default:
		return "";
	}
}

/* Notes what the trace does not have, and what the report therefore cannot say: lost or left out records. */
static void find_in_the_trace(struct sw_report *report)
{
	const struct sw_trace_totals totals = sw_reader_totals(report->reader);
	const uint64_t lost = report->judgement->coverage.records_lost > totals.lost
				      ? report->judgement->coverage.records_lost
				      : totals.lost;
	const char *damage = sw_reader_damage(report->reader, 0);
	if (!sw_reader_process(report->reader))
		sw_report_gap(report, sw_strdup("its trace holds no record: it ran unrecorded, or the trace was cut"));
	if (lost)
		sw_report_gap(report, sw_format("%" PRIu64 " of its records were lost%s", lost, why_lost(totals.full)));
	if (totals.windowed && !totals.windows && totals.paused && !totals.closed)
		sw_report_gap(report,
			      sw_strdup("no window was opened before it ended, not in order: how many calls were left "
					"out is not known"));
	else if (totals.windowed && !totals.windows)
		sw_report_gap(report,
			      sw_format("no window was opened: %" PRIu64 " of its calls were left out, and what "
					"they do was not judged",
					totals.left_out));
	if (totals.dropped)
		sw_report_gap(report, sw_format("%" PRIu64
						" %s before its last ones %s dropped (--last, --keep) and not judged",
						totals.dropped_calls, sw_plural(totals.dropped_calls, "call", "calls"),
						sw_plural(totals.dropped_calls, "was", "were")));
	if (damage)
		sw_report_gap(report,
			      sw_format("its trace is %s: %s", totals.damaged ? "damaged" : "not complete", damage));
}

/* Notes what was not judged although it was recorded. */
static void find_in_the_judgement(struct sw_report *report)
{
	const struct sw_coverage *coverage = &report->judgement->coverage;
	struct sw_coverage_count count;
	/* The limits of syncwatch that the first lines of the report name. */
	for (size_t i = 0; sw_coverage_count_at(coverage, i, &count); i++)
		if (count.n && count.place >= SW_COVERAGE_FIRST_LINES)
			sw_report_gap(report, sw_strdup(count.text));
	if (coverage->sticky_error_seq)
		sw_report_gap(report, sw_format("a CUDA error ended its judgement at call %" PRIu64,
						coverage->sticky_error_seq));
	if (report->totals.lowered)
		sw_report_gap(report,
			      sw_format("%u hazard%s would be an error, but a call that syncwatch does not know may "
					"order the two sides (SW903; --all shows %s)",
					report->totals.lowered,
					sw_plural(report->totals.lowered, "", "s, each of which"),
					sw_plural(report->totals.lowered, "it", "them")));
}

/* Collects the gaps of the report.  compared: memory shared with other processes was compared with them (merge). */
static void find_gaps(struct sw_report *report, bool compared)
{
	find_in_the_trace(report);
	find_in_the_judgement(report);
	if (report->judgement->shares_pools)
		sw_report_gap(report, sw_strdup("it shares memory of a pool with other processes "
						"(cuMemPoolExportPointer), whose uses are not compared"));
	if (report->judgement->shares_memory && !compared)
		sw_report_gap(
			report,
			sw_strdup("it shares memory with other processes (cudaIpcGetMemHandle): races between them "
				  "are found by 'syncwatch merge' of all their traces, or by one 'syncwatch run' "
				  "that starts them all"));
}

/* Is `which` the "FILE:LINE" of the frame, the file by its name or by the end of its path? */
static bool is_place(const struct sw_frame *frame, const char *which)
{
	const char *colon = strrchr(which, ':');
	if (!frame || !frame->file || !colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    strtol(colon + 1, NULL, 10) != frame->line)
		return false;
	const size_t length = (size_t)(colon - which), whole = strlen(frame->file);
	const char *end = whole >= length ? frame->file + whole - length : NULL;
	return length && end && strncmp(end, which, length) == 0 && (end == frame->file || end[-1] == '/');
}

/* Is the finding, or one of its operations, at this place of the source ("FILE:LINE")? */
static bool is_at(struct sw_report *report, const struct sw_finding *finding, const char *which)
{
	struct sw_names_scope scope;
	sw_names_scope_begin(&report->names, &scope);
	bool is = is_place(sw_report_site(report, finding), which);
	for (uint32_t i = 0; i < finding->accesses && !is; i++)
		is = is_place(sw_place_of(&report->names, sw_finding_access(finding, i),
					  i < 2 && finding->accesses > 1 ? finding->access[!i] : NULL),
			      which);
	sw_names_scope_end(&report->names, &scope);
	return is;
}

/* Does the user's word mean this finding: an id, a kind, the begin of a fingerprint, or a place? */
bool sw_report_means(struct sw_report *report, const struct sw_shown_finding *shown, const char *which)
{
	char fingerprint[20];
	snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, shown->fingerprint);
	if (strncasecmp(which, "SW", 2) == 0 && which[2] && strspn(which + 2, "0123456789") == strlen(which + 2))
		return atoi(which + 2) == shown->finding->id;
	if (strcasecmp(which, shown->info->kind) == 0)
		return true;
	if (strlen(which) >= SW_LEAST_FINGERPRINT && strncasecmp(fingerprint, which, strlen(which)) == 0)
		return true;
	return strchr(which, ':') && is_at(report, shown->finding, which);
}

/* How many shown findings the user's word means. */
size_t sw_report_count_meant(struct sw_report *report, const char *which)
{
	size_t n = 0;
	for (size_t i = 0; i < report->shown.n; i++)
		n += sw_report_means(report, &report->shown.at[i], which);
	return n;
}

struct sw_report *sw_report_begin(struct sw_reader *reader, const struct sw_judgement *so_far,
				  const struct sw_report_options *options)
{
	struct sw_report *report = sw_calloc(1, sizeof *report);
	report->judgement = so_far;
	report->reader = reader;
	report->suppressions = options->suppressions;
	report->all = options->all;
	sw_names_init(&report->names, reader, so_far);
	return report;
}

/* Makes the report show this finding of the judgement alone; false: it is suppressed or hidden. */
bool sw_report_only(struct sw_report *report, size_t index)
{
	const struct sw_report_options options = {.suppressions = report->suppressions};
	sw_report_ungroup(report);
	report->shown.n = 0;
	add_shown(report, &report->judgement->findings.at[index], &options);
	sw_report_group(report);
	return report->shown.n;
}

/* Makes a report of the judgement; what it points to must outlive it. */
struct sw_report *sw_report_new(struct sw_reader *reader, const struct sw_judgement *judgement,
				const struct sw_report_options *options)
{
	struct sw_report *report = sw_report_begin(reader, judgement, options);
	for (size_t i = 0; i < judgement->findings.n; i++) {
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		add_shown(report, &judgement->findings.at[i], options);
		sw_names_scope_end(&report->names, &scope);
	}
	distinguish(report);
	sw_report_group(report);
	find_gaps(report, options->compared);
	return report;
}

/* Frees the report; NULL is allowed. */
void sw_report_free(struct sw_report *report)
{
	if (!report)
		return;
	sw_report_ungroup(report);
	sw_names_free(&report->names);
	free(report->shown.at);
	free(report->in_flight.at);
	for (size_t i = 0; i < report->gaps.n; i++)
		free(report->gaps.at[i]);
	free(report->gaps.at);
	free(report);
}

void sw_report_put_counts(FILE *out, uint32_t errors, uint32_t warnings, uint32_t notes)
{
	fprintf(out, "%u error%s, %u warning%s, %u note%s", errors, sw_plural(errors, "", "s"), warnings,
		sw_plural(warnings, "", "s"), notes, sw_plural(notes, "", "s"));
}
