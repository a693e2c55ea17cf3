/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch export: draws a trace. */
#include "analysis.h"
#include "draw.h"
#include "query_database.h"

int sw_cmd_export(const struct sw_options *options)
{
	if (options->n_operands != 1)
		return sw_complain_usage(options->n_operands ? "one trace at a time" : "which trace?");
	if (!options->chrome && !options->perfetto && !options->dot && !options->sqlite)
		return sw_complain_usage("which file? --chrome FILE, --perfetto FILE, --dot FILE or --sqlite FILE");
	if (options->to && options->to <= options->from)
		return sw_complain_usage("--to must be later than --from");
	int status = sw_analysis_check(options);
	if (!status)
		status = sw_draw(options->operands[0], options, NULL);
	if (!status && options->sqlite)
		status = sw_query_export(options->operands[0], options);
	return status;
}
