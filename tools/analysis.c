/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trusted_file.h"
#include "crash.h"
#include "install.h"
#include "output.h"
#include "progress.h"
#include "report/listing/listing.h"
#include "report/symbols/debug_objects.h"
#include "report/timeline/timeline.h"

/* Path of the suppressions that come with syncwatch; NULL: not wanted, or not there.  malloc'ed. */
static char *known_findings(const struct sw_options *options)
{
	return options->no_known ? NULL : sw_install_find_data("known.supp");
}

/* Loads the suppressions that come with syncwatch; only a file of a trusted owner, else findings are reported. */
static int load_known(const char *path, struct sw_suppressions **out, struct sw_error *error)
{
	FILE *file = sw_trusted_stream(path, sw_install_owner(), error);
	static bool told;
	if (!file) {
		if (!told)
			sw_complain(SW_EXIT_OK, "known findings of libraries are reported: %s", error->text);
		told = true;
		return 0;
	}
	int rc = sw_suppress_read(file, path, SW_SUPPRESS_KNOWN, out, error);
	fclose(file);
	return rc;
}

/* Loads the suppressions of the project's configuration. */
static int load_config(const struct sw_options *options, struct sw_suppressions **out, struct sw_error *error)
{
	const char *text = options->config_text;
	FILE *file = *text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
	int rc = file ? sw_suppress_read(file, options->config, SW_SUPPRESS_CONFIG, out, error) : 0;
	if (file)
		fclose(file);
	return rc;
}

