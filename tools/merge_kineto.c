/* SPDX-License-Identifier: Apache-2.0 */
#include "merge_kineto.h"

#include <fnmatch.h>

#include "analysis.h"
#include "output.h"
#include "report/kineto/kineto.h"

/* Writes the profile with the trace's work and findings. */
static int write_merged(struct sw_kineto *kineto, struct sw_report *report, const char *path)
{
	struct sw_output output;
	struct sw_error error;
	if (sw_output_open(&output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	if (sw_kineto_write(kineto, report, output.file, fnmatch("*.gz", path, 0) == 0, &error)) {
		sw_output_drop(&output);
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	}
	if (sw_output_close(&output, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	return sw_complain(SW_EXIT_OK, "%s", sw_kineto_said(kineto));
}

/* Judges the trace, joins it with the profile and writes both. */
static int merge_profile(struct sw_kineto *kineto, struct sw_reader *reader, const struct sw_options *options)
{
	struct sw_judgement *judgement = NULL;
	struct sw_error error;
	struct sw_judge_options judge = sw_analysis_judge(options, reader);
	judge.observer = sw_kineto_observer(kineto, reader);
	int status = SW_EXIT_OK;
	/* A part of a run would be drawn as if it were all. */
	if (sw_analysis_judge_with_progress(reader, &judge, "drawing", &judgement, &error) ||
	    sw_kineto_join(kineto, &error))
		status = sw_complain(SW_EXIT_INPUT, "%s", error.text);
	if (!status) {
		struct sw_report *report =
			sw_report_new(reader, judgement, &(struct sw_report_options){.all = options->all});
		status = write_merged(kineto, report, options->chrome);
		sw_report_free(report);
	}
	sw_judgement_free(judgement);
	return status;
}

/* Merges a profile of torch.profiler with the trace. */
int sw_merge_kineto(const char *trace, const struct sw_options *options)
{
	struct sw_kineto *kineto;
	struct sw_reader *reader;
	struct sw_error error;
	if (sw_kineto_open(options->merge_kineto, &kineto, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	if (sw_reader_open(trace, &reader, &error)) {
		sw_kineto_free(kineto);
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	}
	int status = merge_profile(kineto, reader, options);
	sw_kineto_free(kineto);
	sw_reader_close(reader);
	return status;
}
