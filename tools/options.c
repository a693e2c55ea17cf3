/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum option_type { FLAG, TEXT, MAYBE, STATUS, COUNT, TIME, SECONDS, SIZE };

struct option_row {
	enum option_type type;
	size_t offset;
	const char *name;
	char letter;
	const char *argument;
	int commands;
	const char *help;
};

static const struct option_row rows[] = {
#define SW_OPTION(type, field, name, letter, argument, commands, help)                                                 \
	{type, offsetof(struct sw_options, field), name, letter, argument, commands, help},
#include "options.def"
#undef SW_OPTION
};
#define N_ROWS (sizeof rows / sizeof rows[0])

/* The row of "--name", "--name=value" or "-x"; *value is what stands after it in the same argument, or NULL. */
static const struct option_row *find_row(const char *argument, int command, const char **value)
{
	*value = NULL;
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct option_row *row = &rows[i];
		size_t length = strlen(row->name);
		if (!(row->commands & command))
			continue;
		if (argument[1] != '-') {
			if (!row->letter || argument[1] != row->letter)
				continue;
			if (argument[2])
				*value = argument + 2;
			return row;
		}
		if (strncmp(argument + 2, row->name, length) == 0 &&
		    (!argument[2 + length] || argument[2 + length] == '=')) {
			if (argument[2 + length])
				*value = argument + 3 + length;
			return row;
		}
	}
	return NULL;
}

static int set_status(int *out, const char *value, const char *argument, struct sw_error *error)
{
	char *end;
	errno = 0;
	long number = strtol(value, &end, 10);
	if (errno || end == value || *end || number < 1 || number > 255)
		return sw_fail(error, SW_E_USAGE, "'%s' needs an exit status from 1 to 255, not '%s'", argument, value);
	*out = (int)number;
	return 0;
}

static int set_count(uint64_t *out, const char *value, const char *argument, struct sw_error *error)
{
	char *end;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	if (errno || *value < '0' || *value > '9' || *end || number > UINT32_MAX)
		return sw_fail(error, SW_E_USAGE, "'%s' needs a number, not '%s'", argument, value);
	*out = number + 1;
	return 0;
}

static int set_time(uint64_t *out, const char *value, const char *argument, bool seconds, struct sw_error *error)
{
	char *end;
	double given = strtod(value, &end);
	if (end == value || *end || !(given > 0 && given < 1e9))
		return sw_fail(error, SW_E_USAGE, "'%s' needs %s above 0, not '%s'", argument,
			       seconds ? "seconds" : "milliseconds", value);
	const double ns = given * (seconds ? 1e9 : 1e6);
	*out = ns < 1e3 ? 1000 : (uint64_t)ns;
	return 0;
}

static int set_size(uint64_t *out, const char *value, const char *argument, struct sw_error *error)
{
	static const char units[] = "KMGT";
	char *end;
	errno = 0;
	unsigned long long number = strtoull(value, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (errno || *value < '0' || *value > '9' || (*end && !unit) || (unit && end[1]) || !number ||
	    number > (UINT64_MAX >> 2) >> shift)
		return sw_fail(error, SW_E_USAGE, "'%s' needs bytes above 0, such as 512M, not '%s'", argument, value);
	*out = (uint64_t)number << shift;
	return 0;
}

/* Takes argv[i], and argv[i + 1] where the value stands apart.  Returns how many were taken, or SW_E_USAGE. */
static int take_option(struct sw_options *options, int command, int left, char **at, struct sw_error *error)
{
	const char *value;
	const struct option_row *row = find_row(at[0], command, &value);
	if (!row)
		return sw_fail(error, SW_E_USAGE, "unknown option '%s'", at[0]);
	void *field = (char *)options + row->offset;
	if (row->type == FLAG) {
		if (value)
			return sw_fail(error, SW_E_USAGE, "option '--%s' takes no argument: '%s'", row->name, at[0]);
		*(bool *)field = true;
		return 1;
	}
	if (row->type == MAYBE) {
		*(const char **)field = value ? value : "";
		return 1;
	}
	int taken = value ? 1 : 2;
	if (!value && left < 2)
		return sw_fail(error, SW_E_USAGE, "option '%s' needs an argument: %s", at[0], row->argument);
	if (!value)
		value = at[1];
	if (!*value)
		return sw_fail(error, SW_E_USAGE, "option '%s' needs an argument that is not empty: %s", at[0],
			       row->argument);
	int rc = 0;
	if (row->type == STATUS)
		rc = set_status(field, value, at[0], error);
	else if (row->type == COUNT)
		rc = set_count(field, value, at[0], error);
	else if (row->type == TIME || row->type == SECONDS)
		rc = set_time(field, value, at[0], row->type == SECONDS, error);
	else if (row->type == SIZE)
		rc = set_size(field, value, at[0], error);
	else
		*(const char **)field = value;
	return rc ? rc : taken;
}

int sw_options_parse(struct sw_options *options, int command, int argc, char **argv, int first, struct sw_error *error)
{
	int operands = first;
	int i = first;
	*options = (struct sw_options){0};
	while (i < argc) {
		char *argument = argv[i];
		if (strcmp(argument, "--") == 0) {
			i++;
			break;
		}
		if (argument[0] != '-' || !argument[1]) {
			if (command == SW_FOR_RUN)
				break;
			argv[operands++] = argv[i++];
			continue;
		}
		int taken = take_option(options, command, argc - i, argv + i, error);
		if (taken < 0)
			return taken;
		i += taken;
	}
	while (i < argc)
		argv[operands++] = argv[i++];
	argv[operands] = NULL;
	options->operands = argv + first;
	options->n_operands = operands - first;
	return 0;
}

void sw_options_help(FILE *out, int command)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct option_row *row = &rows[i];
		if (!(row->commands & command))
			continue;
		char letter[8] = "    ";
		if (row->letter)
			snprintf(letter, sizeof letter, "-%c, ", row->letter);
		char *left = sw_format("%s--%s%s%s", letter, row->name, row->argument && row->type != MAYBE ? " " : "",
				       row->argument ? row->argument : "");
		fprintf(out, "  %-28s %s\n", left, row->help);
		free(left);
	}
}
