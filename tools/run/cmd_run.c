/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch run: runs a program with the recorder preloaded and judges what it did. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_pattern.h"
#include "budget.h"
#include "crash.h"
#include "run/follower.h"
#include "run/judged.h"
#include "run/launch.h"

/* Judges the traces of the session and prints and writes all reports.  An exit status. */
static int judge(const struct sw_options *options, struct sw_session *session, int *program_status)
{
	struct sw_judged judged;
	/* A failure from here on is one of the report alone. */
	const bool proof = options->error_exitcode && !*program_status;
	sw_crash_status(proof ? SW_EXIT_UNPROVEN : *program_status);
	int limited = sw_budget_start(options);
	if (limited)
		return limited;
	sw_judged_make(&judged, options, session);
	sw_judged_print(&judged, session);
	sw_verdict_step(&judged.verdict, sw_judged_json(&judged, session));
	sw_verdict_step(&judged.verdict, sw_judged_files(&judged, session));
	const int status = sw_judged_status(&judged, session, program_status);
	sw_judged_free(&judged);
	return status;
}

/* Makes the report of the run: by the follower, or here when there is none (any more). */
static int report(struct sw_launch *run)
{
	int status;
	if (run->early && (run->session.traces.n != 1 || run->session.traces.at[0].changed)) {
		sw_follower_free(run->follower);
		run->follower = NULL;
	}
	if (run->follower && sw_follower_finish(run->follower, &run->session, &run->program_status, &status))
		return status;
	if (run->follower && !run->early)
		fputs("syncwatch: what judged while the program ran is gone: the traces are judged now\n", stderr);
	return judge(run->options, &run->session, &run->program_status);
}

/* Are the options for judging live right together, and can the log be written?  Known before the program runs for
   hours. */
static int check_live(const struct sw_options *options)
{
	if (!options->live && (options->live_log || options->on_error || options->stop_on_error))
		return sw_complain_usage("'--log', '--on-error' and '--stop-on-error' need '--live'");
	FILE *log = options->live_log ? fopen(options->live_log, "ae") : NULL;
	if (options->live_log && !log)
		return sw_complain(SW_EXIT_OUTPUT, "cannot write to '%s': %s", options->live_log, strerror(errno));
	if (log)
		fclose(log);
	return SW_EXIT_OK;
}

enum {
#define SW_REPORT_FILE(option) FILE_##option,
#include "report_files.def"
	FILES
};

/* Expands %p and the like in the names of report files.  Each rank of a job may be a `run` of its own: the names of its
   files distinguish them as those of traces do.  The caller frees what is made of them, also after an error. */
static int expand_names(struct sw_options *options, char *made[FILES])
{
	const char **names[FILES] = {
#define SW_REPORT_FILE(option) &options->option,
#include "report_files.def"
	};
	char path[PATH_MAX];
	for (size_t i = 0; i < FILES; i++) {
		if (!*names[i])
			continue;
		if (sw_name_expand(path, sizeof path, *names[i]))
			return sw_complain_usage("the name '%s' is too long", *names[i]);
		*names[i] = made[i] = sw_strdup(path);
	}
	return SW_EXIT_OK;
}

/* `syncwatch run`: runs the program, then makes the report, or lets the follower make it (--live). */
int sw_cmd_run(const struct sw_options *given)
{
	struct sw_options options = *given;
	struct sw_launch run = {.options = &options, .report = judge};
	char *made[FILES] = {0};
	int status = check_live(&options);
	if (!status)
		status = expand_names(&options, made);
	if (!status) {
		run.follower = options.live ? sw_follower_start(&options, judge) : NULL;
		status = sw_launch_run(&run);
		status = status ? sw_verdict_refusal(&options, status) : report(&run);
		sw_follower_free(run.follower);
		sw_launch_free(&run);
	}
	for (size_t i = 0; i < FILES; i++)
		free(made[i]);
	return status;
}
