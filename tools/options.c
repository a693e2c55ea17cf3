/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

enum option_type { FLAG, TEXT, LIST, MAYBE, STATUS, COUNT, TIME, SECONDS, SIZE };

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

/* Sets an exit status, 1 to 255. */
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

/* Sets a number, + 1: 0 means that the option was not given. */
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

/* Reads a time.  A number alone is in `seconds` or milliseconds; a unit after it says what it is in. */
static int set_time(uint64_t *out, const char *value, const char *argument, bool seconds, struct sw_error *error)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
	char *end;
	const double given = strtod(value, &end);
	double unit = *end ? 0 : seconds ? 1e9 : 1e6;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcmp(end, units[i].name) == 0)
			unit = units[i].ns;
	const double ns = given * unit;
	if (end == value || !(ns > 0 && ns < 1e18))
		return sw_fail(error, SW_E_USAGE, "'%s' needs %s above 0, such as %s, not '%s'", argument,
			       seconds ? "seconds" : "milliseconds", seconds ? "60, 10m or 2h" : "500 or 2s", value);
	*out = ns < 1e3 ? 1000 : (uint64_t)ns;
	return 0;
}

/* Sets a size in bytes, with a unit K, M, G or T. */
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

/* Adds a value of an option that may be given several times. */
static int add_to_list(struct sw_option_list *list, const char *value, const char *argument, struct sw_error *error)
{
	if (list->n == SW_OPTION_LIST)
		return sw_fail(error, SW_E_USAGE, "'%s' is given more than %u times", argument, SW_OPTION_LIST);
	list->at[list->n++] = value;
	return 0;
}

/* Keeps the value of an option that has one: FLAG has none, its callers set it.  `given`: the option as the user wrote
   it, for messages. */
static int set_value(struct sw_options *options, const struct option_row *row, const char *value, const char *given,
		     struct sw_error *error)
{
	void *field = (char *)options + row->offset;
	if (!*value)
		return sw_fail(error, SW_E_USAGE, "option '%s' needs an argument that is not empty: %s", given,
			       row->argument);
	switch (row->type) {
	case STATUS:
		return set_status(field, value, given, error);
	case COUNT:
		return set_count(field, value, given, error);
	case TIME:
	case SECONDS:
		return set_time(field, value, given, row->type == SECONDS, error);
	case SIZE:
		return set_size(field, value, given, error);
	case LIST:
		return add_to_list(field, value, given, error);
	case FLAG:
	case TEXT:
	case MAYBE:
		break;
	}
	*(const char **)field = value;
	return 0;
}

/* How many letters must be changed, added or left out to make one word the other. */
static size_t edit_distance(const char *a, size_t n, const char *b)
{
	size_t row[64], m = strlen(b);
	if (n >= 64 || m >= 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t corner = row[0];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			const size_t changed = corner + (a[i - 1] != b[j - 1]);
			corner = row[j];
			row[j] = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
			row[j] = row[j] < changed ? row[j] : changed;
		}
	}
	return row[m];
}

/* The name of the first of these commands. */
static const char *command_of(int commands)
{
	static const struct {
		int bit;
		const char *name;
	} names[] = {
#define SW_COMMAND_NAME(name, upper, operands, text) {SW_FOR_##upper, #name},
		SW_COMMANDS(SW_COMMAND_NAME)
#undef SW_COMMAND_NAME
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (commands & names[i].bit)
			return names[i].name;
	return "";
}

/* Tells of an option of another command, or of one that is written nearly so. */
static int unknown_option(const char *argument, int command, struct sw_error *error)
{
	const char *name = argument + strspn(argument, "-");
	const size_t bytes = strcspn(name, "=");
	const struct option_row *near = NULL;
	size_t least = bytes > 5 ? 3 : bytes > 2 ? 2 : 1;
	for (size_t i = 0; argument[1] == '-' && i < N_ROWS; i++) {
		const struct option_row *row = &rows[i];
		if (strlen(row->name) == bytes && !strncmp(row->name, name, bytes) && !(row->commands & command))
			return sw_fail(error, SW_E_USAGE, "unknown option '%s': it is one of 'syncwatch %s'", argument,
				       command_of(row->commands));
		const size_t away = row->commands & command ? edit_distance(name, bytes, row->name) : SIZE_MAX;
		if (away < least) {
			least = away;
			near = row;
		}
	}
	return near ? sw_fail(error, SW_E_USAGE, "unknown option '%s': did you mean '--%s'?", argument, near->name)
		    : sw_fail(error, SW_E_USAGE, "unknown option '%s'", argument);
}

/* Takes argv[i], and argv[i + 1] where the value stands apart.  Returns how many were taken, or SW_E_USAGE. */
static int take_option(struct sw_options *options, int command, int left, char **at, struct sw_error *error)
{
	const char *value;
	const struct option_row *row = find_row(at[0], command, &value);
	if (!row)
		return unknown_option(at[0], command, error);
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
	int rc = set_value(options, row, value ? value : at[1], at[0], error);
	return rc ? rc : taken;
}

/* Is it an option that names a file that is written?  A project's file may name only files that are read. */
static bool names_output(const struct option_row *row)
{
	static const char *const read[] = {"suppress",	   "behaviour", "allow",  "baseline",
					   "merge-kineto", "trace",	"compare"};
	for (size_t i = 0; i < sizeof read / sizeof *read; i++)
		if (strcmp(row->name, read[i]) == 0)
			return false;
	return row->type == TEXT && (strstr(row->argument, "FILE") || strstr(row->argument, "TRACE"));
}

/* Do both name one file that is there, or would be there by that name? */
static bool same_file(const char *a, const char *b)
{
	struct stat s, t;
	if (!strcmp(a, "-") || !strcmp(b, "-"))
		return !strcmp(a, b);
	if (stat(a, &s) || stat(b, &t))
		return !strcmp(a, b);
	return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* The file that option i makes the command write; NULL: none. */
static const char *output_of(const struct sw_options *options, size_t i, int command)
{
	const bool output = rows[i].commands & command && names_output(&rows[i]);
	return output ? *(const char *const *)((const char *)options + rows[i].offset) : NULL;
}

/* Is the value one of the words of "auto|always|never"?  Words in capitals stand for other values. */
static bool is_choice(const struct option_row *row, const char *value)
{
	const size_t bytes = strlen(value);
	for (const char *at = row->argument; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
		if (strcspn(at, "|") == bytes && !strncmp(at, value, bytes))
			return true;
	return false;
}

/* Checks options against each other: no two outputs in one file, none in a file that is read. */
static int check_values(const struct sw_options *options, int command, struct sw_error *error)
{
	/* merge may add to a partial result, which is replaced when it is whole; pack says it in words of its own. */
	const bool reads = !(command & (SW_FOR_RUN | SW_FOR_CONFIRM | SW_FOR_MERGE | SW_FOR_PACK));
	for (size_t i = 0; i < N_ROWS; i++) {
		const char *path = output_of(options, i, command);
		for (size_t k = 0; path && k < i; k++)
			if (output_of(options, k, command) && same_file(path, output_of(options, k, command)))
				return sw_fail(error, SW_E_USAGE, "--%s and --%s would both write '%s'", rows[k].name,
					       rows[i].name, path);
		for (int k = 0; path && reads && k < options->n_operands; k++)
			if (same_file(path, options->operands[k]))
				return sw_fail(error, SW_E_USAGE, "--%s would replace '%s', which is read",
					       rows[i].name, options->operands[k]);
	}
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].commands & command && !strcmp(rows[i].name, "color") && options->color &&
		    !is_choice(&rows[i], options->color))
			return sw_fail(error, SW_E_USAGE, "--color is %s, not '%s'", rows[i].argument, options->color);
	return 0;
}

int sw_options_read(struct sw_options *options, int command, int argc, char **argv, int first, struct sw_error *error)
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
			if (command & (SW_FOR_RUN | SW_FOR_CONFIRM))
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
	return check_values(options, command, error);
}

