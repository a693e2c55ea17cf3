/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on a terminal while a step takes longer than a second:
 *
 *     judging: 1234567 operations, 512000 a second, 3 s left
 *
 * It is written over itself and removed at the end.  Nothing is written where standard error is no terminal.
 */
#ifndef SW_TOOLS_PROGRESS_H
#define SW_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_progress {
	int fd; /* -1: no terminal */
	const char *step;
	uint64_t begun_ns, next_ns; /* CLOCK_MONOTONIC */
	bool shown;
};

void sw_progress_begin(struct sw_progress *progress, int fd, const char *step);
/* Shows how far it is; part: of the work, 0 to 1.  Cheap enough to be called a million times a second. */
void sw_progress_tell(struct sw_progress *progress, uint64_t operations, double part);
void sw_progress_end(struct sw_progress *progress);

/* Makes the line that is shown. */
void sw_progress_line(char *line, size_t room, const char *step, uint64_t operations, double part, double seconds);

#endif
