/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch dump: every record of a trace. */
#include "analysis.h"
#include "report/listing/listing.h"

/* `syncwatch dump`: prints the records of a trace. */
int sw_cmd_dump(const struct sw_options *options)
{
	struct sw_dump_options dump = {.kinds = options->kinds};
	struct sw_reader *reader;
	struct sw_error error;
	if (options->n_operands != 1)
		return sw_complain_usage(options->n_operands ? "one trace at a time" : "which trace?");
	if (sw_reader_open(options->operands[0], &reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	int rc = sw_dump(stdout, reader, &dump, &error);
	if (rc == SW_E_USAGE) {
		sw_reader_close(reader);
		return sw_complain_usage("%s", error.text);
	}
	/* Records that were whole are printed even so. */
	int status = rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : SW_EXIT_OK;
	status = sw_finish_stdout(sw_analysis_tell_damage(reader, status));
	sw_reader_close(reader);
	return status;
}
