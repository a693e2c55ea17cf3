/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch report: judges a trace and prints the findings. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis.h"
#include "ci_files.h"
#include "draw.h"
#include "html_file.h"
#include "last_report.h"
#include "output.h"
#include "pager.h"
#include "run/judged.h"
#include "terminal.h"

struct traces {
	SW_VEC(char *) paths;
};

/* Prints the report as text or JSON on standard output. */
static int print_report(struct sw_report *report, const char *trace, bool json, const struct sw_options *options,
			const struct sw_session *session)
{
	struct sw_text_style style = sw_terminal_style(STDOUT_FILENO, options);
	style.trace = trace;
	style.quiet = options->quiet;
	if (json) {
		sw_report_json(report, stdout);
		return sw_finish_stdout(SW_EXIT_OK);
	}
	sw_pager_start(options);
	sw_report_text(report, stdout, &style);
	sw_judged_put_gaps(stdout, session);
	return sw_pager_finish();
}

/* Writes what print_report() prints to the file of --text. */
static int write_text(struct sw_report *report, const char *trace, const struct sw_options *options,
		      const struct sw_session *session)
{
	struct sw_output output;
	struct sw_error error;
	if (!options->text)
		return SW_EXIT_OK;
	if (sw_output_open(&output, options->text, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	struct sw_text_style style = sw_terminal_style(STDOUT_FILENO, options);
	style.colour = style.links = false;
	style.columns = 0;
	style.trace = trace;
	sw_report_text(report, output.file, &style);
	sw_judged_put_gaps(output.file, session);
	return sw_output_close(&output, &error) ? sw_complain(SW_EXIT_OUTPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Writes the files for the report of one trace: each of them, whether the others could be or not. */
static void write_files(struct sw_verdict *verdict, const char *trace, struct sw_analysis *analysis,
			const struct sw_options *options)
{
	struct sw_ci_files *files;
	sw_verdict_step(verdict, sw_ci_files_open(options, &files));
	sw_ci_files_add(files, analysis->report);
	if (!analysis->report->gaps.n && !verdict->calls_seen)
		sw_ci_files_gap(files, sw_name_program(&analysis->report->names), "no CUDA call was seen");
	sw_verdict_step(verdict, sw_finish_stdout(sw_ci_files_close(files, stdout)));
	sw_verdict_step(verdict, sw_html_file(trace, options, analysis->report));
	sw_verdict_step(verdict, sw_draw(trace, options, analysis->report));
}

/* Notes rules that had no call in their scope as gaps. */
static void tell_unchecked(struct sw_analysis *analysis)
{
	uint64_t calls[SW_GATE_RULES] = {0};
	uint32_t i = 0;
	sw_analysis_add_checked(analysis->judgement, calls);
	for (char *text; (text = sw_analysis_unchecked(&analysis->gate, calls, &i));)
		sw_report_gap(analysis->report, text);
}

/* Prints the report of a trace and writes its files. */
static void report_it(struct sw_verdict *verdict, const char *trace, struct sw_analysis *analysis,
		      const struct sw_options *options, bool json)
{
	struct sw_session session = {0};
	struct sw_last_report *last = sw_last_report_begin(options->no_cache);
	sw_last_report_add(last, analysis->report, trace);
	sw_last_report_end(last);
	if (options->finding && !sw_report_count_meant(analysis->report, options->finding)) {
		sw_verdict_step(verdict, sw_complain(SW_EXIT_INPUT, "%s has no finding '%s' (%s)", trace,
						     options->finding, SW_FINDING_FORMS));
		return;
	}
	tell_unchecked(analysis);
	sw_judged_take_gaps(&session, 0, analysis->report);
	sw_verdict_step(verdict, print_report(analysis->report, trace, json, options, &session));
	sw_verdict_step(verdict, write_text(analysis->report, trace, options, &session));
	sw_verdict_take(verdict, analysis->report);
	verdict->errors = analysis->report->totals.errors;
	write_files(verdict, trace, analysis, options);
	sw_session_free(&session);
}

/* Judges one trace and reports it. */
static int report_one(const char *trace, const struct sw_options *options, bool json)
{
	struct sw_analysis analysis;
	struct sw_verdict verdict = {.options = options};
	sw_verdict_step(&verdict, sw_analysis_make(&analysis, trace, options, options->all));
	if (analysis.report)
		report_it(&verdict, trace, &analysis, options, json);
	sw_analysis_free(&analysis);
	return sw_verdict_status(&verdict);
}

/* Reports several traces as "syncwatch run" reports the processes of a run. */
static int report_several(const struct traces *traces, const struct sw_options *options, bool json)
{
	struct sw_judged judged;
	struct sw_session session = {0};
	if (options->chrome || options->perfetto || options->dot || options->html)
		return sw_complain_usage("a timeline, graph or page is of one trace, not of %zu", traces->paths.n);
	if (options->finding)
		return sw_complain_usage("--finding is about one trace, not about %zu", traces->paths.n);
	sw_judged_traces(&judged, options, traces->paths.at, traces->paths.n, &session);
	if (json) {
		sw_judged_json_to(&judged, &session, stdout);
	} else {
		sw_pager_start(options);
		sw_judged_print(&judged, &session);
		sw_verdict_step(&judged.verdict, sw_pager_finish());
	}
	sw_verdict_step(&judged.verdict, sw_judged_json(&judged, &session));
	sw_verdict_step(&judged.verdict, sw_finish_stdout(sw_judged_files(&judged, &session)));
	const int status = sw_judged_status(&judged, &session, NULL);
	sw_judged_free(&judged);
	sw_session_free(&session);
	return status;
}

/* Patterns are for us where the shell left them alone: report 'python3*.swt'.  A name that exists is that file. */
static void expand_patterns(const struct sw_options *options, struct traces *traces)
{
	*traces = (struct traces){0};
	for (int i = 0; i < options->n_operands; i++) {
		const char *operand = options->operands[i];
		glob_t found;
		if (access(operand, F_OK) == 0 || glob(operand, 0, NULL, &found)) {
			*sw_vec_push(&traces->paths) = sw_strdup(operand);
			continue;
		}
		for (size_t k = 0; k < found.gl_pathc; k++)
			*sw_vec_push(&traces->paths) = sw_strdup(found.gl_pathv[k]);
		globfree(&found);
	}
}

/* Finds the trace that was written last in the current folder, under one of the names that traces get; false: none. */
static bool newest_here(struct traces *traces)
{
	glob_t found;
	struct stat s, best = {0};
	const char *newest = NULL;
	if (glob("syncwatch-*.swt*", 0, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!stat(found.gl_pathv[i], &s) && S_ISREG(s.st_mode) &&
		    (!newest || s.st_mtim.tv_sec > best.st_mtim.tv_sec ||
		     (s.st_mtim.tv_sec == best.st_mtim.tv_sec && s.st_mtim.tv_nsec > best.st_mtim.tv_nsec))) {
			newest = found.gl_pathv[i];
			best = s;
		}
	if (newest) {
		sw_complain(SW_EXIT_OK, "the newest trace here: %s", newest);
		*sw_vec_push(&traces->paths) = sw_strdup(newest);
	}
	globfree(&found);
	return newest;
}

/* `syncwatch report`. */
int sw_cmd_report(const struct sw_options *given)
{
	struct sw_options changed = *given;
	if (given->json && !strcmp(given->json, "-")) { /* instead of the text */
		changed.format = "json";
		changed.json = NULL;
	}
	const struct sw_options *options = &changed;
	bool json = options->format && strcmp(options->format, "json") == 0;
	struct traces traces;
	if (options->format && !json && strcmp(options->format, "text") != 0)
		return sw_complain_usage("unknown format '%s': text or json", options->format);
	int status = sw_analysis_check(options);
	if (status)
		return sw_verdict_refusal(options, status);
	expand_patterns(options, &traces);
	if (!options->n_operands && !newest_here(&traces))
		return sw_complain_usage("which trace? there is no syncwatch-*.swt in this folder");
	status = traces.paths.n > 1 ? report_several(&traces, options, json)
				    : report_one(traces.paths.at[0], options, json);
	for (size_t i = 0; i < traces.paths.n; i++)
		free(traces.paths.at[i]);
	free(traces.paths.at);
	return status;
}
