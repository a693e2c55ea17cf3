/* SPDX-License-Identifier: Apache-2.0 */
/* The sub-commands: each lives in a file of its own and returns the exit status of the process. */
#ifndef SW_TOOLS_COMMAND_H
#define SW_TOOLS_COMMAND_H

#include "base/error.h"
#include "base/memory.h"
#include "options.h"

/* Exit statuses of syncwatch itself.  `run` passes on the program's own, which may be any of them. */
enum {
	SW_EXIT_OK = 0,
	SW_EXIT_USAGE = 2,
	SW_EXIT_INPUT = 3,  /* a trace, a suppression file or a program that cannot be used */
	SW_EXIT_OUTPUT = 4, /* a file that cannot be written */
	/* SW_EXIT_MEMORY = 5: base/memory.h */
	SW_EXIT_UNPROVEN =
		6, /* run --error-exitcode: no errors, but not all was watched and judged; merge: the same of ranks */
	SW_EXIT_NOTHING = 7, /* run --error-exitcode: all was watched, and no CUDA call was seen */
	SW_EXIT_NOT_EXECUTABLE = 126,
	SW_EXIT_NOT_FOUND = 127
};

/* Waits of one call site that are cheaper than this in all are folded into one line: the default of sw_judge(). */
#define SW_FOLD_BELOW_NS 100000u

#define SW_COMMAND_DECLARE(name, upper, operands, text) int sw_cmd_##name(const struct sw_options *options);
SW_COMMANDS(SW_COMMAND_DECLARE)
#undef SW_COMMAND_DECLARE

/* Prints "syncwatch COMMAND: text" as one line on stderr and returns the status. */
int sw_complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Complains of wrong usage, and says where help is. */
int sw_complain_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the help of a command, NULL: of all.  A status. */
int sw_help(const char *command);

/* Flushes standard output; SW_EXIT_OUTPUT and one line if what was printed could not be written, else `status`. */
int sw_finish_stdout(int status);

/* The forms of --finding, for lines about one that is not there. */
#define SW_FINDING_FORMS "SW101, a kind, a fingerprint or its beginning, or FILE:LINE"

#endif