/* Loads the suppressions that come with syncwatch, and the user's.  SW_EXIT_OK, or a status after one line. */
static int load_suppressions(const struct sw_options *options, struct sw_suppressions **out)
{
	struct sw_error error;
	char *known = known_findings(options);
	int rc = known ? load_known(known, out, &error) : 0;
	free(known);
	if (!rc && options->config)
		rc = load_config(options, out, &error);
	if (!rc && options->suppress)
		rc = sw_suppress_load(options->suppress, SW_SUPPRESS_FILE, out, &error);
	if (!rc && options->allow)
		rc = sw_suppress_load(options->allow, SW_SUPPRESS_ALLOW, out, &error);
	if (!rc && options->baseline)
		rc = sw_suppress_load(options->baseline, SW_SUPPRESS_BASELINE, out, &error);
	return rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Warns where the command was copied without the suppressions that come with it. */
static void tell_without_known(const struct sw_options *options)
{
	char *known = known_findings(options);
	if (!known && !options->no_known)
		sw_complain(SW_EXIT_OK,
			    "known.supp is not installed with this command: known findings of libraries are reported "
			    "(as with --no-known)");
	free(known);
}

/* Reads the rules of --forbid, --max-wait and --max-calls. */
int sw_analysis_gate(const struct sw_options *options, struct sw_gate *gate)
{
	const struct {
		enum sw_gate_op op;
		const struct sw_option_list *list;
	} lists[] = {{SW_GATE_FORBID, &options->forbid},
		     {SW_GATE_MAX_WAIT, &options->max_wait},
		     {SW_GATE_MAX_CALLS, &options->max_calls}};
	struct sw_error error;
	*gate = (struct sw_gate){0};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		for (size_t k = 0; k < lists[i].list->n; k++)
			if (sw_gate_add(gate, lists[i].op, lists[i].list->at[k], &error)) {
				sw_gate_free(gate);
				return sw_complain_usage("%s", error.text);
			}
	if (!gate->n && (options->allow || options->baseline || options->write_allow))
		return sw_complain_usage("--allow, --baseline and --write-allow are about rules, and there is none: "
					 "--forbid, --max-wait or --max-calls");
	return SW_EXIT_OK;
}

/* Adds, by rule, how many calls were in its scope. */
void sw_analysis_add_checked(const struct sw_judgement *judgement, uint64_t *calls)
{
	for (size_t i = 0; i < judgement->gate.n; i++)
		calls[i] += judgement->gate.at[i].calls;
}

/* The next rule, from *index on, that had no call in its scope, as a sentence, malloc'ed; NULL: none. */
char *sw_analysis_unchecked(const struct sw_gate *gate, const uint64_t *calls, uint32_t *index)
{
	while (*index < gate->n && calls[*index])
		++*index;
	if (*index >= gate->n)
		return NULL;
	const struct sw_gate_rule *rule = &gate->rule[(*index)++];
	return sw_format("'%s %s' checked nothing: %s", sw_gate_option(rule->op), rule->text,
			 rule->skip ? "no call was in its scope after the entries that it skips"
				    : "no call was in its scope");
}

/* Checks, before anything runs, all files and rules that the options name. */
int sw_analysis_check(const struct sw_options *options)
{
	struct sw_error error;
	struct sw_suppressions *suppressions = NULL;
	const char *files[] = {
#define SW_REPORT_FILE(option) options->option,
#include "report_files.def"
	};
	struct sw_gate gate;
	int wrong = sw_analysis_gate(options, &gate);
	if (wrong)
		return wrong;
	sw_gate_free(&gate);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (files[i] && sw_output_check(files[i], &error))
			return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	if (options->chrome && fnmatch("*.gz", options->chrome, 0) == 0 && !sw_chrome_can_gzip())
		return sw_complain_usage("this build cannot compress: choose a name without .gz, not '%s'",
					 options->chrome);
	tell_without_known(options);
	int status = load_suppressions(options, &suppressions);
	sw_suppress_free(suppressions);
	return status;
}

/* Writes the report as JSON. */
static int write_json(struct sw_report *report, const char *path)
{
	struct sw_output output;
	struct sw_error error;
	if (sw_output_open(&output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	sw_report_json(report, output.file);
	if (sw_output_close(&output, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	return SW_EXIT_OK;
}

/* Was the order of host threads recorded (--strict-host)? */
static bool tells_host_syncs(const struct sw_reader *reader)
{
	return sw_reader_header(reader)->flags & SW_FILE_HOST_SYNC;
}

/* The judge's options for those of the command line. */
struct sw_judge_options sw_analysis_judge(const struct sw_options *options, const struct sw_reader *reader)
{
	return (struct sw_judge_options){.fold_below_ns = SW_FOLD_BELOW_NS,
					 .keep_possible = options->all,
					 .strict_host = options->strict_host && tells_host_syncs(reader),
					 .no_footprints = options->no_footprints,
					 .cache = options->no_cache ? NULL : "",
					 .behaviour = !options->behaviour			? ""
						      : strcmp(options->behaviour, "none") == 0 ? NULL
												: options->behaviour};
}

/* Call-back of the judge: shows the progress. */
static void report_progress(void *arg, uint64_t operations, double part)
{
	sw_progress_tell(arg, operations, part);
}

/* Judges the trace and shows the progress on a terminal. */
int sw_analysis_judge_with_progress(struct sw_reader *reader, struct sw_judge_options *judge, const char *step,
				    struct sw_judgement **judgement, struct sw_error *error)
{
	struct sw_progress progress;
	sw_progress_begin(&progress, STDERR_FILENO, step);
	judge->progress = report_progress;
	judge->progress_arg = &progress;
	int rc = sw_judge(reader, judge, judgement, error);
	sw_progress_end(&progress);
	return rc;
}

/* Tells of a damaged trace; the status is that of an unusable input, unless it was an error before. */
int sw_analysis_tell_damage(const struct sw_reader *reader, int status)
{
	if (status || !sw_reader_totals(reader).damaged)
		return status;
	return sw_complain(SW_EXIT_INPUT, "the trace is damaged, what is whole of it was used: %s",
			   sw_reader_damage(reader, 0));
}

/* Judges a trace and makes its report.  hidden: with findings that are suppressed or folded. */
int sw_analysis_judge_only(struct sw_analysis *analysis, const char *trace, const struct sw_options *options,
			   bool hidden)
{
	return sw_analysis_judge_more(analysis, trace, options, hidden, NULL);
}

/* Loads what judging needs.  SW_EXIT_OK, or a status after one line. */
static int prepare_judging(struct sw_analysis *analysis, const struct sw_options *options)
{
	*analysis = (struct sw_analysis){0};
	const int status = load_suppressions(options, &analysis->suppressions);
	return status ? status : sw_analysis_gate(options, &analysis->gate);
}

/* Prepares to judge the trace of a program that runs, record by record. */
int sw_analysis_begin(struct sw_analysis *analysis, struct sw_reader *reader, const struct sw_options *options,
		      struct sw_judge_options *judge)
{
	const int status = prepare_judging(analysis, options);
	analysis->reader = reader;
	*judge = sw_analysis_judge(options, reader);
	/* `run` has preloaded what records it; the trace says so later. */
	judge->strict_host = options->strict_host;
	judge->gate = &analysis->gate;
	return status;
}

/* All suppressions that the options name. */
struct sw_suppressions *sw_analysis_suppressions(const struct sw_options *options)
{
	struct sw_suppressions *suppressions = NULL;
	load_suppressions(options, &suppressions);
	return suppressions;
}

/* Makes the report of the judgement. */
void sw_analysis_report(struct sw_analysis *analysis, bool hidden, bool compared)
{
	struct sw_error error;
	struct sw_report_options options = {analysis->suppressions, hidden, compared};
	analysis->report = sw_report_new(analysis->reader, analysis->judgement, &options);
	if (sw_in_flight_find(analysis->report, &error))
		sw_complain(SW_EXIT_OK, "%s", error.text);
}

/* Stacks whose files are read while the rest is judged: those of the first findings lie in most files that the report
   names. */
#define STACKS_AHEAD 256

struct ahead {
	const struct sw_reader *reader;
	unsigned stacks;
};

/* Call-back of the judge: has the files read that hold the first findings' stacks, while it goes on. */
static void found(void *arg, const struct sw_judgement *so_far, size_t index)
{
	struct ahead *ahead = arg;
	const struct sw_finding *finding = &so_far->findings.at[index];
	for (size_t i = 0; i < finding->accesses && ahead->stacks < STACKS_AHEAD; i++, ahead->stacks++)
		sw_symbols_ahead(ahead->reader, sw_finding_access(finding, i)->stack);
}

/* As sw_analysis_judge_only(), with the members of `more` (NULL: none) in the judge's options. */
int sw_analysis_judge_more(struct sw_analysis *analysis, const char *trace, const struct sw_options *options,
			   bool hidden, const struct sw_judge_options *more)
{
	struct sw_error error;
	sw_crash_note("the trace is untouched", trace);
	int status = prepare_judging(analysis, options);
	if (status)
		return status;
	if (sw_reader_open(trace, &analysis->reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);

	if (options->strict_host && !tells_host_syncs(analysis->reader))
		sw_complain(SW_EXIT_OK,
			    "'%s' does not record how host threads synchronise, so they are treated as one: record "
			    "it with "
			    "'syncwatch run --strict-host', or with libsyncwatch-host.so after libsyncwatch.so in "
			    "LD_PRELOAD",
			    trace);
	struct sw_judge_options judge = sw_analysis_judge(options, analysis->reader);
	judge.gate = &analysis->gate;
	if (more) {
		judge.added = more->added;
		judge.n_added = more->n_added;
		judge.asked = more->asked;
		judge.evaluate_all |= more->asked != NULL; /* a launch that is put off may never be evaluated */
		judge.moved = more->moved;
		judge.n_moved = more->n_moved;
		judge.shared_uses = more->shared_uses;
		judge.narrowed = more->narrowed;
		judge.n_narrowed = more->n_narrowed;
	}
	struct ahead ahead = {.reader = analysis->reader};
	judge.found = found;
	judge.found_arg = &ahead;
	sw_object_ahead_begin();
	/* A damaged trace is judged as far as it goes; what is missing of it is a gap of the report. */
	if (sw_analysis_judge_with_progress(analysis->reader, &judge, "judging", &analysis->judgement, &error))
		status = sw_complain(SW_EXIT_INPUT, "%s", error.text);
	if (analysis->judgement)
		sw_analysis_report(analysis, hidden, more && more->shared_uses);
	sw_object_ahead_end();
	if (!analysis->judgement)
		return status;
	if (status)
		sw_report_gap(analysis->report, sw_strdup("its trace could not be judged to its end"));
	return status;
}

/* Judges a trace, makes its report and writes --json. */
int sw_analysis_make(struct sw_analysis *analysis, const char *trace, const struct sw_options *options, bool hidden)
{
	int status = sw_analysis_judge_only(analysis, trace, options, hidden);
	int written = options->json && analysis->report ? write_json(analysis->report, options->json) : SW_EXIT_OK;
	return written ? written : status;
}

/* Frees the report, the judgement and the reader. */
void sw_analysis_free(struct sw_analysis *analysis)
{
	sw_report_free(analysis->report);
	if (analysis->judgement)
		sw_judgement_free(analysis->judgement);
	if (analysis->reader)
		sw_reader_close(analysis->reader);
	sw_suppress_free(analysis->suppressions);
	sw_gate_free(&analysis->gate);
}
