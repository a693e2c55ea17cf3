/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps a trace as the command does, without the command: dump_trace FILE. */
#include <stdio.h>

#include "report/dump.h"

int main(int argc, char **argv)
{
	struct sw_error error = {.text = "usage: dump_trace FILE"};
	struct sw_reader *reader = NULL;
	int rc = argc == 2 ? sw_reader_open(argv[1], &reader, &error) : SW_E_USAGE;
	if (!rc)
		rc = sw_dump(stdout, reader, &(struct sw_dump_options){0}, &error);
	sw_reader_close(reader);
	if (rc)
		fprintf(stderr, "%s\n", error.text);
	return rc != 0;
}
