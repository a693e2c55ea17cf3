/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch top: how a run stands that is judged while it runs; or a trace, at its end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "run/ctl.h"
#include "run/top.h"
#include "terminal.h"

#define EACH_MS	  1000
#define ASK_MS	  200
#define MOST_ASKS 50 /* until the follower has judged anything */

static const char *const words[SW_TOP_FORMATS] = {
	[SW_TOP_TEXT] = "text", [SW_TOP_JSON] = "json", [SW_TOP_PROMETHEUS] = "prometheus"};

/* Is it the number of a process?  A file may still have that name. */
static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* Shows a recorded trace as a run that has just ended. */
static int top_of_trace(const char *path, const struct sw_options *options, enum sw_top_format format)
{
	struct sw_analysis analysis;
	const int status = sw_analysis_judge_only(&analysis, path, options, false);
	if (analysis.report) {
		const struct sw_trace_process *process = sw_reader_process(analysis.reader);
		const struct sw_top_process top = {
			.pid = (pid_t)sw_reader_header(analysis.reader)->pid,
			.program = process ? process->exe : "",
			.over = true,
			.so_far = analysis.judgement,
			.report = analysis.report,
			.seconds_ns = analysis.judgement->span_ns,
		};
		sw_top_print(stdout, format, &top, 1);
	}
	sw_analysis_free(&analysis);
	return sw_finish_stdout(status);
}

/* Asks the run, again while it has judged nothing yet (SW_EXIT_NOTHING); *answer is malloc'ed. */
static int ask(const char *process, enum sw_top_format format, char **answer)
{
	char *request[] = {(char *)(uintptr_t) "top", (char *)(uintptr_t)words[format]};
	int status = SW_EXIT_NOTHING;
	for (int i = 0; i < MOST_ASKS && status == SW_EXIT_NOTHING; i++) {
		free(*answer);
		*answer = NULL;
		if (i)
			poll(NULL, 0, ASK_MS);
		status = sw_ctl_ask(process, request, 2, answer);
	}
	return status;
}

/* Shows how a run stands, once, or again and again until it ends. */
static int top_of_run(const char *process, const struct sw_options *options, enum sw_top_format format)
{
	const bool clears = !options->once && isatty(STDOUT_FILENO);
	char *answer = NULL;
	int status = ask(process, format, &answer);
	while (!status) {
		if (clears)
			fputs("\033[H\033[2J", stdout);
		fputs(answer, stdout);
		status = sw_finish_stdout(SW_EXIT_OK);
		free(answer);
		answer = NULL;
		if (status || options->once)
			return status;
		poll(NULL, 0, EACH_MS);
		if (kill((pid_t)atol(process), 0) && errno == ESRCH)
			return SW_EXIT_OK;
		status = ask(process, format, &answer);
	}
	if (answer && *answer) {
		answer[strcspn(answer, "\n")] = 0;
		sw_complain(status, "%s", answer);
	}
	free(answer);
	return status;
}

/* `syncwatch top PROCESS|TRACE`: shows a run that goes on, or how a recorded one stood at its end. */
int sw_cmd_top(const struct sw_options *options)
{
	const enum sw_top_format format = options->top_json	? SW_TOP_JSON
					  : options->prometheus ? SW_TOP_PROMETHEUS
								: SW_TOP_TEXT;
	if (options->n_operands != 1)
		return sw_complain_usage("which process, or which trace?");
	if (options->top_json && options->prometheus)
		return sw_complain_usage("'--json' or '--prometheus', not both");
	const char *which = options->operands[0];
	return is_number(which) && access(which, F_OK) ? top_of_run(which, options, format)
						       : top_of_trace(which, options, format);
}
