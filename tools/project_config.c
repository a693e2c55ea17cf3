/* SPDX-License-Identifier: Apache-2.0 */
#include "project_config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal.h"

#define NAME ".syncwatch"

/* The nearest one, malloc'ed; NULL: none. */
static char *find(void)
{
	char *folder = getcwd(NULL, 0), *found = NULL;
	while (folder && *folder && !found) {
		char *path = sw_format("%s/" NAME, strcmp(folder, "/") == 0 ? "" : folder);
		struct stat s;
		if (stat(path, &s) == 0 && S_ISREG(s.st_mode))
			found = path;
		else
			free(path);
		char *slash = strrchr(folder, '/');
		if (!slash)
			break;
		*slash = 0;
	}
	free(folder);
	return found;
}

/* Texts of the file live as long as the process: options point to them. */
static char *trimmed(char *text)
{
	text += strspn(text, " \t\r\n");
	char *end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

/* "run.sim": of one command. */
static const char *of_command(char *name, int command, bool *other)
{
	static const struct {
		const char *name;
		int bit;
	} commands[] = {
#define SW_COMMAND_ROW(name, upper, operands, text) {#name, SW_FOR_##upper},
		SW_COMMANDS(SW_COMMAND_ROW)
#undef SW_COMMAND_ROW
	};
	char *dot = strchr(name, '.');
	*other = false;
	if (!dot)
		return name;
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (strlen(commands[i].name) == (size_t)(dot - name) &&
		    strncmp(commands[i].name, name, (size_t)(dot - name)) == 0) {
			*other = commands[i].bit != command;
			return dot + 1;
		}
	return name;
}

/* Options point to what the file says, as they point to arguments, until the process ends. */
static SW_VEC(char *) kept;

static char *keep(char *text)
{
	return *sw_vec_push(&kept) = text;
}

static int take_line(struct sw_options *options, int command, char *line, const char *path, size_t number,
		     struct sw_error *error)
{
	bool other;
	struct sw_error why;
	char *comment = strchr(line, '#');
	if (comment)
		*comment = 0;
	line = trimmed(line);
	if (!*line || strncmp(line, "SW", 2) == 0)
		return 0;
	char *equals = strchr(line, '='), *value = NULL;
	if (equals) {
		*equals = 0;
		value = trimmed(equals + 1);
	}
	const char *name = of_command(trimmed(line), command, &other);
	if (other)
		return 0;
	if (value && strcmp(name, "suppress") == 0 && *value != '/')
		value = keep(sw_format("%.*s/%s", (int)(strrchr(path, '/') - path), path, value));
	else if (value)
		value = keep(sw_strdup(value));
	if (sw_options_default(options, command, name, value, &why))
		return sw_fail(error, SW_E_FORMAT, "%s:%zu: %s", path, number, why.text);
	return 0;
}

static int read_file(struct sw_options *options, int command, const char *path, struct sw_error *error)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int rc = 0;
	if (!file)
		return sw_fail(error, -errno, "cannot read '%s': %s", path, strerror(errno));
	for (size_t number = 1; !rc && getline(&line, &room, file) >= 0; number++)
		rc = take_line(options, command, line, path, number, error);
	free(line);
	fclose(file);
	return rc;
}

int sw_config_apply(struct sw_options *options, int command)
{
	struct sw_error error;
	struct stat s;
	if (options->no_config || !(command & SW_FOR_CONFIG))
		return SW_EXIT_OK;
	char *path = find();
	if (!path)
		return SW_EXIT_OK;
	if (stat(path, &s) == 0 && s.st_uid != geteuid() && s.st_uid != 0) {
		sw_complain(SW_EXIT_OK, "%s is not used: it belongs to another user", path);
		free(path);
		return SW_EXIT_OK;
	}
	if (read_file(options, command, path, &error)) {
		free(path);
		return sw_complain(SW_EXIT_USAGE, "%s", error.text);
	}
	sw_complain(SW_EXIT_OK, "options and suppressions of %s", path);
	options->config = keep(path);
	return SW_EXIT_OK;
}
