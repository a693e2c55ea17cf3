/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "html_file.h"

#include "analysis.h"
#include "output.h"
#include "report/html/html.h"

/* Collects the operations around each finding, with their times as the replay estimates them. */
static int look_around(const char *trace, const struct sw_options *options, struct sw_nearby *nearby)
{
	struct sw_reader *reader;
	struct sw_judgement *judgement = NULL;
	struct sw_error error;
	if (sw_reader_open(trace, &reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	struct sw_judge_options judge = sw_analysis_judge(options, reader);
	/* Which operations there are, and their times, is the same without the code of kernels. */
	judge.no_footprints = true;
	judge.no_findings = true;
	judge.observer = sw_nearby_observer(nearby);
	int rc = sw_analysis_judge_with_progress(reader, &judge, "drawing", &judgement, &error);
	sw_judgement_free(judgement);
	sw_reader_close(reader);
	return rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Writes the report as a page if that is wanted. */
int sw_html_file(const char *trace, const struct sw_options *options, struct sw_report *report)
{
	struct sw_output output;
	struct sw_error error;
	if (!options->html)
		return SW_EXIT_OK;
	if (sw_output_open(&output, options->html, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	struct sw_nearby *nearby = sw_nearby_new(report);
	int status = look_around(trace, options, nearby);
	if (status) {
		sw_output_drop(&output);
	} else {
		sw_html_write(report, nearby, PACKAGE_VERSION, output.file);
		if (sw_output_close(&output, &error))
			status = sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	}
	sw_nearby_free(nearby);
	return status;
}
