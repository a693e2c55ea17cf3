/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch merge: one report of all ranks of a job. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "ci_files.h"
#include "merge/merged.h"
#include "merge/operands.h"
#include "merge/spread.h"
#include "merge/timeline.h"
#include "output.h"
#include "pager.h"
#include "terminal.h"
#include "verdict.h"

struct merge {
	const struct sw_options *options;
	struct sw_merge_operands operands;
	struct sw_merged *merged;
	struct sw_ci_files *files;
	bool json;
	uint32_t share, shares; /* shares 0: all */
};

/* ---- input ------------------------------------------------------------------------------------------------------- */

/* Judges a trace and adds its report. */
static void add_trace(struct merge *m, const char *path)
{
	struct sw_analysis analysis;
	const struct sw_judge_options more = {.shared_uses = true};
	sw_analysis_judge_more(&analysis, path, m->options, m->options->all, &more);
	if (!analysis.report) {
		sw_merged_unusable(m->merged, path, "cannot be read as a trace");
	} else {
		struct sw_error error;
		if (analysis.judgement->shared_uses_left_out)
			sw_report_gap(analysis.report,
				      sw_strdup("it uses memory of several processes more often than is compared"));
		const size_t before = m->merged->ranks.n;
		struct sw_merged_rank *rank = sw_merged_add(m->merged, analysis.report, path);
		if (m->merged->ranks.n > before &&
		    sw_merged_collectives(m->merged, rank, analysis.report, path, &error))
			sw_complain(SW_EXIT_INPUT, "%s", error.text);
		sw_ci_files_add(m->files, analysis.report);
	}
	sw_analysis_free(&analysis);
}

