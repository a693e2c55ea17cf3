/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch stat: what a trace covers, and where the time of its calls went. */
#include <string.h>

#include "analysis.h"
#include "output.h"
#include "pager.h"
#include "report/listing/listing.h"

enum form { TEXT, JSON, CSV };

/* The form of this name; -1: unknown. */
static int parse_form(const char *format)
{
	static const char *const names[] = {"text", "json", "csv"};
	for (int i = 0; format && i < 3; i++)
		if (strcmp(format, names[i]) == 0)
			return i;
	return format ? -1 : TEXT;
}

/* Writes the tables into a file; path NULL: none. */
static int write_file(const char *path, struct sw_call_times *times, void (*write)(FILE *, struct sw_call_times *))
{
	struct sw_output output;
	struct sw_error error;
	if (!path)
		return SW_EXIT_OK;
	if (sw_output_open(&output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	write(output.file, times);
	return sw_output_close(&output, &error) ? sw_complain(SW_EXIT_OUTPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Prints the contents of the trace and the tables. */
static int print_text(const struct sw_options *options, struct sw_call_times *times)
{
	struct sw_reader *reader;
	struct sw_error error;
	if (sw_reader_open(options->operands[0], &reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	sw_pager_start(options);
	int rc = sw_stat(stdout, reader, times, &error);
	int status = sw_pager_finish();
	sw_reader_close(reader);
	return rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : status;
}

/* Prints the tables, and writes --json and --csv. */
static int print_tables(const struct sw_options *options, struct sw_call_times *times, int form)
{
	int status = write_file(options->json, times, sw_stat_json);
	if (!status)
		status = write_file(options->csv, times, sw_stat_csv);
	if (status)
		return status;
	if (form == TEXT)
		return print_text(options, times);
	(form == JSON ? sw_stat_json : sw_stat_csv)(stdout, times);
	return sw_finish_stdout(SW_EXIT_OK);
}

/* `syncwatch stat`. */
int sw_cmd_stat(const struct sw_options *options)
{
	const int form = parse_form(options->format);
	struct sw_reader *reader;
	struct sw_judgement *judgement = NULL;
	struct sw_error error;
	if (options->n_operands != 1)
		return sw_complain_usage(options->n_operands ? "one trace at a time" : "which trace?");
	if (form < 0)
		return sw_complain_usage("unknown format '%s': text, json or csv", options->format);
	if (sw_reader_open(options->operands[0], &reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	/* Waits are known without kernels' code. */
	struct sw_call_times *times = sw_call_times_new(reader);
	struct sw_judge_options judge = {
		.no_footprints = true, .no_schedule = true, .behaviour = "", .observer = sw_call_times_observer(times)};
	int rc = sw_analysis_judge_with_progress(reader, &judge, "reading", &judgement, &error);
	int status = rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : SW_EXIT_OK;
	if (!status) {
		sw_call_times_sort(times, judgement);
		status = print_tables(options, times, form);
	}
	sw_call_times_free(times);
	sw_judgement_free(judgement);
	status = sw_analysis_tell_damage(reader, status);
	sw_reader_close(reader);
	return status;
}