/* Was it given on the command line?  No value of an option is all zeros. */
static bool is_set(const struct sw_options *options, const struct option_row *row)
{
	const char *field = (const char *)options + row->offset;
	const size_t bytes = row->type == FLAG ? sizeof(bool) : row->type == STATUS ? sizeof(int) : sizeof(uint64_t);
	for (size_t i = 0; i < bytes; i++)
		if (field[i])
			return true;
	return false;
}

/* Sets an option that the configuration names, unless it was given. */
int sw_options_default(struct sw_options *options, int command, const char *name, const char *value,
		       struct sw_error *error)
{
	bool known = false;
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct option_row *row = &rows[i];
		if (strcmp(row->name, name) != 0)
			continue;
		known = true;
		if (names_output(row))
			return sw_fail(error, SW_E_USAGE, "'%s' names a file to write: only the command line may",
				       name);
		if (row->type == FLAG && value)
			return sw_fail(error, SW_E_USAGE, "'%s' takes no value", name);
		if (row->type != FLAG && row->type != MAYBE && !value)
			return sw_fail(error, SW_E_USAGE, "'%s' needs a value: %s", name, row->argument);
		if (!(row->commands & command) || (row->type != LIST && is_set(options, row)))
			continue;
		if (row->type == FLAG) {
			*(bool *)((char *)options + row->offset) = true;
		} else {
			int rc = row->type == MAYBE && !value
					 ? (*(const char **)((char *)options + row->offset) = "", 0)
					 : set_value(options, row, value, name, error);
			if (rc)
				return rc;
		}
	}
	return known ? 0 : sw_fail(error, SW_E_USAGE, "unknown option '%s'", name);
}

/* The options by index; false: there are no more. */
bool sw_option_info(size_t index, struct sw_option_info *out)
{
	if (index >= N_ROWS)
		return false;
	const struct option_row *row = &rows[index];
	*out = (struct sw_option_info){row->name,   row->argument,	row->help,
				       row->letter, row->type == MAYBE, row->commands};
	return true;
}

/* Is a clause about another command?  "run: for the report alone". */
static bool of_another(const char *clause, int command)
{
	static const struct {
		int command;
		const char *name;
	} names[] = {{SW_FOR_DIFF, "diff: "},
		     {SW_FOR_RUN, "run: "},
		     {SW_FOR_STAT, "stat: "},
		     {SW_FOR_EXPORT, "export: "},
		     {SW_FOR_CONFIRM, "confirm: "}};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(clause, names[i].name, strlen(names[i].name)) == 0)
			return command != names[i].command;
	return false;
}

/* Prints the help of an option; what is said of one command, "... (diff: new ones)" or "...; run: for the report
   alone", for that one only. */
static void put_help(FILE *out, const char *help, int command)
{
	while (*help) {
		const bool clause = strncmp(help, "; ", 2) == 0, brackets = strncmp(help, " (", 2) == 0;
		const size_t after = strcspn(help + 2 * (clause || brackets), brackets ? ")" : ";");
		const char *next = help + 2 * (clause || brackets) + after;
		if ((clause || brackets) && of_another(help + 2, command)) {
			help = next + (brackets && *next);
			continue;
		}
		putc(*help++, out);
	}
	putc('\n', out);
}

/* Prints the options of a command. */
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
		fprintf(out, "  %-30s ", left);
		put_help(out, row->help, command);
		free(left);
	}
}
