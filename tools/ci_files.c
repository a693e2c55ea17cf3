/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "ci_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "output.h"
#include "report/suppress.h"

struct sw_ci_files {
	char *root;
	struct sw_ci *ci[SW_CI_FORMATS]; /* NULL: not asked for */
	struct sw_output output[SW_CI_FORMATS];
	FILE *commands; /* of GitHub: kept until the report is printed */
	char *commands_text;
	size_t commands_bytes;
	struct suppressions {
		struct sw_suppress_file *file; /* NULL: not asked for */
		struct sw_output output;
	} suppressions, allowed;
};

/* The folder that paths are relative to: the current one, which in CI is the checkout. */
static char *current_folder(void)
{
	char *path = getcwd(NULL, 0);
	if (path && strcmp(path, "/") != 0)
		return path;
	free(path);
	return NULL;
}

/* Frees all, and drops files that are not complete. */
static void free_files(struct sw_ci_files *files)
{
	for (size_t i = 0; i < SW_CI_FORMATS; i++) {
		if (files->ci[i])
			sw_ci_end(files->ci[i]);
		if (files->output[i].file)
			sw_output_drop(&files->output[i]);
	}
	if (files->commands)
		fclose(files->commands);
	free(files->commands_text);
	free(files->root);
	free(files);
}

/* Opens a file for suppressions; path NULL: it is not wanted.  gate: for findings of rules that forbid calls. */
static int open_suppressions(struct suppressions *s, const char *path, bool gate)
{
	struct sw_error error;
	if (path && sw_output_open(&s->output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	if (path)
		s->file = sw_suppress_file_begin(s->output.file, gate);
	return SW_EXIT_OK;
}

/* Opens all files that the options want. */
static int open_files(struct sw_ci_files *files, const struct sw_options *options)
{
	const char *paths[SW_CI_FORMATS] = {
#define SW_CI_FILE(name, option, golden) [SW_CI_##name] = options->option,
#define SW_CI_COMMANDS(name, option, golden)
#include "report/ci/formats.def"
	};
	struct sw_error error;
	for (int i = 0; i < SW_CI_FORMATS; i++) {
		if (!paths[i])
			continue;
		if (sw_output_open(&files->output[i], paths[i], &error))
			return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
		files->ci[i] = sw_ci_begin(files->output[i].file, (enum sw_ci_format)i, PACKAGE_VERSION, files->root);
	}
	if (options->github) {
		files->commands = sw_memory_stream(&files->commands_text, &files->commands_bytes);
		files->ci[SW_CI_GITHUB] = sw_ci_begin(files->commands, SW_CI_GITHUB, PACKAGE_VERSION, files->root);
	}
	int status = open_suppressions(&files->suppressions, options->write_suppressions, false);
	return status ? status : open_suppressions(&files->allowed, options->write_allow, true);
}

/* Do the options want any of these files? */
bool sw_ci_files_wanted(const struct sw_options *options)
{
	return options->write_suppressions || options->write_allow
#define SW_CI_FORMAT(name, option, golden) || options->option
#include "report/ci/formats.def"
		;
}

/* Opens the files; *out NULL: none is wanted. */
int sw_ci_files_open(const struct sw_options *options, struct sw_ci_files **out)
{
	*out = NULL;
	if (!sw_ci_files_wanted(options))
		return SW_EXIT_OK;
	struct sw_ci_files *files = sw_calloc(1, sizeof *files);
	files->root = current_folder();
	int status = open_files(files, options);
	if (status)
		free_files(files);
	else
		*out = files;
	return status;
}

/* Writes the findings of a report to all files. */
void sw_ci_files_add(struct sw_ci_files *files, struct sw_report *report)
{
	for (size_t i = 0; files && i < SW_CI_FORMATS; i++)
		if (files->ci[i])
			sw_ci_add(files->ci[i], report);
	if (files && files->suppressions.file)
		sw_suppress_file_add(files->suppressions.file, report);
	if (files && files->allowed.file)
		sw_suppress_file_add(files->allowed.file, report);
}

/* Writes a finding of no single report to all files. */
static void add_extra(struct sw_ci_files *files, const struct sw_ci_extra *extra)
{
	for (size_t i = 0; files && i < SW_CI_FORMATS; i++)
		if (files->ci[i])
			sw_ci_add_extra(files->ci[i], extra);
}

/* Writes that not all of the run of this program was judged. */
void sw_ci_files_gap(struct sw_ci_files *files, const char *program, const char *text)
{
	char *whole = sw_format("Not all of the run of %s was judged: %s.", program, text);
	add_extra(files, &(struct sw_ci_extra){.id = "",
					       .kind = "incomplete",
					       .text = whole,
					       .program = program,
					       .severity = SW_WARNING,
					       .fingerprint = sw_hash_bytes(0, whole, strlen(whole))});
	free(whole);
}

/* Writes the findings between processes (SW5xx). */
void sw_ci_files_between(struct sw_ci_files *files, const char *program, const struct sw_merged *merged)
{
	for (size_t i = 0; i < merged->between.n; i++) {
		const struct sw_between *b = merged->between.at[i];
		char id[16];
		snprintf(id, sizeof id, "SW%03d", b->number);
		if (b->severity != SW_NOTE)
			add_extra(files, &(struct sw_ci_extra){id, sw_between_info(b->number)->kind, b->title, program,
							       b->severity, b->fingerprint});
	}
}

/* Completes a file. */
static int close_output(struct sw_output *output)
{
	struct sw_error error;
	return sw_output_close(output, &error) ? sw_complain(SW_EXIT_OUTPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Completes a file of suppressions. */
static int close_suppressions(struct suppressions *s)
{
	if (!s->file)
		return SW_EXIT_OK;
	sw_suppress_file_end(s->file);
	return close_output(&s->output);
}

/* Completes all files, and prints GitHub's commands on `commands`. */
int sw_ci_files_close(struct sw_ci_files *files, FILE *commands)
{
	int status = SW_EXIT_OK;
	if (!files)
		return status;
	for (size_t i = 0; i < SW_CI_FORMATS; i++) {
		if (files->ci[i])
			sw_ci_end(files->ci[i]);
		files->ci[i] = NULL;
		if (files->output[i].file)
			status |= close_output(&files->output[i]);
	}
	status |= close_suppressions(&files->suppressions);
	status |= close_suppressions(&files->allowed);
	if (files->commands) {
		fflush(files->commands);
		fputs(files->commands_text, commands);
	}
	free_files(files);
	return status;
}
