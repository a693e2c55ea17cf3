/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "query_database.h"

#ifndef HAVE_SQLITE
int sw_query_export(const char *trace, const struct sw_options *options)
{
	(void)trace;
	(void)options;
	return sw_complain(SW_EXIT_USAGE, "%s", SW_QUERY_ABSENT);
}
#else

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis.h"
#include "base/counted.h"
#include "output.h"

/* The exit status for an error of the database. */
int sw_query_status(const struct sw_error *error)
{
	return error->code == -ENOMEM ? SW_EXIT_MEMORY : error->code == -ENOSPC ? SW_EXIT_OUTPUT : SW_EXIT_USAGE;
}

/* Streams and order are needed for every answer; footprints, which take most of the time, for findings only. */
static struct sw_judge_options judge_for(struct sw_query *query, const struct sw_options *options,
					 const struct sw_reader *reader)
{
	struct sw_judge_options judge = sw_analysis_judge(options, reader);
	judge.observer = sw_query_observer(query);
	judge.no_footprints |= !sw_query_needs_report(query);
	judge.no_schedule = !sw_query_needs_report(query);
	return judge;
}

/* Says which calls the tables lack although the trace is whole: whoever counts rows must know. */
static void tell_absent(const struct sw_reader *reader)
{
	const struct sw_trace_totals totals = sw_reader_totals(reader);
	if (totals.windowed && totals.left_out)
		fprintf(stderr, "syncwatch: the tables lack %" PRIu64 " %s outside of the recorded windows\n",
			totals.left_out, sw_plural(totals.left_out, "call", "calls"));
	if (totals.dropped_calls)
		fprintf(stderr, "syncwatch: the tables lack %" PRIu64 " %s before the last ones (--last, --keep)\n",
			totals.dropped_calls, sw_plural(totals.dropped_calls, "call", "calls"));
}

/* Judges the trace and fills the database.  *loaded: it was read. */
int sw_query_fill(struct sw_query *query, const char *trace, const struct sw_options *options, bool *loaded)
{
	struct sw_judgement *judgement = NULL;
	struct sw_report *report = NULL;
	struct sw_reader *reader;
	struct sw_error error;
	int status = SW_EXIT_OK;
	if (sw_reader_open(trace, &reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	struct sw_judge_options judge = judge_for(query, options, reader);
	if (sw_analysis_judge_with_progress(reader, &judge, "loading", &judgement, &error))
		status = sw_complain(SW_EXIT_INPUT, "%s", error.text);
	if (judgement && sw_query_needs_report(query))
		report = sw_report_new(reader, judgement, &(struct sw_report_options){.all = true});
	*loaded = judgement && !sw_query_load(query, reader, judgement, report, &error);
	if (judgement && !*loaded)
		status = sw_complain(sw_query_status(&error), "%s", error.text);
	if (*loaded)
		tell_absent(reader);
	sw_report_free(report);
	sw_judgement_free(judgement);
	status = sw_analysis_tell_damage(reader, status);
	sw_reader_close(reader);
	return status;
}

/* Fills a database in a file. */
static int fill_file(const char *path, const char *trace, const struct sw_options *options)
{
	struct sw_query *query;
	struct sw_error error;
	bool loaded;
	if (sw_query_new(path, &query, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	int status = sw_query_fill(query, trace, options, &loaded);
	sw_query_free(query);
	return status;
}

int sw_query_export(const char *trace, const struct sw_options *options)
{
	struct sw_output output;
	struct sw_error error;
	if (sw_output_open(&output, options->sqlite, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	if (!output.temporary) {
		sw_output_drop(&output);
		return sw_complain(SW_EXIT_OUTPUT, "'%s' is not a plain file, which a database must be",
				   options->sqlite);
	}
	/* A name such as "file:x" or ":memory:" is a file here. */
	char *path = output.temporary[0] == '/' ? sw_strdup(output.temporary) : sw_format("./%s", output.temporary);
	int status = fill_file(path, trace, options);
	free(path);
	if (status)
		sw_output_drop(&output);
	else if (sw_output_close(&output, &error))
		status = sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	return status;
}
#endif
