/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define FIRST_NS 1000000000u
#define EACH_NS	 200000000u
/* For the work: before that the rest cannot be estimated. */
#define LEAST_PART 0.01

/* Begins a step; nothing is shown unless `fd` is a terminal. */
void sw_progress_begin(struct sw_progress *progress, int fd, const char *step)
{
	const char *terminal = getenv("TERM");
	bool can = isatty(fd) && (!terminal || strcmp(terminal, "dumb") != 0);
	*progress = (struct sw_progress){.fd = can ? fd : -1, .step = step, .begun_ns = sw_now_ns()};
	progress->next_ns = progress->begun_ns + FIRST_NS;
}

/* Makes the text of the line: operations, their rate, and the time that is left where it can be told. */
void sw_progress_line(char *line, size_t room, const char *step, uint64_t operations, double part, double seconds)
{
	int n = snprintf(line, room, "%s: %" PRIu64 " operations, %.0f a second", step, operations,
			 seconds > 0 ? (double)operations / seconds : 0.0);
	if (part < LEAST_PART || part > 1 || n < 0 || (size_t)n >= room)
		return;
	double left = seconds / part - seconds;
	if (left < 120)
		snprintf(line + n, room - (size_t)n, ", %.0f s left", left);
	else
		snprintf(line + n, room - (size_t)n, ", %.0f min left", left / 60);
}

/* Replaces the line on the terminal.  One that takes nothing more loses the line, not the report. */
static void show_line(const struct sw_progress *progress, const char *line)
{
	char text[160];
	int n = snprintf(text, sizeof text, "\r%s\033[K", line);
	if (n > 0 && (size_t)n < sizeof text && write(progress->fd, text, (size_t)n) < 0)
		return;
}

/* Shows how far the step is, not too often. */
void sw_progress_tell(struct sw_progress *progress, uint64_t operations, double part)
{
	char line[128];
	if (progress->fd < 0)
		return;
	uint64_t now = sw_now_ns();
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + EACH_NS;
	progress->shown = true;
	sw_progress_line(line, sizeof line, progress->step, operations, part,
			 (double)(now - progress->begun_ns) * 1e-9);
	show_line(progress, line);
}

/* Clears the line. */
void sw_progress_end(struct sw_progress *progress)
{
	if (progress->shown)
		show_line(progress, "");
	progress->shown = false;
}
