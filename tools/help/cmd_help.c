/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch help: the options of a command; completions for shells. */
#include <string.h>

#include "command.h"
#include "help/completion.h"

/* `syncwatch help`: the options of a command, or completions for a shell. */
int sw_cmd_help(const struct sw_options *options)
{
	if (options->completion)
		return sw_completion_print(options->completion)
			       ? sw_finish_stdout(SW_EXIT_OK)
			       : sw_complain_usage("unknown shell '%s': bash, zsh or fish", options->completion);
	if (options->n_operands > 1)
		return sw_complain_usage("one command at a time, not also '%s'", options->operands[1]);
	return sw_help(options->n_operands ? options->operands[0] : NULL);
}
