/* SPDX-License-Identifier: Apache-2.0 */
/* The syncwatch command: finds the sub-command, parses its options, calls it. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

#include "budget.h"
#include "command.h"
#include "crash.h"
#include "output.h"
#include "project_config.h"
#include "terminal.h"

struct command {
	const char *name;
	int bit;
	const char *operands, *text;
	int (*main)(const struct sw_options *options);
};

static const struct command commands[] = {
#define SW_COMMAND_ROW(name, upper, operands, text) {#name, SW_FOR_##upper, operands, text, sw_cmd_##name},
	SW_COMMANDS(SW_COMMAND_ROW)
#undef SW_COMMAND_ROW
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static const struct command *current;

/* Messages contain names of files and programs: none of them may control the terminal. */
static void __attribute__((format(printf, 1, 0))) complain(const char *format, va_list ap)
{
	char text[4096];
	fprintf(stderr, "syncwatch%s%s: ", current ? " " : "", current ? current->name : "");
	vsnprintf(text, sizeof text, format, ap);
	sw_put_plain(stderr, text);
}

/* Prints a line "syncwatch: ..." on standard error; returns the status. */
int sw_complain(int status, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	complain(format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}

/* Prints what is wrong with the command line, and where help is. */
int sw_complain_usage(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	complain(format, ap);
	va_end(ap);
	fprintf(stderr, " (see 'syncwatch%s%s --help')\n", current ? " " : "", current ? current->name : "");
	return SW_EXIT_USAGE;
}

/* Completes standard output; returns the status, or that of an output that could not be written. */
int sw_finish_stdout(int status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	return sw_complain(SW_EXIT_OUTPUT, "cannot write to standard output: %s", strerror(errno ? errno : EIO));
}

/* Prints the version. */
static int print_version(void)
{
	puts("syncwatch " PACKAGE_VERSION);
	return sw_finish_stdout(SW_EXIT_OK);
}

/* Prints all commands. */
static int print_overview(FILE *out)
{
	fputs("syncwatch finds unordered work and needless waits in CUDA programs.\n\nUsage:\n", out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  syncwatch %-9s %-28s %s\n", commands[i].name, commands[i].operands, commands[i].text);
	fputs("\n'syncwatch help COMMAND' lists the options of a command; syncwatch(1) has the whole manual.\n"
	      "Without the command: LD_PRELOAD=PREFIX/lib/syncwatch/libsyncwatch.so PROGRAM, see libsyncwatch(7).\n",
	      out);
	return SW_EXIT_OK;
}

/* Prints the options and exit statuses of a command. */
static int print_help(const struct command *command)
{
	printf("Usage: syncwatch %s [options] %s\n%s\n\nOptions:\n", command->name, command->operands, command->text);
	sw_options_help(stdout, command->bit);
	puts("\nExit status:");
#define SW_EXIT_ROW(commands, status, when)                                                                            \
	if ((commands)&command->bit)                                                                                   \
		printf("  %-10s %s\n", status, when);
#include "exits.def"
#undef SW_EXIT_ROW
	return sw_finish_stdout(SW_EXIT_OK);
}

/* The command of this name; NULL: none. */
static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* Prints the help of a command; NULL: the overview. */
int sw_help(const char *name)
{
	const struct command *command = name ? find_command(name) : NULL;
	if (!name)
		return sw_finish_stdout(print_overview(stdout));
	return command ? print_help(command) : sw_complain_usage("unknown command '%s'", name);
}

/* Finds the command, parses its options and calls it. */
int main(int argc, char **argv)
{
	sw_crash_watch(sw_output_drop_all);
	__fsetlocking(stdout, FSETLOCKING_BYCALLER); /* one thread writes, in millions of small pieces */
	if (argc < 2) {
		print_overview(stderr);
		return SW_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return print_version();
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return sw_finish_stdout(print_overview(stdout));
	const struct command *command = find_command(argv[1]);
	if (!command)
		return sw_complain_usage("unknown %s '%s'", argv[1][0] == '-' ? "option" : "command", argv[1]);
	current = command;

	struct sw_options options;
	struct sw_error error;
	if (sw_options_read(&options, command->bit, argc, argv, 2, &error))
		return sw_complain_usage("%s", error.text);
	if (options.help)
		return print_help(command);
	if (options.version)
		return print_version();
	int configured = sw_config_apply(&options, command->bit);
	if (configured)
		return configured;
	/* The program that `run` runs has no limits of ours. */
	int status =
		command->bit & (SW_FOR_RUN | SW_FOR_CONFIRM | SW_FOR_DEMO) ? SW_EXIT_OK : sw_budget_start(&options);
	return status ? status : command->main(&options);
}
