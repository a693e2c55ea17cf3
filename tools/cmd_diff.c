/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch diff: what is new, gone, better or worse between two runs. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "output.h"
#include "pager.h"
#include "report/diff/diff.h"
#include "terminal.h"
#include "verdict.h"

/* Is the file a report rather than a trace?  Reports are JSON objects, whatever their file is called; traces begin with
   another byte. */
static bool is_report(FILE *file)
{
	int byte;
	do
		byte = getc(file);
	while (byte != EOF && isspace(byte));
	if (byte != EOF)
		ungetc(byte, file);
	return byte == '{';
}

/* Judges a trace for the comparison.  One that cannot be judged to its end is compared as far as it goes. */
static int take_trace(struct sw_digest *digest, const char *path, const struct sw_options *options)
{
	struct sw_analysis analysis;
	struct sw_options quiet = *options;
	quiet.json = NULL; /* is for the comparison */
	int status = sw_analysis_make(&analysis, path, &quiet, true);
	if (analysis.report) {
		sw_digest_take(digest, analysis.report);
		status = SW_EXIT_OK;
	}
	sw_analysis_free(&analysis);
	return status;
}

/* Reads a trace or a report. */
static int take_digest(struct sw_digest *digest, const char *path, const struct sw_options *options)
{
	struct sw_error error;
	FILE *file = fopen(path, "re");
	if (!file)
		return sw_complain(SW_EXIT_INPUT, "%s: %s", path, strerror(errno));
	bool report = is_report(file);
	int status = SW_EXIT_OK;
	if (report && sw_digest_read(digest, file, path, &error))
		status = sw_complain(SW_EXIT_INPUT, "%s", error.text);
	fclose(file);
	return report ? status : take_trace(digest, path, options);
}

/* Writes the result to a file, as JSON or as text.  path NULL: not asked for. */
static int write_file(const struct sw_diff *diff, const char *path, const struct sw_options *options, bool json)
{
	struct sw_output output;
	struct sw_error error;
	if (!path)
		return SW_EXIT_OK;
	if (sw_output_open(&output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	if (json)
		sw_diff_json(diff, output.file);
	else
		sw_diff_text(diff, output.file, &(struct sw_diff_style){.all = options->all});
	if (sw_output_close(&output, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	return SW_EXIT_OK;
}

/* Prints the comparison. */
static int print_diff(const struct sw_diff *diff, const struct sw_options *options, bool json)
{
	if (json) {
		sw_diff_json(diff, stdout);
		return sw_finish_stdout(SW_EXIT_OK);
	}
	const struct sw_diff_style style = {
		.colour = sw_terminal_colour(STDOUT_FILENO, options), .all = options->all, .quiet = options->quiet};
	sw_pager_start(options);
	sw_diff_text(diff, stdout, &style);
	return sw_pager_finish();
}

/* Compares two runs, and prints and writes what differs; an exit status.  The later run is the one that is judged; of
   an earlier one that is not whole it is not known what is new. */
static int compare_digests(const struct sw_digest *a, const struct sw_digest *b, const struct sw_digest *repeat,
			   const struct sw_options *options, bool json)
{
	struct sw_diff diff;
	struct sw_verdict verdict = {.options = options};
	sw_diff_make(&diff, a, b, repeat, options->repeats.n);
	sw_verdict_step(&verdict, write_file(&diff, options->json, options, true));
	sw_verdict_step(&verdict, write_file(&diff, options->text, options, false));
	sw_verdict_step(&verdict, print_diff(&diff, options, json));
	verdict.errors = diff.new_errors;
	verdict.incomplete = !a->whole || !b->whole;
	verdict.unusable |= a->damaged || b->damaged;
	verdict.calls_seen = b->calls_seen;
	sw_diff_free(&diff);
	return sw_verdict_status(&verdict);
}

/* `syncwatch diff`: compares two runs. */
int sw_cmd_diff(const struct sw_options *options)
{
	bool json = options->format && strcmp(options->format, "json") == 0;
	struct sw_digest a = {0}, b = {0};
	if (options->n_operands != 2)
		return sw_complain_usage("two traces or reports are compared: the one before, and the one after");
	if (options->format && !json && strcmp(options->format, "text") != 0)
		return sw_complain_usage("unknown format '%s': text or json", options->format);
	int status = sw_analysis_check(options);
	if (!status)
		status = take_digest(&a, options->operands[0], options);
	if (!status)
		status = take_digest(&b, options->operands[1], options);
	struct sw_digest *repeat = sw_calloc(options->repeats.n + 1, sizeof *repeat);
	for (size_t i = 0; !status && i < options->repeats.n; i++)
		status = take_digest(&repeat[i], options->repeats.at[i], options);
	status = status ? sw_verdict_refusal(options, status) : compare_digests(&a, &b, repeat, options, json);
	for (size_t i = 0; i < options->repeats.n; i++)
		sw_digest_free(&repeat[i]);
	free(repeat);
	sw_digest_free(&a);
	sw_digest_free(&b);
	return status;
}
