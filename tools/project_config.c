/* SPDX-License-Identifier: Apache-2.0 */
#include "project_config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trusted_file.h"
#include "terminal.h"

#define NAME ".syncwatch"

/* Finds the nearest project file in this folder and those above: 0 with its name (malloc'ed) and the open file,
   -ENOENT, or -EPERM with error filled. */
static int find_file(char **path, FILE **file, struct sw_error *error)
{
	char *folder = getcwd(NULL, 0);
	int rc = -ENOENT;
	while (folder && *folder && rc == -ENOENT) {
		*path = sw_format("%s/" NAME, strcmp(folder, "/") == 0 ? "" : folder);
		*file = sw_trusted_stream(*path, (uid_t)-1, error);
		rc = *file ? 0 : error->code;
		/* Something else of that name, such as a folder, is passed by, and so is a folder that cannot be
		   searched. */
		if (rc == -EISDIR || rc == -ENOTDIR || rc == -ELOOP ||
		    (rc == -EACCES && faccessat(AT_FDCWD, *path, F_OK, AT_SYMLINK_NOFOLLOW)))
			rc = -ENOENT;
		if (rc)
			free(*path);
		char *slash = strrchr(folder, '/');
		if (!slash)
			break;
		*slash = 0;
	}
	free(folder);
	return rc;
}

/* The text without blanks around it, cut in place.  Texts of the file live as long as the process: options point to
   them. */
static char *trim_text(char *text)
{
	text += strspn(text, " \t\r\n");
	char *end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

/* The option's name without a command before it, "run.sim" -> "sim"; *other: the line is for another command. */
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

/* Keeps a text of the file as long as the process lives: options point to it. */
static char *keep_word(char *text)
{
	return *sw_vec_push(&kept) = text;
}

/* Takes a line: "option" or "option = value", perhaps of one command. */
static int take_line(struct sw_options *options, int command, char *line, const char *path, size_t number,
		     struct sw_error *error)
{
	bool other;
	struct sw_error why;
	char *comment = strchr(line, '#');
	if (comment)
		*comment = 0;
	line = trim_text(line);
	if (!*line || strncmp(line, "SW", 2) == 0)
		return 0;
	char *equals = strchr(line, '='), *value = NULL;
	if (equals) {
		*equals = 0;
		value = trim_text(equals + 1);
	}
	const char *name = of_command(trim_text(line), command, &other);
	if (other)
		return 0;
	if (value && *value != '/' &&
	    (strcmp(name, "suppress") == 0 || strcmp(name, "allow") == 0 || strcmp(name, "baseline") == 0))
		value = keep_word(sw_format("%.*s/%s", (int)(strrchr(path, '/') - path), path, value));
	else if (value)
		value = keep_word(sw_strdup(value));
	if (sw_options_default(options, command, name, value, &why))
		return sw_fail(error, SW_E_FORMAT, "%s:%zu: %s", path, number, why.text);
	return 0;
}

/* Reads all of the file, malloc'ed. */
static char *text_of(FILE *file)
{
	char *text = NULL;
	size_t room = 0;
	if (getdelim(&text, &room, 0, file) >= 0)
		return text;
	free(text);
	return sw_strdup("");
}

/* Takes all lines of the file. */
static int take_lines(struct sw_options *options, int command, const char *text, const char *path,
		      struct sw_error *error)
{
	int rc = 0;
	for (size_t number = 1; *text && !rc; number++) {
		const size_t length = strcspn(text, "\n");
		char *line = sw_strndup(text, length);
		rc = take_line(options, command, line, path, number, error);
		free(line);
		text += length + (text[length] == '\n');
	}
	return rc;
}

/* Sets the options of the project's configuration that the command line does not give. */
int sw_config_apply(struct sw_options *options, int command)
{
	struct sw_error error;
	char *path;
	FILE *file;
	if (options->no_config || !(command & SW_FOR_CONFIG))
		return SW_EXIT_OK;
	int rc = find_file(&path, &file, &error);
	if (rc == -ENOENT)
		return SW_EXIT_OK;
	if (rc == -EPERM) {
		sw_complain(SW_EXIT_OK, "not used: %s", error.text);
		return SW_EXIT_OK;
	}
	if (rc)
		return sw_complain(SW_EXIT_USAGE, "cannot read %s", error.text);
	char *text = text_of(file);
	fclose(file);
	if (take_lines(options, command, text, path, &error)) {
		free(text);
		free(path);
		return sw_complain(SW_EXIT_USAGE, "%s", error.text);
	}
	sw_complain(SW_EXIT_OK, "options and suppressions of %s", path);
	options->config = keep_word(path);
	options->config_text = keep_word(text);
	return SW_EXIT_OK;
}
