/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the command line, one table for all sub-commands. */
#ifndef SW_TOOLS_OPTIONS_H
#define SW_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* Sub-commands: X(NAME, bit, "operands", "what it does").  The entry point of each is sw_cmd_NAME. */
#define SW_COMMANDS(X)                                                                                                 \
	X(run, RUN, "[--] PROGRAM [ARGUMENTS]", "run a program, record its CUDA calls and judge them")                 \
	X(ctl, CTL, "PID start|stop|status|dump", "tell a run that goes on when to record, or ask it")                 \
	X(confirm, CONFIRM, "[--] PROGRAM [ARGUMENTS]",                                                                \
	  "run a program again to prove its hazards and try their fixes")                                              \
	X(demo, DEMO, "", "run a small program that has a race and a needless wait")                                   \
	X(report, REPORT, "[TRACE...]", "judge traces and print what was found")                                       \
	X(merge, MERGE, "DIR|TRACE|JSON...", "merge traces of the ranks of a job: one report")                         \
	X(diff, DIFF, "TRACE|JSON TRACE|JSON", "compare two runs: what is new, gone, better, worse")                   \
	X(export, EXPORT, "TRACE", "draw a trace: a timeline, or the happens-before graph")                            \
	X(pack, PACK, "TRACE", "put all that judging a trace needs into one file, for other machines")                 \
	X(calibrate, CALIBRATE, "[--show [FILE]]", "measure which calls wait for what, on this GPU")                   \
	X(dump, DUMP, "TRACE", "print every record of a trace")                                                        \
	X(stat, STAT, "TRACE", "where the time of calls, streams and kernels went; what a trace covers")               \
	X(top, TOP, "PID|TRACE", "how a run with --live stands while it runs")                                         \
	X(query, QUERY, "TRACE 'SELECT ...'", "query a trace in SQL: calls, kernels, copies, findings ...")            \
	X(kernels, KERNELS, "TRACE|FILE [NAME]", "print what kernels touch, as their code says")                       \
	X(explain, EXPLAIN, "[ID|KIND|FINGERPRINT|FILE:LINE|terms]",                                                   \
	  "explain a finding or a word; without either, list all")                                                     \
	X(help, HELP, "[COMMAND]", "print the options of a command")

enum sw_command_index {
#define SW_COMMAND_INDEX(name, upper, operands, text) SW_COMMAND_##upper,
	SW_COMMANDS(SW_COMMAND_INDEX)
#undef SW_COMMAND_INDEX
};
enum {
#define SW_COMMAND_BIT(name, upper, operands, text) SW_FOR_##upper = 1 << SW_COMMAND_##upper,
	SW_COMMANDS(SW_COMMAND_BIT)
#undef SW_COMMAND_BIT
		SW_FOR_ALL = ~0,
	/* Commands that end with a verdict (tools/verdict.h). */
	SW_FOR_JUDGES = SW_FOR_RUN | SW_FOR_CONFIRM | SW_FOR_REPORT | SW_FOR_MERGE | SW_FOR_DIFF,
	SW_FOR_GATE = SW_FOR_RUN | SW_FOR_REPORT, /* those that take rules which forbid calls */
	/* Commands that read .syncwatch. */
	SW_FOR_CONFIG = SW_FOR_RUN | SW_FOR_CONFIRM | SW_FOR_REPORT | SW_FOR_MERGE | SW_FOR_DIFF | SW_FOR_EXPORT |
			SW_FOR_KERNELS | SW_FOR_STAT | SW_FOR_QUERY
};

typedef bool sw_option_FLAG;
typedef const char *sw_option_TEXT;
typedef const char *sw_option_MAYBE; /* NULL: not given; "": without a value */
/* An option that may be given several times: all that was given, in their order. */
#define SW_OPTION_LIST 64u
struct sw_option_list {
	uint64_t n;
	const char *at[SW_OPTION_LIST];
};
typedef struct sw_option_list sw_option_LIST;
typedef int sw_option_STATUS;	    /* 0: not given */
typedef uint64_t sw_option_COUNT;   /* one more than was given, 0: not given */
typedef uint64_t sw_option_TIME;    /* ns, 0: not given */
typedef uint64_t sw_option_SECONDS; /* the same, given in seconds */
typedef uint64_t sw_option_SIZE;    /* bytes, 0: not given */

/* The options that were given; texts point into argv. */
struct sw_options {
#define SW_OPTION(type, field, name, letter, argument, commands, help) sw_option_##type field;
#include "options.def"
#undef SW_OPTION
	const char *config;	 /* the file .syncwatch that was used, NULL: none */
	const char *config_text; /* of it: it is read once */
	char **operands;	 /* NULL-terminated */
	int n_operands;
};

/*
 * Parses argv[first...] for one command (SW_FOR_*).  `run` stops at the first operand, the others take options and
 * operands in any order; "--" ends the options.  Reorders argv.  0 or SW_E_USAGE with one line that names the argument.
 */
int sw_options_read(struct sw_options *options, int command, int argc, char **argv, int first, struct sw_error *error);

/*
 * Sets an option, by its name without dashes, that is not set yet; value NULL: none was given.  One of another command
 * is left out.  0, or SW_E_USAGE with error filled: no command has it, it names a file to write, or the value is wrong.
 */
int sw_options_default(struct sw_options *options, int command, const char *name, const char *value,
		       struct sw_error *error);

/* The options one after the other; false: there are no more. */
struct sw_option_info {
	const char *name, *argument, *help;
	char letter;   /* 0: none */
	bool optional; /* what stands after "=" may be left out */
	int commands;
};
bool sw_option_info(size_t index, struct sw_option_info *out);

/* Prints one line for each option of the command. */
void sw_options_help(FILE *out, int command);

#endif
