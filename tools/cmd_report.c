/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch report: judges a trace and prints the findings. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "ci_files.h"
#include "draw.h"
#include "html_file.h"
#include "last_report.h"
#include "pager.h"
#include "run/judged.h"
#include "terminal.h"

struct traces {
	SW_VEC(char *) paths;
};

/* Prints "text" or "json" on standard output. */
static int print(struct sw_report *report, const char *trace, bool json, const struct sw_options *options)
{
	struct sw_text_style style = sw_terminal_style(STDOUT_FILENO, options);
	style.trace = trace;
	if (json) {
		sw_report_json(report, stdout);
		return sw_finish_stdout(SW_EXIT_OK);
	}
	sw_pager_start(options);
	sw_report_text(report, stdout, &style);
	return sw_pager_finish();
}

/* What is written for the report of one trace, besides what is printed. */
static int write_files(const char *trace, struct sw_analysis *analysis, const struct sw_options *options)
{
	struct sw_ci_files *files;
	int status = sw_ci_files_open(options, &files);
	if (status)
		return status;
	sw_ci_files_add(files, analysis->report);
	status = sw_finish_stdout(sw_ci_files_close(files, stdout));
	if (!status)
		status = sw_html_file(trace, options, analysis->report);
	return status ? status : sw_draw(trace, options, analysis->judgement);
}

static int report_one(const char *trace, const struct sw_options *options, bool json)
{
	struct sw_analysis analysis;
	int status = sw_analysis_make(&analysis, trace, options, options->all);
	if (analysis.report) {
		struct sw_last_report *last = sw_last_report_begin(options->no_cache);
		sw_last_report_add(last, analysis.report, trace);
		sw_last_report_end(last);
		int printed = print(analysis.report, trace, json, options);
		status = status ? status : printed;
	}
	if (!status)
		status = write_files(trace, &analysis, options);
	sw_analysis_free(&analysis);
	return status;
}

/* As "syncwatch run" reports the processes of a run. */
static int report_several(const struct traces *traces, const struct sw_options *options, bool json)
{
	struct sw_judged judged;
	struct sw_session session = {0};
	if (options->chrome || options->perfetto || options->dot || options->html)
		return sw_complain_usage("a timeline, graph or page is of one trace, not of %zu", traces->paths.n);
	sw_judged_traces(&judged, options, traces->paths.at, traces->paths.n, &session);
	int status = judged.status;
	if (json) {
		sw_judged_json_to(&judged, &session, stdout);
	} else {
		sw_pager_start(options);
		sw_judged_print(&judged, &session);
		int printed = sw_pager_finish();
		status = status ? status : printed;
	}
	int written = sw_judged_json(&judged, &session), others = sw_judged_files(&judged);
	status = status ? status : written ? written : others;
	sw_judged_free(&judged);
	sw_session_free(&session);
	return sw_finish_stdout(status);
}

/* Patterns are for us where the shell left them alone: report 'python3*.swt'.  A name that exists is that file. */
static void expand(const struct sw_options *options, struct traces *traces)
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

int sw_cmd_report(const struct sw_options *options)
{
	bool json = options->format && strcmp(options->format, "json") == 0;
	struct traces traces;
	if (options->n_operands < 1)
		return sw_complain_usage("which trace?");
	if (options->format && !json && strcmp(options->format, "text") != 0)
		return sw_complain_usage("unknown format '%s': text or json", options->format);
	int status = sw_analysis_check(options);
	if (status)
		return status;
	expand(options, &traces);
	status = traces.paths.n > 1 ? report_several(&traces, options, json)
				    : report_one(traces.paths.at[0], options, json);
	for (size_t i = 0; i < traces.paths.n; i++)
		free(traces.paths.at[i]);
	free(traces.paths.at);
	return status;
}
