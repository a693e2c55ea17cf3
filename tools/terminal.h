/* SPDX-License-Identifier: Apache-2.0 */
/* May we print colours? */
#ifndef SW_TOOLS_TERMINAL_H
#define SW_TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Only on a terminal that can, and not where the user set NO_COLOR (no-color.org). */
static inline bool sw_terminal_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
	return isatty(fd) && (!no || !*no) && terminal && strcmp(terminal, "dumb") != 0;
}

#endif
