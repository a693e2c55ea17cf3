/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch export: draws a trace. */
#include "analysis.h"
#include "draw.h"
#include "merge_kineto.h"
#include "query_database.h"

/* Do the options allow --merge-kineto?  It keeps the profile's own times and rows. */
static int check_merge(const struct sw_options *options)
{
	if (!options->merge_kineto)
		return SW_EXIT_OK;
	if (!options->chrome)
		return sw_complain_usage("where to? --chrome FILE with --merge-kineto");
	if (options->from || options->to || options->around)
		return sw_complain_usage("--merge-kineto keeps the time of the profile: no --from, --to, --around");
	return SW_EXIT_OK;
}

/* Merges into the profile, and draws the other files that are asked for; --chrome is the merged profile then. */
static int merge_and_draw(const struct sw_options *options)
{
	struct sw_options rest = *options;
	rest.chrome = NULL;
	int status = sw_merge_kineto(options->operands[0], options);
	return status || (!rest.perfetto && !rest.dot) ? status : sw_draw(options->operands[0], &rest, NULL);
}

/* `syncwatch export`: draws a trace. */
int sw_cmd_export(const struct sw_options *options)
{
	if (options->n_operands != 1)
		return sw_complain_usage(options->n_operands ? "one trace at a time" : "which trace?");
	if (!options->chrome && !options->perfetto && !options->dot && !options->sqlite)
		return sw_complain_usage("which file? --chrome FILE, --perfetto FILE, --dot FILE or --sqlite FILE");
	if (options->to && options->to <= options->from)
		return sw_complain_usage("--to must be later than --from");
	int status = check_merge(options);
	if (!status)
		status = sw_analysis_check(options);
	if (!status && options->merge_kineto)
		status = merge_and_draw(options);
	else if (!status)
		status = sw_draw(options->operands[0], options, NULL);
	if (!status && options->sqlite)
		status = sw_query_export(options->operands[0], options);
	return status;
}
