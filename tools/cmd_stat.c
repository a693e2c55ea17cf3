/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch stat: what a trace covers. */
#include "command.h"
#include "report/listing/stat.h"

int sw_cmd_stat(const struct sw_options *options)
{
	struct sw_reader *reader;
	struct sw_error error;
	if (options->n_operands != 1)
		return sw_complain_usage(options->n_operands ? "one trace at a time" : "which trace?");
	if (sw_reader_open(options->operands[0], &reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	int rc = sw_stat(stdout, reader, &error);
	sw_reader_close(reader);
	return rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : sw_finish_stdout(SW_EXIT_OK);
}
