/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch pack: a trace for machines that do not have the program's files. */
#include <stdlib.h>

#include "command.h"
#include "pack_file.h"

/* `syncwatch pack`. */
int sw_cmd_pack(const struct sw_options *options)
{
	if (options->n_operands != 1)
		return sw_complain_usage(options->n_operands ? "one trace at a time" : "which trace?");
	char *file = options->packed ? sw_strdup(options->packed) : sw_pack_default(options->operands[0]);
	int status = sw_pack_file(options->operands[0], file, true);
	free(file);
	return status;
}
