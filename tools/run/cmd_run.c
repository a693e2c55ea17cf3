/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch run: runs a program with the recorder preloaded and judges what it did. */
#include <limits.h>
#include <stdlib.h>

#include "base/name_pattern.h"
#include "budget.h"
#include "crash.h"
#include "run/judged.h"
#include "run/launch.h"

static int judge(struct sw_launch *run)
{
	struct sw_judged judged;
	/* From here on only the report can fail. */
	const bool proof = run->options->error_exitcode && !run->program_status;
	sw_crash_status(proof ? SW_EXIT_UNPROVEN : run->program_status);
	int limited = sw_budget_start(run->options);
	if (limited)
		return limited;
	sw_judged_make(&judged, run->options, &run->session);
	sw_judged_print(&judged, &run->session);
	sw_verdict_step(&judged.verdict, sw_judged_json(&judged, &run->session));
	sw_verdict_step(&judged.verdict, sw_judged_files(&judged, &run->session));
	const int status = sw_judged_status(&judged, &run->session, &run->program_status);
	sw_judged_free(&judged);
	return status;
}

#define FILES 10

/*
 * Each rank of a job may be a `run` of its own: the names of its files distinguish them as those of traces do.  The
 * caller frees what is made of them, also after an error.
 */
static int expand_names(struct sw_options *options, char *made[FILES])
{
	const char **names[FILES] = {&options->json,	   &options->html,   &options->sarif,
				     &options->junit,	   &options->gitlab, &options->chrome,
				     &options->perfetto,   &options->dot,    &options->write_suppressions,
				     &options->write_allow};
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

int sw_cmd_run(const struct sw_options *given)
{
	struct sw_options options = *given;
	struct sw_launch run = {.options = &options};
	char *made[FILES] = {0};
	int status = expand_names(&options, made);
	if (!status) {
		status = sw_launch_run(&run);
		status = status ? sw_verdict_refusal(&options, status) : judge(&run);
		sw_launch_free(&run);
	}
	for (size_t i = 0; i < FILES; i++)
		free(made[i]);
	return status;
}
