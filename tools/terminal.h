/* SPDX-License-Identifier: Apache-2.0 */
/* What may go to a terminal. */
#ifndef SW_TOOLS_TERMINAL_H
#define SW_TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* May we print colours?  Only on a terminal that can, and not where the user set NO_COLOR (no-color.org). */
bool sw_terminal_colour(int fd);

/* Prints a name or a message that holds names: what a terminal would obey becomes '?'. */
void sw_put_plain(FILE *out, const char *text);

#endif
