/* SPDX-License-Identifier: Apache-2.0 */
/* Text that may go to a terminal. */
#ifndef SW_TOOLS_TERMINAL_H
#define SW_TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "report/report.h"

/* May we print colours?  As --color says; else only on a terminal that can, and not where the user set NO_COLOR
   (no-color.org). */
bool sw_terminal_colour(int fd, const struct sw_options *options);

/* How a report is printed there: colours, links, the width of the terminal, the limit that was asked for. */
struct sw_text_style sw_terminal_style(int fd, const struct sw_options *options);

/* Prints a name or a message that holds names: what a terminal would obey becomes '?'. */
void sw_put_plain(FILE *out, const char *text);

#endif
