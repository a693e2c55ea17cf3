/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/text/text_out.h"

bool sw_terminal_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
	return isatty(fd) && (!no || !*no) && terminal && strcmp(terminal, "dumb") != 0;
}

void sw_put_plain(FILE *out, const char *text)
{
	sw_out_text(&(struct sw_out){.file = out}, text);
}
