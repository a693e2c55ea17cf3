/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/text/text_out.h"

#define LEAST_COLUMNS 20
#define MOST_COLUMNS  140 /* longer lines are hard to read */

/* Does the descriptor lead to a terminal that knows colours? */
static bool can_do_more(int fd)
{
	const char *terminal = getenv("TERM");
	return isatty(fd) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Shall the text be coloured, by --color, NO_COLOR and the terminal? */
bool sw_terminal_colour(int fd, const struct sw_options *options)
{
	const char *no = getenv("NO_COLOR");
	if (options->color && strcmp(options->color, "always") == 0)
		return true;
	if (options->color && strcmp(options->color, "never") == 0)
		return false;
	return can_do_more(fd) && (!no || !*no);
}

/* How wide lines may be, 0: any.  A file has the same lines wherever it is written; on a terminal COLUMNS overrides its
   width. */
static unsigned columns_of(int fd)
{
	struct winsize size;
	const char *given = getenv("COLUMNS");
	long columns = given ? strtol(given, NULL, 10) : 0;
	if (!isatty(fd))
		return 0;
	if (columns <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (columns <= 0)
		return 0;
	return columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns > MOST_COLUMNS ? MOST_COLUMNS : (unsigned)columns;
}

/* How the text of a report is printed on this descriptor. */
struct sw_text_style sw_terminal_style(int fd, const struct sw_options *options)
{
	/* The console of Linux prints what it does not know of a link. */
	const char *terminal = getenv("TERM");
	bool colour = sw_terminal_colour(fd, options);
	return (struct sw_text_style){.colour = colour,
				      .links = colour && can_do_more(fd) && strcmp(terminal, "linux") != 0,
				      .stat = options->stat,
				      .only = options->finding,
				      .columns = columns_of(fd),
				      .limit = options->limit ? (size_t)options->limit - 1 : SW_REPORT_LIMIT};
}

/* Prints text of the program; control characters become visible. */
void sw_put_plain(FILE *out, const char *text)
{
	sw_out_text(&(struct sw_out){.file = out}, text);
}
