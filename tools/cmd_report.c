/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch report: judges a trace and prints the findings. */
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "ci_files.h"
#include "draw.h"
#include "pager.h"
#include "terminal.h"

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
	return status ? status : sw_draw(trace, options, analysis->judgement);
}

int sw_cmd_report(const struct sw_options *options)
{
	bool json = options->format && strcmp(options->format, "json") == 0;
	if (options->n_operands != 1)
		return sw_complain_usage(options->n_operands ? "one trace at a time" : "which trace?");
	if (options->format && !json && strcmp(options->format, "text") != 0)
		return sw_complain_usage("unknown format '%s': text or json", options->format);
	int status = sw_analysis_check(options);
	if (status)
		return status;
	struct sw_analysis analysis;
	status = sw_analysis_make(&analysis, options->operands[0], options, options->all);
	if (analysis.report) {
		int printed = print(analysis.report, options->operands[0], json, options);
		status = status ? status : printed;
	}
	if (!status)
		status = write_files(options->operands[0], &analysis, options);
	sw_analysis_free(&analysis);
	return status;
}