/* Adds the result of a merge of some ranks. */
static void add_partial(struct merge *m, const char *path)
{
	struct sw_error error;
	FILE *file = fopen(path, "re");
	if (!file)
		sw_merged_unusable(m->merged, path, strerror(errno));
	else if (sw_merged_read(m->merged, file, path, &error)) {
		sw_complain(SW_EXIT_INPUT, "%s", error.text);
		sw_merged_unusable(m->merged, path, "is no result of 'syncwatch merge --json'");
	}
	if (file)
		fclose(file);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* Writes the result to a file, as JSON or as text.  path NULL: not asked for. */
static int write_file(const struct merge *m, const char *path, bool json)
{
	struct sw_output output;
	struct sw_error error;
	if (!path)
		return SW_EXIT_OK;
	if (sw_output_open(&output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	struct sw_text_style style = sw_terminal_style(STDOUT_FILENO, m->options);
	style.colour = style.links = false;
	style.columns = 0;
	if (json)
		sw_merged_json(m->merged, output.file);
	else
		sw_merged_text(m->merged, output.file, &style);
	return sw_output_close(&output, &error) ? sw_complain(SW_EXIT_OUTPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Prints the merged report. */
static int print_merged(const struct merge *m)
{
	struct sw_text_style style = sw_terminal_style(STDOUT_FILENO, m->options);
	style.quiet = m->options->quiet;
	if (m->json) {
		sw_merged_json(m->merged, stdout);
		return sw_finish_stdout(SW_EXIT_OK);
	}
	/* mpirun gives its first process a terminal without keys. */
	if (!m->options->spread)
		sw_pager_start(m->options);
	sw_merged_text(m->merged, stdout, &style);
	return sw_pager_finish();
}

/* Ranks that are missing are a gap; without --error-exitcode, too, a merge that lacks some is no success. */
static int merge_verdict(const struct merge *m, struct sw_verdict *v)
{
	v->errors = m->merged->errors;
	v->incomplete = m->merged->gaps.n;
	v->unusable |= !m->merged->ranks.n;
	for (size_t i = 0; i < m->merged->ranks.n; i++)
		v->calls_seen |= m->merged->ranks.at[i]->driver_calls;
	const int status = sw_verdict_status(v);
	return status || !v->incomplete ? status : SW_EXIT_UNPROVEN;
}

/* Compares and prints what was merged; an exit status.  A share says nothing about the whole: what is missing shows
   when the shares are merged. */
static int finish_merge(struct merge *m)
{
	struct sw_verdict v = {.options = m->options};
	sw_merged_finish(m->merged);
	if (!m->shares) {
		sw_verdict_step(&v, print_merged(m));
		sw_verdict_step(&v, write_file(m, m->options->text, false));
	}
	sw_verdict_step(&v, write_file(m, m->options->json, true));
	for (size_t i = 0; i < m->merged->gaps.n; i++)
		sw_ci_files_gap(m->files, "the job", m->merged->gaps.at[i]);
	sw_ci_files_between(m->files, "the job", m->merged);
	sw_verdict_step(&v, sw_finish_stdout(sw_ci_files_close(m->files, stdout)));
	m->files = NULL;
	sw_verdict_step(&v, sw_merge_timeline(m->merged, m->options));
	if (!m->shares)
		return merge_verdict(m, &v);
	v.calls_seen = true;
	return sw_verdict_status(&v);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* Reads --share I/N. */
static int parse_share(struct merge *m)
{
	char *end;
	const char *text = m->options->share;
	if (!text)
		return SW_EXIT_OK;
	const unsigned long i = strtoul(text, &end, 10), n = *end == '/' ? strtoul(end + 1, &end, 10) : 0;
	if (*end || !n || i >= n || n > UINT32_MAX || strspn(text, "0123456789/") != strlen(text))
		return sw_complain_usage("'--share' takes I/N, such as 0/16, not '%s'", text);
	if (m->options->text)
		return sw_complain_usage("a share has no text: '--text' is for the merge of all");
	if (!m->options->json || m->options->spread)
		return sw_complain_usage(m->options->spread ? "'--share' or '--spread', not both"
							    : "'--share' needs '--json FILE' for its partial result");
	m->share = (uint32_t)i;
	m->shares = (uint32_t)n;
	return SW_EXIT_OK;
}

/* Do the options want files that are made from traces, not from results of merges? */
static bool wants_traces(const struct sw_options *options)
{
	return sw_ci_files_wanted(options) || options->chrome;
}

/* Checks the options. */
static int check_options(struct merge *m)
{
	const struct sw_options *options = m->options;
	m->json = options->format && strcmp(options->format, "json") == 0;
	if (options->n_operands < 1)
		return sw_complain_usage("which traces?");
	if (options->format && !m->json && strcmp(options->format, "text") != 0)
		return sw_complain_usage("unknown format '%s': text or json", options->format);
	if (options->chrome && fnmatch("*.gz", options->chrome, 0) == 0)
		return sw_complain_usage(
			"a timeline of several traces is not compressed: choose a name without .gz, not '%s'",
			options->chrome);
	int status = parse_share(m);
	if (!status)
		status = sw_analysis_check(options);
	if (!status)
		status = sw_merge_operands_find(&m->operands, options);
	for (size_t i = 0; !status && wants_traces(options) && i < m->operands.at.n; i++)
		if (m->operands.at.at[i].partial || options->spread || m->shares)
			status = sw_complain_usage(
				"timelines and files for builds are made of traces, not of partial results");
	return status;
}

/* Judges this process's traces, gathers the results of others, and reports all. */
static int merge_all(struct merge *m, const struct sw_spread *spread)
{
	bool report = true;
	if (spread || m->shares)
		sw_merge_operands_share(&m->operands, spread ? spread->own.rank : m->share,
					spread ? spread->own.size : m->shares);
	for (size_t i = 0; i < m->operands.at.n; i++)
		(m->operands.at.at[i].partial ? add_partial : add_trace)(m, m->operands.at.at[i].path);
	int status = spread ? sw_spread_gather(spread, m->merged, &report) : SW_EXIT_OK;
	return status || !report ? status : finish_merge(m);
}

/* `syncwatch merge`. */
int sw_cmd_merge(const struct sw_options *options)
{
	struct merge m = {.options = options, .merged = sw_merged_new()};
	struct sw_spread spread = {0};
	int status = check_options(&m);
	if (!status && options->spread)
		status = sw_spread_begin(&spread, options->spread);
	if (!status)
		status = sw_ci_files_open(options, &m.files);
	if (status)
		status = sw_verdict_refusal(options, status);
	else
		status = merge_all(&m, options->spread ? &spread : NULL);
	if (m.files)
		sw_ci_files_close(m.files, stdout);
	sw_spread_end(&spread);
	sw_merge_operands_free(&m.operands);
	sw_merged_free(m.merged);
	return status;
}
